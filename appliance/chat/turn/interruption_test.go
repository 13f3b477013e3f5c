package turn

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
)

func TestVoiceFromBeforeTheAssistantBeganDoesNotInterrupt(t *testing.T) {
	b := begin(t)
	b.after(VoiceHeard{Utterance: 1, Voice: 2 * time.Second}, Dictated{Sentences: []Sentence{{ID: "a", Text: "One."}}})
	want(t, b.after(VoiceHeard{Utterance: 1, Voice: 2032 * time.Millisecond}))
	want(t, b.after(VoiceHeard{Utterance: 1, Voice: 2799 * time.Millisecond}))
	want(t, b.after(VoiceHeard{Utterance: 1, Voice: 2800 * time.Millisecond}), "cancel 1", "user_interruption")
}

func TestABackchannelDoesNotCountTowardsAnInterruption(t *testing.T) {
	b := speaking(t, "The museum opens at ten.")
	b.after(VoiceHeard{Utterance: 2, Voice: 700 * time.Millisecond},
		Transcribed{Utterance: 2, Revision: 1, Transcript: says("Right, right.")})
	want(t, b.after(VoiceHeard{Utterance: 2, Voice: 900 * time.Millisecond}))
	want(t, b.after(VoiceHeard{Utterance: 2, Voice: 1500 * time.Millisecond})[:1], "cancel 1") // it goes on
	b = speaking(t, "The museum opens at ten.")
	b.after(VoiceHeard{Utterance: 2, Voice: 700 * time.Millisecond}, PartlyTranscribed{Utterance: 2,
		Transcript: says("But then")})
	want(t, b.after(VoiceHeard{Utterance: 2, Voice: 900 * time.Millisecond})[:1], "cancel 1")
}

// interruptedBy returns what follows when a sound stops the assistant in the middle of the first of two
// sentences, and its transcript turns out to be words.
func interruptedBy(t *testing.T, words string) (*testChat, []string) {
	b := speaking(t, "The museum opens at ten.")
	b.after(sentenceThought(1, "It closes at six."), ThinkingEnded{Turn: 1})
	b.wait(500 * time.Millisecond)
	want(t, b.after(VoiceHeard{Utterance: 2, Voice: 900 * time.Millisecond}), "cancel 1",
		"amend id-The museum opens at ten.: The museum…", "user_interruption")
	b.after(Transcribed{Utterance: 2, Revision: 1, Transcript: says(words)})
	return b, b.after(TurnEnded{Utterance: 2, Revision: 1})
}

func TestTheAssistantResumesAfterANoise(t *testing.T) {
	rest := []string{"speak 2: opens at ten.", "speak 2: It closes at six.", "done 2"}
	b, got := interruptedBy(t, "")
	want(t, got, rest...)
	id := contract.DerivedID("id-The museum opens at ten.")
	line := Sentence{ID: id, Text: "opens at ten."}
	got = b.after(SoundMade{Turn: 2, Piece: Piece{
		Sentence:       line,
		PCM:            silence(time.Second),
		SentenceLength: time.Second,
		Last:           true,
	}})
	want(t, got, "assistant: opens at ten.", "audio "+id)
	var history []string
	for _, e := range b.state.history {
		history = append(history, e.Text)
	}
	if got := strings.Join(history, " | "); got != "Hello? | The museum… | opens at ten." {
		t.Errorf("the history is %s", got)
	}
	want(t, b.after(VoiceHeard{Utterance: 3, Voice: 900 * time.Millisecond})[:1], "cancel 2") // again

	_, got = interruptedBy(t, "Mm-hm.")
	want(t, got, append([]string{"user: Mm-hm."}, rest...)...)
	_, got = interruptedBy(t, "No, wait.")
	want(t, got, "user: No, wait.")

	b = speaking(t, "The museum opens at ten.")
	b.after(VoiceHeard{Utterance: 2, Voice: 900 * time.Millisecond})
	want(t, b.after(TurnEnded{Utterance: 2}), "speak 2: The museum opens at ten.", "done 2") // too short for a word
}

func TestANoiseWhileTheModelThinksRestartsTheAnswer(t *testing.T) {
	b := begin(t)
	b.after(Typed{Text: "Hello?"})
	want(t, b.after(VoiceHeard{Utterance: 1, Voice: 900 * time.Millisecond}), "cancel 1", "user_interruption")
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 0}), "think 2: Hello?")
}

