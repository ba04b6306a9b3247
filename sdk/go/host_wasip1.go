package faucet

import (
	"faucet/internal/wire"
	"unsafe"
)

//go:wasmimport faucet:connector/host@0.1.0 log
func hostLog(level uint32, at unsafe.Pointer, size uint32)

//go:wasmimport faucet:connector/host@0.1.0 count
func hostCount(at unsafe.Pointer, size, by uint32)

//go:wasmimport faucet:connector/host@0.1.0 gauge
func hostGauge(at unsafe.Pointer, size uint32, value float64)

//go:wasmimport faucet:connector/host@0.1.0 secrets
func hostSecrets(list unsafe.Pointer)

func lend(text string) (unsafe.Pointer, uint32) {
	return unsafe.Pointer(unsafe.StringData(text)), uint32(len(text))
}

func log(level Level, message string) {
	at, size := lend(message)
	hostLog(uint32(level), at, size)
}

func count(metric string, by uint32) {
	at, size := lend(metric)
	hostCount(at, size, by)
}

func gauge(metric string, value float64) {
	at, size := lend(metric)
	hostGauge(at, size, value)
}

func secrets() []string {
	list := new([2]uint32)
	hostSecrets(unsafe.Pointer(list))
	return wire.Strings(list[0], list[1])
}
