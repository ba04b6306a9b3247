// Package transform is for plugins that change rows between source and sink.
package transform

import "faucet"

// Transform is a transform with its configuration.
type Transform interface {
	// Apply transforms one page. State kept between calls must be a cache, never a result: a page may be tried again on a
	// fresh instance. An error fails the page; for single rows there is [Output.Reject].
	Apply(page *faucet.Page) (*Output, error)
}

// registered is the plugin.
var registered struct {
	about faucet.About
	pure  bool
	open  func(config string) (Transform, error)
}

// Register makes a transform of the program: to be called once, in a function init. `open` makes the transform for a
// configuration, which [faucet.ReadConfig] has put into a struct; it checks what types can't say.
func Register[C any](about faucet.About, open func(config C) (Transform, error)) {
	if about.Schema == "" {
		about.Schema = faucet.SchemaOf[C]()
	}
	registered.about, registered.pure = about, true
	registered.open = func(text string) (Transform, error) {
		var config C
		if err := faucet.ReadConfig(text, &config); err != nil {
			return nil, err
		}
		return open(config)
	}
}

// NotDeterministic says that the same page may give another output another time.
func NotDeterministic() { registered.pure = false }