// If the noise came at the very end, there is nothing to resume.
func TestANoiseAfterTheLastWord(t *testing.T) {
	b := speaking(t, "At ten.")
	b.after(ThinkingEnded{Turn: 1})
	b.wait(990 * time.Millisecond).after(VoiceHeard{Utterance: 2, Voice: 900 * time.Millisecond})
	b.state.interruption.rest = []Sentence{{ID: "a"}} // all of it was heard
	want(t, b.after(TurnEnded{Utterance: 2}))
	if b.state.talking() {
		t.Error("the assistant is to say nothing, and does so for ever")
	}
}

// The transcript of a noise may come when another noise has begun.
func TestANoiseWhoseTranscriptIsLate(t *testing.T) {
	b := speaking(t, "The museum opens at ten.")
	b.after(ThinkingEnded{Turn: 1}, VoiceHeard{Utterance: 2, Voice: 900 * time.Millisecond},
		TurnEnded{Utterance: 2, Revision: 1})
	b.after(VoiceHeard{Utterance: 3, Voice: 300 * time.Millisecond})
	want(t, b.after(Transcribed{Utterance: 2, Revision: 1}))
	want(t, b.after(TurnEnded{Utterance: 3}), "speak 2: The museum opens at ten.", "done 2")
}

// A sentence whose sound is not complete is cut according to its expected length.
func TestInterruptionBeforeASentenceIsAllMade(t *testing.T) {
	b := begin(t)
	b.after(Typed{Text: "Hello?"}, sentenceThought(1, "One two three four."))
	line := Sentence{ID: "a", Text: "One two three four."}
	b.after(SoundMade{Turn: 1, Piece: Piece{Sentence: line, PCM: silence(time.Second),
		SentenceLength: 2 * time.Second}})
	b.wait(3 * time.Second) // the client has run dry
	want(t, b.after(Typed{Text: "Stop."})[:3], "cancel 1", "amend a: One two…", "user_interruption")
}

// A sentence whose sound fails in the middle counts as said up to there.
func TestASentenceThatFailsInTheMiddle(t *testing.T) {
	b := begin(t)
	b.after(Typed{Text: "Hello?"}, sentenceThought(1, "One two three four."))
	line := Sentence{ID: "a", Text: "One two three four."}
	b.after(SoundMade{Turn: 1, Piece: Piece{Sentence: line, PCM: silence(time.Second),
		SentenceLength: 2 * time.Second}})
	want(t, b.after(TurnFailed{Turn: 1, Fault: contract.Fault{Code: contract.NotSpoken}}),
		"cancel 1", "amend a: One two…", "error "+string(contract.NotSpoken), "assistant_end")
	if last := b.state.history[1]; last.Text != "One two…" {
		t.Errorf("the history has %+v", last)
	}
	want(t, b.wait(600*time.Millisecond).after(Tick{}))
	want(t, b.after(Typed{Text: "Stop."})[:2], "amend a: One…", "user_interruption")
}

func TestPausingCutsWhatWasNotHeard(t *testing.T) {
	for _, ended := range []bool{false, true} {
		b := speaking(t, "The museum opens at ten.")
		if ended {
			b.after(ThinkingEnded{Turn: 1})
		}
		b.wait(500 * time.Millisecond)
		b.now += time.Millisecond
		var effects []Effect
		b.state, effects = Next(b.state, PauseRequested{At(b.now)})
		got := short(effects)
		wanted := []string{"record PAUSE_ONSET", "cancel 1", "amend id-The museum opens at ten.: The museum…",
			"assistant_end"}
		if ended {
			wanted = []string{"record PAUSE_ONSET", "amend id-The museum opens at ten.: The museum…"}
		}
		want(t, got, wanted...)
		if !strings.Contains(fmt.Sprintf("%T", effects), "Effect") || !cuts(effects) {
			t.Error("no Cut effect")
		}
		if last := b.state.history[len(b.state.history)-1]; last.Text != "The museum…" {
			t.Errorf("the history ends with %+v", last)
		}
		if ended { // the rest is known, and no other answer is waited for
			want(t, b.after(ResumeRequested{}), "record RESUME_ONSET", "speak 2: opens at ten.", "done 2")
			continue
		}
		want(t, b.after(ResumeRequested{}), "record RESUME_ONSET", "think 2: The museum…")
	}
}

