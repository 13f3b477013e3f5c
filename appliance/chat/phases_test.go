package chat

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// telling are parts that always take the same time, and whose answers show what they were made from: the text
// shows the prompt and the context, the sound the voice.
type telling struct {
	*fakes
	played []played
}

// played is sound that the line was given: its message, and its voice.
type played struct{ id, voice string }

func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *telling) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript,
	error) {
	if err := pass(ctx, 150*time.Millisecond); err != nil {
		return engine.Transcript{}, err
	}
	return f.fakes.Transcribe(ctx, pcm, o)
}

func (f *telling) Prefill(ctx context.Context, _ engine.Prompt) error {
	return pass(ctx, 100*time.Millisecond)
}

func (f *telling) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	prompt, context := "the old prompt", "no context"
	if strings.Contains(p.Messages[0].Content, "new") {
		prompt = "the new prompt"
	}
	if strings.Contains(p.Messages[len(p.Messages)-1].Content, "{Context: ") {
		context = "a context"
	}
	for _, piece := range []string{"I have ", prompt + " and " + context + ". ", "I say ", "so again. ", "This is ",
		"all of it."} {
		if err := pass(ctx, 100*time.Millisecond); err != nil {
			return engine.Usage{}, err
		}
		if err := emit(engine.Part{Text: piece}); err != nil {
			return engine.Usage{}, err
		}
	}
	return engine.Usage{}, nil
}

func (f *telling) Prepare(string, string) error { return nil }

func (f *telling) Voice(ctx context.Context, account, name string) (engine.Synthesizer, error) {
	return tellingVoice{f, map[string]float32{"": 0.125, "jenny": 0.25}[name]}, pass(ctx, 250*time.Millisecond)
}

type tellingVoice struct {
	*telling
	level float32
}

func (v tellingVoice) RateHz() int { return contract.OutputRateHz }

func (v tellingVoice) Speak(ctx context.Context, _ string, _ engine.SpeakOptions, emit func(engine.Sound) error) error {
	piece := slices.Repeat([]float32{v.level}, contract.OutputRateHz/4)
	for n := range 4 {
		if err := pass(ctx, 60*time.Millisecond); err != nil {
			return err
		}
		if err := emit(engine.Sound{PCM: slices.Clone(piece), TotalSamples: 4 * len(piece), Last: n == 3}); err != nil {
			return err
		}
	}
	return nil
}

func (f *telling) Play(ctx context.Context, s contract.Sound) error {
	voice := "the old voice"
	if slices.Max(s.PCM) > 0.2 {
		voice = "jenny"
	}
	f.mu.Lock()
	f.played = append(f.played, played{s.ID, voice})
	f.mu.Unlock()
	return f.fakes.Play(ctx, s)
}

// Settings may change in every phase of a turn: while the user speaks, while the answer is prepared, when the
// turn is over, while the assistant speaks and after that. Some changes are tried every 240 ms, all of them
// every 40 ms with PARLEY_FULL_TESTS. Each turn is answered once, completely, and each sentence is made with
// the old settings or with the new ones. Settings that came before the end of the turn apply to its answer,
// and all apply to the next answer; only a voice that comes later speaks from the next sentence on.
func TestSettingsMayChangeInEveryPhaseOfATurn(t *testing.T) {
	prompt := "You are new."
	old := answer{"the old prompt", "no context", "the old voice"}
	changes := []struct {
		name     string
		settings contract.SessionSettings
		want     answer
	}{
		{"prompt", contract.SessionSettings{SystemPrompt: &prompt},
			answer{"the new prompt", "no context", "the old voice"}},
		{"context", contract.SessionSettings{
			Context: &contract.Context{Text: "Room 12.", Type: contract.ContextPersistent}},
			answer{"the old prompt", "a context", "the old voice"}},
		{"voice", contract.SessionSettings{VoiceID: "jenny"}, answer{"the old prompt", "no context", "jenny"}},
		{"custom id", contract.SessionSettings{CustomSessionID: "mine"}, old},
		{"sound", contract.SessionSettings{Audio: &contract.AudioConfiguration{Encoding: contract.Linear16,
			SampleRate: 8000, Channels: 1}}, old},
		{"all of them", contract.SessionSettings{SystemPrompt: &prompt, VoiceID: "jenny", CustomSessionID: "mine"},
			answer{"the new prompt", "no context", "jenny"}},
	}
	const step = 40 * time.Millisecond
	for at := time.Duration(0); at < 6*time.Second; at += step {
		for n, change := range changes {
			if os.Getenv("PARLEY_FULL_TESTS") == "" && int(at/step)%len(changes) != n {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				f := &telling{fakes: newFakes()}
				c := begin(t, hostOf(f), connection.Opening{Line: f})
				begun, changed := time.Now(), false
				for ; time.Since(begun) < 8*time.Second; time.Sleep(20 * time.Millisecond) {
					if !changed && time.Since(begun) >= at {
						changed = true
						if err := c.Receive(change.settings); err != nil {
							t.Fatal(err)
						}
					}
					hear(t, c, 20, time.Since(begun) < time.Second)
				}
				over, _ := f.when("user_message")
				first := f.answer(t)
				if err := c.Receive(contract.UserInput{Text: "And on Mondays?"}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(8 * time.Second)
				second := f.answer(t)
				later := answer{old.prompt, old.context, "the old voice, then jenny"}
				if first != old && first != change.want && (first != later || change.settings.VoiceID == "") ||
					second != change.want {
					t.Errorf("%s after %v: the first answer has %+v, the next %+v", change.name, at, first, second)
				}
				if begun.Add(at).Before(over) && first != change.want {
					t.Errorf("%s after %v, %v before the turn was over: its answer has %+v", change.name, at,
						over.Sub(begun.Add(at)), first)
				}
			})
		}
	}
}

// answer is what an answer was made from.
type answer struct{ prompt, context, voice string }

// answer returns the answer since the last call, after checking that it is one, complete and in order.
func (f *telling) answer(t *testing.T) (a answer) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var types []string
	ids := map[string]bool{}
	for _, m := range f.sent {
		switch m := m.(type) {
		case contract.AssistantMessage:
			ids[m.ID] = true
			if from, ok := strings.CutPrefix(m.Message.Content, "I have "); ok {
				a.prompt, a.context, _ = strings.Cut(strings.TrimSuffix(from, "."), " and ")
			}
		case contract.AudioOutput:
			if !ids[m.ID] {
				t.Errorf("sound before its words")
			}
			continue
		case contract.ChatMetadata:
			continue
		}
		types = append(types, m.MessageType())
	}
	if got := strings.Join(types,
		" "); got != "user_message assistant_message assistant_message assistant_message assistant_end" {
		t.Errorf("the client received %s", got)
	}
	var voices []string
	of := map[string]string{}
	for _, p := range f.played {
		if of[p.id] == "" {
			of[p.id] = p.voice
		}
		if of[p.id] != p.voice {
			t.Errorf("a sentence is said by %s and %s", of[p.id], p.voice)
		}
		if !ids[p.id] {
			t.Errorf("sound of another answer")
		}
		voices = append(voices, p.voice)
	}
	a.voice = strings.Join(slices.Compact(voices), ", then ")
	if len(f.played) != 12 {
		t.Errorf("%d pieces of sound of 12", len(f.played))
	}
	f.sent, f.sentAt, f.played = nil, nil, nil
	return a
}
