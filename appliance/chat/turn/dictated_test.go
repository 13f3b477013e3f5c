package turn

import (
	"fmt"
	"testing"
	"time"
)

// A dictated text of any length ends, and never gives the mouth more sentences than it takes.
func TestADictatedTextOfAnyLengthEnds(t *testing.T) {
	const many = 10_000
	lines := make([]Sentence, many)
	for i := range lines {
		lines[i] = Sentence{ID: fmt.Sprint(i), Text: "So."}
	}
	s := NewState(DefaultSettings(), time.UnixMilli(0), nil)
	s, effects := Next(s, Dictated{Sentences: lines})
	var asked []Sentence
	spoken, ends, dones := 0, 0, 0
	now := time.Duration(0)
	for {
		for _, f := range effects {
			switch f := f.(type) {
			case Speak:
				asked = append(asked, f.Sentence)
			case FinishTurn:
				dones++
			case Publish:
				if _, ok := f.Fact.(AnswerEnded); ok {
					ends++
				}
			}
		}
		if len(asked) > MaxAtMouth {
			t.Fatalf("%d sentences wait for the mouth", len(asked))
		}
		if len(asked) == 0 && ends > 0 {
			break
		}
		if len(asked) == 0 { // enough is made for now
			at, ok := s.Wake()
			if !ok || at <= now {
				t.Fatalf("after %d sentences nothing is asked for at %v", spoken, now)
			}
			now = at
			s, effects = Next(s, Tick{At(now)})
			continue
		}
		if asked[0].ID != lines[spoken].ID || !asked[0].Dictated {
			t.Fatalf("%v comes in place of %v", asked[0], lines[spoken])
		}
		s, effects = Next(s, SoundMade{At: At(now), Turn: 1, Piece: whole(asked[0], 20*time.Millisecond)})
		asked, spoken = asked[1:], spoken+1
	}
	if spoken != many || ends != 1 || dones != 1 || s.reply.phase != quiet {
		t.Errorf("%d spoken, %d ends, %d times done, phase %v", spoken, ends, dones, s.reply.phase)
	}
}

func TestResumingKeepsDictatedText(t *testing.T) {
	b := begin(t)
	b.after(PauseRequested{}, Typed{Text: "Hello?"})
	b.after(Dictated{Sentences: []Sentence{{ID: "a", Text: "One."}}})
	want(t, b.after(ResumeRequested{}), "record RESUME_ONSET")
	want(t, b.after(clip(1, "One.", time.Second)), "assistant: One.", "audio id-One.", "assistant_end")
	want(t, b.after(Tick{}))
	want(t, b.wait(time.Second).after(Tick{}), "think 2: One.") // after both
	if h := b.state.history; h[0].Text != "Hello?" {
		t.Errorf("the history is %+v", h)
	}
}

// A dictated text ends the sentence that is being spoken where its sound ends: the rest will not come, and
// the history says so.
func TestDictationCutsTheSentenceBeingSpoken(t *testing.T) {
	b := begin(t)
	b.after(Typed{Text: "Hello?"}, sentenceThought(1, "One two three four."))
	line := Sentence{ID: "a", Text: "One two three four."}
	b.after(SoundMade{Turn: 1, Piece: Piece{Sentence: line, PCM: silence(time.Second),
		SentenceLength: 2 * time.Second}})
	want(t, b.after(Dictated{Sentences: []Sentence{{ID: "d", Text: "Closing time."}}}),
		"cancel 1", "amend a: One two…", "assistant_end", "speak 2: Closing time.", "done 2")
	if last := b.state.history[len(b.state.history)-1]; last.Text != "One two…" {
		t.Errorf("the history ends with %+v", last)
	}
}
