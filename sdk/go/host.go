package faucet

import "fmt"

// Level is how important a message is.
type Level uint8

// The levels of messages.
const (
	// LevelDebug is for whoever debugs the plugin.
	LevelDebug Level = iota
	// LevelInfo is normal operation.
	LevelInfo
	// LevelWarn is something unexpected that did not stop the work.
	LevelWarn
	// LevelError is something that failed.
	LevelError
)

// Log writes a line to the host's log, under the plugin's name. Never log a cell value or a secret.
func Log(level Level, format string, arguments ...any) { log(level, fmt.Sprintf(format, arguments...)) }

// Count adds to a counter of the plugin. Names are [a-z0-9_]+; a plugin has at most 64 of counters and gauges.
func Count(metric string, by uint32) { count(metric, by) }

// Gauge sets a gauge of the plugin.
func Gauge(metric string, value float64) { gauge(metric, value) }

// Secrets are the names of the secrets the plugin may use. It never sees their values: where a header or the path of an
// HTTP request contains ${secret:NAME}, the host puts the value there.
func Secrets() []string { return secrets() }