// The unheard rest of an answer is said once after a pause, and only if nothing was said since.
func TestTheRestOfAPausedAnswerIsSaidOnce(t *testing.T) {
	paused := func() *testChat {
		b := speaking(t, "The museum opens at ten.")
		b.after(sentenceThought(1, "It closes at six."), ThinkingEnded{Turn: 1})
		want(t, b.wait(500*time.Millisecond).after(PauseRequested{}), "record PAUSE_ONSET", "cancel 1",
			"amend id-The museum opens at ten.: The museum…", "assistant_end")
		return b
	}
	resumed := []string{"record RESUME_ONSET", "speak 2: opens at ten.", "speak 2: It closes at six.", "done 2"}
	b := paused()
	want(t, b.after(ResumeRequested{}), resumed...)
	want(t, b.after(PauseRequested{}), "record PAUSE_ONSET", "cancel 2", "assistant_end") // before any of it was heard
	want(t, b.after(ResumeRequested{}), "record RESUME_ONSET", "speak 3: opens at ten.", "speak 3: It closes at six.",
		"done 3")

	b = paused()
	b.after(Typed{Text: "And on Mondays?"})
	want(t, b.after(ResumeRequested{}), "record RESUME_ONSET", "think 2: And on Mondays?")
	b.after(PauseRequested{}, Typed{Text: "Stop."})
	want(t, b.after(ResumeRequested{}), "record RESUME_ONSET", "think 3: Stop.")

	b = paused() // text that the client dictates meanwhile comes first, and is not repeated
	b.after(Dictated{Sentences: []Sentence{{ID: "a", Text: "One."}}}, clip(2, "One.", time.Second))
	want(t, b.after(ResumeRequested{}), "record RESUME_ONSET")
	want(t, b.wait(time.Second).after(Tick{}), "speak 3: opens at ten.", "speak 3: It closes at six.", "done 3")

	b = paused()
	one := Sentence{ID: "a", Text: "One.", Dictated: true}
	b.after(Dictated{Sentences: []Sentence{one}}, SoundMade{Turn: 2, Piece: whole(one, time.Second)}, ResumeRequested{})
	b.wait(500 * time.Millisecond).after(PauseRequested{})
	want(t, b.after(ResumeRequested{}),
		append([]string{"record RESUME_ONSET"}, "speak 3: opens at ten.", "speak 3: It closes at six.", "done 3")...)
}

func TestAnAnswerHeardToItsEndIsNotGivenAgain(t *testing.T) {
	b := speaking(t, "At ten.")
	b.after(ThinkingEnded{Turn: 1})
	b.wait(5 * time.Second).after(PauseRequested{})
	want(t, b.after(ResumeRequested{}), "record RESUME_ONSET")
}

// Events of an utterance that is over have no effect: they neither stop the assistant nor distract from the
// newest utterance.
func TestVoiceOfAClosedUtteranceIsIgnored(t *testing.T) {
	b := begin(t)
	b.after(VoiceHeard{Utterance: 1, Voice: 2 * time.Second}, Transcribed{Utterance: 1, Revision: 1,
		Transcript: says("Hello?")},
		TurnEnded{Utterance: 1, Revision: 1},
		sentenceThought(1, "The museum opens at ten."), clip(1, "The museum opens at ten.", time.Second))
	if !b.state.talking() {
		t.Fatal("the assistant does not speak")
	}
	want(t, b.after(VoiceHeard{Utterance: 1, Voice: 3 * time.Second}))

	b = begin(t)
	// its transcript is still to come
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, TurnEnded{Utterance: 1, Revision: 1})
	want(t, b.after(VoiceHeard{Utterance: 1, Voice: 3 * time.Second}))
	b.after(VoiceHeard{Utterance: 2, Voice: 600 * time.Millisecond}, VoiceHeard{Utterance: 1, Voice: 3 * time.Second})
	if h := b.state.utterance; h.number != 2 || h.voice != 600*time.Millisecond {
		t.Errorf("the heard sentence is %+v", h)
	}
}

// A line holds back the newest sound of a sentence until more comes. On a slow machine the client has played
// everything before that.
func TestHeldBackSoundIsCutAlthoughNothingPlays(t *testing.T) {
	b := begin(t)
	b.after(Typed{Text: "Hello?"}, sentenceThought(1, "The museum opens at ten."))
	first := Piece{Sentence: Sentence{ID: "id-The museum opens at ten.", Text: "The museum opens at ten."},
		PCM: silence(300 * time.Millisecond), SentenceLength: 2 * time.Second}
	b.after(SoundMade{Turn: 1, Piece: first})
	b.wait(time.Second)
	state, out := Next(b.state, Typed{At: At(b.now), Text: "Stop."})
	if !cuts(out) {
		t.Error("held-back sound would be heard before the next answer")
	}
	if state.playbackEnd != b.state.playbackEnd {
		t.Errorf("playback ended at %v, want %v", b.state.playbackEnd, state.playbackEnd)
	}
}

