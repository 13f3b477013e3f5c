// Package engines opens the engines that the settings select, from the installed packs, and keeps
// them warm: voice detector, transcriber, language models and voices.
package engines

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engine/espeak"
	"parley/appliance/engine/onnx"
	"parley/appliance/engine/remote"
	"parley/appliance/expression/face"
	"parley/appliance/voice"
	"parley/firmware/packs"
)

// Selection is a set of engines to open, joined with |.
type Selection uint

// The members of a Selection.
const (
	Hearing        Selection = 1 << iota // the voice detector and the transcriber
	Speaking                             // the voices
	Thinking                             // the language model
	OnDemandVoices                       // the voices, each loaded on its first use

	// OneShot is for a program that speaks once and at once, so that its first words are the
	// voice's first run.
	OneShot

	All = Hearing | Speaking | Thinking
)

// Set holds the open engines, warm and ready. Engines that were not selected are nil. Close
// releases them.
type Set struct {
	Gate        *engine.Gate
	Detector    engine.VoiceDetector
	Transcriber engine.Transcriber   // of chats
	Recordings  engine.Transcriber   // of recordings, which nobody waits for
	TurnEnd     *TurnEnd             // loaded on its first use
	Model       engine.LanguageModel // for chats whose config names none
	Faces       *face.Finder         // its nets are loaded on their first use
	Sentences   *Sentences           // loaded on its first use

	cfg        config.Config
	log        *slog.Logger
	runtime    *onnx.Runtime
	phonemizer *espeak.Phonemizer
	// runtimeDigest is the digest of the pack of the runtime; "" if it is not known.
	runtimeDigest string

	models map[config.LanguageModel]engine.LanguageModel // Model, and those of the routes
	// embedded is the transcriber of a pack; nil if servers transcribe and its pack is missing.
	embedded engine.Transcriber
	served   *remote.VoicePool // voices on servers; nil if there are none

	loading    sync.WaitGroup
	skipWarmUp bool // voices are not warmed

	mu      sync.Mutex            // guards the following fields
	voices  map[string]*voicePack // by pack
	library []voice.Base          // the voices when they were last listed
	pools   []serverPool          // of language models, transcribers and voices on servers
	closers []func() error        // in the order of opening
}

