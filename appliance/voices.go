package appliance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"parley/appliance/engine"
	"parley/appliance/engine/onnx"
	"parley/firmware/packs"
)

// voicePrefix begins the names of the voices' packs; people leave it out.
const voicePrefix = "voice-"

// openVoice is a voice that is loaded, or being loaded, once.
type openVoice struct {
	load sync.Once
	said engine.Synthesizer
	err  error
}

// openVoices opens the phonemizer and the voice of the configuration. Other
// voices are opened when they are first asked for.
func (e *Engines) openVoices() error {
	ph, err := onnx.OpenPhonemizer()
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
		known := e.cfg.voices()
		if pack = e.cfg.voicePack(name); !slices.Contains(known, pack) {
			return nil, fmt.Errorf("there is no voice %.80q: choose of %s", name, strings.Join(known, ", "))
		}
		v = e.opening(pack)
	}
	v.load.Do(func() { v.said, v.err = e.loadVoice(pack) })
	if v.err != nil {
		e.mu.Lock()
		delete(e.voices, pack) // the pack may be mended before the next try
		e.mu.Unlock()
	}
	return v.said, v.err
}

// opened returns the voice if it was asked for before, or nil, and its pack.
func (e *Engines) opened(name string) (*openVoice, string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if v := e.voices[name]; v != nil {
		return v, name
	}
	return e.voices[voicePrefix+name], voicePrefix + name
}

// opening notes that the voice is asked for.
func (e *Engines) opening(pack string) *openVoice {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.voices[pack] == nil {
		e.voices[pack] = &openVoice{}
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

// voicePack is the pack of the voice that people call name. A voice that is
// not there keeps the name under which it could be fetched.
func (c Config) voicePack(name string) string {
	if !strings.HasPrefix(name, voicePrefix) && !c.isVoice(name) {
		return voicePrefix + name
	}
	return name
}

func (c Config) isVoice(pack string) bool {
	if !packNames.MatchString(pack) {
		return false // it may come from a client, and must not lead elsewhere
	}
	_, err := os.Stat(filepath.Join(c.Pack(pack), "voice.onnx"))
	return err == nil
}

// voices lists the packs with a voice that are there.
func (c Config) voices() []string {
	entries, err := os.ReadDir(c.Packs)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if c.isVoice(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// checkVoice says which voices there are where the one that is asked for is
// neither here nor to be fetched.
func (c Config) checkVoice(which Which) error {
	pack := c.voicePack(c.Engines.Voice)
	if which&Speaking == 0 || c.isVoice(pack) {
		return nil
	}
	if _, err := packs.Find(c.Packs, pack); err == nil {
		return nil // how to fetch it is said where packs are missing
	}
	here := "there is none yet"
	if voices := c.voices(); len(voices) > 0 {
		here = "choose of " + strings.ReplaceAll(strings.Join(voices, ", "), voicePrefix, "")
	}
	return fmt.Errorf("there is no voice %q: %s (parley packs list shows what can be fetched)", c.Engines.Voice, here)
}
