package turn

import (
	"testing"
	"time"
)

// reads returns what the model is asked to prefill after e.
func (c *testChat) reads(e Event) (last string) {
	c.now += time.Millisecond
	var effects []Effect
	c.state, effects = Next(c.state, stamped(e, c.now))
	for _, f := range effects {
		if r, ok := f.(Prefill); ok {
			last = lastEntry(r.Conversation)
		}
	}
	return last
}

func TestInterimTranscriptsArePrefilled(t *testing.T) {
	b := begin(t)
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second})
	for said, want := range map[string]string{
		"When do you op.":        "When do you",
		"When do you open, and.": "When do you open",
		"When":                   "", // may be half a word
		"":                       "",
	} {
		if got := b.reads(PartlyTranscribed{Utterance: 1, Transcript: says(said)}); got != want {
			t.Errorf("%q: the prefill is %q, want %q", said, got, want)
		}
	}
	if got := b.reads(PartlyTranscribed{Utterance: 0, Transcript: says("Long ago said words.")}); got != "" {
		t.Errorf("the prefill of a finished utterance is %q", got)
	}
	want(t, b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: says("When do you open?")}),
		"prepare 1: When do you open?")
	if got := b.reads(PartlyTranscribed{Utterance: 1, Transcript: says("When do you open?")}); got != "" {
		t.Errorf("the prefill is %q although the answer is being prepared", got)
	}
}

func TestInterimTranscriptsOverTheAssistantAreNotPrefilled(t *testing.T) {
	b := speaking(t, "The museum opens at ten.")
	b.after(VoiceHeard{Utterance: 2, Voice: 400 * time.Millisecond})
	if got := b.reads(PartlyTranscribed{Utterance: 2, Transcript: says("And when does")}); got != "" {
		t.Errorf("the prefill is %q", got)
	}
}

func TestInterimMessagesComeBeforeThePause(t *testing.T) {
	b := begin(t, func(s *Settings) { s.Verbose = true })
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second})
	want(t, b.after(PartlyTranscribed{Utterance: 1, Transcript: says("When do you")}), "interim: When do you")
	b = speaking(t, "The museum opens at ten.")
	b.state.settings.Verbose = true
	b.after(VoiceHeard{Utterance: 2, Voice: 400 * time.Millisecond})
	want(t, b.after(PartlyTranscribed{Utterance: 2, Transcript: says("And when does")}))
}
