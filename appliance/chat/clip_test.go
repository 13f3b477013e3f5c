package chat

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

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
		pcm := beep(contract.OutputRateHz, time.Duration(rapid.IntRange(1, 20_000).Draw(t, "ms"))*time.Millisecond)
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
	for _, file := range files(make([]float32, samples(20*time.Second, contract.OutputRateHz))) {
		m := contract.AudioOutput{ID: "01a1fe4c-212a-7c63-a4cc-a4d3af997da1", Data: file}.WithCustomSessionID(strings.Repeat("<", contract.MaxCustomSessionIDChars))
		b, err := m.(contract.AudioOutput).MarshalJSON()
		if err != nil || len(b) > 1<<20 {
			t.Errorf("%d bytes, %v", len(b), err)
		}
	}
}

func TestAClipIsCutWhereItIsQuiet(t *testing.T) {
	pcm := beep(contract.OutputRateHz, 8*time.Second)
	from, to := samples(4300*ms, contract.OutputRateHz), samples(4350*ms, contract.OutputRateHz)
	clear(pcm[from:to])
	_, cut := joined(t, files(pcm)[:1])
	if n := samples(cut, contract.OutputRateHz); n < from || n > to {
		t.Errorf("cut at %s, which is not quiet", cut)
	}
}

func TestTheFilesOfAClipAreCounted(t *testing.T) {
	var s State
	var out effects
	s.play(&out, Clip{Sentence: Sentence{ID: "a", Text: "Long."}, Files: [][]byte{{1}, {2}, {3}}, Duration: 12 * time.Second})
	var got []contract.AudioOutput
	for _, e := range out {
		if send, ok := e.(Send); ok {
			if a, ok := send.Message.(contract.AudioOutput); ok {
				got = append(got, a)
			}
		}
	}
	for i, a := range got {
		if a.ID != "a" || a.Index != i || a.Data[0] != byte(i+1) {
			t.Errorf("clip %d is %+v", i, a)
		}
	}
	if len(got) != 3 || s.silentAt != 12*time.Second {
		t.Errorf("%d clips, silent at %s", len(got), s.silentAt)
	}
}
