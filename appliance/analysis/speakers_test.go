package analysis

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/expression"
)

func openSpeakers(t *testing.T) *speakers {
	t.Helper()
	s, err := newSpeakers()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// say adds utterances as the model says that voices are: of speakers that differ as much as
// usual, who deviate by 1 from their mean.
func (s *speakers) say(r *rand.Rand, people []voicePrint, seconds float64, who ...int) {
	for _, i := range who {
		p := people[i]
		for k := range p {
			p[k] += r.NormFloat64()
		}
		s.prints, s.seconds = append(s.prints, p), append(s.seconds, seconds)
	}
}

// people returns voices of which each differs from the others in one direction of the first.
func people(n int) []voicePrint {
	all := make([]voicePrint, n)
	for i := range all {
		all[i][i%4] = 12 * float64(1-2*(i/4%2))
	}
	return all
}

func TestSpeakersAreNumberedByAppearance(t *testing.T) {
	s, r := openSpeakers(t), rand.New(rand.NewPCG(1, 2))
	order := []int{2, 2, 0, 2, 1, 0, 1, 2, 1}
	s.say(r, people(3), 3, order...)
	speaker, confidence := s.assign()
	if want := []int{0, 0, 1, 0, 2, 1, 2, 0, 2}; !slices.Equal(speaker, want) {
		t.Errorf("%v, want %v", speaker, want)
	}
	for i, c := range confidence {
		if c < 0.75 || c > 1 {
			t.Errorf("utterance %d has confidence %.2f", i, c)
		}
	}
}

func TestShortAndVoicelessUtterancesFormNoSpeaker(t *testing.T) {
	s, r := openSpeakers(t), rand.New(rand.NewPCG(1, 2))
	s.say(r, people(2), 3, 0, 1, 0, 1)
	s.say(r, people(3), 0.5, 1, 2)
	s.say(r, people(2), 0, 0)
	speaker, confidence := s.assign()
	if !slices.Equal(speaker[:5], []int{0, 1, 0, 1, 1}) || speaker[5] > 1 || speaker[6] != speaker[5] {
		t.Errorf("%v", speaker)
	}
	if confidence[4] > 0.34 || confidence[5] > 0.34 || confidence[6] != 0 {
		t.Errorf("the confidences are %.2f", confidence)
	}
	// With nothing but short ones, these form the speakers.
	s = openSpeakers(t)
	s.say(r, people(2), 0.8, 0, 1, 0)
	if speaker, _ := s.assign(); !slices.Equal(speaker, []int{0, 1, 0}) {
		t.Errorf("only short: %v", speaker)
	}
}

func TestAnyNumberOfUtterancesIsTold(t *testing.T) {
	if speaker, confidence := openSpeakers(t).assign(); len(speaker)+len(confidence) != 0 {
		t.Errorf("%v, %v", speaker, confidence)
	}
	s, r := openSpeakers(t), rand.New(rand.NewPCG(1, 2))
	s.say(r, people(1), 0, 0, 0)
	if speaker, _ := s.assign(); !slices.Equal(speaker, []int{0, 0}) {
		t.Errorf("without voice: %v", speaker)
	}
	s = openSpeakers(t)
	for range 500 { // more than are compared with each other
		s.say(r, people(3), 2, 0, 1, 2)
	}
	if speaker, _ := s.assign(); !slices.Equal(speaker[1494:], []int{0, 1, 2, 0, 1, 2}) {
		t.Errorf("%v", speaker[1494:])
	}
	s = openSpeakers(t)
	for i := range 30 { // more speakers than are told apart
		var p voicePrint
		p[i%15] = 30 * float64(1-2*(i/15))
		s.say(r, []voicePrint{p}, 2, 0)
	}
	if speaker, _ := s.assign(); slices.Max(speaker) != maxSpeakers-1 {
		t.Errorf("%d speakers", slices.Max(speaker)+1)
	}
}

func TestSilenceHasNoTimbre(t *testing.T) {
	m, err := expression.New()
	if err != nil {
		t.Fatal(err)
	}
	s, sound := openSpeakers(t), m.NewRecording()
	timbre, enough := sound.Timbre(0, 0)
	s.add(timbre, enough, 0)
	sound.Hear(make([]float32, 32000))
	timbre, enough = sound.Timbre(0, 2*time.Second)
	s.add(timbre, enough, 2)
	if s.seconds[0] != 0 || s.seconds[1] != 0 {
		t.Errorf("silence has a print: %v", s.seconds)
	}
}

// Three synthetic voices, which the model was not trained on as recordings, in turns of
// three seconds.
func TestVoicesThatTakeTurnsAreToldApart(t *testing.T) {
	m, err := expression.New()
	if err != nil {
		t.Fatal(err)
	}
	const turn = 3 * engine.SpeechRateHz
	var voices [3][]float32
	for i, name := range []string{"joe", "jenny", "alan"} {
		data, err := os.ReadFile("../audio/clean/testdata/" + name + ".ogg")
		if err != nil {
			t.Fatal(err)
		}
		if voices[i], err = audio.DecodeAll(data, engine.SpeechRateHz); err != nil {
			t.Fatal(err)
		}
	}
	for _, order := range [][]int{{0, 0, 0, 0}, {0, 1, 1, 0, 1, 0, 0}, {0, 1, 2, 1, 0, 2, 2, 1, 0, 0}} {
		s, at := openSpeakers(t), [3]int{}
		for _, v := range order {
			sound := m.NewRecording()
			sound.Hear(voices[v][at[v] : at[v]+turn])
			sound.Finish()
			at[v] += turn
			timbre, enough := sound.Timbre(0, 3*time.Second)
			s.add(timbre, enough, 3)
		}
		if speaker, confidence := s.assign(); !slices.Equal(speaker, order) {
			t.Errorf("%v, want %v (%.2f)", speaker, order, confidence)
		}
	}
}
