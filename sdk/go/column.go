package faucet

import (
	"faucet/internal/misuse"
	"iter"
	"unsafe"
)

// Column is a column of a page. Rows are counted from 0; a getter panics for a column of another kind, and gives zero
// where there is no value.
type Column struct {
	name     string
	kind     Kind
	native   string
	rows     int
	validity []byte
	absent   []byte
	offsets  []int32
	data     []byte
}

// Name of the column.
func (c *Column) Name() string { return c.name }

// Kind says what the values are.
func (c *Column) Kind() Kind { return c.kind }

// Native is the type in the source as system:type (postgres:citext); empty if it is not known.
func (c *Column) Native() string { return c.native }

// Len is the number of rows.
func (c *Column) Len() int { return c.rows }

func bit(bits []byte, row int) bool { return bits[row/8]>>(row%8)&1 == 1 }

// Has says whether there is a value: neither null nor absent.
func (c *Column) Has(row int) bool { return len(c.validity) == 0 || bit(c.validity, row) }

// IsAbsent says whether the row says nothing about this column.
func (c *Column) IsAbsent(row int) bool { return len(c.absent) > 0 && bit(c.absent, row) }

// IsNull says whether the value is null.
func (c *Column) IsNull(row int) bool { return !c.Has(row) && !c.IsAbsent(row) }

// HasGaps says whether any row may have no value.
func (c *Column) HasGaps() bool { return len(c.validity) > 0 }

func (c *Column) expect(kind Kind) {
	if c.kind != kind {
		misuse.Panicf("column '%s' is %s, and %s is needed", c.name, c.kind, kind)
	}
}

// fixed is the value of a row as it lies in the buffer.
func fixed[T any](c *Column, kind Kind, row int) (value T) {
	c.expect(kind)
	if c.Has(row) {
		value = slice[T](c)[row]
	}
	return value
}

// slice is all values as they lie in the buffer.
func slice[T any](c *Column) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(c.data))), c.rows)
}

// Boolean is the value of a row.
func (c *Column) Boolean(row int) bool {
	c.expect(Boolean)
	return c.Has(row) && bit(c.data, row)
}

// Int64 is the value of a row.
func (c *Column) Int64(row int) int64 { return fixed[int64](c, Int64, row) }

// Uint64 is the value of a row.
func (c *Column) Uint64(row int) uint64 { return fixed[uint64](c, Uint64, row) }

// Float32 is the value of a row.
func (c *Column) Float32(row int) float32 { return fixed[float32](c, Float32, row) }

// Float64 is the value of a row.
func (c *Column) Float64(row int) float64 { return fixed[float64](c, Float64, row) }

// Date is the value of a row.
func (c *Column) Date(row int) Date { return fixed[Date](c, DateKind, row) }

// Time is the value of a row.
func (c *Column) Time(row int) Time { return fixed[Time](c, TimeKind, row) }

// Timestamp is the value of a row of kind timestamp.
func (c *Column) Timestamp(row int) Timestamp { return fixed[Timestamp](c, TimestampKind, row) }

// Timestamptz is the value of a row of kind timestamptz.
func (c *Column) Timestamptz(row int) Timestamp { return fixed[Timestamp](c, TimestamptzKind, row) }

// Interval is the value of a row.
func (c *Column) Interval(row int) Interval { return fixed[Interval](c, IntervalKind, row) }

// UUID is the value of a row.
func (c *Column) UUID(row int) UUID { return fixed[UUID](c, UUIDKind, row) }

// Text is the value of a row of kind text, decimal, json or native.
func (c *Column) Text(row int) string {
	if !c.kind.isText() {
		c.expect(Text)
	}
	cut := c.cut(row)
	return unsafe.String(unsafe.SliceData(cut), len(cut))
}

// Bytes is the value of a row of kind bytes.
func (c *Column) Bytes(row int) []byte {
	c.expect(Bytes)
	return c.cut(row)
}

func (c *Column) cut(row int) []byte {
	if !c.Has(row) {
		return nil
	}
	return c.data[c.offsets[row]:c.offsets[row+1]:c.offsets[row+1]]
}

// Int64s are the values of all rows: anything where there is none. Not to be written to, as all slices below.
func (c *Column) Int64s() []int64 { c.expect(Int64); return slice[int64](c) }

// Uint64s are the values of all rows.
func (c *Column) Uint64s() []uint64 { c.expect(Uint64); return slice[uint64](c) }

// Float32s are the values of all rows.
func (c *Column) Float32s() []float32 { c.expect(Float32); return slice[float32](c) }

// Float64s are the values of all rows.
func (c *Column) Float64s() []float64 { c.expect(Float64); return slice[float64](c) }

// Dates are the values of all rows.
func (c *Column) Dates() []Date { c.expect(DateKind); return slice[Date](c) }

// Times are the values of all rows.
func (c *Column) Times() []Time { c.expect(TimeKind); return slice[Time](c) }

// Timestamps are the values of all rows, of kind timestamp or timestamptz.
func (c *Column) Timestamps() []Timestamp {
	if c.kind != TimestamptzKind {
		c.expect(TimestampKind)
	}
	return slice[Timestamp](c)
}

// Intervals are the values of all rows.
func (c *Column) Intervals() []Interval { c.expect(IntervalKind); return slice[Interval](c) }

// UUIDs are the values of all rows.
func (c *Column) UUIDs() []UUID { c.expect(UUIDKind); return slice[UUID](c) }

// Texts are the rows that have a value, of kind text, decimal, json or native, with their values.
func (c *Column) Texts() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for row := range c.rows {
			if c.Has(row) && !yield(row, c.Text(row)) {
				return
			}
		}
	}
}

// MapText is a new text column under the same name: `write` appends the new text of each value of this text or native
// column to what it is given. Rows without a value stay as they are.
func (c *Column) MapText(write func(to []byte, value string) []byte) *Builder {
	if c.kind != Native {
		c.expect(Text)
	}
	out := newBuilder(c.name, Text, c.rows, len(c.data))
	for row := range c.rows {
		if c.Has(row) {
			out.data = write(out.data, c.Text(row))
			out.endValue()
		} else {
			out.pushGap(c.IsAbsent(row))
		}
	}
	return out
}
