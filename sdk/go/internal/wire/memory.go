// Package wire lays records out as the component model's canonical ABI wants them, and reads them.
//
// It is written by hand and not generated, because memory needs care here. While the host puts arguments into the
// component's memory (cabi_realloc), the component must not call anything of the host, and Go's collector does: it looks
// at the clock. So the collector never runs by itself. The component collects at the start of a call, when enough has
// been allocated since the last time, and on request while a call goes on.
package wire

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"unsafe"
)

// Arguments that the host has put into memory and the running call has not taken over yet. Nothing else refers to them.
var arguments []unsafe.Pointer

// What the last answer points to. The host reads it after the call has returned.
var answer []unsafe.Pointer

// Heap below which collecting is not worth its time.
const floor = 16 << 20

// Heap after the last collection, and the figure it is compared with.
var (
	live   uint64
	inHeap = []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
)

func init() {
	debug.SetGCPercent(-1)
	// The first reading makes the table of all metrics.
	metrics.Read(inHeap)
}

// Collect frees what is not referred to any more, if the heap has doubled since the last time.
func Collect() {
	metrics.Read(inHeap)
	if inHeap[0].Value.Uint64() < max(2*live, floor) {
		return
	}
	runtime.GC()
	metrics.Read(inHeap)
	live = inHeap[0].Value.Uint64()
}

// Allocate gives memory to the host for arguments. What is given stays alive until Begin.
func Allocate(size uint32) unsafe.Pointer {
	if size == 0 {
		return unsafe.Pointer(&empty)
	}
	at := unsafe.Pointer(unsafe.SliceData(make([]byte, size)))
	arguments = append(arguments, at)
	return at
}

var empty uint64

// Begin starts a call whose arguments have been read into values: those keep alive what they need.
func Begin() {
	clear(answer)
	answer = answer[:0]
	clear(arguments)
	arguments = arguments[:0]
	Collect()
}

// At is a pointer into the component's memory.
func At(address uint32) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), address) }

// keep makes sure that what an answer points to is there when the host reads it.
func keep(at unsafe.Pointer) uint32 {
	answer = append(answer, at)
	return uint32(uintptr(at))
}
