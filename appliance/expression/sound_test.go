package expression

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/internal/packtest"
)

// recorded returns a recording of a person at 16 kHz.
func recorded(t testing.TB, name string) []float32 {
	t.Helper()
	data, err := os.ReadFile(packtest.Recording(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return twice(audio.Linear16(data[44:]))
}

// twice repeats each sample of 8 kHz: a resampler that every language has.
func twice(pcm []float32) []float32 {
	out := make([]float32, 0, 2*len(pcm))
	for _, v := range pcm {
		out = append(out, v, v)
	}
	return out
}

// sung returns a synthetic voice: three seconds of a tone with harmonics that rises, trembles and pauses.
func sung() []float32 {
	out := make([]float32, 3*rateHz)
	phase := 0.0
	for i := range out {
		at := float64(i) / rateHz
		phase += 2 * math.Pi * (120 + 40*at + 5*math.Sin(2*math.Pi*5*at)) / rateHz
		if math.Mod(at, 0.7) > 0.5 {
			continue
		}
		for k := 1.0; k <= 20; k++ {
			out[i] += float32(0.2 * math.Sin(k*phase) / k)
		}
	}
	return out
}

func noise(n int, level float64) []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(level * r.NormFloat64())
	}
	return out
}

func tone(hz float64, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(0.3 * math.Sin(2*math.Pi*hz*float64(i)/rateHz))
	}
	return out
}

func filled(v float32, n int) []float32 { return slices.Repeat([]float32{v}, n) }

func gained(pcm []float32, gain float32) []float32 {
	out := slices.Clone(pcm)
	for i := range out {
		out[i] = min(max(out[i]*gain, -1), 1)
	}
	return out
}

// heardBy measures a sound that comes in pieces of this many samples.
func heardBy(m *Meter, pcm []float32, piece int) *Sound {
	s := m.NewSound()
	for p := range slices.Chunk(pcm, piece) {
		s.Hear(p)
	}
	return s
}

// The features are those of train/features.py, with which the model was trained.
func TestFeaturesMatchTheReference(t *testing.T) {
	m := meter(t)
	for name, want := range golden[map[string]map[string]float64](t, "features.json") {
		pcm := sung()
		if name != "sung" {
			pcm = recorded(t, name)
		}
		got := describe(heardBy(m, pcm, 512).all())
		if len(want) != len(m.voice.Features) {
			t.Fatalf("%s has %d features, want %d", name, len(want), len(m.voice.Features))
		}
		for i, feature := range m.voice.Features {
			if off := math.Abs(got[feature]-want[feature]) / m.voice.Std[i]; !(off <= 1e-4) {
				t.Errorf("%s: %s is %g, want %g: off by %.5f of its deviation", name, feature, got[feature],
					want[feature], off)
			}
		}
	}
}

// The size of the pieces makes no difference.
func TestASoundMayComeInAnyPieces(t *testing.T) {
	m := meter(t)
	pcm := recorded(t, "vm-marked-urgent")
	want := heardBy(m, pcm, len(pcm)).Tone()
	for _, piece := range []int{1, 160, 333, 512, 1600} {
		if got := heardBy(m, pcm, piece).Tone(); got != want {
			t.Errorf("in pieces of %d samples it sounds as %v, at once as %v", piece, got.of, want.of)
		}
	}
}

// A judgement at a pause does not affect what follows.
func TestAPauseDoesNotAffectWhatFollows(t *testing.T) {
	m := meter(t)
	pcm := recorded(t, "vm-marked-urgent")
	want := heardBy(m, pcm, len(pcm)).Tone()
	s := m.NewSound()
	for p := range slices.Chunk(pcm, 4000) {
		s.Hear(p)
		s.Tone()
	}
	if got := s.Tone(); got != want {
		t.Errorf("with pauses it sounds as %v, without as %v", got.of, want.of)
	}
}

