package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The parts of Chats, in the order in which they are measured.
const (
	partTransport = "transport"
	partIdle      = "idle"
	partServer    = "server"
	partEmbedded  = "embedded"
)

func chatsParts() []string { return []string{partTransport, partIdle, partServer, partEmbedded} }

// Chats measures how many conversations a box holds: live ones, with an embedded
// language model and with a server's, and idle ones; what it does with one more;
// and the line that carries them, alone.
func Chats(ctx context.Context, o Options) (Report, error) {
	var r Report
	if err := o.checkChats(); err != nil {
		return r, err
	}
	e := o.Config.Engines
	r = Report{Bench: "chats", Machine: describe(o.Config, "turn", e.Transcriber, e.LanguageModel.Pack, e.Voice)}
	for _, part := range chatsParts() {
		if len(o.Only) > 0 && !slices.Contains(o.Only, part) {
			continue
		}
		var err error
		switch part {
		case partTransport:
			err = r.transport(ctx, o)
		case partIdle:
			err = r.idleChats(ctx, o)
		case partServer:
			err = r.withServer(ctx, o)
		case partEmbedded:
			err = r.capacity(ctx, o, partEmbedded+"_", "the embedded language model")
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w", part, err)
		}
	}
	return r, nil
}

func (o Options) checkChats() error {
	for _, c := range []struct {
		name             string
		value, low, high int
	}{{"turns", o.Turns, 1, 100}, {"most", o.Most, 1, 100}, {"idle chats", o.IdleChats, 1, 9000}} {
		if c.value < c.low || c.value > c.high {
			return &ErrOption{fmt.Sprintf("%s is %d; allowed are %d to %d", c.name, c.value, c.low, c.high)}
		}
	}
	if o.Idle < time.Second || o.Idle > time.Hour {
		return &ErrOption{fmt.Sprintf("idle is %v; allowed are 1s to 1h", o.Idle)}
	}
	if o.Within < time.Minute || o.Within > 24*time.Hour {
		return &ErrOption{fmt.Sprintf("within is %v; allowed are 1m to 24h", o.Within)}
	}
	for _, part := range o.Only {
		if !slices.Contains(chatsParts(), part) {
			return &ErrOption{fmt.Sprintf("%q is none of the parts; allowed are %s", part,
				strings.Join(chatsParts(), ", "))}
		}
	}
	if (o.Server == "") != (o.ServerModel == "") {
		return &ErrOption{"a server and its model belong together: name both, --server URL and --server-model NAME, " +
			"or none for the stand-in"}
	}
	return nil
}

// withServer measures the box with a language model on a server: the one that was
// named, or a stand-in that costs next to nothing, so that what is measured is the
// speech side.
func (r *Report) withServer(ctx context.Context, o Options) (err error) {
	address, model, which := o.Server, o.ServerModel, "the language model of "+o.Server
	if address == "" {
		s, err := startStandIn()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		address, model, which = s.address, standInModel,
			"a stand-in for a language model, which answers at once: the speech side alone"
	}
	o.Serve = append(slices.Clone(o.Serve), "--openai", address, "--openai-model", model)
	return r.capacity(ctx, o, partServer+"_", which)
}
