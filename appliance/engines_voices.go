package appliance

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/espeak"
	"parley/appliance/engine/onnx"
	"parley/firmware/packs"
)

// openVoice is a voice that is loaded when it is first asked for, once. Whoever
// asks after a panic in that gets the same panic, not half a voice.
type openVoice func() (engine.Synthesizer, error)

// openVoices opens the phonemizer and the voice of the configuration. Other
// voices are opened when they are first asked for.
func (e *Engines) openVoices() error {
	ph, err := espeak.Open()
	if err != nil {
		return err
	}
	ph.Log = e.log
	e.ph = ph
	e.onClose(ph.Close)
	_, err = e.Voice("")
	return err
}

// Voice returns the voice of that name, with or without "voice-"; an empty
// name is the configured one. The first call for a voice loads it, which takes
// about a second. The error lists the voices that are there.
func (e *Engines) Voice(name string) (engine.Synthesizer, error) {
	if name == "" {
		name = e.cfg.Engines.Voice
	}
	v, pack := e.opened(name)
	if v == nil {
		known := e.cfg.Voices()
		if pack = e.cfg.VoicePack(name); !slices.Contains(known, pack) {
			return nil, contract.ErrInvalid{Field: "voice", Why: fmt.Sprintf("there is no voice %.80q: choose of %s", name, strings.Join(known, ", "))}
		}
		v = e.opening(pack)
	}
	voice, err := v()
	if err != nil {
		e.mu.Lock()
		delete(e.voices, pack) // the pack may be mended before the next try
		e.mu.Unlock()
	}
	return voice, err
}

// opened returns the voice if it was asked for before, or nil, and its pack.
func (e *Engines) opened(name string) (openVoice, string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if v := e.voices[name]; v != nil {
		return v, name
	}
	return e.voices[config.VoicePrefix+name], config.VoicePrefix + name
}

// opening notes that the voice is asked for.
func (e *Engines) opening(pack string) openVoice {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.voices[pack] == nil {
		e.voices[pack] = sync.OnceValues(func() (engine.Synthesizer, error) { return e.loadVoice(pack) })
	}
	return e.voices[pack]
}

func (e *Engines) loadVoice(pack string) (engine.Synthesizer, error) {
	p, err := onnx.LoadPiper(e.rt, e.cfg.Pack(pack), e.Gate, e.ph)
	if err != nil {
		return nil, err
	}
	p.Log = e.log
	e.onClose(p.Close)
	return p, nil
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
