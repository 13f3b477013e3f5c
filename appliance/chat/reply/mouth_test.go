package reply

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/audio"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
)

// singer is a voice that makes a tone in pieces and records its requests.
type singer struct {
	pieces []int // samples
	asked  []engine.SpeakOptions
	due    []time.Duration // how far off each piece after the first was
	during func(piece int)
	cannot map[string]string // texts that it cannot say, and what of them it can
	said   []string
}

const singerRateHz = 22050

func (s *singer) RateHz() int                                               { return singerRateHz }
func (s *singer) Voice(context.Context, string) (engine.Synthesizer, error) { return s, nil }

func (s *singer) Speak(ctx context.Context, text string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	if rest, ok := s.cannot[text]; ok {
		return engine.ErrCannotSay{Writing: text, Rest: rest}
	}
	s.said = append(s.said, text)
	s.asked = append(s.asked, o)
	at, all := 0, 0
	for _, n := range s.pieces {
		all += n
	}
	for i, n := range s.pieces {
		if i > 0 {
			s.due = append(s.due, time.Until(o.Urgency.Get().Due))
		}
		if err := emit(engine.Sound{PCM: tone(at, n), TotalSamples: all, Last: i == len(s.pieces)-1}); err != nil {
			return err
		}
		if at += n; s.during != nil {
			s.during(i)
		}
	}
	return nil
}

func tone(at, n int) []float32 {
	pcm := make([]float32, n)
	for i := range pcm {
		pcm[i] = 0.5 * float32(math.Sin(2*math.Pi*440*float64(at+i)/singerRateHz))
	}
	return pcm
}

// spoken returns the pieces that a mouth posts for sentences.
func spoken(ctx context.Context, v *singer, sentences ...turn.Sentence) (pieces []turn.Piece) {
	m := mouth{
		voices:     v,
		throughput: NewThroughput(),
		clock:      func() time.Duration { return 0 },
		post: func(e turn.Event) {
			pieces = append(pieces, e.(turn.SoundMade).Piece)
		},
	}
	queue := make(chan speech, len(sentences))
	for _, s := range sentences {
		queue <- speech{sentence: s, speed: 1}
	}
	close(queue)
	m.speak(ctx, 1, queue, newSchedule(true, time.Now()))
	return pieces
}

// The pieces, joined, are the sound that one piece would have been.
func TestSoundIsContinuousOverItsPieces(t *testing.T) {
	v := &singer{pieces: []int{5632, 5631, 11000, 1, 7, 22016, 300}}
	pieces := spoken(t.Context(), v, turn.Sentence{ID: "a", Text: "La la la."})
	all := 0
	for _, n := range v.pieces {
		all += n
	}
	var got []float32
	for i, p := range pieces {
		if p.Index != i || p.Last != (i == len(pieces)-1) {
			t.Errorf("piece %d has index %d, last %v", i, p.Index, p.Last)
		}
		got = append(got, p.PCM...)
	}
	want := audio.Resample(tone(0, all), singerRateHz, contract.OutputRateHz)
	want = append(want, make([]float32, sentencePause*contract.OutputRateHz/time.Second)...)
	if !slices.Equal(got, want) {
		t.Errorf("%d samples, want %d, or others", len(got), len(want))
	}
	whole := time.Duration(len(want)) * time.Second / contract.OutputRateHz
	for _, p := range pieces {
		if (p.SentenceLength - whole).Abs() > time.Millisecond {
			t.Errorf("piece %d says that the sentence plays %v, it plays %v", p.Index, p.SentenceLength, whole)
		}
	}
}

