package engines

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
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
	"parley/internal/version"
)

// voicePack is a pack with voices that is loaded, or being loaded on a goroutine of its own.
type voicePack struct {
	loaded   chan struct{} // closed when the following fields are set
	newVoice func([]voice.Part) (engine.Synthesizer, error)
	digest   string // of the pack; "" if it is not known
	err      error
}

// voiceCacheDir is a folder in the packs folder that caches what loading the voices found out. It
// may be deleted.
const voiceCacheDir = ".voices"

// openVoices opens the configured voice and waits for the phonemizer. Other voices are loaded on
// their first use.
func (e *Set) openVoices(ctx context.Context) error {
	b, err := e.findVoice("")
	if err != nil {
		return err
	}
	if b.Served != "" {
		return e.openServedVoice(ctx, b)
	}
	_, err = e.Voice(ctx, "")
	return cmp.Or(e.phonemizer.Started(), err)
}

// startPhonemizer starts eSpeak NG in the background.
func (e *Set) startPhonemizer() {
	e.phonemizer = espeak.Start()
	e.phonemizer.Log = e.log
	e.onClose(e.phonemizer.Close)
}

// Voice returns the voice with this name or id; an empty name is the configured voice. The first
// call for a voice of a pack loads the pack, which takes a second or two, and waits until ctx ends;
// loading continues then. A voice that failed to load is tried again by the next call. The error
// lists the available voices.
func (e *Set) Voice(ctx context.Context, name string) (engine.Synthesizer, error) {
	b, err := e.findVoice(name)
	if err != nil {
		return nil, err
	}
	return e.RecipeVoice(ctx, voice.Single(b.ID))
}

// RecipeVoice returns the voice that a recipe describes, at the configured loudness. It loads the
// pack like Voice.
func (e *Set) RecipeVoice(ctx context.Context, r voice.Recipe) (engine.Synthesizer, error) {
	parts, pitch, err := e.parts(r)
	if err != nil {
		return nil, err
	}
	speaks, identity, err := e.synthesizer(ctx, r, parts, pitch)
	if err != nil {
		return nil, err
	}
	return shaped{
		Synthesizer: speaks,
		identity:    identity,
		shape:       r.Shape,
		rate:        r.Rate,
		pitchHz:     pitch,
		gainDB:      decibels(voiceLUFS, float64(e.cfg.Speech.LoudnessLUFS)),
	}, nil
}

// synthesizer returns the voice of a recipe with these parts, without its shape, and its identity; ""
// if servers speak.
func (e *Set) synthesizer(ctx context.Context, r voice.Recipe, parts []voice.Base, pitchHz float64) (engine.Synthesizer,
	string, error) {
	if speaks, served := e.servedVoice(parts); served {
		return speaks, "", nil
	}
	p, err := e.loadedPack(ctx, parts[0].Pack)
	if err != nil {
		return nil, "", err
	}
	speaks, err := p.newVoice(r.Parts)
	return speaks, e.identityOf(r, p.digest, pitchHz), err
}

