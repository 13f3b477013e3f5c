package turn

import (
	"testing"
	"time"

	"parley/appliance/contract"
)

func greeting(text string) func(*Settings) {
	return func(s *Settings) { s.OnNewChat = contract.EventMessage{Enabled: true, Text: text} }
}

func TestTheAssistantSpeaksFirstIfTheConfigWantsIt(t *testing.T) {
	opened := Opened{Metadata: contract.ChatMetadata{ChatID: "c"}}
	fresh := func(change func(*Settings), history ...Entry) *testChat {
		s := DefaultSettings()
		if change != nil {
			change(&s)
		}
		return &testChat{t: t, state: NewState(s, time.UnixMilli(0), history)}
	}
	b := fresh(greeting("Hello."))
	want(t, b.after(opened), "chat_metadata", "record SYSTEM_PROMPT", "read 1: Hello.")
	want(t, b.after(sentenceThought(1, "Hello.")), "speak 1: Hello.")
	want(t, b.after(ThinkingEnded{Turn: 1}), "done 1")
	want(t, b.after(clip(1, "Hello.", time.Second)), "assistant: Hello.", "audio id-Hello.", "assistant_end")

	b = fresh(greeting(""))
	want(t, b.after(opened), "chat_metadata", "record SYSTEM_PROMPT", "think 1: "+greetingRequest)
	for _, e := range b.state.history {
		if e.Text == greetingRequest {
			t.Error("the request is in the history")
		}
	}
	want(t, fresh(nil).after(opened), "chat_metadata", "record SYSTEM_PROMPT")
	want(t, fresh(greeting("Hello."), Entry{Role: User, Text: "Hi"}).after(opened), "chat_metadata",
		"record SYSTEM_PROMPT", "read 1: Hello.")
	want(t, fresh(greeting(""), Entry{Role: User, Text: "Hi"}).after(opened), "chat_metadata", "record SYSTEM_PROMPT",
		"think 1: "+welcomeRequest)
}