// odd returns sounds that a microphone or a hostile client may send.
func odd(t testing.TB) map[string][]float32 {
	speech := recorded(t, "vm-marked-urgent")
	inf := float32(math.Inf(1))
	return map[string][]float32{
		"nothing": nil, "one sample": {0.5}, "zeros": filled(0, rateHz), "a constant": filled(0.7, rateHz),
		"white noise": noise(2*rateHz, 0.1), "faint noise": noise(2*rateHz, 1e-5), "a tone": tone(440, 2*rateHz),
		"a low tone": tone(50, 2*rateHz),
		"NaN":        filled(float32(math.NaN()), rateHz), "infinity": {inf, -inf, inf, 1, 0, -inf},
		"huge":          filled(3e38, rateHz),
		"NaN in speech": append(append(slices.Clone(speech), float32(math.NaN())), speech...),
		"clipped":       gained(speech, 100), "quiet": gained(speech, 0.001),
		"0.3 s": speech[rateHz/2 : rateHz/2+3*rateHz/10],
		"60 s":  slices.Repeat(speech, 60*rateHz/len(speech)+1), "a click": append(filled(0, rateHz), 1),
		"sung":   sung(),
		"speech": speech,
	}
}

// For any sound, all 48 scores are above 0 and at most 1.
func TestScoresAreInRangeForAnySound(t *testing.T) {
	m := meter(t)
	for name, pcm := range odd(t) {
		tone := heardBy(m, pcm, 512).Tone()
		for _, text := range []string{"", "Hello.", "\xff\xfe", "😂😂", string(make([]byte, 5000)), "AAAA"} {
			for _, language := range []string{"", "en", "en-GB", "de", "zz-not-a-tag"} {
				scores, _ := tone.Express(text, language)
				for i, v := range scores {
					if !(v > 0 && v <= 1) {
						t.Errorf("%s with %.10q in %q: %s is %v", name, text, language, contract.EmotionName(i), v)
					}
				}
			}
		}
	}
}

// A sound that is not speech has the expected tone of anyone.
func TestSoundThatIsNotSpeechHasNoTone(t *testing.T) {
	m := meter(t)
	for name, pcm := range odd(t) {
		got := heardBy(m, pcm, 512).Tone().of == voicePrior
		speech := slices.Contains([]string{"speech", "clipped", "quiet", "60 s", "NaN in speech", "0.3 s", "sung"},
			name)
		if !speech && !got {
			t.Errorf("%s is taken for speech", name)
		}
		if (name == "speech" || name == "60 s" || name == "quiet") && got {
			t.Errorf("%s is not taken for speech", name)
		}
	}
}

// 45 seconds of speech take no more memory than twenty.
func TestALongSoundIsBounded(t *testing.T) {
	s := meter(t).NewSound()
	piece := noise(rateHz, 0.1)
	for range 45 {
		s.Hear(piece)
	}
	if len(s.frames) > maxFrames || cap(s.frames) > 2*maxFrames || cap(s.samples) > 8*rateHz {
		t.Errorf("%d frames are stored with capacity %d, and %d samples", len(s.frames), cap(s.frames), cap(s.samples))
	}
}

// The work left at a pause does not depend on the length of the utterance: it is the frames that waited for
// samples after them.
func TestAPauseLeavesLittleToDo(t *testing.T) {
	m := meter(t)
	for _, seconds := range []int{1, 5, 19} {
		s := m.NewSound()
		s.Hear(noise(seconds*rateHz, 0.1))
		if left := len(s.all()) - len(s.frames); left > 2 {
			t.Errorf("after %d s %d frames are left to measure", seconds, left)
		}
	}
}

func BenchmarkHear(b *testing.B) {
	m, speech := meter(b), recorded(b, "vm-marked-urgent")
	for b.Loop() {
		m.NewSound().Hear(speech)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/(float64(len(speech))/rateHz*1e9), "of-real-time")
}

func BenchmarkPauseAfter20s(b *testing.B) {
	speech := recorded(b, "vm-marked-urgent")
	s := heardBy(meter(b), slices.Repeat(speech, 20*rateHz/len(speech)+1), 512)
	for b.Loop() {
		s.Tone()
	}
}
