package wire

import "unsafe"

// Memory for what the host asks for before the Go runtime has started.
var (
	early     [256 << 10]byte
	earlyUsed uintptr
	started   bool
)

func init() { started = true }

//go:wasmexport cabi_realloc
func realloc(old unsafe.Pointer, oldSize, align, size uint32) unsafe.Pointer {
	if old != nil {
		panic("the host grows no memory that it was given")
	}
	if started {
		return Allocate(size)
	}
	start := (earlyUsed + uintptr(align) - 1) &^ (uintptr(align) - 1)
	earlyUsed = start + uintptr(size)
	return unsafe.Pointer(&early[start])
}
