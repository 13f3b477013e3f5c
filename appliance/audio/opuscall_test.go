package audio

import (
	"math"
	"slices"
	"testing"
	"time"
)

// Silence is not sent, except for its beginning; sound after it is heard from its first frame
// on.
func TestCallSendsNoSilence(t *testing.T) {
	for name, begin := range map[string]func() (*CallEncoder, error){"plain": NewCallEncoder,
		"lossy": NewLossyCallEncoder} {
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

// The plain encoder keeps the bandwidth.
func TestCallIsSuperWideband(t *testing.T) {
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

// hum is a voice with varying pitch and loudness.
func hum(d time.Duration) []float32 {
	pcm, phase := make([]float32, Samples(d, CallRateHz)), 0.0
	for i := range pcm {
		at := float64(i) / CallRateHz
		phase += 2 * math.Pi * (140 + 40*math.Sin(2*math.Pi*3*at)) / CallRateHz
		for k := 1.0; k <= 10; k++ {
			pcm[i] += float32(math.Sin(k*phase) / k * (0.3 + 0.1*math.Sin(2*math.Pi*4*at)))
		}
	}
	return pcm
}

// gap is a loss in a call: the decoded packet after it.
type gap struct {
	first    int // packet lost
	got      []float32
	lossless []float32 // decoded without loss
	plain    []float32 // decoded by libopus alone
}

// gaps encodes a voice in packets of a length, loses some in a row now and then, and returns
// what is decoded after each loss.
func gaps(t *testing.T, e *CallEncoder, length time.Duration, missing int) (out []gap) {
	t.Helper()
	var decoders [3]*CallDecoder
	for i := range decoders {
		d, err := NewCallDecoder(16000)
		if err != nil {
			t.Fatal(err)
		}
		decoders[i] = d
	}
	d, whole, plain := decoders[0], decoders[1], decoders[2]
	decoded := func(pcm []float32, err error) []float32 {
		if want := Samples(length, 16000); err != nil || len(pcm) != want {
			t.Fatalf("%d samples, %v; want %d", len(pcm), err, want)
		}
		return append([]float32(nil), pcm...)
	}
	pcm, samples, lost := hum(5*time.Second), Samples(length, CallRateHz), 0
	for n := range len(pcm) / samples {
		packet, err := e.Encode(pcm[n*samples : (n+1)*samples])
		if err != nil || len(packet) == 0 {
			t.Fatalf("packet %d: %d bytes, %v", n, len(packet), err)
		}
		g := gap{first: n - lost, lossless: decoded(whole.Decode(packet))}
		if at := n % (missing + 10); at >= 10 {
			lost++
			continue
		}
		for i := range lost {
			next := packet
			if i < lost-1 {
				next = nil
			}
			decoded(d.Recover(length, next))
			decoded(plain.conceal(length, next))
		}
		g.got, g.plain = decoded(d.Decode(packet)), decoded(plain.decode(packet))
		if lost > 0 {
			out, lost = append(out, g), 0
		}
	}
	return out
}

// After a loss there is no gap in a voice, and it is not much louder than without the loss.
func TestLossLeavesNoGap(t *testing.T) {
	for _, length := range []time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond} {
		for missing := 1; missing <= 3 && time.Duration(missing)*length <= longestCarried; missing++ {
			e, err := NewCallEncoder()
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range gaps(t, e, length, missing) {
				if got, want := rms(g.got), rms(g.lossless); got < want/2 || got > want*4 {
					t.Errorf("%d of %v lost from packet %d on: what follows has a level of %.3f, want %.3f",
						missing, length, g.first, got, want)
				}
			}
		}
	}
}

// A packet that repeats the lost one, and one after a long loss, are decoded as by libopus
// alone.
func TestLibopusRecoversByItself(t *testing.T) {
	for name, try := range map[string]struct {
		begin   func() (*CallEncoder, error)
		missing int
	}{
		"a loss that the next packet says again": {NewLossyCallEncoder, 1},
		"a long loss":                            {NewCallEncoder, 6},
	} {
		e, err := try.begin()
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range gaps(t, e, CallFrame, try.missing) {
			if !slices.Equal(g.got, g.plain) {
				t.Errorf("%s from packet %d on: what follows differs from the output of libopus", name, g.first)
			}
		}
	}
}