// loadedPack returns a pack with voices once it is loaded, or the error with which that failed.
func (e *Set) loadedPack(ctx context.Context, pack string) (*voicePack, error) {
	p := e.voicePack(pack)
	select {
	case <-p.loaded:
		return p, p.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// identityOf returns what decides how the voice of a recipe sounds: the recipe, the loudness, the models, and
// what runs them. digest is that of the voice's pack. It returns "" if the content of a pack is not known.
func (e *Set) identityOf(r voice.Recipe, digest string, pitchHz float64) string {
	if digest == "" || e.runtimeDigest == "" {
		return ""
	}
	encoded, err := json.Marshal(struct {
		Recipe        voice.Recipe
		PitchHz       float64
		LoudnessLUFS  float64
		Pack, Runtime string
		Phonemizer    string
		Program       string
		Processor     string
	}{
		Recipe:       r,
		PitchHz:      pitchHz,
		LoudnessLUFS: float64(e.cfg.Speech.LoudnessLUFS),
		Pack:         digest,
		Runtime:      e.runtimeDigest,
		Phonemizer:   e.phonemizer.Version(),
		Program:      version.String() + " " + version.Commit(),
		Processor:    runtime.GOARCH,
	})
	if err != nil {
		return ""
	}
	return string(encoded)
}

// Prepare checks that a voice exists and starts loading it. The error lists the available voices.
func (e *Set) Prepare(name string) error {
	b, err := e.findVoice(name)
	if err == nil && b.Pack != "" {
		e.voicePack(b.Pack)
	}
	return err
}

// PrepareRecipe is like Prepare for the voice of a recipe.
func (e *Set) PrepareRecipe(r voice.Recipe) error {
	parts, _, err := e.parts(r)
	if err == nil && parts[0].Pack != "" {
		e.voicePack(parts[0].Pack)
	}
	return err
}

// parts returns the voices of a recipe and the mean pitch of the blend.
func (e *Set) parts(r voice.Recipe) (parts []voice.Base, pitchHz float64, err error) {
	for _, p := range r.Parts {
		b, err := e.findVoice(p.Voice)
		if err != nil {
			return nil, 0, fmt.Errorf("the voice uses %q, whose pack is not installed: %w", p.Voice, err)
		}
		parts = append(parts, b)
	}
	if len(parts) == 0 {
		return nil, 0, errors.New("the voice has no parts")
	}
	return parts, voice.PitchOf(parts, r.Parts), nil
}

// findVoice returns the voice with this name or id; an empty name is the configured voice.
func (e *Set) findVoice(name string) (voice.Base, error) {
	if name == "" {
		name = e.cfg.Engines.Voice
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	b, found := voice.Find(e.library, name)
	if found && (e.voices[b.Pack] != nil || b.Served != "") {
		return b, nil
	}
	e.library = Library(e.cfg) // packs may change while a box runs
	if b, found = voice.Find(e.library, name); !found {
		return b, contract.ErrInvalid{Field: "voice",
			Why: fmt.Sprintf("there is no voice %.80q: choose of %s", name, VoiceNames(e.library))}
	}
	return b, nil
}

// voicePack returns a pack with voices and starts loading it if necessary.
func (e *Set) voicePack(pack string) *voicePack {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.voices[pack]; p != nil {
		return p
	}
	p := &voicePack{loaded: make(chan struct{})}
	e.voices[pack] = p
	e.loading.Go(func() { e.load(pack, p) })
	return p
}

// load loads a voice pack. A pack that fails, also with a panic, is forgotten, since it may be
// repaired before the next try.
func (e *Set) load(pack string, v *voicePack) {
	defer close(v.loaded)
	defer func() {
		if r := recover(); r != nil {
			e.log.Error("panic while loading a voice", "voice", pack, "panic", r, "stack",
				string(debug.Stack()))
			v.err = fmt.Errorf("voice %s: panic: %v", pack, r)
		}
		if v.err != nil {
			e.mu.Lock()
			delete(e.voices, pack)
			e.mu.Unlock()
		}
	}()
	begun := time.Now()
	v.digest = packs.Digest(e.cfg.Pack(pack))
	if pack == voice.KokoroPack {
		v.newVoice, v.err = e.loadKokoro(pack)
	} else {
		v.newVoice, v.err = e.loadPiper(pack)
	}
	e.log.Debug("voice loaded", "voice", pack, "ms", time.Since(begun).Milliseconds())
}

func (e *Set) loadPiper(pack string) (func([]voice.Part) (engine.Synthesizer, error), error) {
	p, err := onnx.LoadPiper(e.runtime, e.cfg.Pack(pack), e.Gate, e.phonemizer,
		onnx.PiperOptions{CacheDir: e.cfg.Pack(voiceCacheDir), SkipWarmUp: e.skipWarmUp})
	if err != nil {
		return nil, err
	}
	p.Log = e.log
	if why := p.StreamError(); why != nil {
		e.log.Warn("a voice cannot be synthesized in pieces, so its first sound takes longer", "voice", pack,
			"why", why)
	}
	e.onClose(p.Close)
	return func(parts []voice.Part) (engine.Synthesizer, error) {
		if len(parts) != 1 {
			return nil, fmt.Errorf("the voice %s cannot be blended with others", pack)
		}
		return p, nil
	}, nil
}

func (e *Set) loadKokoro(pack string) (func([]voice.Part) (engine.Synthesizer, error), error) {
	k, err := onnx.LoadKokoro(e.runtime, e.cfg.Pack(pack), e.Gate, e.phonemizer)
	if err != nil {
		return nil, err
	}
	k.Log = e.log
	e.onClose(k.Close)
	return func(parts []voice.Part) (engine.Synthesizer, error) {
		var blend []onnx.StyleWeight
		for _, p := range parts {
			b, err := e.findVoice(p.Voice)
			if err != nil {
				return nil, err
			}
			if b.Pack != pack {
				return nil, fmt.Errorf("the voice %s cannot be blended with %s", b.Name, parts[0].Voice)
			}
			blend = append(blend, onnx.StyleWeight{Name: b.Style, Weight: p.Weight})
		}
		return k.Voice(blend)
	}, nil
}

// checkVoice returns an error with the available voices if the configured one is neither installed
// nor available.
func checkVoice(cfg config.Config, which Selection) error {
	if _, there := voice.Find(Library(cfg), cfg.Engines.Voice); which&Speaking == 0 || there {
		return nil
	}
	pack := packOfVoice(cfg, cfg.Engines.Voice)
	if _, err := packs.Find(cfg.Packs, pack); err == nil {
		return nil // the error for missing packs explains how to fetch it
	}
	here := "there is none yet"
	if all := Library(cfg); len(all) > 0 {
		here = "choose of " + VoiceNames(all)
	}
	return ErrNoVoice{cfg.Engines.Voice, here}
}

// ErrNoVoice reports that the configured voice is neither installed nor available.
type ErrNoVoice struct {
	Name string
	Here string // the installed voices
}

func (e ErrNoVoice) Error() string {
	return fmt.Sprintf("there is no voice %q: %s (parley packs list shows what can be fetched)", e.Name, e.Here)
}

// packOfVoice returns the pack of the voice with this name; if the voice is not installed, the pack
// that could contain it.
func packOfVoice(cfg config.Config, name string) string {
	if b, there := voice.Find(append(Library(cfg), voice.Kokoro()...), name); there {
		return b.Pack
	}
	return cfg.VoicePack(name)
}

// VoiceNames joins the names of voices.
func VoiceNames(all []voice.Base) string {
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
	}
	return strings.Join(names, ", ")
}
