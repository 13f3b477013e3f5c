package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

// box is an MP4 box.
func box(kind string, body ...[]byte) []byte {
	b := append(make([]byte, 4), kind...)
	for _, part := range body {
		b = append(b, part...)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}

// findBox returns the position of a box by its name.
func findBox(t *testing.T, data []byte, kind string) int {
	t.Helper()
	at := bytes.Index(data, []byte(kind))
	if at < 4 {
		t.Fatalf("no box %q", kind)
	}
	return at - 4
}

// with returns data with 32-bit numbers overwritten; the first of each pair is the position.
func with(data []byte, pairs ...int) []byte {
	data = bytes.Clone(data)
	for ; len(pairs) > 1; pairs = pairs[2:] {
		binary.BigEndian.PutUint32(data[pairs[0]:], uint32(pairs[1]))
	}
	return data
}

// Phones write the index after the sound: fine for a whole file, an error at once for a stream.
func TestIndexAfterTheSoundNeedsAWholeFile(t *testing.T) {
	data := voice(t, "late.m4a", "-c:a aac -ar 44100 OUT")
	reference, rateHz := ffmpegDecode(t, data, "late.m4a")
	got, err := DecodeAll(data, rateHz)
	if err != nil || snr(got, reference) < 55 || math.Abs(float64(len(got)-len(reference))) > 0.025*float64(rateHz) {
		t.Errorf("%d samples of %d at %.0f dB, %v", len(got), len(reference), snr(got, reference), err)
	}
	if _, err := NewContainer(16000).Decode(data[:100]); err == nil || !strings.Contains(err.Error(), "faststart") {
		t.Errorf("as a stream: %v", err)
	}
}

// HE-AAC declares that its frames stand for twice as much sound (ISO 14496-3, 1.6.2.1). Here a
// stream of plain AAC declares it (TestHEAACOfARealEncoder has real ones); the upper half of
// its spectrum is then silent. With the configuration of a stream of 24 kHz it is as long and
// as loud.
func TestExplicitSBRDoublesTheRate(t *testing.T) {
	data := voice(t, "he.m4a", "-c:a aac -ac 1 -ar 24000 -movflags +faststart OUT")
	plain, err := DecodeAll(data, 48000)
	if err != nil {
		t.Fatal(err)
	}
	// AAC-LC of 24 kHz, one channel, as ffmpeg writes it, with a mark that nothing follows.
	// Instead of it: SBR to 48 kHz, of AAC-LC of 24 kHz.
	lc, he := []byte{0x13, 0x08, 0x56, 0xe5, 0x00}, []byte{0x2b, 0x09, 0x88, 0x00, 0x00}
	if bytes.Count(data, lc) != 1 {
		t.Fatal("the configuration is not there, or twice")
	}
	doubled := bytes.Replace(data, lc, he, 1)
	for name, decode := range map[string]func() ([]float32, error){
		"a file":   func() ([]float32, error) { return DecodeAll(doubled, 48000) },
		"a stream": func() ([]float32, error) { return NewContainer(48000).Decode(doubled) },
	} {
		got, err := decode()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := math.Abs(float64(len(got) - len(plain))); d > 0.1*48000 {
			t.Errorf("%s: %d samples, plain AAC has %d", name, len(got), len(plain))
		}
		if loud := rms(got) / rms(plain); loud < 0.8 || loud > 1.25 {
			t.Errorf("%s: %.2f times as loud as plain AAC", name, loud)
		}
	}
}

func TestMissingAACLibraryErrorSaysWhatToInstall(t *testing.T) {
	data := voice(t, "live.mp4", "-c:a aac -ar 48000 "+fragments+" OUT")
	p := &mp4Parser{aac: avTrack{libraries: []string{"nobody"}}}
	_, err := newDecoder(p, 16000).Decode(data)
	if err == nil || !strings.Contains(err.Error(), "apt-get install ffmpeg") ||
		!strings.Contains(err.Error(), "Opus") {
		t.Errorf("%v", err)
	}
	if err := CheckAAC(); err != nil {
		t.Errorf("with it: %v", err)
	}
}

// Whatever a box claims, it is an error or ignored, at once.
func TestInvalidBoxesAreErrors(t *testing.T) {
	live := voice(t, "live.mp4", "-c:a aac -ar 48000 "+fragments+" OUT")
	plain := voice(t, "a.m4a", "-c:a aac -ar 44100 -movflags +faststart OUT")
	moov, moof, stsz, stco, trun := findBox(t, live, "moov"), findBox(t, live, "moof"), findBox(t, plain, "stsz"),
		findBox(t, plain, "stco"), findBox(t, live, "trun")
	huge := append(bytes.Clone(live[:moov]), 0, 0, 0, 1, 'm', 'o', 'o', 'v', 0, 0, 1, 0, 0, 0, 0, 0)
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"an endless index":          {with(live, moov, 0), "no size"},
		"an index of 4 GiB":         {with(live, moov, 0xffffffff), "at most"},
		"an index of a terabyte":    {huge, "at most"},
		"a box shorter than itself": {with(live, moov, 7), "shorter than its head"},
		"a fragment of 4 GiB":       {with(live, moof, 0xffffffff), "at most"},
		"a fragment alone":          {live[moof:], "first byte"},
		"4 billion samples":         {with(live, trun+12, 0xffffffff), "more than 65536 samples"},
		"no such data":              {with(live, trun+16, 0x7fffffff), "before the sound of the previous one"},
		"data before the fragment":  {with(live, trun+16, 0x80000000), "within what came before"},
		"4 billion sizes":           {with(plain, stsz+16, 0xffffffff), "says 4294967295 samples"},
		"a chunk before the index":  {with(plain, stco+16, 8), "within what came before"},
		"a sample of a gigabyte":    {with(plain, stsz+20, 1<<30), "at most"},
		"no tracks":                 {append(bytes.Clone(live[:moov]), box("moov")...), "no tracks"},
		"what is no box":            {append(bytes.Clone(live[:moof]), make([]byte, 100)...), "no box"},
	} {
		_, err := NewContainer(16000).Decode(c.data)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %q", name, err, c.says)
		}
	}
}

