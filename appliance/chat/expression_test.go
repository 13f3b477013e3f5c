package chat

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// feelings is a fake Expression: sadness in every voice, joy in every sentence.
type feelings struct{ heard *int }

func (f feelings) NewVoice() VoiceScorer { return &feelingVoice{f, 0} }
func (f feelings) Text(string) contract.EmotionScores {
	return contract.EmotionScores{32: 0.5}
}

type feelingVoice struct {
	feelings
	samples int
}

func (v *feelingVoice) Hear(pcm []float32) { v.samples += len(pcm) }
func (v *feelingVoice) Tone() Tone {
	*v.heard = v.samples
	return feelingTone(v.samples)
}

// feelingTone is the tone of this many samples, sad if there are any.
type feelingTone int

func (f feelingTone) Express(text, language string) (contract.EmotionScores, string) {
	if text == "" {
		panic("no words")
	}
	if f == 0 {
		return contract.EmotionScores{9: 0.5}, ""
	}
	return contract.EmotionScores{40: 0.25}, "sad"
}

// feeling begins a chat whose feelings are measured, and added to the prompt if toModel is set.
func feeling(t *testing.T, f *fakes, toModel bool, change ...func(*contract.ConnectSettings)) (c *Session, heard *int) {
	t.Helper()
	heard = new(int)
	h := hostOf(f, func(p *Parts) {
		p.Expression, p.TellFeelings = feelings{heard}, func(engine.LanguageModel) bool { return toModel }
	})
	var connect contract.ConnectSettings
	for _, set := range change {
		set(&connect)
	}
	return begin(t, h, connection.Opening{Line: f, Settings: connect}), heard
}

// A spoken message has the scores of the whole voice, an interim one has none. Each sentence of the answer
// has its own scores after its last sound. The history has both.
func TestSpeechHasFeelings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes()
		c, heard := feeling(t, f, false, func(p *contract.ConnectSettings) { p.VerboseTranscription = true })
		hear(t, c, 1000, true)
		hear(t, c, 1000, false)
		f.until(t, "assistant_end")
		const want = "user_message assistant_message audio_output assistant_prosody assistant_message audio_output " +
			"assistant_prosody assistant_end"
		if got := f.messages(); !strings.HasSuffix(got, want) {
			t.Fatalf("sent %q", got)
		}
		if least := engine.SpeechRateHz; *heard < least || *heard > 2*least {
			t.Errorf("%d samples were measured of a second of voice", *heard)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		id := ""
		for _, m := range f.sent {
			switch m := m.(type) {
			case contract.UserMessage:
				if p := m.Models.Prosody; (p == nil) != m.Interim || p != nil && p.Scores.Of("Sadness") != 0.25 {
					t.Errorf("interim %v has the scores %+v", m.Interim, p)
				}
			case contract.AssistantMessage:
				id = m.ID
				if m.Models.Prosody != nil {
					t.Error("an assistant_message has scores; they belong into assistant_prosody")
				}
			case contract.AssistantProsody:
				if m.ID != id || m.Models.Prosody.Scores.Of("Joy") != 0.5 {
					t.Errorf("behind the message %s comes %+v", id, m)
				}
			}
		}
		if f.asked[0][len(f.asked[0])-1].Scores == nil {
			t.Error("a model that takes scores gets none")
		}
		rows(t, f)
	})
}

// rows checks the feelings in the history.
func rows(t *testing.T, f *fakes) {
	t.Helper()
	said, prosody := map[string]bool{}, 0
	for _, e := range f.stored {
		var scores contract.EmotionScores
		switch e.Type {
		case store.UserMessage:
			if err := json.Unmarshal([]byte(e.EmotionFeatures), &scores); err != nil || scores.Of("Sadness") != 0.25 {
				t.Errorf("a USER_MESSAGE has %s (%v)", e.EmotionFeatures, err)
			}
		case store.AgentMessage:
			said[e.ID] = true
		case store.AssistantProsody:
			prosody++
			if err := json.Unmarshal([]byte(e.EmotionFeatures), &scores); err != nil || scores.Of("Joy") != 0.5 ||
				!said[e.RelatedEventID] {
				t.Errorf("an ASSISTANT_PROSODY of %q has %s (%v)", e.RelatedEventID, e.EmotionFeatures, err)
			}
		}
	}
	if prosody != 2 {
		t.Errorf("%d rows of ASSISTANT_PROSODY, want 2", prosody)
	}
}

// Typed text has no sound and no scores.
func TestTypedTextHasNoFeelings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes()
		c, _ := feeling(t, f, true)
		if err := c.Receive(contract.UserInput{Text: "Hello"}); err != nil {
			t.Fatal(err)
		}
		f.until(t, "assistant_end")
		f.mu.Lock()
		defer f.mu.Unlock()
		if m := f.sent[1].(contract.UserMessage); m.Models.Prosody != nil {
			t.Errorf("the scores are %+v", m.Models.Prosody)
		}
	})
}

