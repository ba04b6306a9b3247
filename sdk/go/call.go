package faucet

import (
	"errors"
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
	if wrong, is := cause.(misuse); is {
		return wrong
	}
	place := place()
	Log(LevelError, "panic: %v at %s\n%s", cause, place, debug.Stack())
	return fmt.Errorf("the plugin panicked at %s: %v", place, cause)
}

// place is where in the plugin's own code the panic was.
func place() string {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(4, callers[:])])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") && frame.File != "" {
			return fmt.Sprintf("%s:%d", frame.File[strings.LastIndex(frame.File, "/")+1:], frame.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
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
	w.Bool(err != nil)
	w.Align()
	if err != nil {
		WriteError(&w, err)
	} else if ok != nil {
		ok(&w)
	}
	return w.Address()
}
