package chat

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// writer writes its replies word by word, as a slow machine does.
type writer struct {
	*fakes
	each time.Duration
	// atRest is called before the rest of a sentence is written; it may be nil.
	atRest func() error
	rests  atomic.Int32
}

func (w *writer) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	w.mu.Lock()
	w.asked = append(w.asked, p.Messages)
	w.mu.Unlock()
	for _, word := range strings.SplitAfter(strings.Join(w.replies, ""), " ") {
		select {
		case <-time.After(w.each):
		case <-ctx.Done():
			return engine.Usage{}, ctx.Err()
		}
		if err := emit(engine.Part{Text: word}); err != nil {
			return engine.Usage{}, err
		}
	}
	return engine.Usage{}, nil
}

func (w *writer) WriteChat(ctx context.Context, id string, write store.ChatWrite) error {
	if len(write.Amended) > 0 && w.rests.Add(1) == 1 && w.atRest != nil {
		if err := w.atRest(); err != nil {
			return err
		}
	}
	return w.fakes.WriteChat(ctx, id, write)
}

// said returns the messages of the assistant that were sent, and its rows of the history.
func (w *writer) said() (messages []contract.AssistantMessage, history []store.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.sent {
		if a, ok := m.(contract.AssistantMessage); ok {
			messages = append(messages, a)
		}
	}
	for _, e := range w.stored {
		if e.Type == store.AgentMessage {
			history = append(history, e)
		}
	}
	for _, a := range w.amended {
		if i := slices.IndexFunc(history, func(e store.Event) bool { return e.ID == a.ID }); i >= 0 {
			history[i].MessageText, history[i].Metadata = a.MessageText, a.Metadata
		}
	}
	return messages, history
}

const (
	slowBegin = "The garden behind the old house is open"
	slowRest  = "in the summer, and you can walk through it."
)

func writing(t *testing.T) (*writer, *Session) {
	w := &writer{fakes: newFakes(), each: 100 * ms}
	w.replies = []string{slowBegin + " " + slowRest}
	return w, begin(t, hostOf(w), connection.Opening{Line: w})
}

// typed asks something and waits for n messages of a type.
func (w *writer) typed(t *testing.T, c *Session, wanted string, n int) {
	t.Helper()
	if err := c.Receive(contract.UserInput{Text: "What is there?"}); err != nil {
		t.Fatal(err)
	}
	for range 60_000 {
		if strings.Count(w.messages(), wanted) >= n {
			return
		}
		time.Sleep(ms)
	}
	t.Fatalf("sent %s", w.messages())
}

// A sentence whose beginning cannot wait is two messages, each before its own sound, and one row of the
// history, which is complete before the rest is sent. The model sees one sentence.
func TestASentenceInTwoMessagesIsOneRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := writing(t)
		w.atRest = func() error {
			if m, rows := w.said(); len(m) != 1 || len(rows) != 1 || rows[0].MessageText != slowBegin {
				t.Errorf("when the rest is written, %+v is sent and %+v stored", m, rows)
			}
			return nil
		}
		w.typed(t, c, "assistant_end", 1)
		if !strings.HasSuffix(w.messages(),
			"assistant_message audio_output assistant_message audio_output assistant_end") {
			t.Errorf("sent %s", w.messages())
		}
		m, rows := w.said()
		if len(m) != 2 || m[0].Message.Content != slowBegin || m[1].Message.Content != slowRest || m[0].ID == m[1].ID {
			t.Fatalf("sent %+v", m)
		}
		if len(rows) != 1 || rows[0].MessageText != slowBegin+" "+slowRest || rows[0].ID != m[0].ID ||
			!strings.Contains(rows[0].Metadata, "begin") {
			t.Errorf("stored %+v", rows)
		}
		for _, s := range w.sent {
			if a, ok := s.(contract.AudioOutput); ok && a.Index != 0 {
				t.Errorf("the sound of %s begins with %d", a.ID, a.Index)
			}
		}
		time.Sleep(3 * time.Second) // until it has been played
		w.typed(t, c, "assistant_end", 2)
		asked := w.asked[len(w.asked)-1]
		before := asked[len(asked)-2]
		if before.Role != engine.Assistant || before.Content != slowBegin+" "+slowRest || before.Interrupted {
			t.Errorf("the model sees %+v", before)
		}
	})
}

// During the user's silence, the sound of a beginning is made. If the sentence is complete when it is sent,
// it is one message.
func TestASentenceCompletedInTimeIsOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := writing(t)
		w.each, w.replies = 50*ms, []string{slowBegin + " in the summer."}
		for i := range 150 { // like a microphone
			hear(t, c, 20, i < 50)
			time.Sleep(20 * ms)
		}
		w.until(t, "assistant_end")
		if !strings.HasSuffix(w.messages(), "user_message assistant_message audio_output audio_output assistant_end") {
			t.Errorf("sent %s", w.messages())
		}
		w.typed(t, c, "assistant_end", 2)
		var clips []int
		for _, m := range w.sent {
			if a, ok := m.(contract.AudioOutput); ok && len(clips) < 2 {
				clips = append(clips, a.Index)
			}
		}
		m, rows := w.said()
		if said := m[0].Message.Content; said != slowBegin+" in the summer." || rows[0].MessageText != said ||
			!slices.Equal(clips, []int{0, 1}) {
			t.Errorf("sent %+v, clips %v, stored %+v", m, clips, rows)
		}
	})
}

func TestASentenceThatIsInterruptedInItsRestIsOneRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := writing(t)
		w.typed(t, c, "assistant_end", 1) // each part plays for a second
		time.Sleep(700 * ms)
		w.typed(t, c, "user_interruption", 1)
		_, rows := w.said()
		text := rows[0].MessageText
		if len(rows) != 1 || !strings.HasPrefix(text, slowBegin+" in the") || !strings.HasSuffix(text, "…") ||
			!strings.Contains(rows[0].Metadata, `"interrupted":true`) {
			t.Errorf("stored %+v", rows)
		}
	})
}

// If the box stops between the two parts, the history has the part that was sent.
func TestOnlyTheBeginningOfASentenceWasWritten(t *testing.T) {
	w, c := writing(t)
	w.atRest = func() error { return errors.New("the power fails") }
	w.typed(t, c, "error", 1)
	<-c.Done()
	m, rows := w.said()
	if len(m) != 1 || len(rows) != 1 || m[0].Message.Content != slowBegin || rows[0].MessageText != slowBegin {
		t.Errorf("sent %+v, stored %+v", m, rows)
	}
}
