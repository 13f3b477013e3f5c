package sound

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"parley/appliance/engine"
	"parley/appliance/text"
)

// lookAgain is how often a Maker looks for missing and for unwanted sound when nothing has changed: a disk may
// have space again, and the sound of a deleted config has no use.
const lookAgain = time.Hour

// Script is what a config says in its voice.
type Script struct {
	Account string
	Voice   string     // a name or id; empty: the voice of the settings
	Speed   float64    // relative to the voice's normal speed
	Answers [][]string // the sentences of each answer; only those that are the same in every chat
}

// Parts are what a Maker needs.
type Parts struct {
	Store *Store
	// Scripts returns what the newest versions of the configs say, the configs used last first.
	Scripts func(context.Context) ([]Script, error)
	Voices  Voices
	// Pronunciation returns how an account's texts are pronounced.
	Pronunciation func(ctx context.Context, account string) text.Options
	Log           *slog.Logger
}

// Voices finds the voices of accounts.
type Voices interface {
	// Voice returns a voice by its name or id. It may take seconds to load it.
	Voice(ctx context.Context, account, name string) (engine.Synthesizer, error)
}

// Maker makes the sound of scripts ahead, one sentence at a time, when nothing else needs the cores.
type Maker struct {
	Parts
	changes      chan struct{} // holds one signal after a change
	made, wanted atomic.Int64
}

// NewMaker returns a Maker. Run makes the sound.
func NewMaker(p Parts) *Maker { return &Maker{Parts: p, changes: make(chan struct{}, 1)} }

// Changed notes that a config, a voice or a pronunciation may have changed. It does not wait.
func (m *Maker) Changed() {
	select {
	case m.changes <- struct{}{}:
	default: // is noted already
	}
}

// Progress returns how many sentences the scripts have and for how many of them there is sound.
func (m *Maker) Progress() (made, wanted int) { return int(m.made.Load()), int(m.wanted.Load()) }

// Run makes sound until ctx ends: now, after each change, and every lookAgain.
func (m *Maker) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := m.pass(ctx); err != nil && ctx.Err() == nil {
			m.Log.Warn("cannot make the sound of all approved answers ahead; the others are synthesised when they "+
				"are said", "err", err)
		}
		select {
		case <-m.changes:
		case <-time.After(lookAgain):
		case <-ctx.Done():
		}
	}
}

// line is a sentence that is to be stored.
type line struct {
	key     key
	voice   engine.Synthesizer
	text    string
	options engine.SpeakOptions
}

// pass makes what is missing, and deletes what is no longer wanted. It ends early when something changes, because
// Run begins anew then.
func (m *Maker) pass(ctx context.Context) error {
	begun := time.Now()
	lines, whole, err := m.plan(ctx)
	if err != nil {
		return err
	}
	wanted, made := map[key]bool{}, 0
	for _, l := range lines {
		wanted[l.key] = true
		if _, ok := m.Store.has(l.key); ok {
			made++
		}
	}
	m.wanted.Store(int64(len(lines)))
	m.made.Store(int64(made))
	if made < len(lines) {
		if err := m.makeMissing(ctx, lines); err != nil {
			return err
		}
	}
	if whole && len(m.changes) == 0 {
		m.Store.sweep(wanted, begun.Add(-unusedFor))
	}
	return nil
}

// makeMissing makes what is missing of lines. A sentence that fails is left out.
func (m *Maker) makeMissing(ctx context.Context, lines []line) error {
	begun, total, made := time.Now(), int64(0), 0
	var failed error
	for _, l := range lines {
		if len(m.changes) > 0 {
			return nil
		}
		bytes, ok := m.Store.has(l.key)
		if !ok {
			var err error
			bytes, err = m.make(ctx, l, total)
			if ctx.Err() != nil || errors.Is(err, errLimit) || errors.Is(err, errDiskFull) {
				return err
			}
			if err != nil {
				failed = fmt.Errorf("%q: %w", l.text, err)
				continue
			}
			made++
			m.made.Add(1)
		}
		total += bytes
	}
	m.Log.Info("made the sound of approved answers", "sentences", made, "of", len(lines), "mb", total/1e6,
		"seconds", int(time.Since(begun).Seconds()))
	return failed
}

// errLimit reports more sound than the Store takes.
var errLimit = errors.New("their sound needs more space on the disk than it may take")

// make synthesises and stores a sentence, and returns the size of its sound. total is the size of the sound before
// it in the plan, which must not be deleted for it.
func (m *Maker) make(ctx context.Context, l line, total int64) (int64, error) {
	speech, err := engine.SpeakWhole(ctx, l.voice, l.text, l.options)
	if err != nil {
		return 0, err
	}
	if len(speech.PCM) == 0 {
		return 0, nil // nothing to hear
	}
	bytes := fileSize(len(speech.PCM))
	if total+bytes > m.Store.limit {
		return 0, errLimit
	}
	return bytes, m.Store.save(l.key, speech)
}

// plan returns the sentences of all scripts, each once, in the order in which they are made: of each config the
// first sentences of its answers first, because the others are synthesised while these play. whole is false if a
// script is missing because its voice cannot be opened.
func (m *Maker) plan(ctx context.Context) (lines []line, whole bool, err error) {
	scripts, err := m.Scripts(ctx)
	if err != nil {
		return nil, false, err
	}
	planned := map[key]bool{}
	whole = true
	for _, s := range scripts {
		voice, err := m.Voices.Voice(ctx, s.Account, s.Voice)
		if err != nil {
			m.Log.Warn("cannot make the sound of approved answers ahead", "voice", s.Voice, "err", err)
			whole = false
			continue
		}
		read := m.Pronunciation(ctx, s.Account)
		o := engine.SpeakOptions{Speed: s.Speed, Locale: read.Locale, Lexicon: read.Lexicon}
		for _, sentence := range s.inOrder() {
			var cannot engine.ErrCannotSay
			if errors.As(engine.CanSay(voice, sentence, o), &cannot) {
				sentence = cannot.Rest
			}
			k, ok := keyOf(voice, sentence, o)
			if ok && !planned[k] {
				planned[k] = true
				lines = append(lines, line{k, voice, sentence, o})
			}
		}
	}
	return lines, whole, nil
}

// inOrder returns the sentences of all answers: first the first of each answer, then the second, and so on.
func (s Script) inOrder() (all []string) {
	for n, more := 0, true; more; n++ {
		more = false
		for _, answer := range s.Answers {
			if n < len(answer) {
				all, more = append(all, answer[n]), true
			}
		}
	}
	return all
}
