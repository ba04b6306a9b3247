package faucet

import (
	"errors"
	"fmt"
	"strings"
)

// Problem is one thing wrong with a configuration.
type Problem struct {
	// Path is dotted from the start of the configuration (columns.email.method, fields[0]); empty for all of it.
	Path string
	// Message is what is wrong, one sentence.
	Message string
}

// ConfigError says that the configuration can't be used. It holds everything that is wrong, so that a user can mend it at
// once.
type ConfigError []Problem

func (e ConfigError) Error() string {
	lines := make([]string, len(e))
	for i, problem := range e {
		lines[i] = problem.Message
		if problem.Path != "" {
			lines[i] = problem.Path + ": " + problem.Message
		}
	}
	return strings.Join(lines, "; ")
}

// Wrong is an error about one setting: [ConfigError] with one problem.
func Wrong(path, format string, arguments ...any) error {
	return ConfigError{{path, fmt.Sprintf(format, arguments...)}}
}

// ErrUnavailable is for errors that say that the other end can't answer now: wrap it, and the host tries again later, on
// a fresh instance. Any other error is final.
//
//	return fmt.Errorf("%w: the server closed the connection", faucet.ErrUnavailable)
var ErrUnavailable = errors.New("unavailable")

// ErrUnsupported is for errors that say that the plugin does not offer something: wrap it.
var ErrUnsupported = errors.New("unsupported")
