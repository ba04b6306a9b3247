// NAME writes rows as JSON lines into the folder /out.
//
// Rows go to a file that nobody reads yet. A commit gives it its name, so that its rows appear at once or not at all; a
// session that starts removes what an earlier one left without a commit.
package main

import (
	"bufio"
	"errors"
	"faucet"
	"faucet/sink"
	"fmt"
	"os"
	"strings"
)

const (
	folder    = "/out"
	openFile  = folder + "/.NAME.open"
	writeSize = 64 << 10
)

type config struct {
	Prefix string `json:"prefix" default:"rows" doc:"How the names of the files start."`
}

type session struct {
	config
	// file is nil while there are no rows to commit.
	file  *os.File
	lines *bufio.Writer
	next  int
}

func check(c config) (sink.Abilities, error) {
	if c.Prefix == "" || strings.Contains(c.Prefix, "/") {
		return sink.Abilities{}, faucet.Wrong("prefix", "must be the start of a file name")
	}
	return sink.Abilities{Mode: sink.Append, Transactional: true, Evolves: true}, nil
}

func open(c config, _ string) (sink.Session, error) {
	if _, err := check(c); err != nil {
		return nil, err
	}
	s := &session{config: c}
	for s.exists(s.next) {
		s.next++
	}
	if err := os.Remove(openFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return s, nil
}

func (s *session) name(number int) string {
	return fmt.Sprintf("%s/%s-%06d.jsonl", folder, s.Prefix, number)
}

func (s *session) exists(number int) bool {
	_, err := os.Stat(s.name(number))
	return err == nil
}

// start opens the file, unless that was done since the last commit.
func (s *session) start() (err error) {
	if s.file == nil {
		s.file, err = os.Create(openFile)
		s.lines = bufio.NewWriterSize(s.file, writeSize)
	}
	return err
}

func (s *session) Write(pages []*faucet.Page) ([]sink.Reject, error) {
	var line []byte
	for _, page := range pages {
		for _, row := range page.Rows() {
			if err := s.start(); err != nil {
				return nil, err
			}
			line = appendLine(line[:0], page, row)
			if _, err := s.lines.Write(line); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

func appendLine(to []byte, page *faucet.Page, row faucet.Row) []byte {
	table := page.Table()
	if page.Schema() != "" {
		table = page.Schema() + "." + table
	}
	to = faucet.AppendJSONText(append(to, `{"table":`...), table)
	to = row.AppendJSON(append(to, `,"row":`...))
	return append(to, "}\n"...)
}

func (s *session) Commit(*sink.Token) error {
	if s.file == nil {
		return nil
	}
	if err := s.lines.Flush(); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	if err := s.file.Close(); err != nil {
		return err
	}
	s.file = nil
	s.next++
	return os.Rename(openFile, s.name(s.next-1))
}

// Close lets go of the file. What is in it was not committed.
func (s *session) Close() {
	if s.file != nil {
		s.file.Close()
	}
}

func init() {
	about := faucet.About{
		Name:    "NAME",
		Version: "0.1.0",
		Summary: "Writes rows as JSON lines into a folder",
		Wants:   faucet.Wants{Write: []string{folder}},
	}
	sink.Register(about, sink.Sink[config]{Check: check, Open: open})
}

func main() {}
