package audio

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// recorded returns the stream of pcm at a rate.
func recorded(t testing.TB, pcm []float32, rateHz int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewOggOpusWriter(&b, rateHz, 1, 7)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(pcm); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func opusFile(t testing.TB, data []byte) *OpusFile {
	t.Helper()
	f, err := NewOpusFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// speechThenSilence is 12 s: a voice, a pause of 3 s that is digital silence,
// and the voice again.
func speechThenSilence(t testing.TB, rateHz int) []float32 {
	t.Helper()
	voice, err := DecodeAll(ffmpeg(t, "a.wav", "-i "+recordings+"vm-intro.wav -t 4.5 OUT"), rateHz)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(voice, make([]float32, 3*rateHz), voice)
}

// The sound at a place is the same whether it is come to from the beginning or
// at once.
func TestARecordingIsReadAtAnyPlace(t *testing.T) {
	for _, rateHz := range []int{16000, 48000} {
		pcm := speechThenSilence(t, rateHz)
		data := recorded(t, pcm, rateHz)
		f := opusFile(t, data)
		for _, outHz := range []int{24000, 48000} {
			whole, err := DecodeAll(data, outHz)
			if err != nil {
				t.Fatal(err)
			}
			if want := int64(len(pcm)) * int64(outHz) / int64(rateHz); f.Samples(outHz) != want || int64(len(whole)) != want {
				t.Fatalf("%d samples, and %d decoded, want %d", f.Samples(outHz), len(whole), want)
			}
			rapid.Check(t, func(r *rapid.T) {
				from := rapid.IntRange(0, len(whole)+100).Draw(r, "from")
				out := make([]float32, rapid.IntRange(0, outHz).Draw(r, "n"))
				if err := f.Decode(out, outHz, int64(from)); err != nil {
					r.Fatal(err)
				}
				for i, v := range out {
					want := float32(0)
					if from+i < len(whole) {
						want = whole[from+i]
					}
					if math.Abs(float64(v-want)) > 1.0/32768 {
						r.Fatalf("%d Hz from %d: sample %d is %g, want %g", outHz, from, i, v, want)
					}
				}
			})
		}
	}
}

// A crash cuts a file anywhere; what is whole of it is read as before.
func TestACutOffRecordingIsReadAsFarAsItGoes(t *testing.T) {
	pcm := speechThenSilence(t, 48000)
	data := recorded(t, pcm, 48000)
	all := opusFile(t, data)
	whole := make([]float32, len(pcm))
	if err := all.Decode(whole, 48000, 0); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		cut := rapid.IntRange(200, len(data)).Draw(r, "cut")
		tail := rapid.SampledFrom([]int{0, 300}).Draw(r, "zeros") // as some file systems leave behind
		torn := append(slices.Clone(data[:cut]), make([]byte, tail)...)
		f := opusFile(t, torn)
		got := make([]float32, f.Samples(48000))
		if err := f.Decode(got, 48000, 0); err != nil {
			r.Fatal(err)
		}
		if !slices.Equal(got, whole[:len(got)]) {
			r.Fatalf("cut at byte %d, the %d samples are not those of the whole", cut, len(got))
		}
		want := int64(0)
		for i, p := range all.pages {
			if i+1 < len(all.pages) && all.pages[i+1].offset <= int64(cut) {
				want = p.end - all.preSkip
			}
		}
		if cut < len(data) && int64(len(got)) != max(0, want) {
			r.Fatalf("cut at byte %d there are %d samples, want %d", cut, len(got), want)
		}
	})
}

func TestADamagedPageIsSilence(t *testing.T) {
	data := recorded(t, tone(300, 0.5, 48000, 5*48000), 48000)
	f := opusFile(t, data)
	data[f.pages[4].offset+100] ^= 0xff // from 2.0 to 2.5 s
	out := make([]float32, 5*48000)
	if err := f.Decode(out, 48000, 0); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]struct {
		from, to float64
		sounds   bool
	}{"before": {0.5, 1.9, true}, "there": {2.1, 2.4, false}, "after": {2.7, 4.9, true}} {
		if sounds := rms(out[int(at.from*48000):int(at.to*48000)]) > 0.2; sounds != at.sounds {
			t.Errorf("%s: it sounds: %v", name, sounds)
		}
	}
}

func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	good := recorded(t, make([]float32, 48000), 48000)
	for name, data := range map[string][]byte{
		"nothing": nil, "text": []byte("not a recording at all, and long enough to be one's header"),
		"half a head": good[:30], "not Opus": append([]byte("OggS\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x05hello"), good...),
	} {
		if _, err := NewOpusFile(bytes.NewReader(data), int64(len(data))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if f := opusFile(t, good[:100]); f.Samples(48000) != 0 {
		t.Errorf("headers alone have %d samples", f.Samples(48000))
	}
}

// Silence is written for next to nothing, and is silence when it is read.
func TestDigitalSilenceStaysSilent(t *testing.T) {
	voice := tone(300, 0.5, 16000, 16000)
	pcm := slices.Concat(voice, make([]float32, 60*16000), voice)
	data := recorded(t, pcm, 16000)
	if limit := 60*500 + 2*8000; len(data) > limit { // 500 B/s of packets, laces and headers
		t.Errorf("a minute of silence between two seconds of sound takes %d bytes, want at most %d", len(data), limit)
	}
	out, err := DecodeAll(data, 16000)
	if err != nil || len(out) != len(pcm) {
		t.Fatalf("%d samples, %v", len(out), err)
	}
	if loud := rms(out[17000 : 61*16000-500]); loud > 1e-4 {
		t.Errorf("the silence sounds: %g", loud)
	}
	if loud := rms(out[61*16000+500 : 62*16000-500]); loud < 0.3 {
		t.Errorf("the sound after it does not: %g", loud)
	}
}
