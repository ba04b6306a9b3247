// Package sink is for plugins that rows go to.
package sink

import (
	"faucet"
	"fmt"
)

// Mode is how rows meet those that are there.
type Mode uint8

const (
	// Append adds every row.
	Append Mode = iota
	// Upsert replaces the row with the same key; rows marked as deletes remove it.
	Upsert
	// Overwrite replaces everything by the rows of this run, at once, at Finish.
	Overwrite
)

// Abilities is what a sink can do under a given configuration.
type Abilities struct {
	// Mode is how this configuration writes.
	Mode Mode
	// Modes are those that some configuration offers; empty = only Mode.
	Modes []Mode
	// Key has the configured key's columns.
	Key []string
	// DeleteMarker is the column whose values mark deletes; empty without one.
	DeleteMarker string
	// Transactional: a commit makes all its rows visible at once or none.
	Transactional bool
	// Evolves: it takes columns it has not seen before.
	Evolves bool
	// Rejects: Write may reject single rows and take the others.
	Rejects bool
	// Parallel: several of its sessions may write at once.
	Parallel bool
}

// Token is what a commit stores together with its rows, under a scope.
type Token struct{ Scope, Token string }

// Session is a destination. After an error the host opens another one and writes again whatever was not committed: by
// then it must be gone, or be absorbed.
type Session interface {
	// Write writes rows, whole pages or none, and gives back those that can't be written.
	Write(pages []*faucet.Page) ([]Reject, error)
	// Commit makes everything written durable, and with it the token if there is one.
	Commit(token *Token) error
}

// TokenSession is a session whose commits store tokens.
type TokenSession interface {
	Session
	// LastToken is the token of the last commit under a scope, as the destination has it; false only if there was none.
	LastToken(scope string) (string, bool, error)
}

// Finisher is a session that has something to do when the source has ended.
type Finisher interface {
	// Finish does what had to wait for the end, durably.
	Finish() error
}

// Closer is a session that has something to give back.
type Closer interface {
	// Close is called when the host lets go of the session.
	Close()
}

// Reject is a row that can't be written. The reason must not hold a value of it.
type Reject struct {
	Page, Row int
	Reason    string
}

// Sink is what a plugin does with a configuration of type C.
type Sink[C any] struct {
	// Check says what a configuration makes possible, without any I/O.
	Check func(config C) (Abilities, error)
	// Open opens the destination. `pipeline` is a name to show there.
	Open func(config C, pipeline string) (Session, error)
	// Tokens says that sessions are a [TokenSession].
	Tokens bool
}

// registered is the plugin.
var registered struct {
	about  faucet.About
	tokens bool
	check  func(config string) (Abilities, error)
	open   func(config, pipeline string) (Session, error)
}

// Register makes a sink of the program: to be called once, in a function init. Configurations are put into a struct by
// [faucet.ReadConfig].
func Register[C any](about faucet.About, sink Sink[C]) {
	if about.Schema == "" {
		about.Schema = faucet.SchemaOf[C]()
	}
	registered.about, registered.tokens = about, sink.Tokens
	registered.check = func(text string) (abilities Abilities, err error) {
		var config C
		if err := faucet.ReadConfig(text, &config); err != nil || sink.Check == nil {
			return abilities, err
		}
		return sink.Check(config)
	}
	registered.open = func(text, pipeline string) (Session, error) {
		var config C
		if err := faucet.ReadConfig(text, &config); err != nil {
			return nil, err
		}
		return sink.Open(config, pipeline)
	}
}

func lastToken(session Session, scope string) (string, bool, error) {
	if keeper, is := session.(TokenSession); is {
		return keeper.LastToken(scope)
	}
	return "", false, fmt.Errorf("%w: this sink stores no tokens", faucet.ErrUnsupported)
}

// number counts a rejected row over all pages of a call.
func (r Reject) number(pages []*faucet.Page) (uint32, error) {
	if r.Page < 0 || r.Page >= len(pages) || r.Row < 0 || r.Row >= pages[r.Page].Len() {
		return 0, fmt.Errorf("row %d of page %d was rejected, and there is none", r.Row, r.Page)
	}
	row := r.Row
	for _, before := range pages[:r.Page] {
		row += before.Len()
	}
	return uint32(row), nil
}
