package stream

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	e, err := newEar()
	if err != nil {
		t.Fatal(err)
	}
	return &e.receiver
}

// numbered returns 20 ms of sound with a number and a timestamp in milliseconds; -1 leaves one out.
func numbered(chunk, ms int64) piece {
	return piece{
		chunk:     sequenceNumber{n: chunk, given: chunk >= 0},
		timestamp: sequenceNumber{n: ms, given: ms >= 0},
		sound:     loud(),
		at:        time.UnixMilli(ms),
	}
}

func lengthOf(pcm []float32) time.Duration {
	return time.Duration(len(pcm)) * time.Second / engine.SpeechRateHz
}

func TestTheStreamHasNoGapsAndNoRepetition(t *testing.T) {
	type list = []piece
	regular := func(from, to int64, make func(i int64) piece) (all list) {
		for i := from; i < to; i++ {
			all = append(all, make(i))
		}
		return all
	}
	both := func(i int64) piece { return numbered(i, 20*i) }
	times := func(i int64) piece { return numbered(-1, 20*i) }
	chunks := func(i int64) piece { return numbered(i, -1) }
	join := func(lists ...list) (all list) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	later := func(by int64) func(int64) piece { return func(i int64) piece { return numbered(i, 20*i+by) } }
	const tenPieces = 200 * time.Millisecond
	for name, c := range map[string]struct {
		pieces list
		want   time.Duration
		lost   int
	}{
		"regular":           {regular(0, 10, both), tenPieces, 0},
		"no numbers":        {regular(0, 10, func(int64) piece { return numbered(-1, -1) }), tenPieces, 0},
		"one lost":          {join(regular(0, 5, both), regular(6, 10, both)), tenPieces, 1},
		"one lost by chunk": {join(regular(0, 5, chunks), regular(6, 10, chunks)), tenPieces, 1},
		"one lost by time":  {join(regular(0, 5, times), regular(6, 10, times)), tenPieces, 0},
		"a second lost":     {join(regular(0, 5, both), regular(55, 60, both)), 6 * tenPieces, 50},
		"a pause":           {join(regular(0, 5, both), regular(5, 10, later(400))), 3 * tenPieces, 0},
		"twice":             {join(regular(0, 5, both), regular(4, 10, both)), tenPieces, 0},
		"late": {join(regular(0, 5, both), regular(6, 8, both), regular(5, 6, both), regular(8, 10, both)),
			tenPieces, 1},
		"late by time": {join(regular(0, 5, times), regular(6, 8, times), regular(5, 6, times),
			regular(8, 10, times)), tenPieces, 0},
		"a new recording":         {join(regular(0, 50, both), regular(0, 50, both)), 10 * tenPieces, 0},
		"a new recording by time": {join(regular(0, 50, times), regular(0, 50, times)), 10 * tenPieces, 0},
		"all the same numbers":    {regular(0, 10, func(int64) piece { return numbered(1, 5) }), tenPieces, 0},
		"time in samples":         {regular(0, 10, func(i int64) piece { return numbered(-1, 160*i) }), tenPieces, 0},
		"time of a clock": {regular(0, 100, func(i int64) piece { return numbered(i, 20*i+i/2) }),
			10 * tenPieces, 0},
		"an hour later": {join(regular(0, 5, both), regular(180_000, 180_005, both)), tenPieces, 0},
		"a number beyond any count": {join(regular(0, 5, both), list{numbered(1<<41, 1<<41)}, regular(5, 9, both)),
			tenPieces, 0},
	} {
		r := newReceiver(t)
		var out []float32
		for _, p := range c.pieces {
			out = append(out, r.push(p)...)
		}
		if got := lengthOf(out); got != c.want || r.lost != c.lost {
			t.Errorf("%s: %v, want %v; %d lost, want %d", name, got, c.want, r.lost, c.lost)
		}
	}
}

func TestASilenceThatTheClockInsertedIsNotInsertedAgain(t *testing.T) {
	r := newReceiver(t)
	var out []float32
	for i := range int64(5) {
		out = append(out, r.push(numbered(i, 20*i))...)
	}
	out = append(out, r.silence(300*time.Millisecond)...)
	for i := int64(5); i < 10; i++ {
		out = append(out, r.push(numbered(i, 20*i+500))...)
	}
	if got := lengthOf(out); got != 700*time.Millisecond {
		t.Errorf("%v of 200 ms and a pause of 500 ms", got)
	}
}

func TestLostSoundIsConcealed(t *testing.T) {
	r := newReceiver(t)
	for i := range int64(5) {
		r.push(numbered(i, 20*i))
	}
	pcm := r.push(numbered(6, 120))
	quiet, longest := 0, 0
	for _, v := range pcm {
		if quiet++; v > 0.05 || v < -0.05 {
			quiet = 0
		}
		longest = max(longest, quiet)
	}
	if hole := lengthOf(pcm[:longest]); len(pcm) != audio.Samples(40*time.Millisecond, engine.SpeechRateHz) ||
		hole > 5*time.Millisecond {
		t.Errorf("a hole of %v in %v", hole, lengthOf(pcm))
	}
}

func TestPiecesMayHaveAnyLength(t *testing.T) {
	r := newReceiver(t)
	all := 0
	for _, n := range []int{1, 80, 160, 161, 4000, 100_000, 0} {
		r.push(piece{sound: bytes.Repeat([]byte{0x90}, n)})
		all += n
	}
	rest := r.push(piece{sound: make([]byte, 160)})
	if len(rest) != 320 || r.received != 7 {
		t.Errorf("%d samples of 160 bytes; %d pieces of %d bytes", len(rest), r.received, all)
	}
}

// Whatever numbers a hostile client sends, no piece makes more than the longest gap of sound.
func TestNumbersCannotMakeSoundWithoutBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	some := func() int64 {
		switch random.IntN(4) {
		case 0:
			return -1
		case 1:
			return random.Int64N(1 << 42)
		}
		return random.Int64N(1000)
	}
	r := newReceiver(t)
	for range 20_000 {
		p := numbered(some(), some())
		p.sound = make([]byte, random.IntN(2000))
		most := maxGap + p.length() + time.Millisecond
		if got := lengthOf(r.push(p)); got > most {
			t.Fatalf("%v of a piece of %v", got, p.length())
		}
	}
}

func FuzzMessages(f *testing.F) {
	for _, s := range []string{
		`{"event":"media","media":{"track":"inbound","chunk":"2","timestamp":"5","payload":"//8="}}`,
		`{"event":"start","start":{"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1}}}`,
		`{"event":"media","media":{"chunk":-1e999,"timestamp":{},"payload":null}}`,
		`{"event":"dtmf","dtmf":{"digit":"1"}}`, `{"event":7}`, `null`, `[`, `{"event":"mark","mark":[]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		m, err := parse(message)
		if err != nil {
			return
		}
		_ = m.Start.MediaFormat.check()
		if n := m.Media.Timestamp.n; n < 0 || n >= 1<<42 {
			t.Errorf("timestamp %d", n)
		}
		sound, err := m.Media.sound()
		if err == nil {
			e, _ := newEar()
			e.push(piece{chunk: m.Media.Chunk, timestamp: m.Media.Timestamp, sound: sound})
		}
	})
}
