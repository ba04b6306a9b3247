package wire

import "unsafe"

// Reader reads a record, field by field.
type Reader struct{ at unsafe.Pointer }

// ReadAt reads the record at an address.
func ReadAt(address uint32) Reader { return Reader{At(address)} }

// Word reads the next four bytes. A bool or an enum in a field of its own takes them too.
func (r *Reader) Word() uint32 {
	word := *(*uint32)(r.at)
	r.at = unsafe.Add(r.at, 4)
	return word
}

// Byte reads a field of one byte that is followed by one of four.
func (r *Reader) Byte() uint8 { return uint8(r.Word()) }

// String reads a string. It is not copied.
func (r *Reader) String() string {
	at, size := r.Word(), r.Word()
	return StringAt(at, size)
}

// Bytes reads bytes. They are not copied.
func (r *Reader) Bytes() []byte {
	at, size := r.Word(), r.Word()
	return BytesAt(at, size)
}

// OptionString reads a string that may be missing.
func (r *Reader) OptionString() (string, bool) {
	has := r.Byte() == 1
	return r.String(), has
}

// StringAt is the string at an address.
func StringAt(at, size uint32) string {
	if size == 0 {
		return ""
	}
	return unsafe.String((*byte)(At(at)), size)
}

// BytesAt are the bytes at an address.
func BytesAt(at, size uint32) []byte {
	if size == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(At(at)), size)
}

// Strings reads a list of strings.
func Strings(at, count uint32) []string {
	list := make([]string, count)
	r := ReadAt(at)
	for i := range list {
		list[i] = r.String()
	}
	return list
}
