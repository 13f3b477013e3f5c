package ws

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

// cutUp is sound as it goes into files.
func cutUp(pcm []float32) (parts [][]float32) {
	for len(pcm) > 0 {
		part := firstFile(pcm)
		parts, pcm = append(parts, part), pcm[len(part):]
	}
	return parts
}

func TestTheFilesOfAClipAreItsSoundAndNoneIsTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pcm := beep(contract.OutputRateHz, time.Duration(rapid.IntRange(1, 11_000).Draw(t, "ms"))*time.Millisecond)
		parts := cutUp(pcm)
		if got := slices.Concat(parts...); !slices.Equal(got, pcm) {
			t.Fatalf("%d samples became %d, or others", len(pcm), len(got))
		}
		for _, part := range parts {
			if len(part) == 0 || len(part) > audio.Samples(longestFile, contract.OutputRateHz) {
				t.Fatalf("a file of %d samples", len(part))
			}
		}
	})
}

// A message over 1 MiB ends the connection of clients that were told of no
// other limit.
func TestNoClipIsAMessageOfOverOneMiB(t *testing.T) {
	for _, part := range cutUp(make([]float32, audio.Samples(20*time.Second, contract.OutputRateHz))) {
		file := audio.EncodeWAV(part, contract.OutputRateHz)
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
	if n := len(firstFile(pcm)); n < from || n > to {
		t.Errorf("cut at sample %d, where it is not quiet", n)
	}
}

// What the client is given of a message: complete files, counted from 0 over all
// its pieces, in the order in which they are to be played.
func TestSoundIsSentAsFilesThatAreCounted(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial("", nil)
	long, short := beep(contract.OutputRateHz, 7*time.Second), beep(contract.OutputRateHz, 300*ms)
	for _, sound := range []contract.Sound{
		{ID: "a", PCM: long, CustomSessionID: "mine"}, {ID: "a", Index: 1, PCM: short}, {ID: "b", PCM: short}, {ID: "c"}, {ID: "c", Index: 1, PCM: short},
	} {
		if err := s.Line.Play(t.Context(), sound); err != nil {
			t.Fatal(err)
		}
	}
	var heard []float32
	for n, want := range []struct {
		id, session string
		index       int
	}{{"a", "mine", 0}, {"a", "mine", 1}, {"a", "", 2}, {"b", "", 0}, {"c", "", 0}} {
		m := read(t, c).(contract.AudioOutput)
		if m.ID != want.id || m.Index != want.index || m.CustomSessionID != want.session {
			t.Errorf("file %d is number %d of %q in %q", n, m.Index, m.ID, m.CustomSessionID)
		}
		pcm, err := audio.DecodeAll(m.Data, contract.OutputRateHz)
		if err != nil {
			t.Fatal(err)
		}
		if m.ID == "a" {
			heard = append(heard, pcm...)
		}
	}
	if want := audio.Linear16(audio.AppendLinear16(nil, slices.Concat(long, short))); !slices.Equal(heard, want) {
		t.Errorf("%d samples are heard of %d, or others", len(heard), len(want))
	}
}

// Cut takes back the sound that the network has not got, and nothing else.
func TestWhatIsCutIsNotSent(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial("", nil)
	second := beep(contract.OutputRateHz, time.Second)
	play := func(id string) {
		t.Helper()
		if err := s.Line.Play(t.Context(), contract.Sound{ID: id, PCM: second}); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 { // 5 MB: more than the network takes of a client that does not read
		play("before")
	}
	if err := s.Line.Send(t.Context(), contract.UserInterruption{}); err != nil {
		t.Fatal(err)
	}
	s.Line.Cut()
	play("after")
	files, interrupted := 0, false
	for {
		m := read(t, c)
		if a, ok := m.(contract.AudioOutput); ok && a.ID == "after" {
			break
		} else if ok {
			files++
		}
		interrupted = interrupted || m.MessageType() == contract.UserInterruption{}.MessageType()
	}
	if files == 40 || !interrupted {
		t.Errorf("%d files came, interrupted: %v", files, interrupted)
	}
}
