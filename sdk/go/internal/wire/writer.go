package wire

import "unsafe"

// Writer writes a record of an answer, field by field, each where the canonical ABI wants it.
type Writer struct {
	base unsafe.Pointer
	size uintptr
}

// Answer starts what an export returns: a record of at most so many words.
func Answer(words int) Writer { return Writer{base: array(words * 4)} }

// Address is where the record is.
func (w *Writer) Address() uint32 { return uint32(uintptr(w.base)) }

// array is zeroed memory on a boundary of four bytes that lives as long as the answer.
func array(size int) unsafe.Pointer {
	at := unsafe.Pointer(unsafe.SliceData(make([]uint32, (size+3)/4)))
	keep(at)
	return at
}

// Byte writes a bool, an enum or a tag.
func (w *Writer) Byte(value uint8) {
	*(*uint8)(unsafe.Add(w.base, w.size)) = value
	w.size++
}

// Bool writes a bool.
func (w *Writer) Bool(value bool) {
	if value {
		w.Byte(1)
	} else {
		w.Byte(0)
	}
}

// Align goes to the next boundary of four bytes.
func (w *Writer) Align() { w.size = (w.size + 3) &^ 3 }

// Word writes four bytes.
func (w *Writer) Word(value uint32) {
	w.Align()
	*(*uint32)(unsafe.Add(w.base, w.size)) = value
	w.size += 4
}

// Skip leaves out words, as where an option is none.
func (w *Writer) Skip(words int) {
	w.Align()
	w.size += uintptr(words) * 4
}

// String writes a string. It is not copied.
func (w *Writer) String(text string) {
	w.Word(keep(unsafe.Pointer(unsafe.StringData(text))))
	w.Word(uint32(len(text)))
}

// Bytes writes bytes. They are not copied, and must not change until the answer was read.
func (w *Writer) Bytes(bytes []byte) {
	w.Word(keep(unsafe.Pointer(unsafe.SliceData(bytes))))
	w.Word(uint32(len(bytes)))
}

// Option writes whether an option has a value; if so, the value has to follow, and if not, a skip of its words.
func (w *Writer) Option(has bool) {
	w.Align()
	w.Bool(has)
	w.Align()
}

// OptionString writes a string that may be missing.
func (w *Writer) OptionString(text string, has bool) {
	w.Option(has)
	w.String(text)
}

// List writes a list of records of so many words each, and gives a writer for its items one after the other.
func (w *Writer) List(count, words int) Writer {
	items := Writer{base: array(count * words * 4)}
	w.Word(items.Address())
	w.Word(uint32(count))
	return items
}

// Strings writes a list of strings.
func (w *Writer) Strings(list []string) {
	items := w.List(len(list), 2)
	for _, text := range list {
		items.String(text)
	}
}

// Fill goes to the end of a record of so many words that started at `from`.
func (w *Writer) Fill(from uintptr, words int) { w.size = from + uintptr(words)*4 }

// Size is how far the writer has come.
func (w *Writer) Size() uintptr { return w.size }
