package transform

import (
	"faucet"
	"faucet/internal/misuse"
	"fmt"
	"maps"
	"slices"
)

// Output is what became of a page: pages to pass on, and rows that failed. A row in no page and not rejected was
// filtered out.
type Output struct {
	pages    []*PageOut
	rejected map[int]string
}

// Only is an output of these pages, in order; of none, if every row is filtered out.
func Only(pages ...*PageOut) *Output { return &Output{pages: pages} }

// Reject takes a row of the input page out of every page and reports it as failed. The reason must not hold a value of
// the row.
func (o *Output) Reject(row int, format string, arguments ...any) {
	if o.rejected == nil {
		o.rejected = map[int]string{}
	}
	if _, known := o.rejected[row]; !known {
		o.rejected[row] = fmt.Sprintf(format, arguments...)
	}
}

// PageOut is an output page. It starts as the input page; columns that are not set are passed through by the host and
// cost nothing.
type PageOut struct {
	input    *faucet.Page
	slots    []slot
	selected []uint32
	isChosen bool
	dropped  []bool
	table    *[2]string
	key      []string
	hasKey   bool
}

// slot is a column of an output page.
type slot struct {
	name string
	// origin is the input column that it is, or that it took the place of; -1 if neither.
	origin int
	// values are nil for an input column that is passed through.
	values *faucet.Builder
}

// Pass is an output page that passes everything through, to be changed from there.
func Pass(page *faucet.Page) *PageOut {
	out := &PageOut{input: page}
	for i, column := range page.Columns() {
		out.slots = append(out.slots, slot{column.Name(), i, nil})
	}
	return out
}

func (p *PageOut) find(name string) int {
	return slices.IndexFunc(p.slots, func(s slot) bool { return s.name == name })
}

func (p *PageOut) expect(name string) int {
	at := p.find(name)
	if at < 0 {
		misuse.Panicf("table '%s' has no column '%s'", p.input.Table(), name)
	}
	return at
}

func (p *PageOut) expectFree(name string) {
	if p.find(name) >= 0 {
		misuse.Panicf("table '%s' has a column '%s' already", p.input.Table(), name)
	}
}

// rows is the number of values that a new column needs.
func (p *PageOut) rows() int {
	if p.isChosen {
		return len(p.selected)
	}
	return p.input.Len()
}

// Set puts a new column in place of the one with its name, or at the end if there is none. It needs one value for each
// row of the input page, also if rows are filtered out; after Select, one for each row selected there.
func (p *PageOut) Set(column *faucet.Builder) {
	if column.Len() != p.rows() {
		misuse.Panicf("new column '%s' has %d values for %d rows", column.Name(), column.Len(), p.rows())
	}
	if at := p.find(column.Name()); at >= 0 {
		p.slots[at].values = column
		return
	}
	p.slots = append(p.slots, slot{column.Name(), -1, column})
}

// Copy adds a column of the input page once more, under another name.
func (p *PageOut) Copy(of, name string) {
	p.expectFree(name)
	for i, column := range p.input.Columns() {
		if column.Name() == of {
			p.slots = append(p.slots, slot{name, i, nil})
			return
		}
	}
	misuse.Panicf("table '%s' has no column '%s'", p.input.Table(), of)
}

// Remove removes a column. It panics if there is none of this name.
func (p *PageOut) Remove(name string) {
	at := p.expect(name)
	p.slots = slices.Delete(p.slots, at, at+1)
}

// Rename gives a column another name. A key column stays a key column. It panics if there is no such column, or one of
// the new name already.
func (p *PageOut) Rename(from, to string) {
	at := p.expect(from)
	if from == to {
		return
	}
	p.expectFree(to)
	p.slots[at].name = to
	if p.slots[at].values != nil {
		p.slots[at].values.Named(to)
	}
}

// Keep leaves out the rows of the input page for which `keep` does not say so.
func (p *PageOut) Keep(keep func(row int) bool) {
	if p.dropped == nil {
		p.dropped = make([]bool, p.input.Len())
	}
	for row := range p.dropped {
		p.dropped[row] = p.dropped[row] || !keep(row)
	}
}

// Select makes the page of these rows of the input page. They must not fall; a row may repeat, except on a page that
// carries __op. Once a page.
func (p *PageOut) Select(rows []uint32) {
	if p.isChosen {
		misuse.Panicf("the rows of an output page were selected twice")
	}
	for _, row := range rows {
		if int(row) >= p.input.Len() {
			misuse.Panicf("row %d of %d was selected", row, p.input.Len())
		}
	}
	p.selected, p.isChosen = rows, true
	for i := range p.slots {
		if p.slots[i].values != nil {
			p.slots[i].values = p.slots[i].values.Gather(rows)
		}
	}
}

// SetTable sends the page to another table; the schema may be empty.
func (p *PageOut) SetTable(schema, table string) { p.table = &[2]string{schema, table} }

// SetKey sets the key, by the names the columns have by now. Without this the input's key stays.
func (p *PageOut) SetKey(names ...string) { p.key, p.hasKey = names, true }

// left says which of the page's rows stay, by their place in it, and which rows of the input they are.
func (p *PageOut) left(rejected map[int]string) (places, inputs []uint32) {
	for place := range p.rows() {
		row := uint32(place)
		if p.isChosen {
			row = p.selected[place]
		}
		if p.dropped != nil && p.dropped[row] {
			continue
		}
		if _, failed := rejected[int(row)]; failed {
			continue
		}
		places, inputs = append(places, uint32(place)), append(inputs, row)
	}
	return places, inputs
}

// followKey names the key's columns if the host can't do so: where new values took the place of one, and it was renamed.
func (p *PageOut) followKey() {
	key, moved := slices.Clone(p.input.Key()), false
	for i, column := range p.input.Columns() {
		at := slices.Index(key, column.Name())
		now := slices.IndexFunc(p.slots, func(s slot) bool { return s.origin == i })
		if at < 0 || now < 0 {
			continue
		}
		moved = moved || p.slots[now].values != nil && p.slots[now].name != key[at]
		key[at] = p.slots[now].name
	}
	if moved {
		p.SetKey(key...)
	}
}

// sortedRejects has the rows that failed, in order.
func (o *Output) sortedRejects() []int { return slices.Sorted(maps.Keys(o.rejected)) }
