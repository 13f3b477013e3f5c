package reply

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

const ms = time.Millisecond

// beep is a tone of 800 Hz.
func beep(rateHz int, length time.Duration) []float32 {
	pcm := make([]float32, audio.Samples(length, rateHz))
	for i := range pcm {
		pcm[i] = float32(0.5 * math.Sin(2*math.Pi*800*float64(i)/float64(rateHz)))
	}
	return pcm
}

// joined is the sound of files as a client plays it, and the longest of them.
func joined(t interface{ Fatalf(string, ...any) }, made [][]byte) (pcm []float32, longest time.Duration) {
	for _, file := range made {
		length, err := audio.WAVLength(file)
		if err != nil {
			t.Fatalf("%v", err)
		}
		longest = max(longest, length)
		part, err := audio.DecodeAll(file, contract.OutputRateHz)
		if err != nil {
			t.Fatalf("%v", err)
		}
		pcm = append(pcm, part...)
	}
	return pcm, longest
}

func TestTheFilesOfAClipAreItsSoundAndNoneIsTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pcm := beep(contract.OutputRateHz, time.Duration(rapid.IntRange(1, 11_000).Draw(t, "ms"))*time.Millisecond)
		got, longest := joined(t, files(pcm))
		whole, _ := joined(t, [][]byte{audio.EncodeWAV(pcm, contract.OutputRateHz)})
		if !slices.Equal(got, whole) {
			t.Fatalf("%d samples became %d, or others", len(whole), len(got))
		}
		if longest > longestFile {
			t.Fatalf("a file of %s", longest)
		}
	})
	if made := files(nil); len(made) != 0 {
		t.Errorf("%d files of nothing", len(made))
	}
}

// A message over 1 MiB ends the connection of clients that were told of no
// other limit.
func TestNoClipIsAMessageOfOverOneMiB(t *testing.T) {
	for _, file := range files(make([]float32, audio.Samples(20*time.Second, contract.OutputRateHz))) {
		m := contract.AudioOutput{ID: "01a1fe4c-212a-7c63-a4cc-a4d3af997da1", Data: file}.WithCustomSessionID(strings.Repeat("<", contract.MaxCustomSessionIDChars))
		b, err := m.(contract.AudioOutput).MarshalJSON()
		if err != nil || len(b) > 1<<20 {
			t.Errorf("%d bytes, %v", len(b), err)
		}
	}
}

func TestAClipIsCutWhereItIsQuiet(t *testing.T) {
	pcm := beep(contract.OutputRateHz, 8*time.Second)
	from, to := audio.Samples(4300*ms, contract.OutputRateHz), audio.Samples(4350*ms, contract.OutputRateHz)
	clear(pcm[from:to])
	_, cut := joined(t, files(pcm)[:1])
	if n := audio.Samples(cut, contract.OutputRateHz); n < from || n > to {
		t.Errorf("cut at %s, which is not quiet", cut)
	}
}
