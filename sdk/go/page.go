package faucet

import (
	"faucet/internal/misuse"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Page is rows of one table.
type Page struct {
	schema  string
	table   string
	rows    int
	key     []string
	columns []Column
	// found is the column that Find gave last: the next one asked for is mostly the same or the one after it.
	found int
}

// Schema of the table; empty where the source has none.
func (p *Page) Schema() string { return p.schema }

// Table is the name of the table.
func (p *Page) Table() string { return p.table }

// Len is the number of rows.
func (p *Page) Len() int { return p.rows }

// Key has the names of the columns that identify a row, in key order; empty if the table has no key.
func (p *Page) Key() []string { return p.key }

// IsKey says whether a column is part of the key.
func (p *Page) IsKey(column string) bool { return slices.Contains(p.key, column) }

// Columns are the columns in table order.
func (p *Page) Columns() iter.Seq2[int, *Column] {
	return func(yield func(int, *Column) bool) {
		for i := range p.columns {
			if !yield(i, &p.columns[i]) {
				return
			}
		}
	}
}

// NameOf is the name of a column by its index.
func (p *Page) NameOf(index int) string { return p.columns[index].name }

// Find is the column of this name, or nil.
func (p *Page) Find(name string) *Column {
	for at := p.found; at < len(p.columns); at++ {
		if p.columns[at].name == name {
			p.found = at
			return &p.columns[at]
		}
	}
	for at := range p.found {
		if p.columns[at].name == name {
			p.found = at
			return &p.columns[at]
		}
	}
	return nil
}

// Column is the column of this name; the error names the table and the columns it has.
func (p *Page) Column(name string) (*Column, error) {
	if column := p.Find(name); column != nil {
		return column, nil
	}
	has := make([]string, len(p.columns))
	for i := range p.columns {
		has[i] = p.columns[i].name
	}
	return nil, fmt.Errorf("table '%s' has no column '%s' (it has %s)", p.table, name, strings.Join(has, ", "))
}

// Op is what a row is.
func (p *Page) Op(row int) Op {
	column := p.Find(OpColumn)
	if column == nil {
		return Plain
	}
	op := column.Text(row)
	if len(op) != 1 || !strings.Contains("cudrt", op) {
		misuse.Panicf("column '__op' holds something else than c, u, d, r and t")
	}
	return Op(op[0])
}

// Rows are the rows in order, with their numbers.
func (p *Page) Rows() iter.Seq2[int, Row] {
	const often = 1024
	return func(yield func(int, Row) bool) {
		for i := range p.rows {
			if i%often == often-1 {
				Collect()
			}
			if !yield(i, Row{p, i}) {
				return
			}
		}
	}
}

// Row is one row of a page. A getter panics if there is no such column or it is of another kind; it gives zero where there
// is no value.
type Row struct {
	page  *Page
	index int
}

func (r Row) column(name string) *Column {
	column, err := r.page.Column(name)
	if err != nil {
		misuse.Panicf("%s", err)
	}
	return column
}

// Index is the number of the row in its page.
func (r Row) Index() int { return r.index }

// Has says whether there is a value: neither null nor absent. A column that the page lacks has none.
func (r Row) Has(name string) bool {
	column := r.page.Find(name)
	return column != nil && column.Has(r.index)
}

// IsNull says whether the value is null.
func (r Row) IsNull(name string) bool {
	column := r.page.Find(name)
	return column != nil && column.IsNull(r.index)
}

// IsAbsent says whether the row says nothing about the column.
func (r Row) IsAbsent(name string) bool {
	column := r.page.Find(name)
	return column == nil || column.IsAbsent(r.index)
}

// Op is what the row is.
func (r Row) Op() Op { return r.page.Op(r.index) }

// Boolean is the value of a column.
func (r Row) Boolean(name string) bool { return r.column(name).Boolean(r.index) }

// Int64 is the value of a column.
func (r Row) Int64(name string) int64 { return r.column(name).Int64(r.index) }

// Uint64 is the value of a column.
func (r Row) Uint64(name string) uint64 { return r.column(name).Uint64(r.index) }

// Float32 is the value of a column.
func (r Row) Float32(name string) float32 { return r.column(name).Float32(r.index) }

// Float64 is the value of a column.
func (r Row) Float64(name string) float64 { return r.column(name).Float64(r.index) }

// Date is the value of a column.
func (r Row) Date(name string) Date { return r.column(name).Date(r.index) }

// Time is the value of a column.
func (r Row) Time(name string) Time { return r.column(name).Time(r.index) }

// Timestamp is the value of a column of kind timestamp.
func (r Row) Timestamp(name string) Timestamp { return r.column(name).Timestamp(r.index) }

// Timestamptz is the value of a column of kind timestamptz.
func (r Row) Timestamptz(name string) Timestamp { return r.column(name).Timestamptz(r.index) }

// Interval is the value of a column.
func (r Row) Interval(name string) Interval { return r.column(name).Interval(r.index) }

// UUID is the value of a column.
func (r Row) UUID(name string) UUID { return r.column(name).UUID(r.index) }

// Text is the value of a column of kind text, decimal, json or native.
func (r Row) Text(name string) string { return r.column(name).Text(r.index) }

// Bytes is the value of a column of kind bytes.
func (r Row) Bytes(name string) []byte { return r.column(name).Bytes(r.index) }
