package audio

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"
)

// murmur is noise whose level varies like syllables.
func murmur(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]float32, n)
	last := float32(0)
	for i := range out {
		last += 0.2 * (r.Float32() - 0.5 - last)
		out[i] = last * float32(1+math.Sin(float64(i)/2000))
	}
	return out
}

func interleaved(channels ...[]float32) []float32 {
	var out []float32
	for i := range channels[0] {
		for _, c := range channels {
			out = append(out, c[i])
		}
	}
	return out
}

func scaled(pcm []float32, by float32) []float32 {
	out := slices.Clone(pcm)
	for i := range out {
		out[i] *= by
	}
	return out
}

func shifted(pcm []float32, by float32) []float32 {
	out := slices.Clone(pcm)
	for i := range out {
		out[i] += by
	}
	return out
}

// Of more than two channels the loudest is used, whichever it is, from its first sample on and
// at its level; a change does not click.
func TestLoudestOfManyChannelsIsUsed(t *testing.T) {
	const rate = 48000
	a := murmur(rate/2, 1)
	for _, channels := range []int{3, 6, 32} {
		for _, speaks := range []int{0, channels / 2, channels - 1} {
			all := make([][]float32, channels)
			for i := range all {
				all[i] = scaled(murmur(len(a), uint64(10+i)), 0.001) // a microphone is never silent
			}
			all[speaks] = a
			got := NewDownmix(channels, rate).Mix(nil, interleaved(all...))
			for i, v := range got {
				if math.Abs(float64(v-a[i])) > 1e-3 {
					t.Errorf("%d of %d: sample %d is %v, want %v", speaks, channels, i, v, a[i])
					break
				}
			}
		}
		all := make([][]float32, channels) // half of them say the same
		for i := range all {
			all[i] = scaled(a, float32(i%2))
		}
		if got := NewDownmix(channels, rate).Mix(nil, interleaved(all...)); !slices.Equal(got, a) {
			t.Errorf("with %d channels, half of them equal, the level changes", channels)
		}
	}
}

// If another channel becomes the loudest, it is used soon, and the change does not click.
func TestLoudestChannelMayChange(t *testing.T) {
	const rate = 48000
	a, b := tone(100, 0.5, rate, rate/2), tone(150, 0.5, rate, rate/2)
	first, second := make([][]float32, 32), make([][]float32, 32)
	for i := range first {
		first[i], second[i] = make([]float32, len(a)), make([]float32, len(a))
	}
	first[3], first[30] = a, scaled(b, 0.3)
	second[3], second[30] = scaled(a, 0.3), b
	got := NewDownmix(32, rate).Mix(nil, append(interleaved(first...), interleaved(second...)...))
	if late := rate * 4 / 10; !slices.Equal(got[len(a)+late:], b[late:]) {
		t.Error("400 ms after another channel became the loudest it is not used")
	}
	for i := 1; i < len(got); i++ {
		if step := math.Abs(float64(got[i] - got[i-1])); step > 0.02 {
			t.Fatalf("a click of %v at sample %d", step, i)
		}
	}
}

// BenchmarkDownmix mixes a second of 32 channels at 48 kHz.
func BenchmarkDownmix(b *testing.B) {
	all := make([][]float32, 32)
	for i := range all {
		all[i] = scaled(murmur(48000, uint64(i)), float32(1+i)/32)
	}
	frames := interleaved(all...)
	d := NewDownmix(32, 48000)
	var out []float32
	for b.Loop() {
		out = d.Mix(out[:0], frames)
	}
}

