package transform

import (
	"encoding/binary"
	"faucet"
	"faucet/internal/wire"
)

// Words of records.
const (
	descriptionWords = 9 + faucet.WantsWords
	columnOutWords   = 1 + faucet.ColumnWords
	pageOutWords     = 1 + faucet.TableWords + 1 + 3 + 3 + 2
	rejectWords      = 3
	outputWords      = 4
)

// opened are the transforms the host holds, by the number it knows them by.
var (
	opened = map[uint32]Transform{}
	last   uint32
)

//go:wasmimport [export]faucet:connector/transforms@0.1.0 [resource-new]transform
func newHandle(transform uint32) uint32

//go:wasmexport faucet:connector/transforms@0.1.0#[dtor]transform
func drop(transform uint32) { delete(opened, transform) }

//go:wasmexport faucet:connector/transforms@0.1.0#describe
func describe() uint32 {
	wire.Begin()
	w := wire.Answer(descriptionWords)
	registered.about.WriteAbout(&w)
	w.Bool(registered.pure)
	w.Align()
	registered.about.WriteWants(&w)
	return w.Address()
}

//go:wasmexport faucet:connector/transforms@0.1.0#open
func open(at, size uint32) uint32 {
	config := wire.StringAt(at, size)
	wire.Begin()
	var transform Transform
	err := faucet.Guard(func() (err error) {
		transform, err = registered.open(config)
		return err
	})
	return faucet.Result(1, err, func(w *wire.Writer) {
		last++
		opened[last] = transform
		w.Word(newHandle(last))
	})
}

//go:wasmexport faucet:connector/transforms@0.1.0#[method]transform.apply
func apply(self, hasSchema, schemaAt, schemaSize, tableAt, tableSize, rows, keyAt, keyCount, columnsAt, columnCount uint32) uint32 {
	schema := ""
	if hasSchema == 1 {
		schema = wire.StringAt(schemaAt, schemaSize)
	}
	table, key := wire.StringAt(tableAt, tableSize), wire.Strings(keyAt, keyCount)
	page := faucet.PageOf(schema, table, rows, key, columnsAt, columnCount)
	wire.Begin()
	var output *Output
	err := faucet.Guard(func() (err error) {
		output, err = opened[self].Apply(page)
		return err
	})
	if output == nil {
		output = &Output{}
	}
	return faucet.Result(outputWords, err, output.write)
}

func (o *Output) write(w *wire.Writer) {
	pages := w.List(len(o.pages), pageOutWords)
	for _, page := range o.pages {
		page.write(&pages, o.rejected)
	}
	rejects := w.List(len(o.rejected), rejectWords)
	for _, row := range o.sortedRejects() {
		rejects.Word(uint32(row))
		rejects.String(o.rejected[row])
	}
}

func (p *PageOut) write(w *wire.Writer, rejected map[int]string) {
	places, inputs := p.left(rejected)
	all := len(places) == p.rows()
	w.Option(p.table != nil)
	if p.table != nil {
		faucet.WriteTable(w, p.table[0], p.table[1])
	} else {
		w.Skip(faucet.TableWords)
	}
	w.Word(uint32(len(places)))
	p.writeSelection(w, inputs, all)
	p.followKey()
	w.Option(p.hasKey)
	w.Strings(p.key)
	columns := w.List(len(p.slots), columnOutWords)
	for _, s := range p.slots {
		s.write(&columns, p.input, places, all)
	}
}

func (p *PageOut) writeSelection(w *wire.Writer, inputs []uint32, all bool) {
	needed := p.isChosen || !all
	w.Option(needed)
	if !needed {
		w.Skip(2)
		return
	}
	selection := make([]byte, 0, 4*len(inputs))
	for _, row := range inputs {
		selection = binary.LittleEndian.AppendUint32(selection, row)
	}
	w.Bytes(selection)
}

func (s *slot) write(w *wire.Writer, input *faucet.Page, places []uint32, all bool) {
	const isInput, isBuffers = 0, 1
	from := w.Size()
	if s.values != nil {
		w.Byte(isBuffers)
		w.Align()
		if !all {
			s.values = s.values.Gather(places)
		}
		s.values.WriteColumn(w)
	} else {
		w.Byte(isInput)
		w.Word(uint32(s.origin))
		w.OptionString(s.name, s.name != input.NameOf(s.origin))
	}
	w.Fill(from, columnOutWords)
}