func cuts(effects []Effect) bool {
	for _, e := range effects {
		if _, ok := e.(Cut); ok {
			return true
		}
	}
	return false
}

func TestTheUserIsNotInactiveWhileTheBoxWorks(t *testing.T) {
	long := func(s *Settings) { s.MaxDuration = 24 * time.Hour }
	b := begin(t, long)
	b.after(Typed{Text: "Hello?"})
	for range 3 {
		if at := b.wakes(); at < 1800*time.Second {
			t.Fatalf("the chat ends at %v while the model thinks", at)
		}
		b.wait(500 * time.Second).after(Tick{})
	}
	b.after(ThinkingEnded{Turn: 1})
	if at := b.wakes(); at != b.now+600*time.Second {
		b.t.Errorf("the chat ends at %v, the model finished at %v", at, b.now)
	}
	b = begin(t, long)
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, TurnEnded{Utterance: 1, Revision: 1})
	if at := b.wakes(); at < 1800*time.Second {
		t.Errorf("the chat ends at %v during the transcription", at)
	}
}

// The beginning of a word may have an empty transcript. That does not stop an interruption.
func TestAnEmptyInterimTranscriptDoesNotStopAnInterruption(t *testing.T) {
	b := speaking(t, "The museum opens at ten.")
	b.after(VoiceHeard{Utterance: 2, Voice: 500 * time.Millisecond}, PartlyTranscribed{Utterance: 2})
	want(t, b.after(VoiceHeard{Utterance: 2, Voice: 800 * time.Millisecond})[:1], "cancel 1")

	b = speaking(t, "The museum opens at ten.")
	b.after(VoiceHeard{Utterance: 2, Voice: 500 * time.Millisecond}, PartlyTranscribed{Utterance: 2,
		Transcript: says("Mm-hm.")})
	want(t, b.after(VoiceHeard{Utterance: 2, Voice: 1056 * time.Millisecond}))
}