// Two channels that cancel each other are heard, and others as their mean.
func TestCancellingChannelsAreHeard(t *testing.T) {
	const rate = 16000
	a, b := murmur(2*rate, 1), murmur(2*rate, 2)
	silent := make([]float32, len(a))
	mean := func(x, y []float32) []float32 {
		out := make([]float32, len(x))
		for i := range out {
			out[i] = (x[i] + y[i]) / 2
		}
		return out
	}
	for name, c := range map[string]struct{ frames, want []float32 }{
		"inverted":                 {interleaved(a, scaled(a, -1)), a},
		"inverted, softer":         {interleaved(scaled(a, -0.8), a), a},
		"inverted, with an offset": {interleaved(shifted(a, 0.05), shifted(scaled(a, -1), 0.05)), shifted(a, 0.05)},
		"one of eight":             {interleaved(silent, silent, a, silent, silent, silent, silent, silent), a},
		"the same":                 {interleaved(a, a), a},
		"two voices":               {interleaved(a, b), mean(a, b)},
		"one side":                 {interleaved(silent, a), scaled(a, 0.5)},
		"silence":                  {interleaved(silent, silent), silent},
	} {
		channels := len(c.frames) / len(a)
		d := NewDownmix(channels, rate)
		got := d.Mix(nil, c.frames)
		from := rate / 10 // until then it compares
		for i := from; i < len(got); i++ {
			if math.Abs(float64(got[i]-c.want[i])) > 1e-5 {
				t.Errorf("%s: sample %d is %v, want %v", name, i, got[i], c.want[i])
				break
			}
		}
		pieces := NewDownmix(channels, rate)
		var cut []float32
		for piece := range slices.Chunk(c.frames, 77*channels) {
			cut = pieces.Mix(cut, piece)
		}
		if !slices.Equal(got, cut) {
			t.Errorf("%s: in pieces it differs", name)
		}
	}
}

// A person who speaks softly on one side does not cause a change, and a change does not click.
func TestChannelDoesNotFlap(t *testing.T) {
	const rate = 16000
	a := murmur(4*rate, 1)
	d := NewDownmix(2, rate)
	changes, was := 0, d.only
	for i, v := range a {
		level := 1 + 0.2*float32(math.Sin(float64(i)/3000)) // they are louder in turn
		d.frame([]float32{v * level, -v * (2 - level)})
		if d.only != was {
			changes, was = changes+1, d.only
		}
	}
	if changes != 1 {
		t.Errorf("it changed %d times", changes)
	}
	var got []float32
	steady := make([]float32, rate)
	for i := range steady {
		steady[i] = 0.5 * float32(math.Sin(2*math.Pi*100*float64(i)/rate))
	}
	got = NewDownmix(2, rate).Mix(got, interleaved(steady, scaled(steady, -1)))
	for i := 1; i < len(got); i++ {
		if math.Abs(float64(got[i]-got[i-1])) > 0.05 {
			t.Errorf("a click of %v at sample %d", got[i]-got[i-1], i)
		}
	}
}

// encodedBy encodes a WAV file in a format with ffmpeg.
func encodedBy(t *testing.T, wav []byte, format string) []byte {
	t.Helper()
	ffmpeg := exec.Command("ffmpeg", "-v", "error", "-i", "-", "-f", format, "-")
	ffmpeg.Stdin = bytes.NewReader(wav)
	encoded, err := ffmpeg.Output()
	if err != nil {
		t.Fatalf("ffmpeg, %s: %v", format, err)
	}
	return encoded
}

func TestInvertedStereoIsHeardInEveryFormat(t *testing.T) {
	const rate = 16000
	a := scaled(murmur(2*rate, 3), 0.5)
	frames := interleaved(a, scaled(a, -1))
	var wav, ogg bytes.Buffer
	w, err := NewWAVWriter(&wav, rate, 2)
	if err != nil {
		t.Fatal(err)
	}
	o, err := NewOggOpusWriter(&ogg, rate, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range []func([]float32) error{w.Write, o.Write} {
		if err := write(frames); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := NewLinear16(rate, 2, rate)
	if err != nil {
		t.Fatal(err)
	}
	linear, err := raw.Decode(AppendLinear16(nil, frames))
	if err != nil {
		t.Fatal(err)
	}
	heard := map[string][]float32{"linear16": linear}
	files := map[string][]byte{"WAV": wav.Bytes(), "Ogg": ogg.Bytes()}
	for _, format := range []string{"mp3", "adts", "flac"} {
		files[format] = encodedBy(t, wav.Bytes(), format)
	}
	for name, file := range files {
		if heard[name], err = DecodeAll(file, rate); err != nil {
			t.Fatal(err)
		}
	}
	for name, pcm := range heard {
		if got, want := power(pcm), power(a); got < want/2 || got > want*2 {
			t.Errorf("%s: a power of %v, want %v", name, got, want)
		}
	}
}
