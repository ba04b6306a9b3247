package source

import (
	"encoding/binary"
	"faucet"
	"faucet/internal/misuse"
	"fmt"
	"slices"
)

// Batch is pages and what follows them.
type Batch struct {
	pages      []*Page
	commits    bool
	bookmark   *Bookmark
	ended      bool
	waitMillis uint32
}

// Page is a page on its way out of a source.
type Page struct {
	schema, table string
	key           []string
	columns       []*faucet.Builder
	before        map[string]*faucet.Builder
	ops           []byte
	positions     []byte
	width         int
	committedAt   []byte
}

// AddPage adds an empty page; the schema may be empty.
func (b *Batch) AddPage(schema, table string) *Page {
	page := &Page{schema: schema, table: table}
	b.pages = append(b.pages, page)
	return page
}

// Commit says that a transaction ends here: a session opened at the bookmark continues exactly after this batch. Without
// it the transaction goes on, and nothing may be committed yet.
func (b *Batch) Commit(bookmark Bookmark) { b.commits, b.bookmark = true, &bookmark }

// CommitWithoutBookmark says that a transaction ends here, at no place to resume from.
func (b *Batch) CommitWithoutBookmark() { b.commits = true }

// Wait says that there is nothing more for this long: the host waits before it reads again.
func (b *Batch) Wait(milliseconds uint32) { b.waitMillis = milliseconds }

// End says that the source has ended. Not together with pages: they come before, in a batch of their own.
func (b *Batch) End() { b.ended = true }

// AddColumn adds a column, to be filled by pushing one value a row.
func (p *Page) AddColumn(name string, kind faucet.Kind) *faucet.Builder {
	column := faucet.NewBuilder(name, kind)
	p.columns = append(p.columns, column)
	return column
}

// SetKey names the columns that identify a row, in key order.
func (p *Page) SetKey(columns ...string) { p.key = columns }

// AddChange says what the next row did; for sources of changes, once a row. Positions are bytes whose order is the order
// of the stream, of one width on a page; committedAt is in microseconds since 1970-01-01 UTC. For a deleted row, push its
// key to the before-image, and absent to the columns.
func (p *Page) AddChange(op faucet.Op, position []byte, committedAt faucet.Timestamp) {
	if len(p.ops) == 0 {
		p.width = len(position)
	}
	if len(position) != p.width {
		misuse.Panicf("the positions of table '%s' have %d and %d bytes: all of a page need one width", p.table, p.width, len(position))
	}
	p.ops = append(p.ops, byte(op))
	p.positions = append(p.positions, position...)
	p.committedAt = binary.LittleEndian.AppendUint64(p.committedAt, uint64(committedAt))
}

// Before is the before-image of a column of the page: push one value a row, absent where the before-image does not say
// it.
func (p *Page) Before(column string) *faucet.Builder {
	if known := p.before[column]; known != nil {
		return known
	}
	at := slices.IndexFunc(p.columns, func(c *faucet.Builder) bool { return c.Name() == column })
	if at < 0 {
		misuse.Panicf("the page of table '%s' has no column '%s'", p.table, column)
	}
	if p.before == nil {
		p.before = map[string]*faucet.Builder{}
	}
	of := p.columns[at].Column()
	p.before[column] = faucet.NewBuilder(column, of.Kind()).WithNative(of.Native())
	return p.before[column]
}

func (p *Page) rows() int {
	if len(p.columns) == 0 {
		return 0
	}
	return p.columns[0].Len()
}

// check says what is wrong with a batch: columns of different lengths, changes that are missing.
func (b *Batch) check() error {
	if b.ended && len(b.pages) > 0 {
		return fmt.Errorf("the source ended together with pages")
	}
	for _, page := range b.pages {
		if err := page.check(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Page) check() error {
	rows := p.rows()
	if len(p.ops) > 0 && len(p.ops) != rows {
		return fmt.Errorf("table '%s' has %d changes for %d rows", p.table, len(p.ops), rows)
	}
	if len(p.before) > 0 && len(p.ops) == 0 && rows > 0 {
		return fmt.Errorf("table '%s' has before-images, and does not say what its rows did", p.table)
	}
	for _, column := range p.columns {
		for _, c := range []*faucet.Builder{column, p.before[column.Name()]} {
			if c != nil && c.Len() != rows {
				return fmt.Errorf("column '%s' of table '%s' has %d values for %d rows", c.Name(), p.table, c.Len(), rows)
			}
		}
	}
	return nil
}

// beforeColumns has a before-image for each column. One that says nothing of a column has it absent.
func (p *Page) beforeColumns() []*faucet.Builder {
	columns := make([]*faucet.Builder, len(p.columns))
	for i, column := range p.columns {
		columns[i] = p.before[column.Name()]
		if columns[i] != nil {
			continue
		}
		of := column.Column()
		columns[i] = faucet.NewBuilder(of.Name(), of.Kind()).WithNative(of.Native())
		for range p.rows() {
			columns[i].PushAbsent()
		}
	}
	return columns
}

// present has a bit for each row that has a before-image: where that says something of any column.
func present(rows int, before []*faucet.Builder) []byte {
	bits := make([]byte, (rows+7)/8)
	for _, builder := range before {
		column := builder.Column()
		for row := range rows {
			if !column.IsAbsent(row) {
				bits[row/8] |= 1 << (row % 8)
			}
		}
	}
	return bits
}
