package faucet

import (
	"errors"
	"faucet/internal/wire"
	"fmt"
	"math"
	"runtime"
	"unsafe"
)

//go:wasmimport faucet:http/client@0.1.0 send
func hostSend(method unsafe.Pointer, methodSize uint32, url unsafe.Pointer, urlSize uint32, headers unsafe.Pointer, headerCount uint32, body unsafe.Pointer, bodySize uint32, hasTimeout, timeout uint32, answer unsafe.Pointer)

// answerWords are the words of a result with a response or an error.
const answerWords = 6

func send(r *Request) (*Response, error) {
	method, methodSize := lend(r.Method)
	if r.Method == "" {
		method, methodSize = lend("GET")
	}
	url, urlSize := lend(r.URL)
	headers := make([]uint32, 0, 4*len(r.Header))
	for name, value := range r.Header {
		for _, text := range []string{name, value} {
			at, size := lend(text)
			headers = append(headers, uint32(uintptr(at)), size)
		}
	}
	var hasTimeout, timeout uint32
	if r.Timeout > 0 {
		hasTimeout, timeout = 1, uint32(min(max(r.Timeout.Milliseconds(), 1), math.MaxUint32))
	}
	body := unsafe.Pointer(unsafe.SliceData(r.Body))
	answer := new([answerWords]uint32)
	hostSend(method, methodSize, url, urlSize, unsafe.Pointer(unsafe.SliceData(headers)), uint32(len(r.Header)),
		body, uint32(len(r.Body)), hasTimeout, timeout, unsafe.Pointer(answer))
	runtime.KeepAlive(r)
	return answered(wire.ReadAt(uint32(uintptr(unsafe.Pointer(answer)))))
}

func answered(from wire.Reader) (*Response, error) {
	const isResponse, isUnavailable = 0, 0
	if from.Byte() != isResponse {
		kind, message := from.Byte(), from.String()
		if kind == isUnavailable {
			return nil, fmt.Errorf("%w: %s", ErrUnavailable, message)
		}
		return nil, errors.New(message)
	}
	response := &Response{Status: int(uint16(from.Word()))}
	at, count := from.Word(), from.Word()
	response.Header = make(map[string]string, count)
	list := wire.Strings(at, 2*count)
	for i := 0; i < len(list); i += 2 {
		name, value := list[i], list[i+1]
		if before, is := response.Header[name]; is {
			value = before + ", " + value
		}
		response.Header[name] = value
	}
	response.Body = from.Bytes()
	return response, nil
}
