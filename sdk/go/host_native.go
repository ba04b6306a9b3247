//go:build !wasip1

package faucet

import "fmt"

// In a test that runs outside of the host there is nobody to tell.

func log(Level, string)     {}
func count(string, uint32)  {}
func gauge(string, float64) {}
func secrets() []string     { return nil }

func send(*Request) (*Response, error) {
	return nil, fmt.Errorf("%w: there is no network in a native test", ErrUnsupported)
}
