package turn

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
)

// long returns a conversation with a dictated text of this many sentences of four seconds, all of which are
// made at once.
func long(t *testing.T, sentences int) (b *testChat, first []string) {
	b = begin(t)
	lines := make([]Sentence, sentences)
	for i := range lines {
		lines[i] = line(i)
	}
	b.after(Dictated{Sentences: lines})
	return b, b.makeAll()
}

func line(i int) Sentence {
	return Sentence{ID: fmt.Sprint(i), Text: fmt.Sprintf("This is line %d.", i)}
}

// makeAll makes the sound of everything that the mouth was given, and returns what follows.
func (c *testChat) makeAll() (out []string) {
	for len(c.state.reply.atMouth) > 0 {
		s := c.state.reply.atMouth[0]
		for i := range 4 {
			out = append(out, c.after(SoundMade{Turn: c.state.turn, Piece: Piece{
				Sentence:       s,
				Index:          i,
				PCM:            silence(time.Second),
				SentenceLength: 4 * time.Second,
				Last:           i == 3,
			}})...)
		}
	}
	return out
}

func sounds(told []string) (n int) {
	for _, f := range told {
		if strings.HasPrefix(f, "audio ") {
			n++
		}
	}
	return n
}

func TestSoundIsSentSecondsBeforeItsPlayback(t *testing.T) {
	b, first := long(t, 38)
	want(t, first[:3], "assistant: This is line 0.", "audio 0", "audio 0")
	sent := sounds(first)
	if ahead := time.Duration(sent) * time.Second; ahead < DefaultLead || ahead > DefaultLead+time.Second {
		t.Fatalf("%v are sent at once", ahead)
	}
	most, ended := 0, false
	for begun := b.now; !ended && b.now < begun+3*time.Minute; {
		out := append(b.makeAll(), b.wait(249*time.Millisecond).after(Tick{})...)
		sent += sounds(out)
		most = max(most, sent*1000-int((b.now-begun).Milliseconds()))
		ended = slices.Contains(out, "assistant_end")
		if made := b.state.reply.unsentLength(); made > maxMadeAhead+4*4*time.Second {
			t.Fatalf("%v are made ahead", made)
		}
	}
	if sent != 4*38 || !ended || most > int((DefaultLead+time.Second).Milliseconds()) {
		t.Errorf("%d seconds are sent, ended: %v, %d ms ahead", sent, ended, most)
	}
}

func TestAnInterruptionDropsUnsentSound(t *testing.T) {
	b, _ := long(t, 38)
	out := b.wait(6 * time.Second).after(Tick{})
	if sounds(out) == 0 {
		t.Fatalf("after 6 s came %v", out)
	}
	out = b.after(Typed{Text: "Stop."})
	if sounds(out) > 0 || !slices.Contains(out, "user_interruption") {
		t.Fatalf("the interruption has the effects %v", out)
	}
	if out := b.wait(time.Minute).after(Tick{}); sounds(out) > 0 {
		t.Errorf("after it comes %v", out)
	}
	var heard []string
	for _, e := range b.state.history {
		if e.Role == Assistant {
			heard = append(heard, e.Text)
		}
	}
	want(t, heard, "This is line 0.", "This"+CutMark)
}

// The unheard rest of an answer is said after a pause, whether it was sent, made or only known.
func TestAPauseDropsNothingOfALongAnswer(t *testing.T) {
	b := begin(t)
	b.after(Typed{Text: "Tell me all."})
	for i := range 12 {
		b.after(SentenceThought{Turn: 1, Sentence: line(i)})
	}
	b.after(ThinkingEnded{Turn: 1})
	b.makeAll()
	b.wait(6*time.Second).after(Tick{}, PauseRequested{}, ResumeRequested{})
	var rest []string
	for _, s := range b.state.reply.unsent() {
		rest = append(rest, s.Text)
	}
	wanted := []string{"is line 1."}
	for i := 2; i < 12; i++ {
		wanted = append(wanted, line(i).Text)
	}
	want(t, rest, wanted...)
}

// A dictated text follows what is made of the current one, each with its own end.
func TestADictatedTextFollowsMadeSound(t *testing.T) {
	b, _ := long(t, 3)
	want(t, b.after(Dictated{Sentences: []Sentence{{ID: "d", Text: "Closing time."}}}))
	want(t, b.after(Dictated{Sentences: []Sentence{{ID: "e", Text: "Good night."}}}))
	out := b.wait(8 * time.Second).after(Tick{})
	if n := len(out); n < 3 {
		t.Fatalf("after 8 s came %v", out)
	}
	want(t, out[len(out)-3:], "assistant_end", "speak 2: Closing time.", "done 2")
	want(t, b.after(SoundMade{Turn: 2, Piece: whole(Sentence{ID: "d", Text: "Closing time."}, time.Second)}))
	out = b.wait(2 * time.Second).after(Tick{})
	want(t, out, "assistant: Closing time.", "audio d", "assistant_end", "speak 3: Good night.", "done 3")
}

// If a voice fails in the middle, what was made is still said, and the error is reported at once.
func TestAFailureKeepsMadeSound(t *testing.T) {
	b := begin(t)
	b.after(Dictated{Sentences: []Sentence{line(0), line(1), line(2)}})
	for i := range 7 {
		s := line(i / 4)
		b.after(SoundMade{Turn: 1, Piece: Piece{
			Sentence:       s,
			Index:          i % 4,
			PCM:            silence(time.Second),
			SentenceLength: 4 * time.Second,
			Last:           i == 3,
		}})
	}
	fault := contract.Fault{Code: contract.NotSpoken}
	want(t, b.after(TurnFailed{Turn: 1, Fault: fault}), "cancel 1", "error "+string(fault.Code))
	want(t, b.wait(3*time.Second).after(Tick{}), "audio 1", "amend 1: This is…", "assistant_end")
}

// A tool is called after the words that precede the call.
func TestACallWaitsForTheWordsBeforeIt(t *testing.T) {
	b := begin(t, func(s *Settings) { s.Tools = []Tool{weather()} })
	b.after(Typed{Text: "Will it rain?"}, SentenceThought{Turn: 1, Sentence: line(0)}, SentenceThought{Turn: 1,
		Sentence: line(1)})
	b.makeAll()
	want(t, b.after(ToolRequested{Turn: 1, Call: Call{ID: "c", Name: "weather", Arguments: "{}"}}))
	out := b.wait(4 * time.Second).after(Tick{})
	want(t, out, "audio 1", "audio 1", "tool_call weather {}")
}

// Sound that waits for the network is not played, and the user who speaks interrupts it.
func TestDelayedSoundIsNotPlayed(t *testing.T) {
	b, _ := long(t, 1)
	b.wait(3 * time.Second).after(SendDelayed{Length: 3 * time.Second})
	b.wait(3 * time.Second).after(SendDelayed{Length: 2 * time.Second})
	if !b.state.talking() {
		t.Error("the sound counts as played")
	}
	want(t, b.after(Typed{Text: "Stop."})[:2], "amend 0: This"+CutMark, "user_interruption")
	b.after(SendDelayed{Length: time.Second}) // from a line that has not heard of the interruption
	if b.state.playbackEnd > b.state.now {
		t.Error("cut sound plays on")
	}
}
