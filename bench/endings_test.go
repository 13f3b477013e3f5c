package bench

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
)

func TestAPauseIsMadeAtTheLongestGapBetweenPhrases(t *testing.T) {
	word := tone(700*ms, -6)
	// A gap that is short, one that is too near the beginning, and the one.
	pcm := joined(silence(200*ms), tone(300*ms, -6), silence(400*ms), word, silence(100*ms), word, silence(200*ms),
		word, silence(160*ms), word, silence(500*ms))
	begin, end, ok := phrasesPart(pcm)
	at := time.Duration(begin) * time.Second / testRateHz
	if want := 2400 * ms; !ok || at != want || end-begin != testRateHz/5 {
		t.Fatalf("the gap is at %v, %d samples long (%v); want %v and 200 ms", at, end-begin, ok, want)
	}
	for _, d := range pauseLengths() {
		got := longestPause(withPause(pcm, begin, end, d)[begin-testRateHz/2:], testRateHz)
		if got != d {
			t.Errorf("a pause of %v came out %v long", d, got)
		}
	}
	if _, _, ok := phrasesPart(joined(word, silence(100*ms), word)); ok {
		t.Error("the closure of a consonant parts phrases")
	}
	if _, _, ok := phrasesPart(silence(time.Second)); ok {
		t.Error("silence has phrases")
	}
}

// What is heard in a pause is the room of the recording, without a click where
// it begins and ends.
func TestInAPauseTheRoomIsHeard(t *testing.T) {
	room := tone(200*ms, -50)
	word := tone(700*ms, -6)
	pcm := withPause(joined(word, room, word), len(word), len(word)+len(room), time.Second)
	if want := 2*len(word) + testRateHz; len(pcm) != want {
		t.Fatalf("%d samples, want %d", len(pcm), want)
	}
	loudest := slices.Max(room)
	for i, x := range pcm[len(word) : len(word)+testRateHz] {
		if math.Abs(float64(x)) > float64(loudest) {
			t.Fatalf("sample %d of the pause is %v", i, x)
		}
	}
	for p := range slices.Chunk(pcm[len(word):len(word)+testRateHz], testRateHz/10) {
		if slices.Max(p) < loudest/2 {
			t.Error("a part of the pause is silent")
		}
	}
}

func TestHesitationsAreWithinOneSentence(t *testing.T) {
	for text, want := range map[string]bool{
		"Please enter a new extension, followed by pound.": true, "At the tone, the time will be exactly...": true,
		"":                              true,
		"I am sorry. Please try again.": false, "Welcome! Press one": false,
	} {
		if got := oneSentence(text); got != want {
			t.Errorf("%q is one sentence: %v", text, got)
		}
	}
	all, err := recordings("")
	if err != nil {
		t.Fatal(err)
	}
	some := hesitations(all, 24)
	if len(some) != 24 {
		t.Fatalf("%d recordings have a pause between phrases", len(some))
	}
	count := map[time.Duration]int{}
	for _, p := range some {
		count[p.pause]++
		if got := longestPause(p.PCM, testRateHz); got != p.pause {
			t.Errorf("%s pauses for %v, want %v", p.Name, got, p.pause)
		}
	}
	for _, d := range pauseLengths() {
		if count[d] != 4 {
			t.Errorf("%d pauses of %v", count[d], d)
		}
	}
}

func TestFinishedSentencesAreWhole(t *testing.T) {
	all, err := recordings("")
	if err != nil {
		t.Fatal(err)
	}
	some := finished(all, 24)
	if len(some) < 20 {
		t.Fatalf("%d finished sentences", len(some))
	}
	for _, r := range some {
		if strings.HasPrefix(r.Text, ".") || strings.HasSuffix(r.Text, "...") ||
			!strings.ContainsAny(r.Text[len(r.Text)-1:], ".!?") || r.Text[0] >= 'a' && r.Text[0] <= 'z' {
			t.Errorf("%s is %q", r.Name, r.Text)
		}
	}
}

