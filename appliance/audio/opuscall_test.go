package audio

import (
	"math"
	"testing"
	"time"
)

// Silence is not sent, but for its beginning; what follows it is heard from its
// first frame on.
func TestACallSendsNoSilence(t *testing.T) {
	for name, begin := range map[string]func() (*CallEncoder, error){"plain": NewCallEncoder, "lossy": NewLossyCallEncoder} {
		e, err := begin()
		if err != nil {
			t.Fatal(err)
		}
		d, err := NewCallDecoder(CallRateHz)
		if err != nil {
			t.Fatal(err)
		}
		voice, still := make([]float32, Samples(CallFrame, CallRateHz)), make([]float32, Samples(CallFrame, CallRateHz))
		sent, loudest := 0, 0.0
		say := func(frame []float32) {
			packet, err := e.Encode(frame)
			if err != nil {
				t.Fatal(err)
			}
			if len(packet) == 0 {
				return
			}
			sent++
			pcm, err := d.Decode(packet)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range pcm {
				loudest = max(loudest, math.Abs(float64(v)))
			}
		}
		for i := range voice {
			voice[i] = float32(math.Sin(float64(i)*2*math.Pi*200/CallRateHz)) / 2
			still[i] = float32(i%2) / 2000 // -66 dB
		}
		for range 100 {
			say(still)
		}
		if sent > 2*quietFrames {
			t.Errorf("%s: of %v of silence %d packets are sent", name, 100*CallFrame, sent)
		}
		sent, loudest = 0, 0
		for range 5 {
			say(voice)
		}
		if sent != 5 || loudest < 0.3 {
			t.Errorf("%s: of %v of a tone %d packets are sent, as loud as %.2f", name, 5*CallFrame, sent, loudest)
		}
	}
}

// The plain encoder keeps what a narrower band would cost.
func TestACallsVoiceIsSuperWideband(t *testing.T) {
	e, err := NewCallEncoder()
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]float32, Samples(CallFrame, CallRateHz))
	for i := range pcm {
		pcm[i] = float32(math.Sin(float64(i)*2*math.Pi*10_000/CallRateHz)) / 4
	}
	packet, err := e.Encode(pcm)
	if err != nil {
		t.Fatal(err)
	}
	if config := packet[0] >> 3; config != 27 { // RFC 6716, table 2: CELT, super-wideband, 20 ms
		t.Errorf("configuration %d, want 27", config)
	}
	if n, err := (&CallDecoder{}).Length(packet); err != nil || n != 20*time.Millisecond {
		t.Errorf("%v, %v", n, err)
	}
}
