package turn

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/appliance/contract"
)

// witness follows a random conversation and holds its laws against what is
// sent.
type witness struct {
	t         *rapid.T
	state     State
	now       time.Duration
	utterance int
	revision  int
	voice     time.Duration
	serial    int

	turn   int             // that the messages now sent belong to
	said   map[string]bool // ids of assistant messages, and whether they were dictated
	dead   map[int]bool    // turns that were cancelled
	over   map[int]string  // turns that had their end, and which
	cut    map[int]bool    // turns that were interrupted
	paused bool
	ended  bool
}

func TestRandomConversationsKeepTheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := DefaultSettings()
		s.Verbose = rapid.Bool().Draw(t, "verbose")
		w := &witness{t: t, state: NewState(s, time.UnixMilli(0), nil), said: map[string]bool{}, dead: map[int]bool{}, over: map[int]string{}, cut: map[int]bool{}}
		w.happen(Opened{Metadata: contract.ChatMetadata{ChatID: "c"}})
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			w.now += time.Duration(rapid.IntRange(0, 900).Draw(t, "ms")) * time.Millisecond
			w.happen(w.draw())
		}
	})
}

// draw makes an event such as ear, mind, mouth and line may post: also late
// ones, of turns and utterances that are over.
func (w *witness) draw() Event {
	turn := max(0, w.state.turn-rapid.IntRange(0, 2).Draw(w.t, "turns ago"))
	w.serial++
	line := Sentence{ID: fmt.Sprint("s", w.serial), Text: fmt.Sprintf("Sentence %d.", w.serial)}
	text := rapid.SampledFrom([]string{"", "Hello?", "Mm-hm.", "What is it?"}).Draw(w.t, "text")
	at := At(w.now)
	switch rapid.IntRange(0, 18).Draw(w.t, "event") {
	case 0:
		w.utterance++
		w.revision, w.voice = 1, 64*time.Millisecond
		return Voiced{at, w.utterance, w.voice}
	case 1, 2:
		w.voice += time.Duration(rapid.IntRange(32, 600).Draw(w.t, "voice")) * time.Millisecond
		return Voiced{at, w.utterance, w.voice}
	case 3, 4:
		late := rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(w.t, "utterances ago")
		return Guessed{at, max(0, w.utterance-late), max(1, w.revision-rapid.IntRange(0, 1).Draw(w.t, "late")), Words{Text: text}}
	case 5:
		w.revision++
		return WentOn{at, w.utterance, w.revision - 1, w.now}
	case 6, 7:
		return TurnEnded{at, w.utterance, rapid.SampledFrom([]int{0, w.revision, w.revision}).Draw(w.t, "revision")}
	case 8:
		return Typed{at, "Typed."}
	case 9:
		return Dictated{at, []Sentence{line}}
	case 10, 11:
		return Thought{at, turn, line}
	case 12:
		return ThoughtEnded{at, turn}
	case 13, 14:
		return Spoken{at, turn, whole(line, time.Second)}
	case 15:
		return Failed{at, turn, contract.Fault{Code: contract.ProviderFailed}}
	case 16:
		if rapid.Bool().Draw(w.t, "pause") {
			return PauseAsked{at}
		}
		return ResumeAsked{at}
	case 17:
		return Overheard{at, w.utterance, Words{Text: text}}
	}
	return Tick{at}
}

func (w *witness) happen(e Event) {
	old := w.state
	var effects []Effect
	w.state, effects = follow(old, e)
	if w.ended && len(effects) > 0 {
		w.t.Fatalf("after the end came %v", short(effects))
	}
	switch e.(type) {
	case PauseAsked:
		w.paused = true
	case ResumeAsked:
		w.paused = false
	}
	w.turn = old.turn
	for _, f := range effects {
		w.check(f)
	}
	if n := len(w.state.reply.asked); n > MostAsked {
		w.t.Fatalf("%d sentences are asked of the mouth", n)
	}
	if at, ok := w.state.Wake(); ok && at < w.state.now {
		w.t.Fatalf("wakes at %v, before now, %v", at, w.state.now)
	}
}

func (w *witness) check(f Effect) {
	switch f := f.(type) {
	case Think:
		if w.paused {
			w.t.Fatal("thinks while paused")
		}
		if f.Turn != w.state.turn {
			w.t.Fatalf("thinks for turn %d of %d", f.Turn, w.state.turn)
		}
	case Speak:
		if w.dead[f.Turn] {
			w.t.Fatalf("speaks for turn %d, which was cancelled", f.Turn)
		}
	case Cancel:
		w.dead[f.Turn] = true
	case End:
		w.ended = true
	case Tell:
		w.checkFact(f.Fact)
	}
}

func (w *witness) checkFact(f Fact) {
	switch f := f.(type) {
	case AssistantSaid:
		w.said[f.ID] = f.Dictated
		w.mayTalk("words", f.Dictated)
	case Sounded:
		dictated, said := w.said[f.ID]
		if !said {
			w.t.Fatal("audio comes before its words")
		}
		w.mayTalk("sound", dictated)
	case AnswerEnded:
		if end := w.over[w.turn]; end != "" || w.cut[w.turn] {
			w.t.Fatalf("turn %d ends again, after %q", w.turn, end)
		}
		w.over[w.turn] = "an end"
	case Interrupted:
		if w.cut[w.turn] {
			w.t.Fatalf("turn %d is interrupted again", w.turn)
		}
		if w.turn == 0 {
			w.t.Fatal("an interruption of nothing")
		}
		w.cut[w.turn] = true
	}
}

func (w *witness) mayTalk(what string, dictated bool) {
	switch {
	case w.dead[w.turn]:
		w.t.Fatalf("%s of turn %d, which was cancelled", what, w.turn)
	case w.cut[w.turn]:
		w.t.Fatalf("%s of turn %d after its interruption", what, w.turn)
	case w.over[w.turn] != "":
		w.t.Fatalf("%s of turn %d after its end", what, w.turn)
	case w.paused && !dictated:
		w.t.Fatalf("%s while paused", what)
	}
}
