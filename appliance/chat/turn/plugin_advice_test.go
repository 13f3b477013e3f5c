package turn

import (
	"slices"
	"testing"
	"time"

	"parley/appliance/contract"
)

func advisers(names ...string) func(*Settings) {
	return func(s *Settings) { s.TurnHooks = names }
}

func advice(turn int, plugin, context, answer string) PluginAdvised {
	return PluginAdvised{Turn: turn, Advice: Advice{Plugin: plugin, Context: context, Answer: answer}}
}

// texts returns the texts of a conversation's history.
func texts(c Conversation) (all []string) {
	for _, e := range c.History {
		all = append(all, e.Text)
	}
	return all
}

func TestPluginsAreAskedBeforeTheModel(t *testing.T) {
	b := begin(t, advisers("a", "b"))
	want(t, b.after(Typed{Text: "Who am I?"}), "user: Who am I?", "ask a,b 1: Who am I?")
	want(t, b.after(advice(1, "b", "It rains.", "")))
	want(t, b.after(advice(1, "b", "It snows.", ""))) // advice counts only once
	want(t, b.after(advice(1, "a", "The user is Ann.", "")),
		"think 1: Who am I? {Context: The user is Ann.\nIt rains.}")
	want(t, b.after(advice(1, "a", "Late.", "")))
	if got := texts(b.state.Conversation()); !slices.Equal(got, []string{"Who am I?", "The user is Ann.\nIt rains."}) {
		t.Errorf("the model will see %q", got)
	}
}

func TestAPluginMayAnswerByItself(t *testing.T) {
	b := begin(t, advisers("a", "b"))
	b.after(Typed{Text: "What time is it?"}, advice(1, "b", "", "Never mind."))
	want(t, b.after(advice(1, "a", "", "It is noon.")), "read 1: It is noon.")
	want(t, b.after(sentenceThought(1, "It is noon.")), "speak 1: It is noon.")
	want(t, b.after(ThinkingEnded{Turn: 1}), "done 1")
	want(t, b.after(clip(1, "It is noon.", time.Second)), "assistant: It is noon.", "audio id-It is noon.",
		"assistant_end")
}

func TestSlowPluginsAreNotWaitedFor(t *testing.T) {
	b := begin(t, advisers("a", "b"))
	b.after(Typed{Text: "Who am I?"}, advice(1, "b", "It rains.", ""))
	want(t, b.wait(AdviceLimit-3*time.Millisecond).after(Tick{}))
	want(t, b.wait(3*time.Millisecond).after(Tick{}), "stop advice 1", "think 1: Who am I? {Context: It rains.}")
	want(t, b.after(advice(1, "a", "Late.", "")))
}

// Plugins are asked about a speculative transcript too, so that their advice is ready when the user has
// finished. It stays in the history with the words.
func TestPluginsAdviseOnASpeculativeTranscript(t *testing.T) {
	b := begin(t, advisers("a"))
	want(t, b.after(VoiceHeard{Utterance: 1, Voice: time.Second},
		Transcribed{Utterance: 1, Revision: 1, Transcript: says("Who am I?")}), "ask ahead a 1: Who am I?")
	want(t, b.after(advice(1, "a", "Ann.", "")), "prepare 1: Who am I? {Context: Ann.}")
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}), "user: Who am I?")
	if got := texts(b.state.Conversation()); !slices.Equal(got, []string{"Who am I?", "Ann."}) {
		t.Errorf("the model will see %q", got)
	}
	// If the user finishes before the plugin, the answer waits for the plugin.
	b.after(sentenceThought(1, "You are Ann."), ThinkingEnded{Turn: 1}, clip(1, "You are Ann.", time.Second))
	b.wait(2 * time.Second)
	b.after(VoiceHeard{Utterance: 2, Voice: time.Second}, Transcribed{Utterance: 2, Revision: 1,
		Transcript: says("And now?")})
	want(t, b.after(TurnEnded{Utterance: 2, Revision: 1}), "user: And now?")
	want(t, b.after(advice(2, "a", "Bob.", "")), "think 2: And now? {Context: Bob.}")
	if got := texts(b.state.Conversation()); !slices.Equal(got,
		[]string{"Who am I?", "Ann.", "You are Ann.", "And now?", "Bob."}) {
		t.Errorf("the model will see %q", got)
	}
}

func TestAdviceForWordsThatChangedIsDropped(t *testing.T) {
	b := begin(t, advisers("a"))
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, Transcribed{Utterance: 1, Revision: 1,
		Transcript: says("Who am")},
		advice(1, "a", "Half.", ""), VoiceResumed{Utterance: 1, Revision: 1}, VoiceHeard{Utterance: 1,
			Voice: 2 * time.Second})
	want(t, b.after(Transcribed{Utterance: 1, Revision: 2, Transcript: says("Who am I?")}), "cancel 1",
		"ask ahead a 2: Who am I?")
	want(t, b.after(advice(1, "a", "Half.", "")))
	want(t, b.after(advice(2, "a", "", "")), "prepare 2: Who am I?")
	b.after(TurnEnded{Utterance: 1, Revision: 2})
	if got := texts(b.state.Conversation()); !slices.Equal(got, []string{"Who am I?"}) {
		t.Errorf("the model will see %q", got)
	}
}

// Unprompted speech and the continuation after a tool are not answers to new words.
func TestPluginsAreAskedOnlyAboutTheUsersWords(t *testing.T) {
	b := begin(t, advisers("a"), withTools(weather()), func(s *Settings) {
		s.OnNewChat = contract.EventMessage{Enabled: true}
	})
	if b.state.reply.consultation.pending() || b.state.reply.phase != answering {
		t.Fatalf("%+v", b.state.reply)
	}
	b.after(ThinkingEnded{Turn: 1}, Typed{Text: "Does it rain?"}, advice(2, "a", "", ""), calls(2, "c", "weather"))
	want(t, b.after(ToolAnswered{CallID: "c", Content: "Rain."}), answered, "go on 2: Rain.")
}
