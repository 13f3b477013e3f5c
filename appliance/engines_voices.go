package appliance

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/espeak"
	"parley/appliance/engine/onnx"
	"parley/firmware/packs"
)

// voice is one that was asked for. It is loaded on a goroutine of its own.
type voice struct {
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
func (e *Engines) asked(name string) (*voice, error) {
	if name == "" {
		name = e.cfg.Engines.Voice
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, pack := range []string{name, config.VoicePrefix + name} {
		if v := e.voices[pack]; v != nil {
			return v, nil
		}
	}
	known, pack := e.cfg.Voices(), e.cfg.VoicePack(name)
	if !slices.Contains(known, pack) {
		return nil, contract.ErrInvalid{Field: "voice", Why: fmt.Sprintf("there is no voice %.80q: choose of %s", name, strings.Join(known, ", "))}
	}
	v := &voice{loaded: make(chan struct{})}
	e.voices[pack] = v
	e.loading.Go(func() { e.load(pack, v) })
	return v, nil
}

// load loads a voice. One that fails is forgotten: the pack may be mended before
// the next try. What panics has failed, too.
func (e *Engines) load(pack string, v *voice) {
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
	if voices := cfg.Voices(); len(voices) > 0 {
		here = "choose of " + strings.ReplaceAll(strings.Join(voices, ", "), config.VoicePrefix, "")
	}
	return fmt.Errorf("there is no voice %q: %s (parley packs list shows what can be fetched)", cfg.Engines.Voice, here)
}
