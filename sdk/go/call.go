package faucet

import (
	"errors"
	"faucet/internal/misuse"
	"faucet/internal/wire"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Guard runs what a plugin does in a call, and turns a panic into an error. Only for the SDK.
func Guard(call func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = panicked(cause)
		}
	}()
	return call()
}

// panicked says what a panic was about. The stack goes to the log, because an error is one sentence.
func panicked(cause any) error {
	place := place()
	Log(LevelError, "panic at %s: %v\n%s", place, cause, stack())
	if wrong, is := cause.(misuse.Error); is {
		return wrong
	}
	return fmt.Errorf("the plugin panicked at %s: %v", place, cause)
}

// stack is what led to a panic, without the SDK's part of handling it.
func stack() string {
	_, stack, _ := strings.Cut(string(debug.Stack()), "\npanic(")
	_, stack, _ = strings.Cut(stack, "\n")
	_, stack, _ = strings.Cut(stack, "\n")
	stack, _, _ = strings.Cut(stack, "\nfaucet.Guard(")
	return stack
}

// place is where in the plugin's own code the panic was.
func place() string {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(4, callers[:])])
	for {
		frame, more := frames.Next()
		if isOfPlugin(frame.Function) {
			return fmt.Sprintf("%s:%d", frame.File[strings.LastIndex(frame.File, "/")+1:], frame.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

// isOfPlugin says whether a function is neither Go's own nor the SDK's.
func isOfPlugin(function string) bool {
	for _, prefix := range []string{"runtime.", "runtime/", "faucet.", "faucet/"} {
		if strings.HasPrefix(function, prefix) {
			return false
		}
	}
	return true
}

// ErrorWords are the words of an error as the component model lays it out.
const ErrorWords = 3

// WriteError writes why a call failed. Only for the SDK.
func WriteError(w *wire.Writer, err error) {
	const invalidConfig, unavailable, unsupported, failed = 0, 1, 2, 3
	var config ConfigError
	tag := uint8(failed)
	switch {
	case errors.As(err, &config):
		w.Byte(invalidConfig)
		problems := w.List(len(config), 4)
		for _, problem := range config {
			problems.String(problem.Path)
			problems.String(problem.Message)
		}
		return
	case errors.Is(err, ErrUnavailable):
		tag = unavailable
	case errors.Is(err, ErrUnsupported):
		tag = unsupported
	}
	w.Byte(tag)
	w.String(sentence(err))
}

// sentence is what an error says, without the sort it is of: that is in the tag.
func sentence(err error) string {
	message := err.Error()
	for _, sort := range []error{ErrUnavailable, ErrUnsupported} {
		message = strings.TrimPrefix(message, sort.Error()+": ")
	}
	return message
}

// Result writes the answer of a call: what `ok` writes, or why the call failed. Only for the SDK.
func Result(words int, err error, ok func(w *wire.Writer)) uint32 {
	w := wire.Answer(1 + max(words, ErrorWords))
	if err == nil && ok != nil {
		w.Option(false)
		err = Guard(func() error { ok(&w); return nil })
	}
	if err == nil {
		return w.Address()
	}
	w = wire.Answer(1 + ErrorWords)
	w.Option(true)
	WriteError(&w, err)
	return w.Address()
}