// The heard part of a sentence that was cut for its voice is incomplete, wherever the rest was when the user
// spoke. The model has to know that.
func TestTheHistoryMarksInterruptedSentences(t *testing.T) {
	for name, rest := range map[string]bool{"the rest was on its way": true, "the rest was not thought": false} {
		b := begin(t)
		first := Sentence{ID: "a", Text: "The museum", GoesOn: true}
		b.after(Typed{Text: "Hello?"}, SentenceThought{Turn: 1, Sentence: first})
		b.after(SoundMade{Turn: 1, Piece: Piece{
			Sentence:       first,
			PCM:            silence(time.Second),
			SentenceLength: time.Second,
			Last:           true,
		}})
		if rest {
			second := Sentence{ID: "b", Text: "opens at ten."}
			b.after(SentenceThought{Turn: 1, Sentence: second}, SoundMade{Turn: 1, Piece: Piece{
				Sentence:       second,
				PCM:            silence(time.Second),
				SentenceLength: time.Second,
				Last:           true,
			}})
		}
		b.wait(time.Second).after(Typed{Text: "Stop."})
		h := b.state.history
		if got := h[len(h)-2]; got.Role != Assistant || got.Text != "The museum" || !got.GoesOn {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// A sentence that was cut for its voice is one entry in the history, as far as it was heard, and one message
// when it is repeated. It is one message the first time too, if all of it was known when its sound began.
func TestASentenceInTwoPartsIsOneInTheHistory(t *testing.T) {
	const all = "The museum is open from ten to six."
	first := Sentence{ID: "a", Text: "The museum is open", GoesOn: true}
	rest := Sentence{
		ID:     "b",
		Text:   "from ten to six.",
		First:  "a",
		Before: first.Text,
	}
	for _, row := range []struct {
		known   bool          // all of it was known before its sound
		after   time.Duration // the first part plays for two seconds, and the rest for two more
		history string
		again   string // what is said again after a false interruption
	}{
		{false, 1400 * time.Millisecond, "The museum…", "is open from ten to six."},
		{false, 2 * time.Second, "The museum is open…", "from ten to six."},
		{false, 3300 * time.Millisecond, "The museum is open from ten…", "to six."},
		{false, 5 * time.Second, all, ""},
		{true, 1400 * time.Millisecond, "The museum…", "is open from ten to six."},
		{true, 2200 * time.Millisecond, "The museum is open…", "from ten to six."},
		{true, 3300 * time.Millisecond, "The museum is open from ten…", "to six."},
		{true, 5 * time.Second, all, ""},
	} {
		b := begin(t)
		b.after(Typed{Text: "Hello?"}, SentenceThought{Turn: 1, Sentence: first})
		if row.known {
			b.after(SentenceThought{Turn: 1, Sentence: rest})
			want(t, b.after(SoundMade{Turn: 1, Piece: whole(first, 2*time.Second)}), "assistant: "+all, "audio a")
			want(t, b.after(SoundMade{Turn: 1, Piece: whole(rest, 2*time.Second)}), "audio a")
		} else {
			want(t, b.after(SoundMade{Turn: 1, Piece: whole(first, 2*time.Second)}), "assistant: The museum is open",
				"audio a")
			b.after(SentenceThought{Turn: 1, Sentence: rest})
			want(t, b.after(SoundMade{Turn: 1, Piece: whole(rest, 2*time.Second)}), "assistant: from ten to six.",
				"audio b")
		}
		if h := b.state.history; len(h) != 2 || h[1].Text != all || h[1].GoesOn || h[1].ID != "a" {
			t.Errorf("the history is %+v", h)
		}
		b.wait(row.after - 2*time.Millisecond)
		amends := 0
		for _, what := range b.after(VoiceHeard{Utterance: 2, Voice: 900 * time.Millisecond}) {
			if strings.HasPrefix(what, "amend") {
				amends++
				want(t, []string{what}, "amend a: "+row.history)
			}
		}
		if h := b.state.history; h[len(h)-1].Text != row.history || amends > 1 {
			t.Errorf("%+v: the history is %+v, amended %d times", row, h, amends)
		}
		if row.again != "" {
			said := b.after(Transcribed{Utterance: 2, Revision: 1, Transcript: says("Mm-hm.")},
				TurnEnded{Utterance: 2, Revision: 1})
			said = slices.DeleteFunc(said, func(s string) bool { return !strings.HasPrefix(s, "speak") })
			want(t, said, "speak 2: "+row.again)
		}
	}
}

// The pieces of a sentence that is one message are counted across its parts, and the last piece is that of
// the rest.
func TestPiecesAreCountedAcrossTheParts(t *testing.T) {
	b := begin(t)
	first := Sentence{ID: "a", Text: "Sure,", GoesOn: true}
	second := Sentence{
		ID:     "b",
		Text:   "it is open",
		First:  "a",
		Before: "Sure,",
		GoesOn: true,
	}
	third := Sentence{
		ID:     "c",
		Text:   "from ten.",
		First:  "a",
		Before: "Sure, it is open",
	}
	b.after(Typed{Text: "Hello?"})
	for _, s := range []Sentence{first, second, third} {
		b.after(SentenceThought{Turn: 1, Sentence: s})
	}
	var sound []SoundSent
	piece := func(s Sentence, index int, length time.Duration, last bool) {
		b.now += time.Millisecond
		var effects []Effect
		p := Piece{
			Sentence: s,
			Index:    index,
			PCM:      silence(length),
			Last:     last,
			Scores:   &contract.EmotionScores{},
		}
		b.state, effects = Next(b.state, SoundMade{At: At(b.now), Turn: 1, Piece: p})
		for _, e := range effects {
			if tell, ok := e.(Publish); ok {
				switch f := tell.Fact.(type) {
				case SoundSent:
					sound = append(sound, SoundSent{ID: f.ID, Index: f.Index, Last: f.Last})
				case ProsodyMeasured:
					if f.ID != "a" || s.GoesOn {
						t.Errorf("scores of %s with a piece of %s", f.ID, s.ID)
					}
				}
			}
		}
	}
	for _, s := range []Sentence{first, second, third} {
		piece(s, 0, time.Second/2, false)
		piece(s, 1, time.Second/2, false)
		piece(s, 2, time.Duration(len(s.Text)%2)*time.Second/2, true) // nothing of the second was left
	}
	var wanted []SoundSent
	for i := range 8 {
		wanted = append(wanted, SoundSent{ID: "a", Index: i, Last: i == 7})
	}
	same := func(a, b SoundSent) bool { return a.ID == b.ID && a.Index == b.Index && a.Last == b.Last }
	if !slices.EqualFunc(sound, wanted, same) {
		t.Errorf("sent %+v", sound)
	}
}
