// NAME counts from one number to another.
package main

import (
	"encoding/binary"
	"encoding/json"
	"faucet"
	"faucet/source"
	"fmt"
)

type config struct {
	Start    uint32 `json:"start" default:"0" doc:"The first number."`
	End      uint32 `json:"end" doc:"The number after the last one."`
	PageRows uint32 `json:"page_rows" default:"1000" doc:"Most rows of a page."`
}

// state is what a bookmark holds.
type state struct {
	Next uint64 `json:"next"`
}

type counter struct {
	state
	config
}

func check(c config) (source.Abilities, error) {
	if c.PageRows == 0 {
		return source.Abilities{}, faucet.Wrong("page_rows", "must be at least 1")
	}
	return source.Abilities{Replayable: true}, nil
}

func discover(config) ([]source.Table, error) {
	return []source.Table{{Name: "numbers", Key: []string{"n"}}}, nil
}

func capture(c config) (source.Bookmark, error) { return bookmark(uint64(c.Start)) }

// bookmark has a position whose bytes sort like the numbers do.
func bookmark(next uint64) (source.Bookmark, error) {
	saved, err := json.Marshal(state{next})
	return source.Bookmark{Position: binary.BigEndian.AppendUint64(nil, next), State: saved}, err
}

func open(c config, from *source.Bookmark) (source.Session, error) {
	if _, err := check(c); err != nil {
		return nil, err
	}
	session := &counter{state{uint64(c.Start)}, c}
	if from != nil {
		if err := json.Unmarshal(from.State, &session.state); err != nil {
			return nil, fmt.Errorf("the bookmark can't be read: %w", err)
		}
	}
	return session, nil
}

func (c *counter) Read(batch *source.Batch, maxBytes int) error {
	end := uint64(c.End)
	if c.Next >= end {
		batch.End()
		return nil
	}
	page := batch.AddPage("", "numbers")
	page.SetKey("n")
	numbers := page.AddColumn("n", faucet.Int64)
	for range min(int(c.PageRows), maxBytes/8+1) {
		if c.Next >= end {
			break
		}
		numbers.PushInt64(int64(c.Next))
		c.Next++
	}
	after, err := bookmark(c.Next)
	batch.Commit(after)
	return err
}

func init() {
	about := faucet.About{Name: "NAME", Version: "0.1.0", Summary: "Counts"}
	source.Register(about, source.Source[config]{Check: check, Discover: discover, Capture: capture, Open: open})
}

func main() {}