// Stage directions of a model are in its message but not in its sound. Dictated text is said as it stands.
func TestStageDirectionsAreSilent(t *testing.T) {
	for _, c := range []struct {
		sentence turn.Sentence
		says     string
	}{
		{turn.Sentence{ID: "a", Text: "*waves happily* Hello!"}, "Hello!"},
		{turn.Sentence{ID: "a", Text: "(chuckles)"}, ""},
		{turn.Sentence{ID: "a", Text: "*waves happily* Hello!", Dictated: true}, "*waves happily* Hello!"},
	} {
		v := &singer{pieces: []int{100}}
		pieces := spoken(t.Context(), v, c.sentence)
		if last := pieces[len(pieces)-1]; strings.TrimSpace(strings.Join(v.said, "")) != c.says ||
			last.Sentence.Text != c.sentence.Text || !last.Last {
			t.Errorf("%q: said %q, posted %q", c.sentence.Text, v.said, last.Sentence.Text)
		}
	}
}

// recorder is the memory of a voice that has spoken everything before: it counts what it is asked for.
type recorder struct{ asked int }

func (r *recorder) Voice(v engine.Synthesizer) engine.Synthesizer {
	r.asked++
	return &singer{pieces: v.(*singer).pieces}
}

// Only fixed sentences of approved answers are stored, and their words are all spoken. They have the pause and the
// length of any sentence, and say nothing about the speed of the voice.
func TestFixedSentencesArePlayedFromStoredSound(t *testing.T) {
	for _, c := range []struct {
		sentence turn.Sentence
		stored   int
		says     string
	}{
		{turn.Sentence{ID: "a", Text: "*waves* We open (on Sundays) at ten.", AnswerID: "hours", Fixed: true}, 1, ""},
		{turn.Sentence{ID: "a", Text: "*waves* Hello, Ann.", AnswerID: "hello"}, 0, "*waves* Hello, Ann."},
		{turn.Sentence{ID: "a", Text: "We open at ten."}, 0, "We open at ten."},
	} {
		r := &recorder{}
		v := &singer{pieces: []int{5000, 5000}}
		m := mouth{
			voices:     v,
			throughput: NewThroughput(),
			clock:      func() time.Duration { return 0 },
			stored:     r,
		}
		var pieces []turn.Piece
		m.post = func(e turn.Event) { pieces = append(pieces, e.(turn.SoundMade).Piece) }
		queue := make(chan speech, 1)
		queue <- speech{sentence: c.sentence, speed: 1}
		close(queue)
		m.speak(t.Context(), 1, queue, newSchedule(true, time.Now()))
		if r.asked != c.stored || strings.Join(v.said, "") != c.says {
			t.Errorf("%q: stored sound was asked for %d times, synthesised %q", c.sentence.Text, r.asked, v.said)
		}
		samples := len(pieces[0].PCM) + len(pieces[1].PCM)
		pause := audio.Samples(sentencePause, contract.OutputRateHz)
		if want := 10000*contract.OutputRateHz/singerRateHz + pause; samples < want-1 || samples > want+1 {
			t.Errorf("%q: %d samples, want %d", c.sentence.Text, samples, want)
		}
		if changed := m.throughput.firstSound != firstSoundTime; changed != (c.stored == 0) {
			t.Errorf("%q: the speed of the voice was measured: %v", c.sentence.Text, changed)
		}
	}
}

// Later pieces are due only when the listener runs dry, so that they do not hold up another chat's first
// sound.
func TestLaterPiecesAreDueWhenTheListenerRunsDry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which making sound takes no time
		second := singerRateHz
		v := &singer{pieces: []int{second / 4, second / 4, second, 2 * second, second}}
		spoken(t.Context(), v, turn.Sentence{ID: "a", Text: "La."})
		made := 0
		for i, due := range v.due {
			made += v.pieces[i]
			dry := time.Duration(made) * time.Second / singerRateHz
			if (due + mouthLead - dry).Abs() > 5*time.Millisecond { // the resampler's filter
				t.Errorf("piece %d is due in %v; the listener has %v, synthesis takes %v", i+1, due, dry,
					mouthLead)
			}
		}
	})
}