func TestATurnIsCutOffThatIsTakenBeforeItsEndOrInTwo(t *testing.T) {
	last := time.Now()
	at := func(d time.Duration) heard {
		return heard{last.Add(d), contract.UserMessage{Message: contract.ChatMessage{Content: "x"}}}
	}
	interim := at(-time.Second)
	interim.message = contract.UserMessage{Interim: true}
	for name, row := range map[string]struct {
		heard []heard
		cut   bool
	}{
		"nothing":          {nil, false},
		"after the end":    {[]heard{at(800 * ms)}, false},
		"before the end":   {[]heard{at(-100 * ms)}, true},
		"before and after": {[]heard{at(-time.Second), at(800 * ms)}, true},
		"twice after":      {[]heard{at(10 * ms), at(800 * ms)}, true},
		"an interim one":   {[]heard{interim, at(800 * ms)}, false},
	} {
		var e ending
		for _, h := range row.heard {
			e.take(h, last)
		}
		if e.cut() != row.cut {
			t.Errorf("%s: cut off %v", name, e.cut())
		}
	}
}

func TestCutsAndWaitsAreCounted(t *testing.T) {
	r := Report{}
	cuts{{300 * ms, false}, {300 * ms, true}, {1500 * ms, true}, {1500 * ms, true}, {700 * ms, false}}.report(&r, "m_")
	waits{
		{taken: []time.Duration{820 * ms}, answer: true, answered: 900 * ms},
		{taken: []time.Duration{850 * ms}, answer: true, answered: 1000 * ms},
		{taken: []time.Duration{3100 * ms}},
		{taken: []time.Duration{-10 * ms, 800 * ms}, answer: true, answered: 850 * ms},
		{},
	}.report(&r, "m_")
	r.has(t, map[string][2]float64{
		"m_cut_off": {60, 60}, "m_wait_median": {850, 850}, "m_wait_p95": {3100, 3100}, "m_wait_longest": {3100, 3100},
		"m_answer_median": {900, 900}, "m_answer_p95": {1000, 1000}, "m_cut_early": {1, 1}, "m_not_answered": {2, 2},
	})
	if note := r.find(t, "m_cut_off").Note; !strings.Contains(note, "300 ms: 50, 700 ms: 0, 1500 ms: 100") {
		t.Errorf("by length: %q", note)
	}
}

func TestInterruptionsAreCountedByWhatMadeThem(t *testing.T) {
	of := func(kind string, stopped, goesOn bool, late time.Duration) disturbed {
		return disturbed{
			disturbance: disturbance{kind: kind},
			stopped:     stopped,
			goesOn:      goesOn,
			late:        late,
		}
	}
	failed := of(aCough, true, false, 0)
	failed.fault = "E0"
	echo := of(anEcho, false, false, 0)
	echo.answered = true
	r := Report{}
	disturbeds{
		of(aCough, true, true, 0), of(aCough, false, false, 0), failed,
		of(aNoise, true, false, 0), of(aWord, false, false, 0), of(aBackchannel, true, false, 0), echo,
		of(someSpeech, true, false, 40*ms), of(someSpeech, true, false, 60*ms), of(someSpeech, true, false, 200*ms),
		of(someSpeech, false, false, 0),
	}.report(&r, map[string]string{}, "")
	r.has(t, map[string][2]float64{
		"false_cough": {50, 50}, "false_noise": {100, 100}, "false_word": {0, 0}, "false_backchannel": {100, 100},
		"false_echo":     {0, 0},
		"taken_up_again": {50, 50}, "echo_answered": {100, 100}, "missed": {25, 25}, "stop_median": {60, 60},
		"stop_p95": {200, 200}, "disturbances_failed": {1, 1},
	})
}

