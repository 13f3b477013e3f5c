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

// recorded is a recording of a person, at 16 kHz.
func recorded(t testing.TB, name string) []float32 {
	t.Helper()
	data, err := os.ReadFile(packtest.Recording(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return twice(audio.Linear16(data[44:]))
}

// twice holds each sample of 8 kHz for two: a resampler that any language has.
func twice(pcm []float32) []float32 {
	out := make([]float32, 0, 2*len(pcm))
	for _, v := range pcm {
		out = append(out, v, v)
	}
	return out
}

// sung is a voice that nobody has: three seconds of a tone with harmonics that
// rises, trembles and pauses.
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

// heardBy measures a sound that comes in pieces.
func heardBy(m *Meter, pcm []float32, piece int) *Sound {
	s := m.NewSound()
	for p := range slices.Chunk(pcm, piece) {
		s.Hear(p)
	}
	return s
}

// The features are those of train/features.py, which the model was trained with.
func TestFeaturesAreThoseOfTheReference(t *testing.T) {
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

// It makes no difference in which pieces a sound comes.
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

// A look at a pause leaves what follows as it would have been.
func TestAPauseChangesNothingOfWhatFollows(t *testing.T) {
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

// sound is what may come out of a microphone, or out of a hostile client.
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

// Whatever comes in, all 48 scores come out, each over 0 and at most 1.
func TestScoresAreScoresWhateverIsHeard(t *testing.T) {
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

// What is not speech sounds as is to be expected of anybody.
func TestWhatIsNotSpeechHasNoTone(t *testing.T) {
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

// Three quarters of a minute of speech takes no more memory than twenty seconds.
func TestALongSoundIsBounded(t *testing.T) {
	s := meter(t).NewSound()
	piece := noise(rateHz, 0.1)
	for range 45 {
		s.Hear(piece)
	}
	if len(s.frames) > maxFrames || cap(s.frames) > 2*maxFrames || cap(s.samples) > 8*rateHz {
		t.Errorf("it holds %d frames in room for %d, and %d samples", len(s.frames), cap(s.frames), cap(s.samples))
	}
}

// What is left to do at a pause does not grow with what was said: it is the frames
// that still heard silence behind them.
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
