package bench

import (
	"slices"
	"strings"
	"time"

	"parley/appliance/engine"
)

const (
	// phraseGap is the shortest silence in a recording that parts two phrases:
	// the closure of a consonant is half as long.
	phraseGap = 150 * time.Millisecond
	// phrase is how long a phrase is at least, on either side of the gap.
	phrase = 600 * time.Millisecond
	// gapEdge is what is left alone at both ends of a gap, where the voice
	// fades; between is the room.
	gapEdge = 30 * time.Millisecond
	// longestPaused is the longest recording that is given a pause.
	longestPaused = 9 * time.Second
)

// pauseLengths are how long people hesitate within a sentence. None is within
// 50 ms of a silence that ends turns, where chance would decide.
func pauseLengths() []time.Duration {
	var all []time.Duration
	for _, ms := range []int{300, 400, 600, 700, 1000, 1500} {
		all = append(all, time.Duration(ms)*time.Millisecond)
	}
	return all
}

// paused is a sentence in which somebody hesitates, for so long.
type paused struct {
	recording
	pause time.Duration
}

// standsAlone reports whether the words before the gap of a prompt are a sentence
// of their own, spoken as one ("Press one to accept this recording", and then
// "press two to listen to it"): who takes the turn there cuts nobody off who can
// be known to go on.
func standsAlone(name string) bool {
	switch name {
	case "agent-newlocation", "agent-pass", "call-fwd-no-ans", "confbridge-begin-glorious-a",
		"confbridge-begin-glorious-b",
		"confbridge-begin-glorious-c", "confbridge-begin-leader", "confbridge-lock-no-join", "demo-enterkeywords",
		"dictate/both_help",
		"dictate/enter_filename", "dictate/record_help", "followme/options", "followme/sorry", "followme/status",
		"privacy-incorrect",
		"privacy-prompt", "queue-youarenext", "vm-forward", "vm-forwardoptions", "vm-helpexit", "vm-next", "vm-nobox",
		"vm-opts",
		"vm-rec-name", "vm-rec-temp", "vm-rec-unv", "vm-review", "vm-saveoper", "vm-tempgreeting2":
		return true
	}
	return false
}

// hesitations are n times a recording of one sentence, in which the longest gap
// between two phrases is made as long as a pause; the lengths of the pauses come
// in turn. Where there are not so many such recordings they come again, six
// times at most.
func hesitations(all []recording, n int) []paused {
	lengths := pauseLengths()
	type gap struct {
		recording
		begin, end int
	}
	var gaps []gap
	for _, r := range all {
		if r.duration() > longestPaused || !oneSentence(r.Text) || standsAlone(r.Name) {
			continue
		}
		if begin, end, ok := phrasesPart(r.PCM); ok {
			gaps = append(gaps, gap{r, begin, end})
		}
	}
	var out []paused
	for range lengths {
		for _, g := range gaps {
			if len(out) == n {
				return out
			}
			d := lengths[len(out)%len(lengths)]
			out = append(out, paused{recording{g.Name, g.Text, withPause(g.PCM, g.begin, g.end, d)}, d})
		}
	}
	return out
}

// oneSentence says whether a text is one sentence at most: where two meet a
// pause would be no hesitation. Of a text that nobody wrote down it is believed.
func oneSentence(text string) bool {
	text = strings.TrimRight(text, " .!?…\n")
	return !strings.ContainsAny(text, ".!?")
}

// finished are n recordings of a whole sentence, in an order that mixes their
// lengths. What is written as a part of one is none.
func finished(all []recording, n int) []recording {
	var whole []recording
	for _, r := range all {
		if t := strings.TrimSpace(r.Text); t != "" &&
			(t != strings.ToLower(t[:1])+t[1:] && strings.ContainsAny(t[len(t)-1:], ".!?") &&
				!strings.Contains(t, "...")) {
			whole = append(whole, r)
		}
	}
	some := turns(whole, n)
	seen := map[string]bool{}
	return slices.DeleteFunc(some, func(r recording) bool { // each of them once
		again := seen[r.Name]
		seen[r.Name] = true
		return again
	})
}

// phrasesPart is the longest gap between two phrases of pcm, in samples; false
// where there is none.
func phrasesPart(pcm []float32) (begin, end int, ok bool) {
	window := windowSamples(engine.SpeechRateHz)
	sounds := sounding(pcm, engine.SpeechRateHz)
	first := slices.Index(sounds, true)
	if first < 0 {
		return 0, 0, false
	}
	last := len(sounds) - 1
	for !sounds[last] {
		last--
	}
	long := func(windows int, d time.Duration) bool { return time.Duration(windows)*windowDuration >= d }
	for i := first; i < last; {
		if sounds[i] {
			i++
			continue
		}
		j := i
		for !sounds[j] {
			j++
		}
		if long(j-i, phraseGap) && long(i-first, phrase) && long(last+1-j, phrase) && (j-i)*window > end-begin {
			begin, end = i*window, j*window
		}
		i = j
	}
	return begin, end, end > begin
}

// withPause makes the gap from begin to end as long as d, with what the room
// sounds like in it: the middle of the gap, to and fro, so that nothing clicks.
func withPause(pcm []float32, begin, end int, d time.Duration) []float32 {
	edge := int(gapEdge * engine.SpeechRateHz / time.Second)
	room := pcm[begin+edge : end-edge]
	n := int(d*engine.SpeechRateHz/time.Second) - 2*edge
	out := slices.Clone(pcm[:begin+edge])
	for i := range n {
		at := i % (2 * len(room))
		if at >= len(room) {
			at = 2*len(room) - 1 - at
		}
		out = append(out, room[at])
	}
	return append(out, pcm[end-edge:]...)
}
