package rtp

import (
	"slices"
	"testing"
	"time"

	"github.com/pion/rtp"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

// The next packet is read into the buffer of the last one.
func TestAWaitingPacketIsNotLost(t *testing.T) {
	const frameSamples = int(audio.CallFrame * audio.CallRateHz / time.Second)
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
		d, err := audio.NewCallDecoder(engine.SpeechRateHz)
		if err != nil {
			t.Fatal(err)
		}
		h := NewJitterBuffer(d, Format{ClockHz: audio.CallRateHz, Frame: audio.CallFrame})
		var p rtp.Packet
		for _, n := range order {
			p = *said[n]
			p.Payload = append(room[:0], said[n].Payload...)
			ear = append(ear, h.Push(&p)...)
		}
		return ear
	}
	inTurn := hears([]int{0, 1, 2, 3, 4, 5}, make([]byte, 0, 2000))
	turned := hears([]int{0, 2, 3, 1, 5, 4}, make([]byte, 0, 2000))
	if !slices.Equal(inTurn, turned) {
		t.Error("packets that had to wait sound otherwise, read into one room")
	}
}

// tone returns a sound that is not silence.
func tone(n int) []float32 {
	pcm := make([]float32, n)
	for i := range pcm {
		pcm[i] = float32(i%100)/200 - 0.25
	}
	return pcm
}
