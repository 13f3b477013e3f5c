package llama

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"parley/appliance/engine"
)

// headOf returns how many tokens of messages other conversations may share.
func headOf(t *testing.T, m *Model, messages []engine.Message) int {
	t.Helper()
	_, head, err := m.template.fit(t.Context(), messages, 1<<20, true)
	if err != nil {
		t.Fatal(err)
	}
	return head
}

func TestAPromptOutlivesTheConversationsThatHaveIt(t *testing.T) {
	m := small(t, nil)
	reply(t, m, engine.Prompt{Conversation: "first", Messages: ask(questions[0]), MaxTokens: 2})
	m.Forget("first")
	head := headOf(t, m, ask(""))
	if head < 60 {
		t.Fatalf("the prompt of the hotel has %d tokens that all conversations may share", head)
	}
	for _, visitor := range []string{"second", "third"} {
		_, u := reply(t, m, engine.Prompt{Conversation: visitor, Messages: ask(questions[1]), MaxTokens: 2})
		if u.CachedTokens < head {
			t.Errorf("the %s conversation computed %d tokens of a prompt of %d again", visitor, head-u.CachedTokens,
				head)
		}
		m.Forget(visitor)
	}
}

func TestAHalfComputedPromptIsContinued(t *testing.T) {
	m := small(t, nil)
	s := &sequence{id: 0, tokens: tokensOf(t, m, ask(""), false)[:60], headTokens: 90}
	o := &decoder{cache: newCache(m.lib, 0, 1, 1, true), cells: 2048}
	o.cache.sequences[0] = s
	o.cache.lib = &library{calls: &calls{
		memorySeqRm: func(handle, int32, int32, int32) bool { return true },
		memorySeqCp: func(handle, int32, int32, int32, int32) {},
	}}
	o.clear(s)
	if len(s.tokens) != 0 || len(o.cache.sequences[1].tokens) != 60 {
		t.Errorf("%d tokens stay with the conversation, %d are cached of the 60 that were computed", len(s.tokens),
			len(o.cache.sequences[1].tokens))
	}
}

func TestAConversationIsNotCachedWithThePrompt(t *testing.T) {
	m := small(t, nil)
	secret := "My room number is four hundred and twelve and my name is Alice Underwood."
	reply(t, m, engine.Prompt{Conversation: "a", Messages: ask(secret), MaxTokens: 2})
	m.Forget("a")
	_, u := reply(t, m, engine.Prompt{Conversation: "b", Messages: ask(secret), MaxTokens: 2})
	if head := headOf(t, m, ask("")); u.CachedTokens != head {
		t.Errorf("%d tokens are there after the chat; only the prompt's %d may be", u.CachedTokens, head)
	}
}

func TestWhatChangesInAPromptDoesNotSpoilItsBeginning(t *testing.T) {
	m := small(t, nil)
	at := func(clock string) []engine.Message {
		return []engine.Message{
			{Role: engine.System, Content: hotel + " The time now is " + clock + ".", VolatileBytes: len(clock + ".")},
			says(engine.User, questions[0]),
		}
	}
	reply(t, m, engine.Prompt{Conversation: "a", Messages: at("2026-01-02T03:04:05Z"), MaxTokens: 2})
	m.Forget("a")
	later := at("2027-11-12T13:14:15Z")
	head := headOf(t, m, later)
	_, u := reply(t, m, engine.Prompt{Conversation: "b", Messages: later, MaxTokens: 2})
	if u.CachedTokens != head || head < len(tokensOf(t, m, ask(""), false))-12 {
		t.Errorf("%d of the %d tokens before the time were there", u.CachedTokens, head)
	}
	// The tokens are the same with and without the split, except at the split.
	whole, cut := at("now"), at("now")
	whole[0].VolatileBytes = 0
	text := func(messages []engine.Message) string {
		var b bytes.Buffer
		for _, tok := range tokensOf(t, m, messages, true) {
			b.Write(m.template.vocab.piece(tok, true))
		}
		return b.String()
	}
	if text(whole) != text(cut) {
		t.Errorf("the prompt is cut to %q", text(cut))
	}
}

func TestSplitVolatileSplitsAtWrittenText(t *testing.T) {
	for _, c := range []struct {
		content       string
		changing      int
		before, after string
	}{
		{"All of it.", 0, "All of it.", ""},
		{"All of it.", 10, "", "All of it."},
		{"All of it.", 99, "", "All of it."},
		{"  It is now. ", 5, "It is", " now."},
		{"  It is now. ", 12, "", "It is now."},
		{"It is now. ", 1, "It is now.", ""},
		{"", 0, "", ""},
		{"   ", 2, "", ""},
	} {
		before, after := splitVolatile(engine.Message{Content: c.content, VolatileBytes: c.changing})
		if before != c.before || after != c.after {
			t.Errorf("%q with %d volatile bytes: %q and %q, want %q and %q", c.content, c.changing, before, after,
				c.before, c.after)
		}
	}
}

func TestConcurrentRequestsComputeAPromptOnce(t *testing.T) {
	gate := engine.NewGate(1)
	m := small(t, func(o *Options) { o.Gate = gate })
	leave, err := gate.Enter(within(t), engine.Live.Urgency(), 1) // so that all have arrived when it begins
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	usage := make([]engine.Usage, 4)
	for i := range usage {
		wg.Go(func() {
			_, usage[i] = reply(t, m, engine.Prompt{Conversation: questions[i], Messages: ask(questions[i]),
				MaxTokens: 1})
		})
	}
	waitFor(t, func() bool {
		m.mailbox.mu.Lock()
		defer m.mailbox.mu.Unlock()
		return m.mailbox.pending == len(usage)
	})
	leave()
	wg.Wait()
	read := 0
	for _, u := range usage {
		read += u.PromptTokens - u.CachedTokens
	}
	if head := headOf(t, m, ask("")); read > head+4*24 {
		t.Errorf("%d tokens were read for four visitors with one prompt of %d", read, head)
	}
}

func TestPromptsAreEvictedForConversations(t *testing.T) {
	m := small(t, func(o *Options) { o.ContextTokens = 1024; o.Conversations = 4 })
	for i := range 12 { // each with another prompt
		p := ask(questions[i%6])
		p[0].Content = strings.Repeat(string(rune('A'+i)), 3) + ". " + p[0].Content
		name := p[0].Content[:3]
		if answer, _ := reply(t, m, engine.Prompt{Conversation: name, Messages: p, MaxTokens: 60}); answer == "" {
			t.Errorf("%s got no answer", name)
		}
		if i%2 == 0 {
			m.Forget(name)
		}
	}
}
