package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// scripted is a voice detector that reads its result from the first sample.
type scripted struct{}

func (scripted) NewStream() VoiceStream                       { return scripted{} }
func (scripted) Probability(frame []float32) (float32, error) { return frame[0], nil }
func (scripted) Reset()                                       {}

// script makes frames: v is voiced, . is silent, b is a burst that the detector does not take for
// voice.
func script(s string) []float32 {
	pcm := make([]float32, 0, len(s)*FrameSamples)
	for _, c := range s {
		frame := make([]float32, FrameSamples)
		for i := range frame {
			switch {
			case c == 'v':
				frame[i] = 0.9
			case c == 'b' && i > 0:
				frame[i] = float32(i%2) * 0.3
			}
		}
		pcm = append(pcm, frame...)
	}
	return pcm
}

func segments(t interface{ Fatal(...any) }, s string) []Segment {
	g := NewSegmenter(scripted{}, DefaultSegmentOptions())
	var out []Segment
	pcm := script(s)
	for i := 0; i < len(pcm); i += FrameSamples {
		var err error
		if out, err = g.Push(out, pcm[i:i+FrameSamples]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func kinds(s []Segment) string {
	names := map[SegmentKind]string{Voice: "", Paused: "paused ", Resumed: "on ", PartEnded: "part ", Ended: "ended ",
		Dropped: "dropped "}
	var b strings.Builder
	for _, e := range s {
		b.WriteString(names[e.Kind])
	}
	return strings.TrimSpace(b.String())
}

func frames(c string, n int) string { return strings.Repeat(c, n) }

func TestUtteranceEndsWhenTheSilenceIsLongEnough(t *testing.T) {
	for name, row := range map[string]struct{ script, want string }{
		"an utterance":      {frames("v", 20) + frames(".", 25), "paused ended"},
		"one frame too few": {frames("v", 20) + frames(".", 24), "paused"},
		"a pause within": {frames("v", 20) + frames(".", 10) + frames("v", 10) + frames(".", 25),
			"paused on paused ended"},
		"a breath in the pause": {frames("v", 20) + frames(".", 10) + "v" + frames(".", 14), "paused ended"},
		"a click alone":         {"v" + frames(".", 40), ""},
		"too short for a word":  {frames("v", 5) + frames(".", 25), "paused dropped"},
		"two utterances": {frames("v", 20) + frames(".", 25) + frames("v", 20) + frames(".", 25),
			"paused ended paused ended"},
		"long speech, one breath": {frames("v", 380) + frames(".", 8) + frames("v", 20) + frames(".", 25),
			"paused on part paused ended"},
		"speech without a breath": {frames("v", 630) + frames(".", 25), "part paused ended"},
	} {
		if got := kinds(segments(t, row.script)); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestAudioOfAnUtteranceBeginsWithItsPrefix(t *testing.T) {
	for _, s := range segments(t, frames(".", 50)+frames("v", 20)+frames(".", 25)) {
		if s.Kind != Paused {
			continue
		}
		if s.Begin != 50*FrameSamples || s.End < 70*FrameSamples-endHop || s.End > 70*FrameSamples+endHop {
			t.Errorf("voice from %d to %d", s.Begin, s.End)
		}
		// 300 ms before, 20 voiced frames, three silent ones.
		if want := 4800 + 23*FrameSamples; len(s.PCM) != want {
			t.Errorf("%d samples, want %d", len(s.PCM), want)
		}
	}
}

func TestPartsOfLongSpeechJoinWithoutLossOrOverlap(t *testing.T) {
	utterances := segments(t, frames("v", 630)+frames(".", 25))
	total := 0
	for _, s := range utterances {
		if s.Kind == PartEnded || s.Kind == Paused {
			total += len(s.PCM)
		}
	}
	if want := 633 * FrameSamples; total != want {
		t.Fatalf("the parts hold %d samples, want %d", total, want)
	}
}

func TestSegmentsComeInOrderWhateverIsHeard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 30).Draw(t, "stretches") {
			b.WriteString(frames(rapid.SampledFrom([]string{"v", "."}).Draw(t, "what"),
				rapid.IntRange(1, 60).Draw(t, "frames")))
		}
		var last Segment
		for _, s := range segments(t, b.String()) {
			next := slices.Contains([]SegmentKind{Ended, Dropped}, last.Kind) || last.Utterance == 0
			if (s.Utterance == last.Utterance+1) != next {
				t.Fatalf("%+v follows %+v", s.Kind, last.Kind)
			}
			if s.Kind == Ended && last.Kind == Voice {
				t.Fatal("an utterance ended without a pause")
			}
			if s.Begin > s.End && s.Kind != Resumed {
				t.Fatalf("begins at %d and ends at %d", s.Begin, s.End)
			}
			last = s
		}
	})
}

// A conversation may decide late that an utterance is over: voice that has returned since is a new,
// complete utterance.
func TestVoiceSinceThePauseIsAnotherUtterance(t *testing.T) {
	o := DefaultSegmentOptions()
	o.EndSilence = 0
	for name, row := range map[string]struct {
		before, after string
		want          string // kinds of the next segments
		voiced        int    // frames of the new utterance in its first segment
		prefix        int    // frames between the voices that belong to the new utterance
	}{
		"silence only": {frames("v", 20) + frames(".", 30),
			frames(".", 5) + frames("v", 10) + frames(".", 3), "2 voice 2 paused", 2, 9},
		"two frames of voice": {frames("v", 20) + frames(".", 30) + "vv", "vvvvvv" + frames(".", 3),
			"2 voice 2 paused", 2, 9},
		"voice and another pause": {frames("v", 20) + frames(".", 30) + frames("v", 9), frames(".", 3),
			"2 voice 2 paused", 9, 9},
		"long speech before": {frames("v", 380) + frames(".", 30) + frames("v", 9), frames(".", 3),
			"2 voice 2 paused", 9, 0},
		"too little voice so far": {frames("v", 20) + frames(".", 30) + "vvv", frames(".", 3), "2 voice 2 paused", 3,
			0},
		"nothing, before any pause": {frames("v", 20), frames(".", 3), "1 paused", 0, 0},
	} {
		g := NewSegmenter(scripted{}, o)
		push := func(out []Segment, s string) []Segment {
			for pcm := script(s); len(pcm) > 0; pcm = pcm[FrameSamples:] {
				var err error
				if out, err = g.Push(out, pcm[:FrameSamples]); err != nil {
					t.Fatal(err)
				}
			}
			return out
		}
		push(nil, row.before)
		utterances := push(g.Close(nil), row.after)
		var events []string
		for _, s := range utterances {
			if s.Kind == Faded {
				continue
			}
			kind := map[SegmentKind]string{Voice: "voice", Paused: "paused"}[s.Kind]
			if line := fmt.Sprint(s.Utterance, " ", kind); len(events) == 0 || events[len(events)-1] != line {
				events = append(events, line)
			}
		}
		if got := strings.Join(events, " "); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
			continue
		}
		last := utterances[len(utterances)-1]
		if last.Utterance == 1 {
			continue
		}
		if got := int(utterances[0].Voiced / FrameDuration); got != row.voiced {
			t.Errorf("%s: the new utterance begins with %d frames of voice, want %d", name, got, row.voiced)
		}
		if last.Short != (row.prefix == 0 && row.voiced < 8) {
			t.Errorf("%s: short is %v", name, last.Short)
		}
		voice := int((last.End-last.Begin)/FrameSamples) + 3
		if got := len(last.PCM) - voice*FrameSamples; !last.Short && got > 4800 ||
			!last.Short && got < row.prefix*FrameSamples {
			t.Errorf("%s: %d samples before the voice", name, got)
		}
	}
}

