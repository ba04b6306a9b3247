package sink

import (
	"faucet"
	"faucet/internal/wire"
)

// Words of records.
const (
	descriptionWords = 8 + faucet.WantsWords
	capabilityWords  = 10
	rejectWords      = 3
)

// sessions are those the host holds, by the number it knows them by.
var (
	sessions = map[uint32]Session{}
	last     uint32
)

//go:wasmimport [export]faucet:connector/sinks@0.1.0 [resource-new]session
func newHandle(session uint32) uint32

//go:wasmexport faucet:connector/sinks@0.1.0#[dtor]session
func drop(session uint32) {
	if closer, is := sessions[session].(Closer); is {
		closer.Close()
	}
	delete(sessions, session)
}

//go:wasmexport faucet:connector/sinks@0.1.0#describe
func describe() uint32 {
	wire.Begin()
	w := wire.Answer(descriptionWords)
	registered.about.WriteAbout(&w)
	registered.about.WriteWants(&w)
	return w.Address()
}

//go:wasmexport faucet:connector/sinks@0.1.0#check
func check(at, size uint32) uint32 {
	config := wire.StringAt(at, size)
	wire.Begin()
	var abilities Abilities
	err := faucet.Guard(func() (err error) {
		abilities, err = registered.check(config)
		return err
	})
	return faucet.Result(capabilityWords, err, abilities.write)
}

func (a *Abilities) write(w *wire.Writer) {
	modes := []byte{byte(a.Mode)}
	for _, mode := range a.Modes {
		if mode != a.Mode {
			modes = append(modes, byte(mode))
		}
	}
	w.Byte(byte(a.Mode))
	w.Bytes(modes)
	w.Strings(a.Key)
	w.OptionString(a.DeleteMarker, a.DeleteMarker != "")
	for _, can := range []bool{a.Transactional, registered.tokens, a.Evolves, a.Rejects, a.Parallel} {
		w.Bool(can)
	}
}

//go:wasmexport faucet:connector/sinks@0.1.0#open
func open(configAt, configSize, pipelineAt, pipelineSize uint32) uint32 {
	config, pipeline := wire.StringAt(configAt, configSize), wire.StringAt(pipelineAt, pipelineSize)
	wire.Begin()
	var session Session
	err := faucet.Guard(func() (err error) {
		session, err = registered.open(config, pipeline)
		return err
	})
	return faucet.Result(1, err, func(w *wire.Writer) {
		last++
		sessions[last] = session
		w.Word(newHandle(last))
	})
}

//go:wasmexport faucet:connector/sinks@0.1.0#[method]session.last-token
func lastTokenOf(self, scopeAt, scopeSize uint32) uint32 {
	scope := wire.StringAt(scopeAt, scopeSize)
	wire.Begin()
	var token string
	var has bool
	err := faucet.Guard(func() (err error) {
		token, has, err = lastToken(sessions[self], scope)
		return err
	})
	return faucet.Result(3, err, func(w *wire.Writer) { w.OptionString(token, has) })
}

//go:wasmexport faucet:connector/sinks@0.1.0#[method]session.write
func write(self, pagesAt, pageCount uint32) uint32 {
	pages := make([]*faucet.Page, pageCount)
	r := wire.ReadAt(pagesAt)
	for i := range pages {
		pages[i] = faucet.ReadPage(&r)
	}
	wire.Begin()
	var rejects []Reject
	var numbers []uint32
	err := faucet.Guard(func() (err error) {
		rejects, err = sessions[self].Write(pages)
		for _, reject := range rejects {
			number, wrong := reject.number(pages)
			if wrong != nil {
				return wrong
			}
			numbers = append(numbers, number)
		}
		return err
	})
	return faucet.Result(2, err, func(w *wire.Writer) {
		items := w.List(len(rejects), rejectWords)
		for i, reject := range rejects {
			items.Word(numbers[i])
			items.String(reject.Reason)
		}
	})
}

//go:wasmexport faucet:connector/sinks@0.1.0#[method]session.commit
func commit(self, hasToken, scopeAt, scopeSize, tokenAt, tokenSize uint32) uint32 {
	var token *Token
	if hasToken == 1 {
		token = &Token{wire.StringAt(scopeAt, scopeSize), wire.StringAt(tokenAt, tokenSize)}
	}
	wire.Begin()
	err := faucet.Guard(func() error { return sessions[self].Commit(token) })
	return faucet.Result(0, err, nil)
}

//go:wasmexport faucet:connector/sinks@0.1.0#[method]session.finish
func finish(self uint32) uint32 {
	wire.Begin()
	err := faucet.Guard(func() error {
		if finisher, is := sessions[self].(Finisher); is {
			return finisher.Finish()
		}
		return nil
	})
	return faucet.Result(0, err, nil)
}