func TestWhatIsMixedInIsHeardWhereItBelongs(t *testing.T) {
	m := newMicrophone(nil)
	half := tone(30*ms, -20)
	m.mix(half, m.at(10).Add(10*ms))
	m.mix(half, m.at(-1)) // 20 ms of it are past
	quiet := make([]float32, pieceSamples)
	loud := tone(pieceDuration, -6)
	for i, want := range []bool{0: true, 5: false, 9: false, 10: true, 11: true, 12: false} {
		if want && i == 0 || i > 4 {
			got := m.mixed(i, quiet)
			if sounds := slices.Max(got) > 0; sounds != want {
				t.Errorf("piece %d sounds: %v", i, sounds)
			}
		}
	}
	m.mix(half, m.at(20))
	if got := m.mixed(20, loud); got[40] != loud[40]+half[40] {
		t.Errorf("%v and %v are %v together", loud[40], half[40], got[40])
	}
	m.mix(half, m.at(30))
	m.unmix(m.at(30))
	if slices.Max(m.mixed(31, quiet)) != 0 {
		t.Error("what was taken back is heard")
	}
}

// An answer whose sound runs out before it goes on was late by the difference.
func TestASoundThatRunsDryIsNoticed(t *testing.T) {
	url := scripted(t, func(ctx context.Context, s *script) error {
		for _, wait := range []time.Duration{0, 100 * ms, 700 * ms} {
			time.Sleep(wait)
			if err := s.clip(ctx, 250*ms); err != nil {
				return err
			}
		}
		if err := s.send(ctx, contract.AssistantEnd{}); err != nil {
			return err
		}
		return s.hear(ctx, 1)
	})
	c, err := call(t.Context(), place{address: url, key: "key"}, terms{prompt: hotel})
	if err != nil {
		t.Fatal(err)
	}
	defer c.hangUp()
	began := 0
	got, err := c.tell(t.Context(), "Go on", func() { began++ })
	if err != nil {
		t.Fatal(err)
	}
	// The clips come after 0, 100 and 800 ms and last for 250 each: the second
	// has been played at 500. A busy machine makes the first or the last later.
	if began != 1 || got.dry < 50*ms || got.dry > 5*time.Second {
		t.Errorf("began %d times, dry for %v", began, got.dry)
	}
}

func TestTwoTurnsNeverEndTogether(t *testing.T) {
	var k turnTaking
	var ends []time.Time
	for _, d := range []time.Duration{3 * time.Second, time.Second, 6 * time.Second, 2 * time.Second} {
		end := k.reserve(d).Add(d)
		for _, other := range ends {
			if gap := end.Sub(other).Abs(); gap < anEnding {
				t.Errorf("two turns end within %v", gap)
			}
		}
		ends = append(ends, end)
	}
}

func TestModesAreSilencesOrSemantic(t *testing.T) {
	for want, modes := range map[string][]string{"names none": {}, `"499"`: {"800", "499"}, `"quick"`: {"quick"},
		`"3001"`: {"3001"}} {
		o := Defaults()
		o.Modes = modes
		if err := o.checkModes(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", modes, err, want)
		}
	}
	if err := Defaults().checkModes(); err != nil {
		t.Error(err)
	}
}

func TestBrochuresShareNoBeginning(t *testing.T) {
	seen := map[string]int{}
	for i := range 100 {
		text := brochure(i, longTokens)
		if len(text) != longTokens*18/5 {
			t.Fatalf("number %d has %d letters", i, len(text))
		}
		if j, again := seen[text[:40]]; again {
			t.Errorf("numbers %d and %d begin alike: %s", j, i, text[:40])
		}
		seen[text[:40]] = i
	}
}

func TestAFirstAnswerIsHeldAgainstTheSecondOfItsChat(t *testing.T) {
	r := Report{}
	pairs{[]time.Duration{900 * ms, 2000 * ms, 1000 * ms}, []time.Duration{850 * ms, 1200 * ms, 1100 * ms}}.report(&r,
		"x", "")
	r.has(t, map[string][2]float64{"x_first_answer": {1000, 1000}, "x_first_later": {50, 50}})
}
