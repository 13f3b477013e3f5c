package reply

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
)

// writer writes a text word by word.
func writer(text string, each time.Duration) engine.LanguageModel {
	return enginetest.FixedReply(each, strings.SplitAfter(text, " ")...)
}

// pieces returns what a writer says in answer to a speculative transcript whose silence ends after a time,
// and when each piece was thought.
func pieces(t *testing.T, w engine.LanguageModel, silence time.Duration, p *Throughput) (said []string,
	at []time.Duration) {
	t.Helper()
	begun := time.Now()
	clock := func() time.Duration { return time.Since(begun) }
	m := mind{"chat", w, false, p, nil, &outage{}, &toolChecks{}, slog.New(slog.DiscardHandler), clock,
		func(e turn.Event) {
			if thought, ok := e.(turn.SentenceThought); ok {
				said, at = append(said, thought.Sentence.Text), append(at, thought.Time())
			}
		}, ApprovedAnswers{}, nil}
	m.reply(t.Context(), turn.Think{Turn: 1, Speculative: true, Due: silence}, ModelOptions{},
		newSchedule(false, begun.Add(silence)))
	return said, at
}

const longAnswer = "The garden behind the old house is open in the summer, and you can walk through it from nine " +
	"until six every day."

func TestAnAnswerInTimeIsOneSentence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said, _ := pieces(t, writer(longAnswer, 20*time.Millisecond), 800*time.Millisecond, NewThroughput())
		if len(said) != 1 {
			t.Errorf("%q", said)
		}
	})
}

func TestALateAnswerBeginsWithAClauseOrAPhrase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clause, at := pieces(t, writer("Yes, of course, "+longAnswer, 60*time.Millisecond),
			500*time.Millisecond, NewThroughput())
		if clause[0] != "Yes, of course," || at[0] > 400*time.Millisecond {
			t.Errorf("%q after %v", clause, at)
		}
		phrase, at := pieces(t, writer(longAnswer, 100*time.Millisecond), 500*time.Millisecond, NewThroughput())
		if len(strings.Fields(phrase[0])) < 4 || at[0] > 900*time.Millisecond {
			t.Errorf("%q after %v", phrase, at)
		}
		if joined := strings.Join(phrase, " "); joined != longAnswer {
			t.Errorf("came out as %q", joined)
		}
	})
}

// A late answer is spoken as soon as a phrase of it is known, and a complete one is not held back until the
// model says that it is complete.
func TestAVeryLateAnswerBeginsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each = 100 * time.Millisecond
		said, at := pieces(t, writer("The conference is now being recorded for all.", each), 0, NewThroughput())
		if len(said) != 2 || said[0] != "The conference is now being recorded" || at[0] != 7*each {
			t.Errorf("%q after %v", said, at)
		}
		said, at = pieces(t, writer("It opens soon. ", each), 0, NewThroughput())
		if len(said) != 1 || said[0] != "It opens soon." || at[0] != 3*each {
			t.Errorf("%q after %v", said, at)
		}
	})
}

// A speculative reply measures the model as well as any other.
func TestASpeculativeReplyMeasuresThroughput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewThroughput()
		for range 20 {
			pieces(t, writer(longAnswer, 250*time.Millisecond), time.Minute, p)
		}
		if want := 250 * time.Millisecond * time.Duration(len(strings.Fields(longAnswer))) / time.Duration(
			len(longAnswer)); p.byteTime < want*8/10 || p.byteTime > want*12/10 {
			t.Errorf("a byte in %v, expected about %v", p.byteTime, want)
		}
	})
}

// A sentence is one message, or two if its beginning cannot wait: a reader sees no fragments, and a listener
// hears no long gap, on a machine that writes slowly but faster than people speak.
func TestTheRestOfASentenceIsOnePiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, each := range []time.Duration{60 * time.Millisecond, 120 * time.Millisecond, 240 * time.Millisecond} {
			p := NewThroughput()
			w := writer(longAnswer, each)
			for range 5 { // it learns
				pieces(t, w, 0, p)
				p.noteWriting(len(longAnswer), time.Duration(len(strings.Fields(longAnswer)))*each)
			}
			said, at := pieces(t, w, 300*time.Millisecond, p)
			if len(said) != 2 {
				t.Errorf("a word in %v: %q", each, said)
			}
			dry := at[0]
			for i := range said {
				if hole := at[i] + firstSoundTime - dry; i > 0 && hole > restPatience {
					t.Errorf("a word in %v: %q comes %v too late after %q", each, said[i], hole, said[:i])
				}
				dry = max(dry, at[i]+firstSoundTime) + time.Duration(len(strings.Fields(said[i])))*wordTime
			}
		}
	})
}

// thoughts returns the sentences of a writer's answer whose sound is due after a time.
func thoughts(t *testing.T, w engine.LanguageModel, due time.Duration) (said []turn.Sentence) {
	begun := time.Now()
	clock := func() time.Duration { return time.Since(begun) }
	post := func(e turn.Event) {
		if thought, ok := e.(turn.SentenceThought); ok {
			said = append(said, thought.Sentence)
		}
	}
	log := slog.New(slog.DiscardHandler)
	m := mind{"chat", w, false, NewThroughput(), nil, &outage{}, &toolChecks{}, log, clock, post,
		ApprovedAnswers{}, nil}
	m.reply(t.Context(), turn.Think{Turn: 1}, ModelOptions{}, newSchedule(true, begun.Add(due)))
	return said
}

// The rest of a sentence names its beginning, so that the history has one row for both.
func TestTheRestOfASentenceNamesItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := thoughts(t, writer(longAnswer+" It is free.", 100*time.Millisecond), 0)
		if len(said) != 3 || !said[0].GoesOn || said[0].First != "" || said[1].GoesOn || said[1].First != said[0].ID ||
			said[1].SoFar() != longAnswer || said[2].First != "" || said[2].Before != "" {
			t.Errorf("%+v", said)
		}
	})
}

func TestATooLongSentenceIsCutAndContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := "Short. We have " + strings.Repeat("a room with a view, ", 20) + "and a garden. It is free."
		said := thoughts(t, writer(text, 0), time.Minute)
		var rows []string
		for _, s := range said {
			if s.First == "" {
				rows = append(rows, "")
			}
			rows[len(rows)-1] = s.SoFar()
		}
		if len(said) != 4 || len(rows) != 3 || !strings.HasSuffix(rows[1], "and a garden.") ||
			rows[2] != "It is free." {
			t.Errorf("%q", rows)
		}
	})
}
