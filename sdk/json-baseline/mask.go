// What JSON records cost in Go: redacts a column of rows that come as JSON objects in the text column "record". They share
// a page, so this has the JSON alone and none of the calls that one record each would take.
package main

import (
	"encoding/json"
	"faucet"
	"faucet/transform"
)

type config struct {
	Columns []string `json:"columns" doc:"Members to redact."`
}

type mask struct{ config }

func open(c config) (transform.Transform, error) { return &mask{c}, nil }

func (m *mask) Apply(page *faucet.Page) (*transform.Output, error) {
	records, err := page.Column("record")
	if err != nil {
		return nil, err
	}
	var failed error
	out := transform.Pass(page)
	out.Set(records.MapText(func(to []byte, record string) []byte {
		var cells map[string]any
		if err := json.Unmarshal([]byte(record), &cells); err != nil {
			failed = err
		}
		for _, name := range m.Columns {
			if cells[name] != nil {
				cells[name] = "***"
			}
		}
		written, err := json.Marshal(cells)
		if err != nil {
			failed = err
		}
		return append(to, written...)
	}))
	if failed != nil {
		return nil, failed
	}
	return transform.Only(out), nil
}

func init() {
	about := faucet.About{Name: "records", Version: "0.1.0", Summary: "Redacts members of JSON objects"}
	transform.Register(about, open)
}

func main() {}
