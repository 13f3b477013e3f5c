package speaker

import (
	"context"
	"log/slog"
	"strings"
	"unicode"

	"parley/appliance/engine"
	"parley/appliance/language"
	"parley/internal/levenshtein"
)

const (
	// longestWake is how much of what was said last is read for the phrase: who
	// speaks for longer before it, and does not pause, talks to somebody else.
	longestWake = 8 * downHz
	// longestStop is how long an utterance over the assistant's may be to be read for
	// whether it says stop.
	longestStop = 3 * downHz
)

// words are what somebody has said.
type words struct {
	text       string // empty where it could not be read
	begin, end int64  // samples of the ear
}

// reader has what is said read, for the line itself: for the phrase that begins a
// conversation, and for a stop that is said over the assistant. The attendant owns
// it; one transcription at a time runs beside it.
type reader struct {
	transcriber engine.Transcriber
	workers     *group
	log         *slog.Logger

	ctx     context.Context
	cancel  context.CancelFunc
	results chan words // of the transcription under way
	busy    bool
	next    *engine.Segment // to be read after it
}

func newReader(t engine.Transcriber, g *group, log *slog.Logger) *reader {
	r := &reader{
		transcriber: t,
		workers:     g,
		log:         log,
		results:     make(chan words, 1),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

func (r *reader) close() { r.cancel() }

// ask has something that was said read; what waits for that is what was said
// last.
func (r *reader) ask(s engine.Segment) {
	if r.busy {
		r.next = &s
		return
	}
	r.busy = true
	r.workers.do("reading what was said", func() {
		var said words
		defer func() { r.results <- said }()
		said = r.read(s)
	})
}

// done takes that a transcription is over. What waits is read, where it is still of
// use.
func (r *reader) done(ofUse bool) {
	r.busy = false
	next := r.next
	r.next = nil
	if next != nil && ofUse {
		r.ask(*next)
	}
}

func (r *reader) read(s engine.Segment) words {
	pcm, said := s.PCM, words{begin: s.Begin - prefix, end: s.End}
	if extra := len(pcm) - longestWake; extra > 0 {
		pcm, said.begin = pcm[extra:], said.begin+int64(extra)
	}
	t, err := r.transcriber.Transcribe(r.ctx, pcm, engine.TranscribeOptions{Urgency: engine.Speculative.Urgency()})
	if err != nil && r.ctx.Err() == nil {
		r.log.Error("what was said at the box's own microphone cannot be read", "err", err)
	}
	said.text = t.Text
	return said
}

// read takes what somebody has said: the phrase begins a conversation, and what was
// said behind it belongs to the first turn, with all that was said since.
func (a *attendant) read(said words) {
	if a.call != nil {
		if language.Stops(said.text) {
			a.call.end(endSaid)
		}
		a.reader.done(true)
		return
	}
	behind, ok := "", false
	if a.options.Start == OnPhrase {
		behind, ok = afterAny(said.text, a.options.Phrases)
	}
	a.reader.done(!ok)
	if !ok {
		return
	}
	from := said.end
	if behind != "" {
		from = said.begin
	}
	a.begin(a.ear.since(from), behind != "")
}

// afterAny is what was said behind the first of some phrases that was said.
func afterAny(said string, phrases []string) (behind string, ok bool) {
	for _, p := range phrases {
		if behind, ok = after(said, p); ok {
			return behind, true
		}
	}
	return "", false
}

// after is what was said behind a phrase, and whether it was said at all. What a
// transcriber writes of a name that it does not know is a matter of luck, so each
// word may be wrong in a letter, or in a third of them, and words may be written as
// one.
func after(said, phrase string) (behind string, ok bool) {
	words, want := wordsOf(said), strings.ReplaceAll(language.Plain(phrase), " ", "")
	if want == "" {
		return "", false
	}
	most := len([]rune(want)) / 4
	if n := len([]rune(want)); most == 0 && n > 3 {
		most = 1
	}
	best, end := most+1, 0
	for from := range words {
		run := ""
		for to := from; to < len(words); to++ {
			run += words[to]
			if len([]rune(run)) > len([]rune(want))+most {
				break
			}
			if d := levenshtein.Distance([]rune(run), []rune(want)); d < best {
				best, end = d, to+1
			}
		}
	}
	if best > most {
		return "", false
	}
	return strings.Join(words[end:], " "), true
}

// wordsOf are the words of what was said, as language.Plain has them; where writing has no
// spaces, its characters.
func wordsOf(said string) []string {
	var b strings.Builder
	for _, r := range language.Plain(said) {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		} else {
			b.WriteRune(r)
		}
	}
	return strings.Fields(b.String())
}
