// NAME hides the values of text columns.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"faucet"
	"faucet/transform"
	"fmt"
)

type config struct {
	Columns   []string `json:"columns" doc:"Names of text columns."`
	Method    string   `json:"method" enum:"redact,hash" default:"redact" doc:"redact writes a fixed text; hash writes SHA-256 of salt and value, as 64 hex digits."`
	Text      *string  `json:"text" doc:"For redact: what to write. Default: ***"`
	Salt      *string  `json:"salt" doc:"For hash: text put before the value."`
	OnMissing string   `json:"on_missing" enum:"error,ignore" default:"error" doc:"What to do if a table has no such column."`
}

// check says what the types of the fields can't.
func (c *config) check() error {
	var problems faucet.ConfigError
	if len(c.Columns) == 0 {
		problems = append(problems, faucet.Problem{Path: "columns", Message: "names no column"})
	}
	if c.Text != nil && c.Method != "redact" {
		problems = append(problems, faucet.Problem{Path: "text", Message: "belongs to method redact"})
	}
	if c.Salt != nil && c.Method != "hash" {
		problems = append(problems, faucet.Problem{Path: "salt", Message: "belongs to method hash"})
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

type mask struct {
	config
	// write appends what takes the place of a value.
	write func(to []byte, value string) []byte
}

func open(c config) (transform.Transform, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Method == "hash" {
		return &mask{c, hasher(c.Salt)}, nil
	}
	text := "***"
	if c.Text != nil {
		text = *c.Text
	}
	return &mask{c, func(to []byte, _ string) []byte { return append(to, text...) }}, nil
}

func hasher(salt *string) func(to []byte, value string) []byte {
	var salted []byte
	if salt != nil {
		salted = append(salted, *salt...)
	}
	start := len(salted)
	return func(to []byte, value string) []byte {
		salted = append(salted[:start], value...)
		sum := sha256.Sum256(salted)
		return hex.AppendEncode(to, sum[:])
	}
}

func (m *mask) Apply(page *faucet.Page) (*transform.Output, error) {
	out := transform.Pass(page)
	for _, name := range m.Columns {
		column := page.Find(name)
		if column == nil && m.OnMissing == "ignore" {
			continue
		}
		column, err := page.Column(name)
		if err != nil {
			return nil, err
		}
		if err := m.refuse(page, column); err != nil {
			return nil, err
		}
		out.Set(column.MapText(m.write))
	}
	return transform.Only(out), nil
}

// refuse says why a column can't be masked. Redacting makes distinct values equal, so rows would overwrite each other by
// their key.
func (m *mask) refuse(page *faucet.Page, column *faucet.Column) error {
	if kind := column.Kind(); kind != faucet.Text && kind != faucet.Native {
		return fmt.Errorf("column '%s' is %s: only text can be masked; cast it to text before", column.Name(), kind)
	}
	if m.Method != "hash" && page.IsKey(column.Name()) {
		return fmt.Errorf("column '%s' is part of the key of table '%s', and this method makes distinct keys equal; "+
			"use method hash for it", column.Name(), page.Table())
	}
	return nil
}

func init() {
	about := faucet.About{Name: "NAME", Version: "0.1.0", Summary: "Hides the values of text columns"}
	transform.Register(about, open)
}

func main() {}
