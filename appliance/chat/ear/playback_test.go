package ear

import (
	"math"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// tone returns a tone in the middle of a band.
func tone(rateHz int, d time.Duration) []float32 {
	pcm := make([]float32, int(d.Seconds()*float64(rateHz)))
	for i := range pcm {
		pcm[i] = float32(0.3 * math.Sin(2*math.Pi*1040*float64(i)/float64(rateHz)))
	}
	return pcm
}

// Pieces that are sent at once play one after the other. What is cut is not played, and what was played long
// ago is dropped.
func TestPiecesPlayInOrder(t *testing.T) {
	var p playback
	sound := tone(contract.OutputRateHz, 250*time.Millisecond)
	for range 4 {
		p.take(2*time.Second, sound, 0) // until 3 s
	}
	loud := func(at time.Duration) bool { return p.until(int64(at/echoHopTime)+1, 1)[0][4] > 1 }
	for at, want := range map[time.Duration]bool{1900 * ms: false, 2050 * ms: true, 2450 * ms: true, 2950 * ms: true,
		3050 * ms: false} {
		if loud(at) != want {
			t.Errorf("at %v: played %v", at, !want)
		}
	}
	p.cut(2600 * ms)
	if loud(2700*ms) || !loud(2500*ms) {
		t.Error("the sound is cut at 2.6 s")
	}
	p.take(2800*ms, sound, 0)
	if loud(2700*ms) || !loud(2900*ms) {
		t.Error("sound after a cut does not play at once")
	}
	if p.near(1900*ms) || !p.near(2500*ms) || !p.near(3200*ms) || p.near(10*time.Second) || len(p.pieces) > 0 {
		t.Errorf("an echo may be heard while it plays and a little longer: %d pieces are stored", len(p.pieces))
	}
}

// A chat may last for hours in which no one listens, because the client sends only text.
func TestOnlyRecentPlaybackIsStored(t *testing.T) {
	var p playback
	sound := tone(contract.OutputRateHz, 250*time.Millisecond)
	for i := range 400 { // 100 s
		p.take(time.Duration(i)*250*ms, sound, 0)
	}
	if most := int(playbackMemory/(250*ms)) + 2; len(p.pieces) > most {
		t.Errorf("%d pieces are stored, want at most %d", len(p.pieces), most)
	}
	if loud := p.until(int64(99*time.Second/echoHopTime), 1)[0][4]; loud < 1 || !p.near(99*time.Second) {
		t.Errorf("what plays now is not known: %v", loud)
	}
}

// Sound that the line holds back plays when it leaves, which is when more has come. If the box is late, the
// client is silent in between. Sound that is cut meanwhile never plays.
func TestHeldBackSoundPlaysWhenItLeaves(t *testing.T) {
	var p playback
	sound := tone(contract.OutputRateHz, 400*time.Millisecond)
	back := contract.OutputRateHz / 5 // 200 ms
	loud := func(at time.Duration) bool { return p.until(int64(at/echoHopTime)+1, 1)[0][4] > 1 }
	p.take(time.Second, sound, back)
	p.take(2*time.Second, sound, back)
	p.take(3*time.Second, nil, 0)
	for at, want := range map[time.Duration]bool{
		1050 * ms: true, 1150 * ms: true, 1300 * ms: false, 1900 * ms: false,
		2050 * ms: true, 2350 * ms: true, 2500 * ms: false, 3100 * ms: true, 3300 * ms: false,
	} {
		if loud(at) != want {
			t.Errorf("at %v: played %v", at, !want)
		}
	}
	p.take(4*time.Second, sound, back)
	p.cut(4100 * ms)
	p.take(5*time.Second, sound, 0)
	if loud(4150*ms) || !loud(5050*ms) || loud(5450*ms) {
		t.Error("held-back sound plays after it was cut")
	}
}

func TestBandsPassTheirFrequencies(t *testing.T) {
	var a analysis
	pcm := tone(engine.SpeechRateHz, time.Second)
	var got bands
	for i := 0; i+echoHop <= len(pcm); i += echoHop {
		got = a.hop(pcm[i : i+echoHop])
	}
	for b, e := range got {
		if b != 4 && e > got[4]/2 {
			t.Errorf("1,040 Hz: band %d has %v, the band of the tone %v", b, e, got[4])
		}
	}
}

// NaN and infinity pass, and what comes after them is heard as before.
func TestBandsIgnoreNaN(t *testing.T) {
	var a analysis
	pcm := tone(engine.SpeechRateHz, time.Second)
	pcm[5], pcm[7], pcm[9] = float32(math.NaN()), float32(math.Inf(1)), 1e30
	var got bands
	for i := 0; i+echoHop <= len(pcm); i += echoHop {
		got = a.hop(pcm[i : i+echoHop])
	}
	if !(got[4] > 1 && got[4] < 100) {
		t.Errorf("a tone after the cut has %v", got)
	}
}

// While nothing plays, no sound is analysed.
func TestNothingIsComparedWhileTheAssistantIsSilent(t *testing.T) {
	var e echo
	for i := range 100 {
		e.hear(time.Duration(i)*engine.FrameDuration, make([]float32, engine.FrameSamples))
	}
	if e.active || len(e.heard) > 0 || e.isEcho() {
		t.Error("a silent assistant is compared with")
	}
}

func BenchmarkFrameBesidePlayback(b *testing.B) {
	var e echo
	e.playback.take(0, tone(contract.OutputRateHz, 3*time.Second), 0)
	frame := tone(engine.SpeechRateHz, engine.FrameDuration)
	for i := range 60 {
		e.hear(time.Duration(i)*engine.FrameDuration, frame)
	}
	for b.Loop() {
		e.hear(2*time.Second, frame)
		e.isEcho()
	}
}
