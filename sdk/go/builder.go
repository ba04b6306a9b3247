package faucet

import (
	"encoding/binary"
	"faucet/internal/misuse"
	"math"
)

// Builder is a new column in the making. Give it one value for each row. A value of another kind panics.
type Builder struct {
	name     string
	kind     Kind
	native   string
	rows     int
	validity bitmap
	absent   bitmap
	flags    bitmap
	offsets  []byte
	data     []byte
}

// bitmap is one bit a row, and takes no memory as long as every bit is the usual one.
type bitmap struct {
	bits  []byte
	usual bool
}

func (b *bitmap) push(row int, bit bool) {
	if len(b.bits) == 0 && bit == b.usual {
		return
	}
	b.complete(row + 1)
	if bit {
		b.bits[row/8] |= 1 << (row % 8)
	} else {
		b.bits[row/8] &^= 1 << (row % 8)
	}
}

// complete fills the bitmap with its usual bit.
func (b *bitmap) complete(rows int) {
	fill := byte(0)
	if b.usual {
		fill = 0xff
	}
	for len(b.bits) < (rows+7)/8 {
		b.bits = append(b.bits, fill)
	}
}

// NewBuilder starts a column.
func NewBuilder(name string, kind Kind) *Builder { return newBuilder(name, kind, 0, 0) }

// BuilderLike starts a column with the name, kind and native type of another, and room for as many values.
func BuilderLike(column *Column) *Builder {
	b := newBuilder(column.name, column.kind, column.rows, len(column.data))
	b.native = column.native
	return b
}

func newBuilder(name string, kind Kind, rows, bytes int) *Builder {
	b := &Builder{name: name, kind: kind, validity: bitmap{usual: true}}
	if kind.hasOffsets() {
		b.offsets = append(make([]byte, 0, 4*(rows+1)), 0, 0, 0, 0)
	}
	if kind != Boolean {
		b.data = make([]byte, 0, bytes)
	}
	return b
}

// WithNative names the type in the source as system:type. A column of kind native needs it.
func (b *Builder) WithNative(native string) *Builder {
	b.native = native
	return b
}

// Named gives the column another name.
func (b *Builder) Named(name string) *Builder {
	b.name = name
	return b
}

// Name of the column.
func (b *Builder) Name() string { return b.name }

// Kind of the column.
func (b *Builder) Kind() Kind { return b.kind }

// Len is the number of values so far.
func (b *Builder) Len() int { return b.rows }

func (b *Builder) expect(kind Kind) {
	if b.kind != kind {
		misuse.Panicf("column '%s' is %s: it takes no value of kind %s", b.name, b.kind, kind)
	}
}

func (b *Builder) endValue() {
	if b.kind.hasOffsets() {
		b.pushOffset()
	}
	b.validity.push(b.rows, true)
	b.absent.push(b.rows, false)
	b.rows++
}

func (b *Builder) pushOffset() {
	if len(b.data) > math.MaxInt32 {
		misuse.Panicf("column '%s' holds more than 2 GiB", b.name)
	}
	b.offsets = binary.LittleEndian.AppendUint32(b.offsets, uint32(len(b.data)))
}

// pushGap adds a row without a value. It has room all the same.
func (b *Builder) pushGap(absent bool) {
	switch {
	case b.kind == Boolean:
		b.flags.push(b.rows, false)
	case b.kind.hasOffsets():
		b.pushOffset()
	default:
		var zeros [16]byte
		b.data = append(b.data, zeros[:widths[b.kind]]...)
	}
	b.validity.push(b.rows, false)
	b.absent.push(b.rows, absent)
	b.rows++
}

func (b *Builder) push32(kind Kind, value uint32) {
	b.expect(kind)
	b.data = binary.LittleEndian.AppendUint32(b.data, value)
	b.endValue()
}

func (b *Builder) push64(kind Kind, value uint64) {
	b.expect(kind)
	b.data = binary.LittleEndian.AppendUint64(b.data, value)
	b.endValue()
}

