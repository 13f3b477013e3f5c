package appliance

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/espeak"
	"parley/appliance/engine/onnx"
	"parley/appliance/voice"
	"parley/firmware/packs"
)

// speaker is a pack with voices that was asked for. It is loaded on a goroutine of
// its own.
type speaker struct {
	loaded chan struct{} // closed when what follows is set
	speaks engine.Synthesizer
	err    error
}

// openVoices opens the phonemizer and the voice of the configuration. Other
// voices are opened when they are first asked for.
func (e *Engines) openVoices(ctx context.Context) error {
	ph, err := espeak.Open()
	if err != nil {
		return err
	}
	ph.Log = e.log
	e.ph = ph
	e.onClose(ph.Close)
	_, err = e.Voice(ctx, "")
	return err
}

// Voice returns the voice of that name, with or without "voice-"; an empty
// name is the configured one. The first call for a voice loads it, which takes
// a second or two, and waits for it until ctx ends; the voice is then loaded all
// the same. One that could not be loaded is tried again by the next call. The
// error lists the voices that are there.
func (e *Engines) Voice(ctx context.Context, name string) (engine.Synthesizer, error) {
	v, err := e.asked(name)
	if err != nil {
		return nil, err
	}
	select {
	case <-v.loaded:
		return v.speaks, v.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Prepare says at once whether there is a voice of that name, and begins to load
// it. The error lists the voices that are there.
func (e *Engines) Prepare(name string) error {
	_, err := e.asked(name)
	return err
}

// asked is the voice of that name, loaded or being loaded from now on.
func (e *Engines) asked(name string) (*speaker, error) {
	if name == "" {
		name = e.cfg.Engines.Voice
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	b, found := voice.Find(e.known, name)
	if found && e.voices[b.Pack] != nil {
		return e.voices[b.Pack], nil
	}
	e.known = library(e.cfg) // packs come and go while a box runs
	if b, found = voice.Find(e.known, name); !found {
		return nil, contract.ErrInvalid{Field: "voice", Why: fmt.Sprintf("there is no voice %.80q: choose of %s", name, voiceNames(e.known))}
	}
	v := &speaker{loaded: make(chan struct{})}
	e.voices[b.Pack] = v
	e.loading.Go(func() { e.load(b.Pack, v) })
	return v, nil
}

// load loads a voice. One that fails is forgotten: the pack may be mended before
// the next try. What panics has failed, too.
func (e *Engines) load(pack string, v *speaker) {
	defer close(v.loaded)
	defer func() {
		if r := recover(); r != nil {
			e.log.Error("a voice panicked while it was loaded", "voice", pack, "panic", r, "stack", string(debug.Stack()))
			v.err = fmt.Errorf("voice %s: panic: %v", pack, r)
		}
		if v.err != nil {
			e.mu.Lock()
			delete(e.voices, pack)
			e.mu.Unlock()
		}
	}()
	begun := time.Now()
	p, err := onnx.LoadPiper(e.rt, e.cfg.Pack(pack), e.Gate, e.ph)
	if err != nil {
		v.err = err
		return
	}
	p.Log = e.log
	if why := p.Uncut(); why != nil {
		e.log.Warn("a voice makes its sentences in one piece, so that their first sound takes longer", "voice", pack, "why", why)
	}
	e.onClose(p.Close)
	v.speaks = p
	e.log.Debug("voice loaded", "voice", pack, "ms", time.Since(begun).Milliseconds())
}

// checkVoice says which voices there are where the one that is asked for is
// neither here nor to be fetched.
func checkVoice(cfg config.Config, which Which) error {
	pack := cfg.VoicePack(cfg.Engines.Voice)
	if which&Speaking == 0 || cfg.IsVoice(pack) {
		return nil
	}
	if _, err := packs.Find(cfg.Packs, pack); err == nil {
		return nil // how to fetch it is said where packs are missing
	}
	here := "there is none yet"
	if all := library(cfg); len(all) > 0 {
		here = "choose of " + voiceNames(all)
	}
	return fmt.Errorf("there is no voice %q: %s (parley packs list shows what can be fetched)", cfg.Engines.Voice, here)
}

// voiceNames lists voices for people.
func voiceNames(all []voice.Base) string {
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
	}
	return strings.Join(names, ", ")
}
