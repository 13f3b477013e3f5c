package audio

import (
	"testing"

	"parley/internal/clib"
)

func TestDurationOfEveryOpusHeaderIsTheLibrarys(t *testing.T) {
	lib, err := clib.Open(opusName)
	if err != nil {
		t.Fatal(err)
	}
	var samples func(packet *byte, n, rateHz int32) int32
	if err := lib.Bind(map[string]any{"opus_packet_get_nb_samples": &samples}); err != nil {
		t.Fatal(err)
	}
	for _, rateHz := range []int{8000, 12000, 16000, 24000, 48000} {
		for header := range 256 * 64 {
			packet := []byte{byte(header >> 6), byte(header & 63)}
			for n := 1; n <= 2; n++ {
				want := int(samples(&packet[0], int32(n), int32(rateHz)))
				got, err := opusDuration(packet[:n], rateHz)
				if err != nil {
					got = -1
				}
				if got != max(want, -1) {
					t.Fatalf("%x at %d Hz: %d samples (%v), by libopus %d", packet[:n], rateHz, got, err, want)
				}
			}
		}
	}
}
