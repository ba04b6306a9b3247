// Package faucet has what plugins for faucet written in Go are made of: pages of rows, builders of new columns, errors,
// configuration, log and metrics.
//
// A plugin imports one of the packages faucet/transform, faucet/source and faucet/sink as well, and registers itself
// there in a function init. A whole one:
//
//	package main
//
//	import (
//		"faucet"
//		"faucet/transform"
//		"strings"
//	)
//
//	type config struct {
//		Columns []string `json:"columns" doc:"Names of text columns."`
//	}
//
//	type upper struct{ config }
//
//	func (u *upper) Apply(page *faucet.Page) (*transform.Output, error) {
//		out := transform.Pass(page)
//		for _, name := range u.Columns {
//			column, err := page.Column(name)
//			if err != nil {
//				return nil, err
//			}
//			out.Set(column.MapText(func(to []byte, value string) []byte { return append(to, strings.ToUpper(value)...) }))
//		}
//		return transform.Only(out), nil
//	}
//
//	func init() {
//		about := faucet.About{Name: "upper", Version: "0.1.0", Summary: "Turns text columns to upper case"}
//		transform.Register(about, func(c config) (transform.Transform, error) { return &upper{c}, nil })
//	}
//
//	func main() {}
//
// What to know:
//   - A page is one table's rows, in columns. Columns that a transform does not touch never leave the host.
//   - Text and bytes that a page hands out point into its buffers, and keep the whole buffer alive: clone what you store.
//   - Null is not absent. An absent value is one the row says nothing about: a sink leaves such a column alone.
//   - Errors reach the user. So do panics, with their place in the source; the stack goes to the host's log. Never put a
//     cell value or a secret into either.
//   - Go's collector runs between calls only, and within one when rows are ranged over with [Page.Rows]. A call that
//     leaves behind much more garbage than its page is large calls [Collect].
package faucet

import "faucet/internal/wire"

// Collect frees memory that is not in use any more, if much has been allocated since the last time.
func Collect() { wire.Collect() }

// About is what a plugin says about itself.
type About struct {
	// Name is short: [a-z0-9_-]+.
	Name string
	// Version of the plugin.
	Version string
	// Summary is one sentence.
	Summary string
	// Schema is the JSON Schema (2020-12) of the configuration. Empty = made from its Go type by [SchemaOf].
	Schema string
	// Wants is what the plugin asks for beyond its pages.
	Wants Wants
}

// Wants is what a plugin asks for beyond its pages. It gets what it asks for here, the configuration grants, and the
// operator's ceiling allows: all three.
type Wants struct {
	// HTTP are hosts it sends requests to, as host:port (*.example.com:443); * = those the configuration grants.
	HTTP []string
	// Read are folders it reads, as it opens them: /reference.
	Read []string
	// Write are folders it writes.
	Write []string
	// Env are environment variables it reads.
	Env []string
	// Secrets are names of secrets it puts into requests; * = those the configuration grants.
	Secrets []string
	// Clock is the real time, instead of a clock that stands still.
	Clock bool
	// Random is real randomness, instead of a fixed sequence.
	Random bool
}