// echo transcribes a piece as its length in frames.
type echo struct{}

func (echo) Transcribe(_ context.Context, pcm []float32, _ TranscribeOptions) (Transcript, error) {
	return Transcript{Text: strings.Repeat("w", 1), Language: "en"}, nil
}

func TestListenGivesEachUtteranceItsPlace(t *testing.T) {
	pcm := script(frames(".", 10) + frames("v", 20) + frames(".", 30) + frames("v", 20))
	utterances, language, err := TranscribeRecording(t.Context(), scripted{}, echo{}, pcm, DefaultSegmentOptions(),
		TranscribeOptions{},
		nil)
	if err != nil || language != "en" || len(utterances) != 2 {
		t.Fatalf("%v, %q, %v", utterances, language, err)
	}
	if utterances[0].Begin != 320*time.Millisecond || utterances[1].End != 2560*time.Millisecond {
		t.Fatalf("%+v", utterances)
	}
}

// A word such as "locked" ends in a burst after a closure, which no detector recognises as voice;
// longer sounds after it do not belong to it.
func TestAWordEndsWithTheBurstBehindIt(t *testing.T) {
	for script, want := range map[string]int{ // where the voice ends, in frames
		"....b": 65, ".....bb": 67, "....b....": 65, ".......................b": 60,
	} {
		if got := endOf(t, script); got < float64(want)-1 || got > float64(want)+0.5 {
			t.Errorf("%s: the voice ends after frame %.1f, want %d", script, got, want)
		}
	}
	if got := endOf(t, "...."+frames("b", 40)); got > 60+4+maxBursts {
		t.Errorf("with music behind it the voice ends after frame %.1f", got)
	}
}

// endOf returns where a voice of 60 frames before a script ends, in frames.
func endOf(t *testing.T, behind string) float64 {
	end := int64(0)
	for _, e := range segments(t, frames("v", 60)+behind+frames(".", 40)) {
		if e.Kind == Paused {
			end = e.End
		}
	}
	return float64(end) / FrameSamples
}

// doubtful is a detector that doubts the first frame of a voice.
type doubtful struct{ scripted }

func (doubtful) NewStream() VoiceStream { return doubtful{} }
func (doubtful) Probability(frame []float32) (float32, error) {
	return frame[0] / 3, nil
}

// Possible voice is reported before the detector is sure of it.
func TestASoundThatMayBecomeVoiceIsReported(t *testing.T) {
	o := DefaultSegmentOptions()
	o.EndSilence = 0
	s := NewSegmenter(doubtful{}, o)
	s.speaking, s.paused, s.partVoice = true, true, true
	for _, what := range []string{".", "v"} {
		want := what == "v"
		if _, err := s.Push(nil, script(what)); err != nil {
			t.Fatal(err)
		}
		if got := s.MayResume(); got != want {
			t.Errorf("%s: MayResume is %v, want %v", what, got, want)
		}
	}
}
