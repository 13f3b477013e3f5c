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
	// maxPhrase bounds the sound that is transcribed for the phrase: somebody who speaks
	// for longer without a pause talks to somebody else.
	maxPhrase = 8 * earHz
	// maxStop bounds an utterance over the assistant's speech that is transcribed to find
	// out whether it says stop.
	maxStop = 3 * earHz
)

// transcript is what somebody has said.
type transcript struct {
	text       string // empty if it could not be transcribed
	begin, end int64  // in samples of the ear
}

// phraseReader transcribes for the line itself: the phrase that begins a chat, and a stop
// over the assistant's speech. The attendant uses it; one transcription runs at a time.
type phraseReader struct {
	transcriber engine.Transcriber
	workers     *group
	log         *slog.Logger

	ctx     context.Context
	cancel  context.CancelFunc
	results chan transcript // of the running transcription
	busy    bool
	next    *engine.Segment // to be transcribed next
}

func newReader(t engine.Transcriber, g *group, log *slog.Logger) *phraseReader {
	r := &phraseReader{
		transcriber: t,
		workers:     g,
		log:         log,
		results:     make(chan transcript, 1),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

func (r *phraseReader) close() { r.cancel() }

// transcribe starts a transcription. While one runs, only the newest request waits.
func (r *phraseReader) transcribe(s engine.Segment) {
	if r.busy {
		r.next = &s
		return
	}
	r.busy = true
	r.workers.do("reading what was said", func() {
		var said transcript
		defer func() { r.results <- said }()
		said = r.read(s)
	})
}

// done is called after a transcription. It starts the waiting one if that is still of use.
func (r *phraseReader) done(ofUse bool) {
	r.busy = false
	next := r.next
	r.next = nil
	if next != nil && ofUse {
		r.transcribe(*next)
	}
}

func (r *phraseReader) read(s engine.Segment) transcript {
	pcm, said := s.PCM, transcript{begin: s.Begin - onset, end: s.End}
	if extra := len(pcm) - maxPhrase; extra > 0 {
		pcm, said.begin = pcm[extra:], said.begin+int64(extra)
	}
	t, err := r.transcriber.Transcribe(r.ctx, pcm, engine.TranscribeOptions{Urgency: engine.Speculative.Urgency()})
	if err != nil && r.ctx.Err() == nil {
		r.log.Error("cannot transcribe speech at the kiosk", "err", err)
	}
	said.text = t.Text
	return said
}

// phraseRead handles a transcript: the phrase begins a chat, and what was said after it
// belongs to the first turn, with everything since.
func (a *attendant) phraseRead(said transcript) {
	if a.call != nil {
		if language.Stops(said.text) {
			a.call.end(endSaid)
		}
		a.phraseReader.done(true)
		return
	}
	behind, ok := "", false
	if a.options.Start == OnPhrase {
		behind, ok = afterAnyPhrase(said.text, a.options.Phrases)
	}
	a.phraseReader.done(!ok)
	if !ok {
		return
	}
	from := said.end
	if behind != "" {
		from = said.begin
	}
	a.begin(a.ear.since(from), behind != "")
}

// afterAnyPhrase returns what was said after the first matching phrase.
func afterAnyPhrase(said string, phrases []string) (behind string, ok bool) {
	for _, p := range phrases {
		if behind, ok = afterPhrase(said, p); ok {
			return behind, true
		}
	}
	return "", false
}

// afterPhrase returns what was said after a phrase, and whether the phrase was said.
// Transcribers spell unknown names arbitrarily, so a quarter of the letters may differ, and
// words may be joined.
func afterPhrase(said, phrase string) (behind string, ok bool) {
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

// wordsOf splits a text into words, as language.Plain has them; in scripts without spaces,
// into characters.
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
