// Package misuse is for calls of the SDK that can't be right, whatever the data.
package misuse

import "fmt"

// Error is what such a call panics with. It reaches the host as a failure with this message.
type Error string

func (e Error) Error() string { return string(e) }

// Panicf panics with a message.
func Panicf(format string, arguments ...any) { panic(Error(fmt.Sprintf(format, arguments...))) }
