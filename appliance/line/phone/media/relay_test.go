package media

import (
	"encoding/binary"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	pionrtp "github.com/pion/rtp"

	"parley/appliance/engine"
)

// bridge relays what each of two ends hears to the other one.
func bridge(a, b *end) {
	none := func(rune) {}
	a.Listen(b.Relay, none)
	b.Listen(a.Relay, none)
}

// The sound of a bridged call is relayed at once: its way through the box, from codec to codec,
// adds at most the filters of the codecs and one packet.
func TestRelayedSoundIsNotDelayed(t *testing.T) {
	t.Parallel()
	f, g := newFar(t), newFar(t)
	a, b := newEnd(t, options()), newEnd(t, options())
	f.offer(t, a, "m=audio PORT RTP/AVP 0")
	g.offer(t, b, "m=audio PORT RTP/AVP 8")
	bridge(a, b)
	arrived := make(chan time.Time, 100)
	go func() {
		buffer, before := make([]byte, 2048), false
		for {
			n, _, err := g.socket.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			var p pionrtp.Packet
			if p.Unmarshal(buffer[:n]) != nil {
				continue
			}
			// A sound is heard that much after the beginning of its packet.
			at := firstLoud(p.Payload)
			if at >= 0 && !before {
				arrived <- time.Now().Add(time.Duration(at) * time.Second / 8000)
			}
			before = at >= 0
		}
	}()
	quiet := slices.Repeat([]byte{0xff}, 160)
	var delays []time.Duration
	var sent time.Time
	next := time.NewTicker(20 * time.Millisecond)
	defer next.Stop()
	for n := range 150 { // silence, with a loud packet now and then
		<-next.C
		if n%10 != 5 {
			f.send(t, 0, quiet)
			for len(arrived) > 0 {
				at := <-arrived
				delays = append(delays, at.Sub(sent))
			}
			continue
		}
		sent = time.Now()
		f.send(t, 0, loud())
	}
	slices.Sort(delays)
	if len(delays) < 10 {
		t.Fatalf("of 15 sounds %d were relayed", len(delays))
	}
	t.Logf("one way through the box: %v in the middle, %v at most", delays[len(delays)/2], delays[len(delays)-1])
	if middle := delays[len(delays)/2]; middle > 60*time.Millisecond {
		t.Errorf("it takes %v", middle)
	}
}

// firstLoud returns the place of the first loud sample in a packet of A-law, -1 without one.
// Silence is 0xd5.
func firstLoud(payload []byte) int {
	return slices.IndexFunc(payload, func(b byte) bool { return (b^0x55)&0x7f > 0x30 })
}

// A burst of relayed sound, as after a stall, does not delay what follows.
func TestABurstOfRelayedSoundIsNotQueued(t *testing.T) {
	t.Parallel()
	f, e := newFar(t), newEnd(t, options())
	f.offer(t, e, "m=audio PORT RTP/AVP 0")
	first := f.next(t)
	begun := time.Now()
	e.Relay(make([]float32, 2*engine.SpeechRateHz)) // two seconds at once
	var last *pionrtp.Packet
	n := 0
	for p, ok := f.receive(t, 10*time.Millisecond); ok; p, ok = f.receive(t, 10*time.Millisecond) {
		last = p
		n++
	}
	ahead := time.Duration(last.Timestamp-first.Timestamp)*time.Second/8000 - time.Since(begun)
	if ahead > maxLead+40*time.Millisecond || n > 10 {
		t.Errorf("%d packets came at once; the last is %v early", n, ahead)
	}
	for range 40 { // the stream goes on in time
		last = f.next(t)
	}
	ahead = time.Duration(last.Timestamp-first.Timestamp)*time.Second/8000 - time.Since(begun)
	if ahead > maxDrift || ahead < -maxDrift {
		t.Errorf("a second later the stream is %v early", ahead)
	}
}

// Two bridged ends hear each other, whatever their codecs.
func TestBridgedEndsHearEachOther(t *testing.T) {
	t.Parallel()
	left, right := newEnd(t, options()), newEnd(t, options())
	a, b := newEnd(t, options()), newEnd(t, options())
	connect(t, left, a, only("opus"))
	connect(t, right, b, only("PCMU"))
	bridge(a, b)
	late := lateness(t)
	say(t, left, "l", time.Second)
	say(t, right, "r", time.Second)
	for name, e := range map[string]*end{"left": left, "right": right} {
		e.until(t, "a second of voice on the "+name, func() bool {
			return len(voiced(e.heard())) > engine.SpeechRateHz*97/100
		})
		got := voiced(e.heard())
		const hole = engine.SpeechRateHz * 40 / 1000
		for i := 0; i+hole <= len(got); i += hole {
			if level(got[i:i+hole]) < 0.01 && late() < minPause/2 {
				t.Errorf("%s: there is a hole at %d ms", name, i/16)
			}
		}
	}
}

// TestCostOfHeldCalls measures the processor time of twenty calls, both ways, with
// PARLEY_MEASURE set.
func TestCostOfHeldCalls(t *testing.T) {
	if os.Getenv("PARLEY_MEASURE") == "" {
		t.Skip("a measurement; set PARLEY_MEASURE")
	}
	o := options()
	const calls, length = 20, 20 * time.Second
	for range calls {
		f, e := newFar(t), newEnd(t, o)
		e.Listen(func([]float32) {}, func(rune) {})
		f.offer(t, e, "m=audio PORT RTP/AVP 0")
		go farTalks(f)
	}
	time.Sleep(time.Second)
	before := processorTime(t)
	time.Sleep(length)
	used := processorTime(t) - before
	t.Logf("%d calls, with the far ends: %.2f %% of a core each", calls,
		100*used.Seconds()/length.Seconds()/calls)
}

// farTalks sends a packet every 20 ms until the socket is closed.
func farTalks(f *far) {
	packet := append([]byte{0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, loud()...)
	for n := 0; ; n++ {
		binary.BigEndian.PutUint16(packet[2:], uint16(n))
		binary.BigEndian.PutUint32(packet[4:], uint32(n*160))
		if _, err := f.socket.WriteToUDPAddrPort(packet, f.to); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
