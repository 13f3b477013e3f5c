package turn

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// lateWords returns a conversation in which the first utterance is over without a transcript, and the second
// has begun.
func lateWords(t *testing.T) *testChat {
	b := begin(t)
	want(t, b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, TurnEnded{Utterance: 1, Revision: 1}))
	want(t, b.after(VoiceHeard{Utterance: 2, Voice: time.Second}))
	return b
}

func TestLateSpeechIsAnsweredWithTheNext(t *testing.T) {
	b := lateWords(t)
	want(t, b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: says("I am Anna.")}), "user: I am Anna.")
	want(t, b.after(Transcribed{Utterance: 2, Revision: 1, Transcript: says("When do you open?")}),
		"prepare 1: When do you open?")
	want(t, b.after(TurnEnded{Utterance: 2, Revision: 1}), "user: When do you open?")
	want(t, b.after(sentenceThought(1, "At ten.")), "speak 1: At ten.")
	var said []string
	for _, m := range b.state.history {
		said = append(said, m.Text)
	}
	if !slices.Equal(said, []string{"I am Anna.", "When do you open?"}) {
		t.Errorf("the history is %q", said)
	}
}

func TestLateSpeechIsAnsweredWhenTheUserIsSilent(t *testing.T) {
	for name, end := range map[string][]Event{
		"a cough":         {TurnEnded{Utterance: 2, Revision: 0}},
		"nothing in them": {TurnEnded{Utterance: 2, Revision: 1}, Transcribed{Utterance: 2, Revision: 1}},
	} {
		b := lateWords(t)
		b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: says("When do you open?")})
		if got := b.after(end...); !slices.Equal(got, []string{"think 1: When do you open?"}) {
			t.Errorf("%s: %q", name, got)
		}
		b = lateWords(t)
		b.after(end[0])
		if len(end) > 1 {
			continue // transcripts come in order
		}
		if got := b.after(Transcribed{Utterance: 1, Revision: 1,
			Transcript: says("When do you open?")}); !slices.Equal(got,
			[]string{"user: When do you open?", "think 1: When do you open?"}) {
			t.Errorf("%s, before the words: %q", name, got)
		}
	}
}

func TestSeveralUtterancesMayBeLate(t *testing.T) {
	b := lateWords(t)
	b.after(TurnEnded{Utterance: 2, Revision: 1}, VoiceHeard{Utterance: 3, Voice: time.Second},
		TurnEnded{Utterance: 3, Revision: 2})
	want(t, b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: says("One.")}), "user: One.")
	want(t, b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: says("One.")})) // only once
	want(t, b.after(Transcribed{Utterance: 2, Revision: 1, Transcript: says("Two.")}), "user: Two.")
	want(t, b.after(Transcribed{Utterance: 3, Revision: 1, Transcript: says("Thr")}))
	want(t, b.after(Transcribed{Utterance: 3, Revision: 2, Transcript: says("Three.")}), "user: Three.",
		"think 1: Three.")
}

func TestPendingSpeechIsAValue(t *testing.T) {
	var w pendingSpeech
	w.expect(1, 1)
	w.expect(2, 3)
	w.hold(says("One."))
	was := w
	if w.arrived(2, 2) || w.arrived(3, 1) {
		t.Error("an unexpected transcript was accepted")
	}
	if !w.arrived(1, 1) || w.arrived(1, 1) || w.onlyForAnswer() {
		t.Error("an expected transcript was not accepted exactly once")
	}
	w.expect(4, 1)
	w.hold(says("Two."))
	if got := w.release(); len(got) != 2 || got[0].Text != "One." || len(w.heldBack) > 0 {
		t.Errorf("released %v", got)
	}
	if len(was.expected) != 2 || was.expected[0] != (expectedTranscript{1, 1}) || len(was.heldBack) != 1 {
		t.Errorf("the older value became %+v", was)
	}
}

// talk is a random conversation in real time: the user speaks, sometimes over the assistant, which answers
// everything.
type talk struct {
	t         *rapid.T
	state     State
	now       time.Duration
	utterance int
	words     []Event // transcripts that are still to come, in order
	told      []string
}

func (k *talk) happen(e Event) {
	for at, ok := k.state.Wake(); ok && at < k.now && at > k.state.now; at, ok = k.state.Wake() {
		k.next(Tick{At(at)})
	}
	k.next(stamped(e, k.now))
}

func (k *talk) next(e Event) {
	var effects []Effect
	k.state, effects = follow(k.state, e)
	for _, f := range effects {
		if tell, ok := f.(Publish); ok {
			if u, ok := tell.Fact.(UserSaid); ok && !u.Interim {
				k.told = append(k.told, u.Text)
			}
		}
	}
}

