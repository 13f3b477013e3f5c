package audio

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/internal/packtest"
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

// speechThenSilence is 12 s: a voice, a pause of 3 s of digital silence, and the voice again.
func speechThenSilence(t testing.TB, rateHz int) []float32 {
	t.Helper()
	voice, err := DecodeAll(ffmpeg(t, "a.wav", "-i "+packtest.Recording(t, "vm-intro")+" -t 4.5 OUT"), rateHz)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(voice, make([]float32, 3*rateHz), voice)
}

// The sound at a position is the same whether it is reached from the beginning or directly.
func TestRecordingIsReadAtAnyPosition(t *testing.T) {
	for _, rateHz := range []int{16000, 48000} {
		pcm := speechThenSilence(t, rateHz)
		data := recorded(t, pcm, rateHz)
		f := opusFile(t, data)
		for _, outHz := range []int{24000, 48000} {
			whole, err := DecodeAll(data, outHz)
			if err != nil {
				t.Fatal(err)
			}
			if want := int64(len(pcm)) * int64(outHz) / int64(rateHz); f.Samples(outHz) != want ||
				int64(len(whole)) != want {
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

// A crash truncates a file anywhere; its complete pages are read as before.
func TestTruncatedRecordingIsRead(t *testing.T) {
	pcm := speechThenSilence(t, 48000)
	data := recorded(t, pcm, 48000)
	all := opusFile(t, data)
	whole := make([]float32, len(pcm))
	if err := all.Decode(whole, 48000, 0); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		cut := rapid.IntRange(200, len(data)).Draw(r, "cut")
		tail := rapid.SampledFrom([]int{0, 300}).Draw(r, "zeros") // as some file systems leave it
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

func TestDamagedPageIsSilence(t *testing.T) {
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

// Damage does not move the rest of the sound.
func TestDamageDoesNotShiftTheRestOfARecording(t *testing.T) {
	good := recorded(t, tone(300, 0.5, 48000, 10*48000), 48000)
	pages := opusFile(t, good).pages // of half a second each
	for name, c := range map[string]struct {
		from, to int64 // bytes that are overwritten
		lost     [2]float64
	}{
		"the head":              {0, 40, [2]float64{}},
		"both heads":            {0, pages[0].offset, [2]float64{}},
		"the heads and a page":  {0, pages[1].offset, [2]float64{0, 0.5}},
		"a magic word":          {pages[4].offset, pages[4].offset + 4, [2]float64{2, 2.5}},
		"a time":                {pages[4].offset + 6, pages[4].offset + 14, [2]float64{2, 2.5}},
		"a number":              {pages[4].offset + 18, pages[4].offset + 22, [2]float64{2, 2.5}},
		"lengths":               {pages[4].offset + 26, pages[4].offset + 50, [2]float64{2, 2.5}},
		"some pages":            {pages[4].offset + 100, pages[8].offset + 9, [2]float64{2, 4.5}},
		"the sound of one page": {pages[4].offset + 200, pages[4].offset + 220, [2]float64{2, 2.5}},
	} {
		data := slices.Clone(good)
		for i := c.from; i < c.to; i++ {
			data[i] ^= 0x5a
		}
		f := opusFile(t, data)
		if f.Samples(48000) != 10*48000 {
			t.Errorf("%s: %d samples", name, f.Samples(48000))
			continue
		}
		out := make([]float32, 10*48000)
		if err := f.Decode(out, 48000, 0); err != nil || !f.Damaged() {
			t.Errorf("%s: damaged: %v, %v", name, f.Damaged(), err)
		}
		if err := opusFile(t, data).Check(); err == nil || !strings.Contains(err.Error(), "damaged at byte") {
			t.Errorf("%s: checked: %v", name, err)
		}
		for at := 0.1; at < 9.9; at += 0.1 { // the codec fades around what is lost
			lost := at > c.lost[0]-0.05 && at < c.lost[1]+0.15
			inside := at > c.lost[0]+0.15 && at < c.lost[1]-0.15
			if sounds := rms(out[int((at-0.05)*48000):int((at+0.05)*48000)]) > 0.2; !lost && !sounds ||
				inside && sounds {
				t.Errorf("%s: at %.1f it sounds: %v", name, at, sounds)
			}
		}
	}
	if f := opusFile(t, good); f.Damaged() || f.Check() != nil {
		t.Errorf("a complete recording is reported as damaged: %v", f.Check())
	}
	for _, torn := range [][]byte{good[:pages[7].offset], good[:pages[7].offset+99],
		append(slices.Clone(good[:pages[7].offset]), make([]byte, 300)...)} {
		if err := opusFile(t, torn).Check(); !errors.Is(err, ErrCutOff) {
			t.Errorf("cut off: %v", err)
		}
	}
	// Pages removed from the file leave a gap of their duration.
	cut := opusFile(t, append(slices.Clone(good[:pages[4].offset]), good[pages[6].offset:]...))
	out := make([]float32, 10*48000)
	if err := cut.Decode(out, 48000, 0); err != nil || rms(out[int(2.2*48000):int(2.8*48000)]) > 0.01 ||
		rms(out[int(3.2*48000):int(9.8*48000)]) < 0.2 {
		t.Errorf("two pages that are cut out: %v, and sound of %.2f there", err,
			rms(out[int(2.2*48000):int(2.8*48000)]))
	}
}

func TestInvalidRecordingIsRefused(t *testing.T) {
	good := recorded(t, make([]float32, 48000), 48000)
	for name, data := range map[string][]byte{
		"nothing": nil, "text": []byte("not a recording at all, and long enough to be one's header"),
		"half a head": good[:30],
		"not Opus": append(appendOggPage(nil, oggPage{flags: oggFirst, segments: []byte{5}, body: []byte("hello")}),
			good...),
	} {
		if _, err := NewOpusFile(bytes.NewReader(data), int64(len(data))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if f := opusFile(t, good[:100]); f.Samples(48000) != 0 {
		t.Errorf("headers alone have %d samples", f.Samples(48000))
	}
}

// Silence takes few bytes, and is decoded as silence.
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