// Open opens the engines that cfg selects, in parallel, and warms them. For a missing or damaged
// pack, the error names the command that repairs it.
func Open(ctx context.Context, cfg config.Config, which Selection, log *slog.Logger) (*Set, error) {
	if err := errors.Join(checkVoice(cfg, which), checkModels(cfg, which)); err != nil {
		return nil, err
	}
	needed, err := packs.Find(cfg.Packs, needs(cfg, which)...)
	if err != nil {
		return nil, err
	}
	if err := packs.Require(ctx, cfg.Packs, needed); err != nil {
		return nil, err
	}
	e := &Set{
		Gate:       engine.NewGate(cfg.Cores()),
		cfg:        cfg,
		log:        log,
		skipWarmUp: which&OneShot != 0,
		voices:     map[string]*voicePack{},
	}
	var opening errgroup.Group
	if which&(Speaking|OnDemandVoices) != 0 {
		e.startPhonemizer()
		if err := e.openServedVoices(); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	if which&(Hearing|Speaking|OnDemandVoices) != 0 {
		if e.runtime, err = onnx.Open(filepath.Join(cfg.Pack("runtime-onnx"), "libonnxruntime.so")); err != nil {
			return nil, errors.Join(err, e.Close())
		}
		e.runtimeDigest = packs.Digest(e.cfg.Pack("runtime-onnx"))
		e.onClose(e.runtime.Close)
		e.openFaces()
		e.Sentences = newSentences(e)
	}
	if which&Hearing != 0 {
		opening.Go(func() error { return e.openDetector(ctx) })
		opening.Go(func() error { return e.openTranscriber(ctx) })
		opening.Go(e.openTurnEnd)
	}
	if which&Speaking != 0 {
		opening.Go(func() error { return e.openVoices(ctx) })
	} else if which&OnDemandVoices != 0 {
		opening.Go(e.phonemizer.Started)
	}
	if which&Thinking != 0 {
		opening.Go(func() error { return e.openModels(ctx) })
	}
	if err := opening.Wait(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// Close releases all engines, the newest first. No call may be running.
func (e *Set) Close() error {
	e.loading.Wait() // voices that are being loaded
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	for _, c := range slices.Backward(e.closers) {
		err = errors.Join(err, c())
	}
	e.closers = nil
	return err
}

func (e *Set) onClose(f func() error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closers = append(e.closers, f)
}

func (e *Set) openDetector(ctx context.Context) error {
	d, err := onnx.LoadSilero(e.runtime, filepath.Join(e.cfg.Pack("turn"), "silero_vad.onnx"))
	if err != nil {
		return err
	}
	e.onClose(d.Close)
	e.Detector = d
	return e.warm(ctx, "voice detector", d)
}

// openFaces prepares the finder of faces. Its pack may be missing, which is an error at its first use only.
func (e *Set) openFaces() {
	nets := onnx.OpenFaces(e.runtime, e.cfg.Pack("faces"), e.Gate)
	e.onClose(nets.Close)
	e.Faces = face.New(nets, e.Gate)
}

// transcriber is implemented by both transcribers of package onnx.
type transcriber interface {
	engine.Transcriber
	warmer
	Close() error
}

// openTranscriber opens the transcriber of chats. If servers transcribe, the embedded one takes over
// when they fail, if its pack is installed.
func (e *Set) openTranscriber(ctx context.Context) error {
	name := e.cfg.Engines.Transcriber
	if len(e.cfg.Engines.TranscriberServers) == 0 || isInstalled(ctx, e.cfg, name) {
		if err := e.openEmbeddedTranscriber(ctx, name); err != nil {
			return err
		}
	}
	if e.Transcriber = e.embedded; len(e.cfg.Engines.TranscriberServers) > 0 {
		if err := e.openRemoteTranscriber(ctx); err != nil {
			return err
		}
	}
	e.Recordings = e.recordings()
	return nil
}

func (e *Set) openEmbeddedTranscriber(ctx context.Context, name string) error {
	var t transcriber
	var err error
	switch name {
	case whisperPack:
		t, err = onnx.LoadWhisper(e.runtime, e.cfg.Pack(name), e.Gate)
	default:
		t, err = onnx.LoadMoonshine(e.runtime, e.cfg.Pack(name), e.Gate)
	}
	if err != nil {
		return err
	}
	e.onClose(t.Close)
	e.embedded = t
	return e.warm(ctx, name, t)
}

func (e *Set) openRemoteTranscriber(ctx context.Context) error {
	servers, err := serverOptions(e.cfg.Engines.TranscriberServers)
	if err != nil {
		return err
	}
	t, err := remote.OpenTranscribers(servers, e.embedded, e.poolOptions())
	if err != nil {
		return err
	}
	e.onClose(t.Close)
	e.Transcriber = t
	e.addPool(t)
	until := "nobody is understood until it does"
	if e.embedded != nil {
		until = e.cfg.Engines.Transcriber + " transcribes until it does"
	}
	return e.warmServers(ctx, t, until)
}

// isInstalled reports whether a pack is there and intact.
func isInstalled(ctx context.Context, cfg config.Config, name string) bool {
	found, err := packs.Find(cfg.Packs, name)
	return err == nil && packs.Require(ctx, cfg.Packs, found) == nil
}

// TranscriberLanguages returns the languages of the configured transcriber as BCP 47 tags; nil
// means many, or those of a server, which are not known.
func TranscriberLanguages(cfg config.Config) []string {
	if len(cfg.Engines.TranscriberServers) == 0 && cfg.Engines.Transcriber == "moonshine" {
		return []string{"en"}
	}
	return nil
}

type warmer interface{ Warm(context.Context) error }

// warm makes an engine's first run, which is slower than later ones.
func (e *Set) warm(ctx context.Context, name string, w warmer) error {
	begun := time.Now()
	if err := w.Warm(ctx); err != nil {
		return fmt.Errorf("warming %s: %w", name, err)
	}
	e.log.Debug("warm", "engine", name, "ms", time.Since(begun).Milliseconds())
	return nil
}

// Needs returns the packs that a box with these settings needs.
func Needs(cfg config.Config) []string { return needs(cfg, All) }

// needs returns the packs of the selected engines.
func needs(cfg config.Config, which Selection) []string {
	var names []string
	if which&(Hearing|Speaking|OnDemandVoices) != 0 {
		names = append(names, "runtime-onnx")
	}
	if which&OnDemandVoices != 0 && which&Speaking == 0 {
		names = append(names, "espeak-ng")
	}
	if which&Hearing != 0 {
		names = append(names, "turn")
		if len(cfg.Engines.TranscriberServers) == 0 {
			names = append(names, cfg.Engines.Transcriber)
		}
	}
	if which&Speaking != 0 && len(cfg.Engines.ServersOf(cfg.Engines.Voice)) == 0 {
		names = append(names, "espeak-ng", packOfVoice(cfg, cfg.Engines.Voice))
	}
	if which&Thinking != 0 {
		names = append(names, cfg.ModelPacks()...)
	}
	return names
}