func (k *talk) transcribe() {
	if len(k.words) > 0 {
		e := k.words[0]
		k.words = k.words[1:]
		k.happen(e)
	}
}

// reply lets the assistant say its answer, two seconds of sound.
func (k *talk) reply() {
	n := k.state.Turn()
	if k.state.reply.phase == quiet || k.state.reply.thinkingEnded {
		return
	}
	line := Sentence{ID: fmt.Sprint(n), Text: "Answer."}
	k.happen(SentenceThought{Turn: n, Sentence: line})
	k.happen(ThinkingEnded{Turn: n})
	k.happen(SoundMade{Turn: n, Piece: whole(line, 2*time.Second)})
}

// speak makes one utterance, whose transcript comes before its end or later.
func (k *talk) speak() {
	k.utterance++
	voice := rapid.SampledFrom([]int{400, 1200}).Draw(k.t, "voice") // the longer one interrupts
	k.happen(VoiceHeard{Utterance: k.utterance, Voice: time.Duration(voice) * time.Millisecond})
	k.words = append(k.words, Transcribed{Utterance: k.utterance, Revision: 1,
		Transcript: says(fmt.Sprint("Words ", k.utterance))})
	if rapid.Bool().Draw(k.t, "known at the pause") {
		for len(k.words) > 0 {
			k.transcribe()
		}
	}
	k.now += 800 * time.Millisecond
	k.happen(TurnEnded{Utterance: k.utterance, Revision: 1})
}

// Speech over the assistant is recorded before the speech that interrupts it.
func TestAnInterruptionIsRecordedAfterEarlierSpeech(t *testing.T) {
	b := speaking(t, "The museum opens at ten.")
	b.after(ThinkingEnded{Turn: 1}, VoiceHeard{Utterance: 2, Voice: 400 * time.Millisecond},
		Transcribed{Utterance: 2, Revision: 1, Transcript: says("And Mondays?")}, TurnEnded{Utterance: 2, Revision: 1})
	want(t, b.after(Typed{Text: "Stop."}), "amend id-The museum opens at ten.: …", "user_interruption",
		"user: And Mondays?", "user: Stop.", "think 2: Stop.")
}

// Everything said is recorded in order, unless the assistant is paused.
func TestSpeechIsRecordedInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := &talk{t: t, state: NewState(DefaultSettings(), time.UnixMilli(0), nil)}
		k.happen(Opened{})
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			k.now += time.Duration(rapid.IntRange(1, 1500).Draw(t, "ms")) * time.Millisecond
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				k.speak()
			case 1:
				k.transcribe()
			case 2:
				k.reply()
			default:
				k.happen(Tick{})
			}
		}
		for range 200 {
			k.now += 3 * time.Second
			k.transcribe()
			k.reply()
			k.happen(Tick{})
		}
		for i, text := range k.told {
			if want := fmt.Sprint("Words ", i+1); text != want {
				t.Fatalf("published %q, want %q next", k.told, want)
			}
		}
		if len(k.told) != k.utterance {
			t.Fatalf("published %d of %d utterances", len(k.told), k.utterance)
		}
	})
}

// Backchannels are known in the user's language. Any other words, in any script, are answered, and after a
// question everything is.
func TestSpeechInAnyScriptIsAnswered(t *testing.T) {
	for _, row := range []struct {
		assistant, language, said string
		answered                  bool
	}{
		{"We open at ten.", "en", "42.", true},
		{"We open at ten.", "ru", "Нет.", true},
		{"We open at ten.", "", "Нет.", true},
		{"We open at ten.", "ja", "いいえ。", true},
		{"We open at ten.", "de", "Nein.", true},
		{"We open at ten.", "en", "Mm-hm.", false},
		{"We open at ten.", "en", "Right, I see.", false},
		{"We open at ten.", "de", "Ach so.", false},
		{"We open at ten.", "ja", "はい。", false},
		{"Do you want to come?", "ja", "はい。", true},
		{"来ますか？", "ja", "はい。", true},
	} {
		s := NewState(DefaultSettings(), time.UnixMilli(0), []Entry{{Role: Assistant, Text: row.assistant}})
		s.pendingSpeech.hold(Transcript{Text: row.said, Language: row.language})
		var out effects
		s.afterPlayback(&out)
		answered := slices.ContainsFunc(out, func(e Effect) bool { _, ok := e.(Think); return ok })
		if answered != row.answered {
			t.Errorf("%q, %q in %q: answered %v", row.assistant, row.said, row.language, answered)
		}
	}
}