// PushNull adds a null.
func (b *Builder) PushNull() { b.pushGap(false) }

// PushAbsent adds an absent value.
func (b *Builder) PushAbsent() { b.pushGap(true) }

// PushBoolean adds a value.
func (b *Builder) PushBoolean(value bool) {
	b.expect(Boolean)
	b.flags.push(b.rows, value)
	b.endValue()
}

// PushInt64 adds a value.
func (b *Builder) PushInt64(value int64) { b.push64(Int64, uint64(value)) }

// PushUint64 adds a value.
func (b *Builder) PushUint64(value uint64) { b.push64(Uint64, value) }

// PushFloat32 adds a value.
func (b *Builder) PushFloat32(value float32) { b.push32(Float32, math.Float32bits(value)) }

// PushFloat64 adds a value.
func (b *Builder) PushFloat64(value float64) { b.push64(Float64, math.Float64bits(value)) }

// PushDate adds a value.
func (b *Builder) PushDate(value Date) { b.push32(DateKind, uint32(value)) }

// PushTime adds a value.
func (b *Builder) PushTime(value Time) { b.push64(TimeKind, uint64(value)) }

// PushTimestamp adds a value to a column of kind timestamp.
func (b *Builder) PushTimestamp(value Timestamp) { b.push64(TimestampKind, uint64(value)) }

// PushTimestamptz adds a value to a column of kind timestamptz.
func (b *Builder) PushTimestamptz(value Timestamp) { b.push64(TimestamptzKind, uint64(value)) }

// PushInterval adds a value.
func (b *Builder) PushInterval(value Interval) {
	b.expect(IntervalKind)
	b.data = binary.LittleEndian.AppendUint64(b.data, uint64(value.Microseconds))
	b.data = binary.LittleEndian.AppendUint32(b.data, uint32(value.Days))
	b.data = binary.LittleEndian.AppendUint32(b.data, uint32(value.Months))
	b.endValue()
}

// PushUUID adds a value.
func (b *Builder) PushUUID(value UUID) {
	b.expect(UUIDKind)
	b.data = append(b.data, value[:]...)
	b.endValue()
}

// PushBytes adds a value.
func (b *Builder) PushBytes(value []byte) {
	b.expect(Bytes)
	b.data = append(b.data, value...)
	b.endValue()
}

// PushText adds UTF-8: a text, decimal, json or native value, as the column's kind says.
func (b *Builder) PushText(value string) {
	if !b.kind.isText() {
		b.expect(Text)
	}
	b.data = append(b.data, value...)
	b.endValue()
}

// PushFrom adds what a row of a column has: its value, null or absent. The column must be of the same kind, unless there
// is no value.
func (b *Builder) PushFrom(column *Column, row int) {
	if !column.Has(row) {
		b.pushGap(column.IsAbsent(row))
		return
	}
	b.expect(column.kind)
	switch width := widths[column.kind]; {
	case column.kind == Boolean:
		b.flags.push(b.rows, bit(column.data, row))
	case column.kind.hasOffsets():
		b.data = append(b.data, column.cut(row)...)
	default:
		b.data = append(b.data, column.data[row*width:(row+1)*width]...)
	}
	b.endValue()
}

// Column is what has been built, as a column of a page. The builder must not grow after that.
func (b *Builder) Column() *Column {
	data := b.data
	if b.kind == Boolean {
		b.flags.complete(b.rows)
		data = b.flags.bits
	}
	return &Column{b.name, b.kind, b.native, b.rows, b.validity.bits, b.absent.bits, words(b.offsets), data}
}

// Gather is a builder with the values at these rows.
func (b *Builder) Gather(rows []uint32) *Builder {
	from := b.Column()
	to := BuilderLike(from)
	for _, row := range rows {
		to.PushFrom(from, int(row))
	}
	return to
}
