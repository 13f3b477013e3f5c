package turn

import (
	"testing"
	"time"
)

// A number or an address that was asked for is said in groups, each of which sounds finished.
func TestARequestedNumberIsWaitedFor(t *testing.T) {
	for name, row := range map[string]struct {
		asked, said string
		silence     time.Duration
	}{
		"a number":        {"What is your phone number?", "It is 0664.", openSilence},
		"an address":      {"Please tell me your address.", "Twelve Harbour Lane.", openSilence},
		"a German number": {"Wie ist Ihre Telefonnummer?", "0664", openSilence},
		"a code":          {"Could you read me the code on the card?", "7 3 1", openSilence},
		"something else":  {"When would you like to come?", "At seven.", finishedSilence},
		"no question":     {"Our address is on the website.", "Thank you.", finishedSilence},
		"a question back": {"What is your phone number?", "Why do you ask?", finishedSilence},
		"a sentence of its own": {"What is your phone number?", "I would rather not tell you that on the phone now.",
			finishedSilence},
	} {
		b := begin(t, func(s *Settings) { s.Semantic = true })
		b.state.history = append(b.state.history, Entry{Role: Assistant, Text: row.asked})
		b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, VoicePaused{Utterance: 1, Revision: 1, End: b.now})
		end := b.state.utterance.pause.voiceEnd
		b.after(EndJudged{Utterance: 1, Revision: 1, Probability: 0.99})
		b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: Transcript{Text: row.said, Language: "en"}})
		b.after(SilenceContinued{Utterance: 1, Until: end + 10*time.Second})
		if got := b.state.requiredSilence(); got != row.silence {
			t.Errorf("%s: after %q the turn ends after %v, want %v", name, row.said, got, row.silence)
		}
	}
}

// A sound at the very end of the silence may begin a word. If it does not, the turn ends.
func TestASoundAtTheEndOfASilenceMayBecomeVoice(t *testing.T) {
	b := paused(t)
	due := b.state.utterance.pause.voiceEnd + 800*time.Millisecond
	b.after(SilenceContinued{Utterance: 1, Until: due - 20*time.Millisecond, MayBeVoice: true})
	b.now = due
	if b.closes(Tick{}) {
		t.Fatal("the turn ends while a word may be beginning")
	}
	back := b.state
	if !b.closes(SilenceContinued{At: At(due + 30*time.Millisecond), Utterance: 1, Until: due + 30*time.Millisecond}) &&
		!b.closes(Tick{}) {
		t.Error("the turn does not end although the sound was no voice")
	}
	b.state, b.now = back, due+onsetTime
	if !b.closes(Tick{}) {
		t.Error("the turn does not end although no voice followed")
	}
}
