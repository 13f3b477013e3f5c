package chat

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// feelings are a fake of what measures them: sadness in every voice, joy in every
// sentence.
type feelings struct{ heard *int }

func (f feelings) NewVoice() Voice { return &feelingVoice{f, 0, 0} }
func (f feelings) Text(string) contract.EmotionScores {
	return contract.EmotionScores{32: 0.5}
}

type feelingVoice struct {
	feelings
	samples, paused int
}

func (v *feelingVoice) Hear(pcm []float32) { v.samples += len(pcm) }
func (v *feelingVoice) Pause()             { v.paused = v.samples; *v.heard = v.samples }
func (v *feelingVoice) Express(text, language string) (contract.EmotionScores, string) {
	if v.paused == 0 || text == "" {
		panic("words without a voice")
	}
	return contract.EmotionScores{40: 0.25}, "sad"
}

// feeling begins a chat whose feelings are measured, and told to the model or not.
func feeling(t *testing.T, f *fakes, told bool, change ...func(*contract.ConnectSettings)) (c *Session, heard *int) {
	t.Helper()
	heard = new(int)
	h := hostOf(f, func(p *Parts) {
		p.Expression, p.TellFeelings = feelings{heard}, func(engine.LanguageModel) bool { return told }
	})
	var connect contract.ConnectSettings
	for _, set := range change {
		set(&connect)
	}
	return begin(t, h, Opening{Line: f, Connect: connect}), heard
}

// A spoken message has the scores of the whole voice, an interim one has none;
// each sentence of the answer has its own behind its last sound, and the history
// has both.
func TestWhatIsSaidHasItsFeelings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes()
		c, heard := feeling(t, f, false, func(p *contract.ConnectSettings) { p.VerboseTranscription = true })
		hear(t, c, 1000, true)
		hear(t, c, 1000, false)
		f.until(t, "assistant_end")
		const want = "user_message assistant_message audio_output assistant_prosody assistant_message audio_output assistant_prosody assistant_end"
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

// rows checks what the history has of the feelings.
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
			if err := json.Unmarshal([]byte(e.EmotionFeatures), &scores); err != nil || scores.Of("Joy") != 0.5 || !said[e.RelatedEventID] {
				t.Errorf("an ASSISTANT_PROSODY of %q has %s (%v)", e.RelatedEventID, e.EmotionFeatures, err)
			}
		}
	}
	if prosody != 2 {
		t.Errorf("%d rows of ASSISTANT_PROSODY, want 2", prosody)
	}
}

// What is typed has no sound, and no scores.
func TestWhatIsTypedHasNoFeelings(t *testing.T) {
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
			t.Errorf("it has %+v", m.Models.Prosody)
		}
	})
}

// The model is told of feelings in a line of its own, where it is to be; nobody
// else sees it, and the answer that was prepared is the one that is given.
func TestTheModelIsToldOfFeelings(t *testing.T) {
	for told, want := range map[bool]string{true: "When do you open? (sounds: sad)", false: "When do you open?"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakes()
			c, _ := feeling(t, f, told)
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
				if text, _ := m.MarshalJSON(); strings.Contains(string(text), "(sounds") {
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

// slowFeelings take a minute for everything.
type slowFeelings struct{ feelings }

func (f slowFeelings) NewVoice() Voice { return slowVoice{f.feelings.NewVoice()} }
func (f slowFeelings) Text(text string) contract.EmotionScores {
	time.Sleep(time.Minute)
	return f.feelings.Text(text)
}

type slowVoice struct{ Voice }

func (v slowVoice) Express(text, language string) (contract.EmotionScores, string) {
	time.Sleep(time.Minute)
	return v.Voice.Express(text, language)
}

// Where feelings take too long, messages go without them and are hardly later.
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
			c := begin(t, hostOf(f, func(p *Parts) { p.Expression = e }), Opening{Line: f})
			hear(t, c, 1000, true)
			hear(t, c, 1000, false)
			f.until(t, "assistant_end")
			came[slow] = map[string]time.Duration{}
			for _, kind := range []string{"user_message", "assistant_message"} {
				at, _ := f.when(kind)
				came[slow][kind] = at.Sub(begun)
			}
			if strings.Contains(f.messages(), "assistant_prosody") == slow {
				t.Errorf("slow is %v, and sent was %q", slow, f.messages())
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, m := range f.sent {
				if m, ok := m.(contract.UserMessage); ok && (m.Models.Prosody == nil) != slow {
					t.Errorf("slow is %v, and the message has %+v", slow, m.Models.Prosody)
				}
			}
		})
	}
	for kind, fast := range came[false] {
		if late := came[true][kind] - fast; late > 20*time.Millisecond {
			t.Errorf("%s is %v later where feelings are slow", kind, late)
		}
	}
}

// lateVoice is slow at its first pause alone, as where the machine is busy with
// something else just then.
type lateVoice struct {
	Voice
	heard []float32
	slow  time.Duration
}

func (v *lateVoice) Hear(pcm []float32) {
	v.heard = append(v.heard, pcm...)
	v.Voice.Hear(pcm)
}

func (v *lateVoice) Pause() {
	time.Sleep(v.slow)
	v.slow = 0
	v.Voice.Pause()
}

type lateFeelings struct {
	feelings
	voice *lateVoice
}

func (f lateFeelings) NewVoice() Voice {
	f.voice.Voice = f.feelings.NewVoice()
	return f.voice
}

// A voice that was slow once is measured on: nothing is missing from it, nobody
// waits for it, and what is beyond all measure is given up.
func TestAVoiceThatWasSlowIsMeasuredOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var workers group
		slow := &lateVoice{slow: time.Second}
		p := &prompt{lateFeelings{feelings{new(int)}, slow}, &workers, slog.New(slog.DiscardHandler), func(time.Duration) {}}
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
		if scores, _ := v.Express("Hello", "en"); scores != nil || time.Since(begun) > feltWithin {
			t.Errorf("%v came after %v", scores, time.Since(begun))
		}
		time.Sleep(2 * time.Second)
		said(1500, 500)
		v.Pause()
		if scores, strong := v.Express("Hello", "en"); scores == nil || strong != "sad" {
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
		said(0, mostHeld+1)
		at := time.Now()
		if scores, _ := v.Express("Hello", "en"); scores != nil || time.Since(at) != 0 {
			t.Errorf("a voice that was given up has the scores %v after %v", scores, time.Since(at))
		}
		workers.Wait()
	})
}
