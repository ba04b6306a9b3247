package faucet

import (
	"faucet/internal/wire"
	"unsafe"
)

// words sees bytes as numbers of four.
func words(bytes []byte) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/4)
}

// Words that records take as the component model lays them out.
const (
	ColumnWords = 14
	TableWords  = 5
	PageWords   = TableWords + 5
	WantsWords  = 9
)

// ReadPage reads a page that the host sent. Only for the SDK.
func ReadPage(r *wire.Reader) *Page {
	schema, _ := r.OptionString()
	page := &Page{schema: schema, table: r.String(), rows: int(r.Word())}
	keyAt, keyCount := r.Word(), r.Word()
	page.key = wire.Strings(keyAt, keyCount)
	at, count := r.Word(), r.Word()
	page.columns = readColumns(at, count, page.rows)
	return page
}

// PageOf reads a page from the arguments of a call. Only for the SDK.
func PageOf(schema, table string, rows uint32, key []string, columnsAt, columnCount uint32) *Page {
	columns := readColumns(columnsAt, columnCount, int(rows))
	return &Page{schema: schema, table: table, rows: int(rows), key: key, columns: columns}
}

func readColumns(at, count uint32, rows int) []Column {
	columns := make([]Column, count)
	r := wire.ReadAt(at)
	for i := range columns {
		c := Column{name: r.String(), kind: Kind(r.Byte()), rows: rows}
		c.native, _ = r.OptionString()
		c.validity, c.absent, c.offsets, c.data = r.Bytes(), r.Bytes(), words(r.Bytes()), r.Bytes()
		columns[i] = c
	}
	return columns
}

// WriteColumn writes a new column. Only for the SDK.
func (b *Builder) WriteColumn(w *wire.Writer) {
	data := b.data
	if b.kind == Boolean {
		b.flags.complete(b.rows)
		data = b.flags.bits
	}
	w.String(b.name)
	w.Byte(byte(b.kind))
	w.OptionString(b.native, b.native != "")
	w.Bytes(b.validity.bits)
	w.Bytes(b.absent.bits)
	w.Bytes(b.offsets)
	w.Bytes(data)
}

// WriteTable writes which table a page belongs to. Only for the SDK.
func WriteTable(w *wire.Writer, schema, table string) {
	w.OptionString(schema, schema != "")
	w.String(table)
}

// WriteAbout writes what a plugin says about itself, but for what it wants. Only for the SDK.
func (a *About) WriteAbout(w *wire.Writer) {
	w.String(a.Name)
	w.String(a.Version)
	w.String(a.Summary)
	w.String(a.Schema)
}

// WriteWants writes what a plugin asks for. Only for the SDK.
func (a *About) WriteWants(w *wire.Writer) {
	wants := &a.Wants
	w.Strings(wants.HTTP)
	dirs := w.List(len(wants.Read)+len(wants.Write), 3)
	for _, dir := range wants.Read {
		dirs.String(dir)
		dirs.Word(0)
	}
	for _, dir := range wants.Write {
		dirs.String(dir)
		dirs.Word(1)
	}
	w.Strings(wants.Env)
	w.Strings(wants.Secrets)
	w.Bool(wants.Clock)
	w.Bool(wants.Random)
}