// A timescale of 0 does not divide anything.
func TestTimescaleOfZeroIsIgnored(t *testing.T) {
	plain := voice(t, "a.m4a", "-c:a aac -ar 44100 -movflags +faststart OUT")
	for _, kind := range []string{"mdhd", "mvhd"} {
		pcm, err := DecodeAll(with(plain, findBox(t, plain, kind)+20, 0), 16000)
		if err != nil || len(pcm) < 16000 {
			t.Errorf("%s: %d samples, %v", kind, len(pcm), err)
		}
	}
}

// A truncated file is not an error, and plays as far as it goes.
func TestStreamMayEndAnywhereAfterItsIndex(t *testing.T) {
	live := voice(t, "live.mp4", "-t 0.3 -c:a aac -ar 16000 "+fragments+" OUT")
	begin, before := findBox(t, live, "moof"), 0
	for n := 0; n < len(live); n += 23 {
		pcm, err := decodeCut(live[:n], 16000, func(rest int) int { return rest })
		if n >= begin && err != nil || len(pcm) < before-1 {
			t.Fatalf("%d bytes of %d: %d samples after %d, %v", n, len(live), len(pcm), before, err)
		}
		before = len(pcm)
	}
}

// Thousands of tracks are refused before they cost anything; a table of the maximum length is
// parsed quickly.
func TestLongIndexIsCheap(t *testing.T) {
	live := voice(t, "live.mp4", "-c:a aac -ar 48000 "+fragments+" OUT")
	moov, moof := findBox(t, live, "moov"), findBox(t, live, "moof")
	var tracks []byte
	for len(tracks) < mp4MaxIndex-4096 {
		tracks = append(tracks,
			box("trak", box("mdia", box("hdlr", make([]byte, 8), []byte("vide"), make([]byte, 13))))...)
	}
	data := append(bytes.Clone(live[:moov]), box("moov", tracks, live[moov+8:moof])...)
	table := append([]byte{7: 0, 9: 7, 10: 0xe0, 11: 0}, make([]byte, 4*0x7e000)...)
	for name, read := range map[string]func() error{
		"tracks": func() error {
			_, err := NewContainer(16000).Decode(append(data, live[moof:]...))
			if err == nil || !strings.Contains(err.Error(), "more than 2048 boxes") {
				t.Errorf("%d tracks: %v", len(tracks)/56, err)
			}
			return nil
		},
		"sizes": func() error {
			var to mp4Table
			return (&mp4Entry{sizes: table, perChunk: make([]byte, 8), chunks: make([]byte, 8)}).samples(&to)
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begun := time.Now()
		if err := read(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		took := time.Since(begun)
		runtime.ReadMemStats(&after)
		used := after.TotalAlloc - before.TotalAlloc
		if used > 200<<20 || took > 20*time.Second {
			t.Errorf("%s: an index of %d bytes takes %v and %d bytes of memory", name, mp4MaxIndex, took, used)
		}
		t.Logf("%s: %v, %d bytes", name, took, used)
	}
}

// Damaged frames are silence, and the rest is heard; only damage is an error.
func TestDamagedAACIsSilence(t *testing.T) {
	live := voice(t, "live.mp4", "-c:a aac -ar 48000 "+fragments+" OUT")
	want, err := DecodeAll(live, 16000)
	if err != nil {
		t.Fatal(err)
	}
	sound := findBox(t, live, "mdat") + 8
	for i := range 40 {
		live[sound+200+i] ^= 0x5a
	}
	got, err := DecodeAll(live, 16000)
	if err != nil || math.Abs(float64(len(got)-len(want))) > 1600 {
		t.Errorf("%d samples, %d without the damage, %v", len(got), len(want), err)
	}
	adts := []byte{0xff, 0xf1, 0x50, 0x80, 0x04, 0x3f, 0xfc}
	_, err = NewContainer(16000).Decode(bytes.Repeat(append(adts, make([]byte, 26)...), 200))
	if err == nil || !strings.Contains(err.Error(), "damaged") && !strings.Contains(err.Error(), "no frame") {
		t.Errorf("frames of zeros: %v", err)
	}
	_, err = NewContainer(16000).Decode(append(adts, bytes.Repeat([]byte{7}, 1<<18)...))
	if err == nil || !strings.Contains(err.Error(), "no frame within") {
		t.Errorf("a head and no frames: %v", err)
	}
}

func TestWholeMP4FileIsDetected(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		want bool
	}{
		"a.m4a":    {"-c:a aac OUT", true},
		"fast.mp4": {"-c:a aac -movflags +faststart OUT", true},
		"live.mp4": {"-c:a aac " + fragments + " OUT", false},
	} {
		data := voice(t, name, c.args)
		if got := CompleteRecording(data); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if CompleteRecording(data[:len(data)-1]) {
			t.Errorf("%s without its last byte is whole", name)
		}
	}
}

// A few bytes of AAC give a bounded amount of sound.
func TestTooMuchAACAtOnceIsRefused(t *testing.T) {
	data := ffmpeg(t, "long.m4a", "-f lavfi -i anullsrc=r=8000:cl=mono -t 700 -c:a aac -movflags +faststart OUT")
	var tooLong *ErrTooLong
	if _, err := NewContainer(16000).Decode(data); !errors.As(err, &tooLong) {
		t.Errorf("11 min 40 s in %d bytes: %v; want ErrTooLong", len(data), err)
	}
}
