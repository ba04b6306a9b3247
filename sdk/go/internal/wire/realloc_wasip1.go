package wire

import "unsafe"

// Memory that WASI's adapter keeps for as long as the instance lives. It is none of the collector's, because the adapter
// asks for it in the first call of the world, which may come before the runtime has started or long after.
var (
	lasting     [256 << 10]byte
	lastingUsed uintptr
)

//go:wasmexport cabi_realloc_adapter
func reallocAdapter(old unsafe.Pointer, oldSize, align, size uint32) unsafe.Pointer {
	if old != nil {
		panic("the adapter grows no memory that it was given")
	}
	start := (lastingUsed + uintptr(align) - 1) &^ (uintptr(align) - 1)
	lastingUsed = start + uintptr(size)
	return unsafe.Pointer(&lasting[start])
}

//go:wasmexport cabi_realloc
func realloc(old unsafe.Pointer, oldSize, align, size uint32) unsafe.Pointer {
	if old != nil {
		panic("the host grows no memory that it was given")
	}
	return Allocate(size)
}
