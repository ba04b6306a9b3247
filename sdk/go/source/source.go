// Package source is for plugins that rows come from.
package source

import (
	"faucet"
	"fmt"
)

// Bookmark is a place to resume from.
type Bookmark struct {
	// Position is where it stands: bytes whose order is the order of the stream; empty if this source has none.
	Position []byte
	// State is all that the source needs to resume.
	State []byte
}

// Abilities is what a source can do under a given configuration.
type Abilities struct {
	// Changes: its pages say what each change did, see [Page.AddChange].
	Changes bool
	// Replayable: every commit has a bookmark, and a session opened at it continues identically, whenever that is.
	Replayable bool
}

// Table is a table of the source.
type Table struct {
	// Schema is empty where the source has none.
	Schema, Name string
	// Key has the names of the key's columns in key order.
	Key []string
}

// Session is a stream of batches. After an error the host opens another one at the last bookmark whose rows are durable.
type Session interface {
	// Read puts the next rows, about maxBytes, into the batch.
	Read(batch *Batch, maxBytes int) error
}

// Confirmer is a session that wants to know what is durable.
type Confirmer interface {
	// Confirm says that everything up to the bookmark is durable: the source may let go of it. Calls may be left out.
	Confirm(bookmark Bookmark) error
}

// Closer is a session that has something to give back.
type Closer interface {
	// Close is called when the host lets go of the session.
	Close()
}

// Source is what a plugin does with a configuration of type C. What is nil is left out, but for Open.
type Source[C any] struct {
	// Check says what a configuration makes possible, without any I/O.
	Check func(config C) (Abilities, error)
	// Discover lists the tables there are.
	Discover func(config C) ([]Table, error)
	// Capture says where the source stands now: what changes after this is in a session opened at the bookmark.
	Capture func(config C) (Bookmark, error)
	// Open opens a session at a bookmark, or at the beginning (nil).
	Open func(config C, bookmark *Bookmark) (Session, error)
}

// registered is the plugin.
var registered struct {
	about    faucet.About
	captures bool
	check    func(config string) (Abilities, error)
	discover func(config string) ([]Table, error)
	capture  func(config string) (Bookmark, error)
	open     func(config string, bookmark *Bookmark) (Session, error)
}

// Register makes a source of the program: to be called once, in a function init. Configurations are put into a struct by
// [faucet.ReadConfig].
func Register[C any](about faucet.About, source Source[C]) {
	if about.Schema == "" {
		about.Schema = faucet.SchemaOf[C]()
	}
	registered.about = about
	registered.captures = source.Capture != nil && source.Discover != nil
	registered.check = configured(source.Check, nil)
	registered.discover = configured(source.Discover, fmt.Errorf("%w: this source does not list its tables", faucet.ErrUnsupported))
	registered.capture = configured(source.Capture, fmt.Errorf("%w: this source can't say where it stands", faucet.ErrUnsupported))
	registered.open = func(text string, bookmark *Bookmark) (Session, error) {
		at := func(config C) (Session, error) { return source.Open(config, bookmark) }
		return configured(at, nil)(text)
	}
}

// configured is a function of a configuration's text; what it gives is `otherwise` if the plugin lacks the function.
func configured[C, R any](function func(config C) (R, error), otherwise error) func(text string) (R, error) {
	return func(text string) (result R, err error) {
		var config C
		if err := faucet.ReadConfig(text, &config); err != nil {
			return result, err
		}
		if function == nil {
			return result, otherwise
		}
		return function(config)
	}
}
