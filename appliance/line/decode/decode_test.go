package decode

import (
	"bytes"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// tone returns a tone of a length, at a rate.
func tone(length time.Duration, rateHz int) []float32 {
	pcm := make([]float32, audio.Samples(length, rateHz))
	for i := range pcm {
		pcm[i] = float32(0.5 * math.Sin(2*math.Pi*800*float64(i)/float64(rateHz)))
	}
	return pcm
}

// opus returns silence as an Ogg stream without an end, as browsers send it.
func opus(t *testing.T, length time.Duration) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := audio.NewOggOpusWriter(&file, engine.SpeechRateHz, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for range length / time.Second {
		if err := w.Write(make([]float32, engine.SpeechRateHz)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()[:file.Len()-200]
}

func linear16(rateHz, channels int) *contract.AudioConfiguration {
	return &contract.AudioConfiguration{Encoding: contract.Linear16, SampleRate: rateHz, Channels: channels}
}

// Ten minutes of silence are little Opus, and 38 MB of samples. Decoding stops long before.
func TestAVeryLongMessageIsNotDecodedWhole(t *testing.T) {
	message := opus(t, 600*time.Second)
	var s Stream
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	pcm, fault := s.Decode(nil, message)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 30<<20 {
		t.Errorf("a message of %d bytes used %d bytes of memory", len(message), used)
	}
	if len(pcm) > 0 || fault == nil || fault.Code != contract.WholeRecording {
		t.Errorf("%d samples, %v", len(pcm), fault)
	}
}

// A stream may be split anywhere, even within a sample.
func TestAStreamMayBeSplitAnywhere(t *testing.T) {
	wav := audio.EncodeWAV(tone(time.Second, 44100), 44100)
	raw := audio.AppendLinear16(nil, tone(time.Second, 44100))
	var many []byte
	for sample := range slices.Chunk(raw, 2) {
		frame := make([]byte, 2*contract.MaxChannels)
		copy(frame[2*17:], sample)
		many = append(many, frame...)
	}
	for name, c := range map[string]struct {
		format *contract.AudioConfiguration
		data   []byte
		sizes  []int
	}{
		"WAV":      {nil, wav, []int{1, 7, 640, 4001}},
		"Ogg Opus": {nil, opus(t, 2*time.Second), []int{1, 13, 500}},
		"linear16": {linear16(44100, 1), raw, []int{2, 14, 640, 8820, 1, 7, 641, 1323}},
		"many":     {linear16(44100, contract.MaxChannels), many, []int{64, 640, 63, 56_449, 1}},
		"stereo":   {linear16(22050, 2), raw, []int{4, 640, 1, 3, 641, 642, 1323}},
	} {
		var want []float32
		for _, size := range c.sizes {
			var s Stream
			var got []float32
			for piece := range slices.Chunk(c.data, size) {
				pcm, fault := s.Decode(c.format, piece)
				if fault != nil {
					t.Fatalf("%s in pieces of %d: %v", name, size, fault)
				}
				got = append(got, pcm...)
			}
			if want == nil {
				want = got
			}
			if len(got) < 9*engine.SpeechRateHz/10 || !slices.Equal(got, want) {
				t.Errorf("%s in pieces of %d gives %d samples, other sizes %d, or they differ", name, size, len(got),
					len(want))
			}
		}
	}
}

// A new format begins with the next message. The rest of a sample or container in the old
// format is dropped.
func TestAFormatAppliesToTheMessagesAfterIt(t *testing.T) {
	second := audio.AppendLinear16(nil, tone(time.Second, 8000))
	var s Stream
	take := func(format *contract.AudioConfiguration, message []byte, want int) {
		t.Helper()
		if pcm, fault := s.Decode(format, message); fault != nil || len(pcm) < want-300 || len(pcm) > want {
			t.Errorf("%d bytes are %d samples, want %d; %v", len(message), len(pcm), want, fault)
		}
	}
	take(linear16(8000, 1), second, 16000)
	take(linear16(16000, 1), second, 8000)
	take(linear16(16000, 2), append(second, 0, 0), 4000)   // half a frame is left
	take(linear16(8000, 1), []byte{0, 0x40, 0, 0x40}, 300) // and does not become a part of this
	take(nil, audio.EncodeWAV(tone(time.Second, 16000), 16000)[:16000], 8000)
	take(linear16(16000, 1), second, 8000)
}

// A client that loses half a sample is heard correctly from its next message on.
func TestALostHalfSampleDoesNotTurnSoundIntoNoise(t *testing.T) {
	for _, channels := range []int{1, 2} {
		raw := audio.AppendLinear16(nil, tone(time.Second, 16000))
		var s Stream
		var got []float32
		for i, piece := range slices.Collect(slices.Chunk(raw, 640)) {
			if i == 3 {
				piece = piece[:len(piece)-1]
			}
			pcm, fault := s.Decode(linear16(16000, channels), piece)
			if fault != nil {
				t.Fatal(fault)
			}
			got = append(got, pcm...)
		}
		later := got[len(got)/2:]
		var square float64
		for _, v := range later {
			square += float64(v) * float64(v)
		}
		// A tone with a peak of 0.5 has a root mean square of 0.35; mixing pairs of samples
		// lowers it a little.
		if level := math.Sqrt(square / float64(len(later))); level < 0.3 || level > 0.36 || slices.Max(later) > 0.51 {
			t.Errorf("%d channels: the sound after it has level %.2f, peak %.2f", channels, level, slices.Max(later))
		}
	}
}

func TestErrorsNameWhatCannotBeDecoded(t *testing.T) {
	wav := audio.EncodeWAV(tone(time.Second, 16000), 16000)
	for name, c := range map[string]struct {
		format  *contract.AudioConfiguration
		message []byte
		code    contract.Code
		says    string
	}{
		"words": {nil, []byte("This is no audio at all, whatever the client thinks of it."),
			contract.BrokenAudio, ""},
		"a message": {nil, []byte(`{"type":"user_input"}`), contract.BrokenAudio,
			"messages go in text frames"},
		"a message with spaces": {nil, []byte(`{ "type": "user_input" }`), contract.BrokenAudio,
			"messages go in text frames"},
		"a whole file":           {nil, wav, contract.WholeRecording, ""},
		"too long of a message":  {linear16(16000, 1), make([]byte, 5*32000+2), contract.WholeRecording, ""},
		"a rate that nobody has": {linear16(1, 1), make([]byte, 640), contract.BrokenAudio, "1 Hz"},
	} {
		var s Stream
		_, fault := s.Decode(c.format, c.message)
		if fault == nil || fault.Code != c.code || !strings.Contains(fault.Detail, c.says) {
			t.Errorf("%s: %v", name, fault)
		}
		pcm, fault := s.Decode(linear16(16000, 1), make([]byte, 5*32000))
		if fault != nil || len(pcm) != 5*16000 {
			t.Errorf("after %s: %d samples, %v", name, len(pcm), fault)
		}
	}
}

// A stream that cannot be decoded is reported once, over any number of messages, and the
// next stream is heard.
func TestAnUndecodableStreamIsReportedOnce(t *testing.T) {
	frames := append([]byte("fLaC\x00\x00\x00\x22"),
		bytes.Repeat([]byte("\xff\xf8\xc9\x18\x00some of FLAC's numbers"), 3000)...)
	words := bytes.Repeat([]byte("This is no audio at all, whatever the client thinks of it. "), 300)
	for name, data := range map[string][]byte{"FLAC": frames, "words": words} {
		var s Stream
		faults := 0
		for piece := range slices.Chunk(data, 1400) {
			pcm, fault := s.Decode(nil, piece)
			if fault != nil {
				faults++
			}
			if len(pcm) > 0 {
				t.Errorf("%s: %d samples", name, len(pcm))
			}
		}
		if faults != 1 {
			t.Errorf("%s: %d faults", name, faults)
		}
		for piece := range slices.Chunk(data, 1400) { // once more
			if _, fault := s.Decode(nil, piece); fault != nil {
				t.Errorf("%s: reported again: %v", name, fault)
			}
		}
		if pcm, fault := s.Decode(nil, opus(t, 2*time.Second)); fault != nil || len(pcm) < engine.SpeechRateHz/2 {
			t.Errorf("%s: %d samples of the next stream are heard, %v", name, len(pcm), fault)
		}
		s.decoder = nil
		if _, fault := s.Decode(nil, words); fault == nil {
			t.Errorf("%s: the next fault is not reported", name)
		}
	}
}

// The sound before a fault is heard.
func TestSoundBeforeAFaultIsHeard(t *testing.T) {
	message := append(opus(t, 3*time.Second), bytes.Repeat([]byte("OggS\xff"), 100)...)
	var s Stream
	pcm, fault := s.Decode(nil, message)
	if len(pcm) < engine.SpeechRateHz/2 || fault == nil {
		t.Errorf("%d samples, %v", len(pcm), fault)
	}
}

// Any input is reported or decoded, within its limits.
func FuzzTake(f *testing.F) {
	f.Add([]byte("RIFF\xff\xff\xff\xffWAVEfmt "), uint16(16000), uint8(1))
	f.Add(audio.EncodeWAV(make([]float32, 100), 8000), uint16(0), uint8(0))
	f.Add([]byte{1, 2, 3}, uint16(8000), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, rate uint16, channels uint8) {
		var s Stream
		var format *contract.AudioConfiguration
		if rate > 0 {
			format = linear16(int(rate), int(channels))
		}
		for piece := range slices.Chunk(data, 1+len(data)/3) {
			pcm, fault := s.Decode(format, piece)
			if len(pcm) > maxSamples || fault != nil && s.decoder != nil {
				t.Errorf("%d samples, %v", len(pcm), fault)
			}
		}
	})
}
