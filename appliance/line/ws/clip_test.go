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

// beep returns a tone of 800 Hz.
func beep(rateHz int, length time.Duration) []float32 {
	pcm := make([]float32, audio.Samples(length, rateHz))
	for i := range pcm {
		pcm[i] = float32(0.5 * math.Sin(2*math.Pi*800*float64(i)/float64(rateHz)))
	}
	return pcm
}

// cutUp returns complete sound as it is cut into files.
func cutUp(pcm []float32) (parts [][]float32) {
	for c := (clip{pending: pcm}); len(c.pending) > 0; c.files++ {
		parts = append(parts, c.next(true))
	}
	return parts
}

func TestFilesHoldAllSoundWithinTheirMaximum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pcm := beep(contract.OutputRateHz, time.Duration(rapid.IntRange(1, 11_000).Draw(t, "ms"))*time.Millisecond)
		parts := cutUp(pcm)
		if got := slices.Concat(parts...); !slices.Equal(got, pcm) {
			t.Fatalf("%d samples became %d, or others", len(pcm), len(got))
		}
		for i, part := range parts {
			longest := maxFile
			if i == 0 {
				longest = maxFirstFile
			}
			if len(part) == 0 || len(part) > audio.Samples(longest, contract.OutputRateHz) {
				t.Fatalf("file %d has %d samples", i, len(part))
			}
		}
	})
}

// A message over 1 MiB ends the connection of clients with the usual limit.
func TestMessagesWithSoundStayBelowOneMiB(t *testing.T) {
	for _, part := range cutUp(make([]float32, audio.Samples(20*time.Second, contract.OutputRateHz))) {
		file := audio.EncodeWAV(part, contract.OutputRateHz)
		b, err := contract.Marshal(contract.AudioOutput{
			ID:              "01a1fe4c-212a-7c63-a4cc-a4d3af997da1",
			Data:            file,
			CustomSessionID: strings.Repeat("<", contract.MaxCustomSessionIDChars),
		})
		if err != nil || len(b) > 1<<20 {
			t.Errorf("%d bytes, %v", len(b), err)
		}
	}
}

func TestSoundIsSplitWhereItIsQuiet(t *testing.T) {
	pcm := beep(contract.OutputRateHz, 8*time.Second)
	for _, quiet := range []time.Duration{330 * ms, 1600 * ms} {
		clear(pcm[audio.Samples(quiet, contract.OutputRateHz):audio.Samples(quiet+30*ms, contract.OutputRateHz)])
	}
	at := 0
	for i, from := range []time.Duration{330 * ms, 1600 * ms} {
		at += len(cutUp(pcm)[i])
		if n := time.Duration(at) * time.Second / contract.OutputRateHz; n < from-cutCrossing || n > from+33*ms {
			t.Errorf("file %d ends at %v, where it is not quiet", i, n)
		}
	}
}

// A player that starts the next file late leaves silence between the two. It does not
// click, because files begin and end at zero.
func TestFilesBeginAndEndAtZero(t *testing.T) {
	pcm := beep(contract.OutputRateHz, 3*time.Second)
	step := 2 * math.Pi * 800 / contract.OutputRateHz // the largest step of the tone between two samples
	for i, part := range cutUp(pcm) {
		for _, x := range []float32{part[0], part[len(part)-1]} {
			if i > 0 && math.Abs(float64(x)) > step {
				t.Errorf("file %d has %.3f at an edge", i, x)
			}
		}
	}
}

// Sound that arrives in pieces is sent at once, except its last part.
func TestPiecesAreSentWithoutDelay(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial("", nil)
	pcm := beep(contract.OutputRateHz, 3*time.Second)
	rest, heard := pcm, 0
	for i, length := range []time.Duration{250 * ms, 250 * ms, 500 * ms, time.Second, time.Second} {
		n := audio.Samples(length, contract.OutputRateHz)
		last := n == len(rest)
		if err := s.Line.Play(t.Context(), contract.Sound{
			ID:    "a",
			Index: i,
			PCM:   rest[:n],
			Last:  last,
		}); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
		m := read(t, c).(contract.AudioOutput)
		file, err := audio.DecodeAll(m.Data, contract.OutputRateHz)
		if err != nil || m.Index != i {
			t.Fatalf("file %d: %v", m.Index, err)
		}
		heard += len(file)
		played := len(pcm) - len(rest)
		if left := played - heard; left < 0 || left > audio.Samples(cutWithin, contract.OutputRateHz) ||
			last && left > 0 {
			t.Errorf("after piece %d, %d samples were not sent", i, left)
		}
	}
}

// The last part is sent when no more sound can follow, and dropped when the sound was cut.
func TestTheRestOfASoundIsSentOrDropped(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial("", nil)
	pcm := beep(contract.OutputRateHz, 250*ms)
	for _, cut := range []bool{false, true} {
		if err := s.Line.Play(t.Context(), contract.Sound{ID: "a", PCM: pcm}); err != nil {
			t.Fatal(err)
		}
		files := 1
		read(t, c)
		if cut {
			s.Line.Cut()
		}
		if err := s.Line.Send(t.Context(), contract.AssistantEnd{}); err != nil {
			t.Fatal(err)
		}
		for read(t, c).MessageType() != (contract.AssistantEnd{}).MessageType() {
			files++
		}
		if want := map[bool]int{false: 2, true: 1}[cut]; files != want {
			t.Errorf("cut %v: %d files, want %d", cut, files, want)
		}
	}
}

// The client gets complete files of a message, counted from 0 over all its pieces, in
// playback order.
func TestSoundIsSentAsNumberedFiles(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial("", nil)
	long, short := beep(contract.OutputRateHz, 2600*ms), beep(contract.OutputRateHz, 300*ms)
	for _, sound := range []contract.Sound{
		{ID: "a", PCM: long, CustomSessionID: "mine"}, {
			ID:    "a",
			Index: 1,
			PCM:   short,
			Last:  true,
		}, {ID: "b", PCM: short, Last: true}, {ID: "c"}, {
			ID:    "c",
			Index: 1,
			PCM:   short,
			Last:  true,
		},
	} {
		if err := s.Line.Play(t.Context(), sound); err != nil {
			t.Fatal(err)
		}
	}
	var heard []float32
	for n, want := range []struct {
		id, session string
		index       int
	}{{"a", "mine", 0}, {"a", "mine", 1}, {"a", "mine", 2}, {"a", "", 3}, {"b", "", 0}, {"c", "", 0}} {
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

// Cut drops the sound that was not handed to the network, and nothing else.
func TestCutSoundIsNotSent(t *testing.T) {
	b := start(t, Timing{Write: time.Minute}) // the client reads nothing until everything was played
	c, s := b.dial("", nil)
	second := beep(contract.OutputRateHz, time.Second)
	play := func(id string) {
		t.Helper()
		if err := s.Line.Play(t.Context(), contract.Sound{ID: id, PCM: second, Last: true}); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 { // 5 MB: more than the network buffers for a client that does not read
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
	if files >= 40*2 || !interrupted {
		t.Errorf("%d files came, interrupted: %v", files, interrupted)
	}
}
