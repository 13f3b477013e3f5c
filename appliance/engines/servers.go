package engines

import (
	"context"
	"errors"
	"fmt"
	"os"

	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engine/remote"
	"parley/appliance/voice"
)

// serverPool is a pool of servers of any kind.
type serverPool interface {
	States() []engine.ServerState
	Describe() string
}

// serverOptions returns the options of servers, with the keys that their variables hold.
func serverOptions(servers []config.Server) ([]remote.Options, error) {
	var all []remote.Options
	for _, s := range servers {
		key := os.Getenv(s.KeyEnv)
		if s.KeyEnv != "" && key == "" {
			return nil, fmt.Errorf("the key of %s: the environment variable %s is not set or empty: export it, or "+
				"leave key_env out if the server wants no key", s.Describe(), s.KeyEnv)
		}
		all = append(all, remote.Options{BaseURL: s.URL, Model: s.Model, Key: key})
	}
	return all, nil
}

func (e *Set) poolOptions() remote.PoolOptions { return remote.PoolOptions{Log: e.log} }

func (e *Set) addPool(p serverPool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pools = append(e.pools, p)
}

// Servers returns how the servers with engines are. One that serves several things with the same model
// is there once for each kind.
func (e *Set) Servers() []engine.ServerState {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []engine.ServerState
	at := map[[3]string]int{}
	for _, p := range e.pools {
		for _, s := range p.States() {
			key := [3]string{s.Serves, s.Server, s.Model}
			i, known := at[key]
			if !known {
				at[key] = len(all)
				all = append(all, s)
				continue
			}
			all[i] = merged(all[i], s)
		}
	}
	return all
}

// merged returns the state of a server that is in two pools: the worse one, and all calls.
func merged(a, b engine.ServerState) engine.ServerState {
	if b.State != engine.Up && a.State != engine.Down {
		a.State, a.Why = b.State, b.Why
	}
	a.Calls, a.Answers, a.Failures = a.Calls+b.Calls, a.Answers+b.Answers, a.Failures+b.Failures
	a.Latency = max(a.Latency, b.Latency)
	return a
}

// warmServers makes a first call of servers. If all of them refuse it, the operator has to act and
// warmServers returns an error; other failures may be temporary, so they are only logged. until is
// what happens meanwhile.
func (e *Set) warmServers(ctx context.Context, p interface {
	warmer
	Describe() string
}, until string) error {
	err := e.warm(ctx, p.Describe(), p)
	if fault, ok := errors.AsType[*remote.Error](err); ok && fault.Kind != remote.Refused {
		e.log.Warn("no server answers yet; "+until, "servers", p.Describe(), "err", err)
		return nil
	}
	return err
}

// openServedVoices prepares the voices on servers.
func (e *Set) openServedVoices() error {
	if len(e.cfg.Engines.VoiceServers) == 0 {
		return nil
	}
	var servers []remote.VoiceServer
	for _, s := range e.cfg.Engines.VoiceServers {
		options, err := serverOptions([]config.Server{s.Server})
		if err != nil {
			return err
		}
		servers = append(servers, remote.VoiceServer{Options: options[0], Voices: s.Voices, RateHz: s.RateHz})
	}
	p, err := remote.OpenVoices(servers, e.poolOptions())
	if err != nil {
		return err
	}
	e.onClose(p.Close)
	e.served = p
	e.addPool(p)
	return nil
}

// openServedVoice warms the configured voice, which is on servers, and the embedded one that takes
// over.
func (e *Set) openServedVoice(ctx context.Context, b voice.Base) error {
	until := "nothing is spoken until it does"
	if takesOver, found := e.embeddedVoice(b); found {
		e.voicePack(takesOver.Pack)
		until = "the voice " + takesOver.Name + " speaks until it does"
	}
	v, _ := e.servedVoice([]voice.Base{b})
	if e.skipWarmUp {
		return nil
	}
	return e.warmServers(ctx, servedVoice{v, e.served.Describe()}, until)
}

// servedVoice is a voice that can be warmed, with the servers' names.
type servedVoice struct {
	*remote.Voice
	servers string
}

func (s servedVoice) Describe() string { return s.servers }

// servedVoice returns the voice of a recipe with these parts if servers have it.
func (e *Set) servedVoice(parts []voice.Base) (*remote.Voice, bool) {
	if len(parts) != 1 || parts[0].Served == "" || e.served == nil {
		return nil, false
	}
	b := parts[0]
	var embedded remote.Embedded
	if takesOver, found := e.embeddedVoice(b); found {
		embedded = func(ctx context.Context) (engine.Synthesizer, error) {
			p, err := e.loadedPack(ctx, takesOver.Pack)
			if err != nil {
				return nil, err
			}
			return p.newVoice([]voice.Part{{Voice: takesOver.ID, Weight: 1}})
		}
	}
	return e.served.Voice(b.Served, b.Language, embedded)
}

// embeddedVoice returns the voice of a pack that speaks when no server does: the same one if it is
// installed, or that of the settings, or the first of the same language, or any.
func (e *Set) embeddedVoice(b voice.Base) (voice.Base, bool) {
	if b.Pack != "" {
		return b, true
	}
	if configured, err := e.findVoice(""); err == nil && configured.Pack != "" {
		return configured, true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var best voice.Base
	for _, other := range e.library {
		if other.Pack == "" {
			continue
		}
		if best.Pack == "" || best.Language != b.Language && other.Language == b.Language {
			best = other
		}
	}
	return best, best.Pack != ""
}