// The model receives the feelings after the user's words if TellFeelings is true for it. Neither the client nor
// the history does, and the prepared answer is used.
func TestTheModelReceivesTheFeelings(t *testing.T) {
	for toModel, want := range map[bool]string{true: "When do you open? (sounds: sad)", false: "When do you open?"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakes()
			c, _ := feeling(t, f, toModel)
			hear(t, c, 1000, true)
			hear(t, c, 1000, false)
			f.until(t, "assistant_end")
			f.mu.Lock()
			defer f.mu.Unlock()
			if len(f.asked) != 1 {
				t.Errorf("the model was asked %d times: what was prepared was worthless", len(f.asked))
			}
			asked := f.asked[0]
			if got := asked[len(asked)-1].Content; got != want {
				t.Errorf("the model reads %q, want %q", got, want)
			}
			for _, m := range f.sent {
				if text, _ := contract.Marshal(m); strings.Contains(string(text), "(sounds") {
					t.Errorf("sent %s", text)
				}
			}
			for _, e := range f.stored {
				if strings.Contains(e.MessageText, "(sounds") {
					t.Errorf("stored %+v", e)
				}
			}
		})
	}
}

// slowFeelings take a minute to judge a voice.
type slowFeelings struct{ feelings }

func (f slowFeelings) NewVoice() VoiceScorer { return &slowVoice{VoiceScorer: f.feelings.NewVoice()} }

type slowVoice struct {
	VoiceScorer
	heard bool
}

func (v *slowVoice) Hear(pcm []float32) {
	v.heard = true
	v.VoiceScorer.Hear(pcm)
}

func (v *slowVoice) Tone() Tone {
	if v.heard {
		time.Sleep(time.Minute)
	}
	return v.VoiceScorer.Tone()
}

// If measuring takes too long, messages are hardly later, and speech still has scores on the wire, in the
// history and for the model.
func TestFeelingsDelayNoMessage(t *testing.T) {
	came := map[bool]map[string]time.Duration{}
	for _, slow := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakes()
			var e Expression = feelings{new(int)}
			if slow {
				e = slowFeelings{feelings{new(int)}}
			}
			begun := time.Now()
			c := begin(t, hostOf(f, func(p *Parts) { p.Expression = e }), connection.Opening{Line: f})
			hear(t, c, 1000, true)
			hear(t, c, 1000, false)
			f.until(t, "assistant_end")
			came[slow] = map[string]time.Duration{}
			for _, kind := range []string{"user_message", "assistant_message"} {
				at, _ := f.when(kind)
				came[slow][kind] = at.Sub(begun)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, m := range f.sent {
				if m, ok := m.(contract.UserMessage); ok && m.Models.Prosody == nil {
					t.Errorf("slow is %v, and the message has no scores", slow)
				}
			}
			for _, r := range f.stored {
				if r.Type == store.UserMessage && r.EmotionFeatures == "" {
					t.Errorf("slow is %v, and the history has no scores", slow)
				}
			}
			if f.asked[0][len(f.asked[0])-1].Scores == nil {
				t.Errorf("slow is %v, and the model gets no scores", slow)
			}
		})
	}
	for kind, fast := range came[false] {
		if late := came[true][kind] - fast; late > expressionLimit {
			t.Errorf("%s is %v later where feelings are slow", kind, late)
		}
	}
}

// lateVoice is slow only at its first pause, like a machine that is busy just then.
type lateVoice struct {
	VoiceScorer
	heard []float32
	slow  time.Duration
}

func (v *lateVoice) Hear(pcm []float32) {
	v.heard = append(v.heard, pcm...)
	v.VoiceScorer.Hear(pcm)
}

func (v *lateVoice) Tone() Tone {
	if len(v.heard) > 0 {
		time.Sleep(v.slow)
		v.slow = 0
	}
	return v.VoiceScorer.Tone()
}

type lateFeelings struct {
	feelings
	voice *lateVoice
}

func (f lateFeelings) NewVoice() VoiceScorer {
	f.voice.VoiceScorer = f.feelings.NewVoice()
	return f.voice
}

// A voice that was slow once is still measured completely, and no one waits for it. One that is too far
// behind is given up.
func TestASlowVoiceIsMeasuredFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var workers group
		slow := &lateVoice{slow: time.Second}
		p := &boundedExpression{lateFeelings{feelings{new(int)}, slow}, &workers, slog.New(slog.DiscardHandler),
			func(time.Duration) {}}
		v, begun := p.voice(), time.Now()
		said := func(from, n int) {
			pcm := make([]float32, n)
			for i := range pcm {
				pcm[i] = float32(from + i)
			}
			v.Hear(pcm)
		}
		said(0, 1000)
		v.Pause()
		said(1000, 500)
		if passed := time.Since(begun); passed != 0 {
			t.Errorf("the ear was held up for %v", passed)
		}
		if scores, _ := v.Express("Hello", "en"); scores.Of("Calmness") == 0 || time.Since(begun) > expressionLimit {
			t.Errorf("%v came after %v, want those of no voice at once", scores, time.Since(begun))
		}
		time.Sleep(2 * time.Second)
		said(1500, 500)
		v.Pause()
		if scores, strong := v.Express("Hello", "en"); scores.Of("Sadness") == 0 || strong != "sad" {
			t.Errorf("what was slow once has the scores %v", scores)
		}
		workers.Wait()
		for i, sample := range slow.heard {
			if sample != float32(i) {
				t.Fatalf("sample %d is %g", i, sample)
			}
		}
		if len(slow.heard) != 2000 {
			t.Errorf("%d samples were heard of 2000", len(slow.heard))
		}
		slow.slow = time.Hour
		v.Pause()
		synctest.Wait()
		said(0, maxQueuedSamples+1)
		at := time.Now()
		if scores, _ := v.Express("Hello", "en"); scores.Of("Sadness") == 0 || time.Since(at) != 0 {
			t.Errorf("a voice that was given up has the scores %v after %v, want the last ones at once", scores,
				time.Since(at))
		}
		workers.Wait()
	})
}
