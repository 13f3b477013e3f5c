package llama

import (
	"log/slog"
	"strings"
	"sync"
	"testing"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

func TestAGreetingOrThanksNeedsNoTool(t *testing.T) {
	s := &toolset{tools: hotelTools}
	for user, pleases := range map[string]bool{
		"Hello.": true, "Hi there, how are you today?": true, "Good morning!": true, "Thank you very much.": true,
		"Thanks a lot for your help":         true,
		"Hello, how are you? (sounds: calm)": true, "How are you? (sounds: calm) (noted)": true,
		"Thank you, that's all.": true, "That is all, thanks.": true, "That's all.": false,
		"Hello, a taxi please.": false, "Thank you, that is all, goodbye.": false, "Good.": false,
		"How much is that?": false, "Are you there?": false, "": false, "Guten Morgen": false,
	} {
		if got := s.isPleasantry(ask(user)); got != pleases {
			t.Errorf("%q: pleasantry %v", user, got)
		}
	}
	for _, tool := range []engine.Tool{{Name: "hang_up", Description: "End the conversation."},
		{Name: "leave", Description: "Ends the call."}} {
		if (&toolset{tools: []engine.Tool{tool}}).isPleasantry(ask("That's all, thanks.")) {
			t.Errorf("%s is for it", tool.Name)
		}
	}
	if s.isPleasantry(ask("Hello." + strings.Repeat(" ()", 1<<20))) {
		t.Error("a megabyte is no greeting")
	}
	thanks := says(engine.User, "Thank you!")
	if s.isPleasantry([]engine.Message{says(engine.Assistant, "Shall I order it?"), thanks}) {
		t.Error("who thanks for an offer may mean yes")
	}
	if s.isPleasantry([]engine.Message{thanks, {Role: engine.Assistant, Calls: []engine.ToolCall{{Name: "a"}}},
		{Role: engine.ToolRole}}) {
		t.Error("a tool has answered since")
	}
	for _, about := range []string{"Notes that the guest has said thanks.", "Call this with every message."} {
		if (&toolset{tools: []engine.Tool{{Name: "note", Description: about}}}).isPleasantry([]engine.Message{thanks}) {
			t.Errorf("a tool is for it: %s", about)
		}
	}
}

// A first answer does not wait for a router that is not prefilled.
func TestAGreetingIsAnsweredWithoutTheRouter(t *testing.T) {
	var log notes
	m := small(t, func(o *Options) {
		o.ModelPath = packtest.File(t, "llm-qwen-small", "model.gguf")
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	p := engine.Prompt{
		Conversation: "c",
		Messages:     ask("Hello, how are you?"),
		Tools:        hotelTools,
		MaxTokens:    4,
		Urgency:      engine.Live.Urgency(),
	}
	if answer, _ := reply(t, m, p); answer == "" || strings.Contains(log.String(), "msg=router") {
		t.Errorf("the reply is %q, and the router was asked: %s", answer, log.String())
	}
	p.Messages = ask("When is breakfast?")
	if answer, _ := reply(t, m, p); answer == "" || !strings.Contains(log.String(), "msg=router") {
		t.Errorf("the reply is %q, and the router was not asked", answer)
	}
}

// notes is a log that can be read while it is written.
type notes struct {
	mu  sync.Mutex
	all strings.Builder
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all.String()
}
