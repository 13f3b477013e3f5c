package webrtc

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// A hundred calls wake the machine as often as one.
func TestCallsSendInTheSameTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type sent struct {
			at    time.Time
			clock uint32
		}
		common := newBatchClock()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var mu sync.Mutex
		var all [2][]sent
		for i := range all {
			v, err := newVoice(func(p *rtp.Packet) error {
				mu.Lock()
				defer mu.Unlock()
				all[i] = append(all[i], sent{time.Now(), p.Timestamp})
				return nil
			}, func(string, time.Duration) {}, func() time.Duration { return 0 }, 0, 0, common)
			if err != nil {
				t.Fatal(err)
			}
			go v.run(ctx)
			time.Sleep(tickInterval*3/10 + time.Millisecond)
			begun := time.Now()
			if err := v.play(contract.Sound{ID: "a", PCM: tone(10 * frameSamples), Last: true}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			mu.Lock()
			if len(all[i]) != 1 || all[i][0].at != begun {
				t.Errorf("the first frame of call %d waits for a tick: %v, due at %v", i, all[i], begun)
			}
			mu.Unlock()
		}
		time.Sleep(time.Second)
		mu.Lock()
		defer mu.Unlock()
		for i, frames := range all {
			if len(frames) != 10 {
				t.Fatalf("call %d has sent %d frames of 10", i, len(frames))
			}
			for n, f := range frames[1:] {
				if on := common.before(f.at); on != f.at {
					t.Errorf("frame %d of call %d left %v behind a beat", n+1, i, f.at.Sub(on))
				}
				if step := f.clock - frames[n].clock; step != uint32(frameSamples) {
					t.Errorf("the clock of call %d advances by %d samples, not %d", i, step, frameSamples)
				}
				due := frames[0].at.Add(time.Duration(n+1) * audio.CallFrame)
				if early := due.Sub(f.at); early < 0 || early >= tickInterval {
					t.Errorf("frame %d of call %d left %v before its time", n+1, i, early)
				}
			}
		}
	})
}

// tone returns a sound that is not silence.
func tone(n int) []float32 {
	pcm := make([]float32, n)
	for i := range pcm {
		pcm[i] = float32(i%100)/200 - 0.25
	}
	return pcm
}

func TestOnlyManyPacketsAreBatched(t *testing.T) {
	for _, c := range []struct {
		name  string
		every time.Duration
		many  bool
	}{
		{"one voice", 20 * time.Millisecond, false},
		{"four voices", 5 * time.Millisecond, false},
		{"six voices", 20 * time.Millisecond / 6, true},
		{"twenty voices", time.Millisecond, true},
	} {
		var g batchedSocket
		now := time.Unix(1, 0)
		for range time.Second / c.every {
			now = now.Add(c.every)
			g.note(now)
		}
		if g.batching != c.many {
			t.Errorf("%s: batching is %v", c.name, g.batching)
		}
		g.note(now.Add(time.Minute))
		if g.batching {
			t.Errorf("after a minute without a packet %s are still many", c.name)
		}
	}
}

// All packets that gathered are read, also empty ones, which the kernel does not count.
func TestAllGatheredPacketsAreRead(t *testing.T) {
	at, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	g := newBatchedSocket(at, newBatchClock())
	g.batching, g.since, g.count = true, time.Now().Add(time.Hour), 0 // for the whole test
	client, err := net.Dial("udp", at.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	said := [][]byte{{1}, {}, {2, 3}, {}, {}, {4}}
	for _, packet := range said {
		if _, err := client.Write(packet); err != nil {
			t.Fatal(err)
		}
	}
	room := make([]byte, 100)
	for n, want := range said {
		got, from, err := g.ReadFromAddrPort(room)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(room[:got], want) || from != netip.MustParseAddrPort(client.LocalAddr().String()) {
			t.Errorf("packet %d is %v from %v, not %v", n, room[:got], from, want)
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, _, err := g.ReadFromAddrPort(room)
		ended <- err
	}()
	if err := at.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("a socket that is closed is still read")
	}
}

// The next packet is read into the buffer of the last one.
func TestAWaitingPacketIsNotLost(t *testing.T) {
	e, err := audio.NewLossyCallEncoder()
	if err != nil {
		t.Fatal(err)
	}
	said := make([]*rtp.Packet, 6)
	voice := tone(len(said) * frameSamples)
	for n := range said {
		packet, err := e.Encode(voice[n*frameSamples : (n+1)*frameSamples])
		if err != nil {
			t.Fatal(err)
		}
		said[n] = &rtp.Packet{Header: rtp.Header{SequenceNumber: uint16(n), Timestamp: uint32(n * frameSamples)},
			Payload: slices.Clone(packet)}
	}
	hears := func(order []int, room []byte) (ear []float32) {
		h, err := newJitterBuffer()
		if err != nil {
			t.Fatal(err)
		}
		var p rtp.Packet
		for _, n := range order {
			p = *said[n]
			p.Payload = append(room[:0], said[n].Payload...)
			ear = append(ear, h.push(&p)...)
		}
		return ear
	}
	inTurn := hears([]int{0, 1, 2, 3, 4, 5}, make([]byte, 0, 2000))
	turned := hears([]int{0, 2, 3, 1, 5, 4}, make([]byte, 0, 2000))
	if !slices.Equal(inTurn, turned) {
		t.Error("packets that had to wait sound otherwise, read into one room")
	}
}