func TestAMouthStopsWithinAPieceOfACancelledTurn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	v := &singer{pieces: []int{5000, 5000, 5000}}
	v.during = func(i int) {
		if i == 0 {
			cancel()
		}
	}
	if pieces := spoken(ctx, v, turn.Sentence{ID: "a", Text: "La."},
		turn.Sentence{ID: "b", Text: "Lo."}); len(pieces) > 2 || len(v.asked) != 1 {
		t.Errorf("%d pieces of %d sentences", len(pieces), len(v.asked))
	}
}

func TestTheRestOfASentenceIsSpokenAsItsRest(t *testing.T) {
	v := &singer{pieces: []int{5000}}
	pieces := spoken(t.Context(), v, turn.Sentence{ID: "a", Text: "Sure,", GoesOn: true},
		turn.Sentence{ID: "b", Text: "I can help", GoesOn: true},
		turn.Sentence{ID: "c", Text: "with that."}, turn.Sentence{ID: "d", Text: "Bye."})
	for i, want := range []engine.SpeakOptions{{Continues: true}, {Previous: "Sure, ", Continues: true},
		{Previous: "Sure, I can help "}, {}} {
		if got := v.asked[i]; got.Previous != want.Previous || got.Continues != want.Continues {
			t.Errorf("sentence %d was asked for after %q, going on: %v", i, got.Previous, got.Continues)
		}
	}
	pause := audio.Samples(sentencePause, contract.OutputRateHz)
	if got := len(pieces[2].PCM) - len(pieces[0].PCM); got != pause {
		t.Errorf("the end of the sentence is %d samples longer than its beginning, want %d", got, pause)
	}
}

func TestAVoiceSkipsWhatItCannotSay(t *testing.T) {
	v := &singer{pieces: []int{500}, cannot: map[string]string{"Call 王.": "Call .", "王": "王"}}
	pieces := spoken(t.Context(), v, turn.Sentence{ID: "a", Text: "Call 王."}, turn.Sentence{ID: "b", Text: "王"})
	if !slices.Equal(v.said, []string{"Call ."}) {
		t.Errorf("the voice says %q", v.said)
	}
	if len(pieces) != 2 || !pieces[0].Last || !pieces[1].Last || len(pieces[1].PCM) != 0 {
		t.Errorf("%d pieces: %+v", len(pieces), pieces)
	}
}

func TestAnUnspeakableSentenceStillEnds(t *testing.T) {
	pieces := spoken(t.Context(), &singer{}, turn.Sentence{ID: "a", Text: "…"})
	if len(pieces) != 1 || !pieces[0].Last || len(pieces[0].PCM) != 0 {
		t.Errorf("%+v", pieces)
	}
}

// The pronunciation is asked for each sentence, because a lexicon may change during a chat.
func TestPronunciationIsAskedForEachSentence(t *testing.T) {
	v := &singer{pieces: []int{100}}
	locales := []string{"en-GB", "en-IN"}
	m := mouth{
		voices:     v,
		throughput: NewThroughput(),
		clock:      func() time.Duration { return 0 },
		post:       func(turn.Event) {},
	}
	m.pronunciation = func(context.Context) text.Options {
		l, err := text.NewLexicon(map[string]string{locales[0]: "x"})
		if err != nil {
			t.Fatal(err)
		}
		o := text.Options{Locale: locales[0], Lexicon: l}
		locales = locales[1:]
		return o
	}
	queue := make(chan speech, 2)
	queue <- speech{sentence: turn.Sentence{ID: "a", Text: "La."}, speed: 1}
	queue <- speech{sentence: turn.Sentence{ID: "b", Text: "La."}, speed: 1}
	close(queue)
	m.speak(t.Context(), 1, queue, newSchedule(true, time.Now()))
	if len(v.asked) != 2 || v.asked[0].Locale != "en-GB" || v.asked[1].Locale != "en-IN" ||
		len(v.asked[1].Lexicon) != 1 {
		t.Errorf("%+v", v.asked)
	}
}
