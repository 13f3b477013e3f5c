package chat

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/answers"
	"parley/appliance/chat/record"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/store"
)

const museumConfig = `{"name":"n","evi_version":"4-mini","voice":{"name":"joe"},
	"prompt":{"text":"You are a guide of {{town}}'s museum."},
	"event_messages":{"on_new_chat":{"enabled":true}},
	"answers":{"mode":"MODE","unknown":"I don't know that.","items":[
		{"id":"hours","ask":["When do you open?","What are your opening hours?"],
			"say":"We open at ten. Not on Mondays."},
		{"id":"guide","ask":["Who is my guide?"],"say":"Your guide is {{guide}}."}]}}`

// questions counts the questions that are written.
type questions struct {
	*fakes
	written []store.Question
}

func (q *questions) WriteChat(ctx context.Context, id string, w store.ChatWrite) error {
	q.mu.Lock()
	q.written = append(q.written, w.Questions...)
	q.mu.Unlock()
	return q.fakes.WriteChat(ctx, id, w)
}

// wordFinder returns a finder that compares words.
func wordFinder() *answers.Finder {
	return answers.New(answers.Parts{
		Embedder: func() (engine.SentenceEmbedder, error) { return enginetest.WordEmbedder{}, nil },
		Log:      slog.New(slog.DiscardHandler),
	})
}

// museum opens a chat with approved answers.
func museum(t *testing.T, mode string, change ...func(*Parts)) (*questions, *Session) {
	t.Helper()
	f := &questions{fakes: newFakes()}
	f.replies = []string{"The model answers."}
	finder := wordFinder()
	t.Cleanup(finder.Close)
	h := hostOf(f, append(change, func(p *Parts) {
		p.Configs = oneConfig{config(t, strings.Replace(museumConfig, "MODE", mode, 1))}
		p.Answers = finder
	})...)
	connect := contract.ConnectSettings{ConfigID: "c"}
	connect.SessionSettings.Variables = map[string]contract.VariableValue{"guide": contract.TextVariable("Ann")}
	s := begin(t, h, connection.Opening{Line: f, Settings: connect})
	synctest.Wait()
	return f, s
}

// said returns what the assistant has said so far.
func (q *questions) said() (all []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.sent {
		if a, ok := m.(contract.AssistantMessage); ok {
			all = append(all, a.Message.Content)
		}
	}
	return all
}

// A chat says approved answers word for word, its history names them, and the model knows what was said.
func TestAChatSaysApprovedAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := museum(t, "first")
		for _, words := range []string{"when do you open", "Who is my guide?", "Who was Bach?"} {
			tells(t, s, contract.UserInput{Text: words})
			time.Sleep(20 * time.Second)
		}
		want := []string{"The model answers.", "We open at ten.", "Not on Mondays.", "Your guide is Ann.",
			"The model answers."}
		if got := f.said(); !slices.Equal(got, want) {
			t.Errorf("said %q, want %q", got, want)
		}
		var ids []string
		for _, e := range record.History(f.stored) {
			ids = append(ids, e.AnswerID)
		}
		if want := []string{"", "", "hours", "", "guide", "", ""}; !slices.Equal(ids, want) {
			t.Errorf("the history has the answers %q, want %q", ids, want)
		}
		if n := len(f.written); n != 3 || f.written[0].AnswerID != "hours" || f.written[1].AnswerID != "guide" ||
			f.written[2].AnswerID != "" || f.written[2].Words != "Who was Bach?" || f.written[2].AtMS == 0 {
			t.Errorf("questions %+v", f.written)
		}
		last := f.asked[len(f.asked)-1]
		if n := len(last); len(f.asked) != 2 || last[n-2].Content != "Your guide is Ann." ||
			last[n-4].Content != "We open at ten. Not on Mondays." {
			t.Errorf("the model was asked %d times, at last %+v", len(f.asked), last)
		}
	})
}

func TestAChatOfApprovedAnswersOnlyDoesNotAskTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := museum(t, "only")
		for _, words := range []string{"when do you open", "Who was Bach?", "Thanks!"} {
			tells(t, s, contract.UserInput{Text: words})
			time.Sleep(20 * time.Second)
		}
		want := []string{"We open at ten.", "Not on Mondays.", "I don't know that.", "I don't know that."}
		if got := f.said(); !slices.Equal(got, want) || len(f.asked) != 0 {
			t.Errorf("said %q, want %q; the model was asked %d times", got, want, len(f.asked))
		}
	})
}

// Without the embedder, the model answers, or the assistant knows nothing; the log says what is missing.
func TestAChatWithoutAFinderGoesOn(t *testing.T) {
	for mode, want := range map[string][]string{
		"first": {"The model answers.", "The model answers."},
		"only":  {"I don't know that."},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			missing := answers.New(answers.Parts{
				Embedder: func() (engine.SentenceEmbedder, error) { return nil, answers.ErrNoPack },
				Log:      slog.New(slog.DiscardHandler),
			})
			defer missing.Close()
			f := &questions{fakes: newFakes()}
			f.replies = []string{"The model answers."}
			h := hostOf(f, func(p *Parts) {
				p.Configs = oneConfig{config(t, strings.Replace(museumConfig, "MODE", mode, 1))}
				p.Answers, p.Log = missing, slog.New(slog.NewTextHandler(&log, nil))
			})
			s := begin(t, h, connection.Opening{Line: f, Settings: contract.ConnectSettings{ConfigID: "c"}})
			time.Sleep(20 * time.Second)
			tells(t, s, contract.UserInput{Text: "When do you open?"})
			time.Sleep(20 * time.Second)
			if got := f.said(); !slices.Equal(got, want) {
				t.Errorf("%s: said %q, want %q", mode, got, want)
			}
			if !strings.Contains(log.String(), "parley packs pull embed") || len(f.written) > 0 {
				t.Errorf("%s: the log says %s; questions %+v", mode, log.String(), f.written)
			}
		})
	}
}

// An approved answer to spoken words is chosen in the silence after them: nothing is added to that.
func TestAnApprovedAnswerIsReadyAtTheEndOfTheSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := museum(t, "only")
		for chunk := range 150 { // a second of voice, and silence
			hear(t, s, 20, chunk < 50)
			time.Sleep(20 * time.Millisecond)
		}
		if got := f.said(); len(got) == 0 || got[0] != "We open at ten." {
			t.Fatalf("said %q", got)
		}
		over, _ := f.when("user_message")
		if answered, _ := f.when("audio_output"); answered.Sub(over) > 0 {
			t.Errorf("the answer came %v after the end of the turn", answered.Sub(over))
		}
	})
}
