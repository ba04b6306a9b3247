package source

import (
	"faucet"
	"faucet/internal/wire"
)

// Words of records.
const (
	descriptionWords = 8 + faucet.WantsWords
	bookmarkWords    = 4
	tableWords       = faucet.TableWords + 2
	beforeWords      = 4
	changeWords      = 2 + 1 + 2 + 2 + 1 + beforeWords
	pageWords        = faucet.PageWords + 1 + changeWords
	batchWords       = 2 + 1 + 1 + bookmarkWords + 1
)

// sessions are those the host holds, by the number it knows them by.
var (
	sessions = map[uint32]Session{}
	last     uint32
)

//go:wasmimport [export]faucet:connector/sources@0.1.0 [resource-new]session
func newHandle(session uint32) uint32

//go:wasmexport faucet:connector/sources@0.1.0#[dtor]session
func drop(session uint32) {
	if closer, is := sessions[session].(Closer); is {
		closer.Close()
	}
	delete(sessions, session)
}

//go:wasmexport faucet:connector/sources@0.1.0#describe
func describe() uint32 {
	wire.Begin()
	w := wire.Answer(descriptionWords)
	registered.about.WriteAbout(&w)
	registered.about.WriteWants(&w)
	return w.Address()
}

// run runs a function of the plugin on a configuration.
func run[R any](at, size uint32, function func(config string) (R, error)) (result R, err error) {
	config := wire.StringAt(at, size)
	wire.Begin()
	err = faucet.Guard(func() (err error) {
		result, err = function(config)
		return err
	})
	return result, err
}

//go:wasmexport faucet:connector/sources@0.1.0#check
func check(at, size uint32) uint32 {
	abilities, err := run(at, size, registered.check)
	return faucet.Result(1, err, func(w *wire.Writer) {
		w.Bool(abilities.Changes)
		w.Bool(registered.captures)
		w.Bool(abilities.Replayable)
	})
}

//go:wasmexport faucet:connector/sources@0.1.0#discover
func discover(at, size uint32) uint32 {
	tables, err := run(at, size, registered.discover)
	return faucet.Result(2, err, func(w *wire.Writer) {
		items := w.List(len(tables), tableWords)
		for _, table := range tables {
			faucet.WriteTable(&items, table.Schema, table.Name)
			items.Strings(table.Key)
		}
	})
}

func (b *Bookmark) write(w *wire.Writer) {
	w.Bytes(b.Position)
	w.Bytes(b.State)
}

//go:wasmexport faucet:connector/sources@0.1.0#capture
func capture(at, size uint32) uint32 {
	bookmark, err := run(at, size, registered.capture)
	return faucet.Result(bookmarkWords, err, bookmark.write)
}

//go:wasmexport faucet:connector/sources@0.1.0#open
func open(at, size, hasBookmark, positionAt, positionSize, stateAt, stateSize uint32) uint32 {
	var bookmark *Bookmark
	if hasBookmark == 1 {
		bookmark = &Bookmark{wire.BytesAt(positionAt, positionSize), wire.BytesAt(stateAt, stateSize)}
	}
	session, err := run(at, size, func(config string) (Session, error) { return registered.open(config, bookmark) })
	return faucet.Result(1, err, func(w *wire.Writer) {
		last++
		sessions[last] = session
		w.Word(newHandle(last))
	})
}

//go:wasmexport faucet:connector/sources@0.1.0#[method]session.read
func read(self, maxBytes uint32) uint32 {
	wire.Begin()
	batch := &Batch{}
	err := faucet.Guard(func() error {
		if err := sessions[self].Read(batch, int(maxBytes)); err != nil {
			return err
		}
		return batch.check()
	})
	return faucet.Result(1+batchWords, err, func(w *wire.Writer) {
		w.Option(!batch.ended)
		if !batch.ended {
			batch.write(w)
		}
	})
}

//go:wasmexport faucet:connector/sources@0.1.0#[method]session.confirm
func confirm(self, positionAt, positionSize, stateAt, stateSize uint32) uint32 {
	bookmark := Bookmark{wire.BytesAt(positionAt, positionSize), wire.BytesAt(stateAt, stateSize)}
	wire.Begin()
	err := faucet.Guard(func() error {
		if confirmer, is := sessions[self].(Confirmer); is {
			return confirmer.Confirm(bookmark)
		}
		return nil
	})
	return faucet.Result(0, err, nil)
}

func (b *Batch) write(w *wire.Writer) {
	pages := w.List(len(b.pages), pageWords)
	for _, page := range b.pages {
		page.write(&pages)
	}
	w.Bool(b.commits)
	w.Option(b.bookmark != nil)
	if b.bookmark != nil {
		b.bookmark.write(w)
	} else {
		w.Skip(bookmarkWords)
	}
	w.Word(b.waitMillis)
}

func (p *Page) write(w *wire.Writer) {
	faucet.WriteTable(w, p.schema, p.table)
	w.Word(uint32(p.rows()))
	w.Strings(p.key)
	writeColumns(w, p.columns)
	from := w.Size()
	w.Option(len(p.ops) > 0)
	if len(p.ops) > 0 {
		p.writeChange(w)
	}
	w.Fill(from, 1+changeWords)
}

func (p *Page) writeChange(w *wire.Writer) {
	w.Bytes(p.ops)
	w.Word(uint32(p.width))
	w.Bytes(p.positions)
	w.Bytes(p.committedAt)
	w.Option(len(p.before) > 0)
	if len(p.before) > 0 {
		before := p.beforeColumns()
		w.Bytes(present(p.rows(), before))
		writeColumns(w, before)
	}
}

func writeColumns(w *wire.Writer, columns []*faucet.Builder) {
	items := w.List(len(columns), faucet.ColumnWords)
	for _, column := range columns {
		column.WriteColumn(&items)
	}
}
