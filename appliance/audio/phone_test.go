package audio

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// phoneCall encodes sound at 16 kHz in packets of a length, and decodes it, without those packets
// that are lost.
func phoneCall(t *testing.T, c PhoneCodec, pcm []float32, length time.Duration, lost func(packet int) bool) []float32 {
	t.Helper()
	e, err := NewRelayEncoder(c, 16000)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewPhoneDecoder(c, 16000)
	if err != nil {
		t.Fatal(err)
	}
	var out []float32
	n := Samples(length, 16000)
	for at := 0; at+n <= len(pcm); at += n {
		packet, err := e.Encode(pcm[at : at+n])
		if err != nil {
			t.Fatal(err)
		}
		if l, err := d.Length(packet); l != length || err != nil {
			t.Fatalf("%v: a packet of %v has %v, %v", c, length, l, err)
		}
		heard, err := []float32(nil), error(nil)
		if lost(at / n) {
			heard, err = d.Recover(length, packet)
		} else {
			heard, err = d.Decode(packet)
		}
		if err != nil || len(heard) != n {
			t.Fatalf("%v: of %v there are %d samples, %v; want %d", c, length, len(heard), err, n)
		}
		out = append(out, heard...)
	}
	return out
}

func never(int) bool { return false }

// Packets of every length that telephones send give back the sound of the call, at most 16 ms
// later.
func TestPhoneCallIsHeard(t *testing.T) {
	pcm := Resample(hum(2*time.Second), CallRateHz, 16000)
	for _, c := range []PhoneCodec{MuLaw, ALaw, G722} {
		for _, ms := range []time.Duration{10, 20, 30, 40, 60} {
			got := phoneCall(t, c, pcm, ms*time.Millisecond, never)
			best := -100.0
			for late := range 16*16 + 1 {
				best = max(best, snr(got[late:], pcm))
			}
			if best < 30 {
				t.Errorf("%v, packets of %d ms: %.1f dB", c, ms, best)
			}
		}
	}
}

// At a loss of 3 % no hole of 40 ms is heard, and nothing is much louder than it was.
func TestPhoneLossLeavesNoHole(t *testing.T) {
	pcm := Resample(hum(60*time.Second), CallRateHz, 16000)
	for _, c := range []PhoneCodec{MuLaw, ALaw, G722} {
		rnd := rand.New(rand.NewPCG(3, uint64(c)))
		whole := phoneCall(t, c, pcm, CallFrame, never)
		got := phoneCall(t, c, pcm, CallFrame, func(int) bool { return rnd.IntN(100) < 3 })
		piece := Samples(20*time.Millisecond, 16000) // two pulses of the voice, or more
		quiet := 0
		for at := piece; at+piece <= len(got); at += piece {
			level, want := rms(got[at:at+piece]), rms(whole[at:at+piece])
			if quiet++; level > want/2 {
				quiet = 0
			}
			if quiet >= 2 || level > 2.5*want {
				t.Fatalf("%v: after %d ms the level is %.3f, want %.3f", c, at/16, level, want)
			}
		}
		if slices.Equal(got, whole) {
			t.Errorf("%v: nothing was lost", c)
		}
	}
}

// A long loss fades out.
func TestPhoneLongLossIsSilent(t *testing.T) {
	pcm := Resample(hum(time.Second), CallRateHz, 16000)
	for _, c := range []PhoneCodec{MuLaw, ALaw, G722} {
		got := phoneCall(t, c, pcm, CallFrame, func(n int) bool { return n >= 20 && n < 40 })
		if level := rms(got[30*320 : 40*320]); level > 0.001 {
			t.Errorf("%v: 200 ms after the last packet the level is %.4f", c, level)
		}
		if got, want := rms(got[41*320:]), rms(pcm[41*320:]); got < want*0.9 || got > want*1.1 {
			t.Errorf("%v: after the loss the level is %.3f, want %.3f", c, got, want)
		}
	}
}

// Sound and packets that are none are errors.
func TestPhoneRefusesWhatIsNoSound(t *testing.T) {
	for _, hz := range []int{0, 4000, 44100, 96000} {
		if _, err := NewPhoneDecoder(MuLaw, hz); err == nil {
			t.Errorf("a decoder to %d Hz", hz)
		}
		if _, err := NewRelayEncoder(MuLaw, hz); err == nil {
			t.Errorf("an encoder from %d Hz", hz)
		}
	}
	d, err := NewPhoneDecoder(G722, 16000)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1601} {
		if _, err := d.Decode(make([]byte, n)); err == nil {
			t.Errorf("a packet of %d bytes is decoded", n)
		}
	}
	for _, n := range []int{0, 100} {
		if _, err := NewVoiceEncoder(MuLaw).Encode(make([]float32, n)); err == nil {
			t.Errorf("a frame of %d samples is encoded", n)
		}
	}
}

// After Reset nothing of the sound before it is heard.
func TestPhoneResetDropsWhatIsHeld(t *testing.T) {
	for _, c := range []PhoneCodec{MuLaw, ALaw, G722} {
		e, silent := NewVoiceEncoder(c), NewVoiceEncoder(c)
		d, err := NewPhoneDecoder(c, 16000)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if _, err := e.Encode(tone(500, 0.5, CallRateHz, 960)); err != nil {
				t.Fatal(err)
			}
		}
		e.Reset()
		if c == G722 {
			e.g722.bands = silent.g722.bands
		}
		packet, err := e.Encode(make([]float32, 960))
		if err != nil {
			t.Fatal(err)
		}
		pcm, err := d.Decode(packet)
		if err != nil || rms(pcm) > 0.0005 {
			t.Errorf("%v: level %.4f, %v", c, rms(pcm), err)
		}
	}
}
