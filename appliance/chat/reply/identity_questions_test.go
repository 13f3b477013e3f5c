package reply

import (
	"strings"
	"testing"

	"parley/appliance/chat/turn"
)

// The assistant never says that it is a human, or a product that it is not.
func TestTheAssistantDeniesBeingHuman(t *testing.T) {
	for _, c := range []struct {
		asked, brought string
		no             bool
	}{
		{"Are you a human?", "", true},
		{"Am I talking to a real person?", "You are the voice of the hotel.", true},
		{"Hello. Are you really a human, or what?", "", true},
		{"Are you ChatGPT?", "You are the voice of the hotel.", true},
		{"is this alexa", "", true},
		{"Are you made by OpenAI?", "", true},
		{"Are you Claude?", "You are Claude, the porter.", false},
		{"Are you a person or a computer?", "", false},
		{"You aren't a human, are you?", "", false},
		{"Are you not a human?", "", false},
		{"Is this person allowed in?", "", false},
		{"Are you open on Monday?", "", false},
		{"Is there a person at the desk?", "", false},
		{"Who made you?", "", false},
	} {
		begins := newIdentity(turn.Conversation{CustomPrompt: c.brought}).firstWordBias(c.asked,
			map[string]float64{"I'm": 1})
		if begins["No"] > 0 != c.no || begins["Yes"] < 0 != c.no || begins["I'm"] != 1 {
			t.Errorf("%q (%q): %v", c.asked, c.brought, begins)
		}
	}
}

// The box knows what the assistant is better than a small model does.
func TestTheBoxSaysWhatTheAssistantIs(t *testing.T) {
	for asked, own := range map[string]bool{
		"Who made you?": true, "And who created you": true, "Which company trained you?": true,
		"What model are you?": true, "Who are you?": true,
		"What kind of AI are you?": true, "Hello, what are you?": true, "Who is your developer?": true,
		"What language model is this?": true,
		"What are you doing?":          false, "Who are you waiting for?": false, "What made you think so?": false,
		"Who made the pool?": false, "What is your favourite colour?": false,
		"Which model is the car?": false, "Who built the tower?": false, "": false,
	} {
		if got := newIdentity(turn.Conversation{Identity: "Me."}).answer(asked); (got != "") != own {
			t.Errorf("%q: the box says %q", asked, got)
		}
		if got := newIdentity(turn.Conversation{CustomPrompt: "You are Fern."}).answer(asked); got != "" {
			t.Errorf("%q, with a prompt: the box says %q", asked, got)
		}
	}
}

func TestNoMakerIsInvented(t *testing.T) {
	for _, c := range []struct{ pieces, want string }{
		{"I was created by OpenAI.", "Me."},
		{"I am a large language model|trained by Alibaba Cloud.", "I am a large language model|… Me."},
		{"Ich wurde von Google entwickelt.", "Me."},
		{"No, I'm not ChatGPT.", "No, I'm not ChatGPT."},
		{"I’m an AI language model created by|OpenAI, a company.", "I’m an AI language model created by|… Me."},
		{"My name is GPT-4.", "Me."},
		{"As a large language model trained by Google, I like it.", "Me."},
		{"The researchers of Anthropic have trained me well.", "Me."},
		{"Je suis un modèle de Mistral.", "Me."},
		{"I'm fond of apple pie, and I love apples.", "I'm fond of apple pie, and I love apples."},
		{"I think the phone was made by Apple.", "I think the phone was made by Apple."},
		{"I'd look for it on Google Maps.", "I'd look for it on Google Maps."},
		{"As Google says, it rains.", "As Google says, it rains."},
		{"OpenAI is a company in California.", "OpenAI is a company in California."},
		{"I like the weather.|Google has maps.", "I like the weather.|Google has maps."},
	} {
		s := newIdentity(turn.Conversation{Identity: "Me."})
		var said []string
		pieces := strings.Split(c.pieces, "|")
		for i, p := range pieces {
			line, over := s.filter(p, i < len(pieces)-1 && !strings.HasSuffix(p, "."))
			if said = append(said, line); over {
				break
			}
		}
		if got := strings.Join(said, "|"); got != c.want {
			t.Errorf("%q is said as %q, want %q", c.pieces, got, c.want)
		}
	}
}
