package voice

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"parley/appliance/contract"
)

func all() []Base {
	return append([]Base{BaseOfPack("voice-joe"), BaseOfPack("voice-jenny")}, Kokoro()...)
}

func TestDirectChangesTheManner(t *testing.T) {
	calm := Direct("")
	if !reflect.DeepEqual(calm, Manner{Rate: 1}) {
		t.Fatalf("nothing said: %+v", calm)
	}
	for description, law := range map[string]func(m Manner) bool{
		"whispering":                   func(m Manner) bool { return m.Shape.Breath == 1 && m.Shape.Gain < -3 },
		"slightly whispering":          func(m Manner) bool { return m.Shape.Breath == 1 && m.Shape.Gain > -3 },
		"shouting":                     func(m Manner) bool { return m.Shape.Gain >= 5 && m.Shape.Pitch > 2 },
		"She shouted across the yard!": func(m Manner) bool { return m.Shape.Gain >= 5 },
		"excited": func(m Manner) bool {
			return m.Rate > 1.05 && m.Shape.Range > 0.3 && m.Shape.Pauses < 0
		},
		"sad": func(m Manner) bool {
			return m.Rate < 0.9 && m.Shape.Range < -0.2 && m.Shape.Pitch < 0 && m.Shape.Pauses > 0
		},
		"sadly":    func(m Manner) bool { return m.Rate < 0.9 },
		"very sad": func(m Manner) bool { return m.Rate < Direct("sad").Rate },
		"slightly sad": func(m Manner) bool {
			r := Direct("sad").Rate
			return m.Rate > r && m.Rate < 1
		},
		"calm":                              func(m Manner) bool { return m.Rate < 1 && m.Shape.Range < 0 },
		"slow":                              func(m Manner) bool { return m.Rate < 0.9 },
		"slower, please":                    func(m Manner) bool { return m.Rate < 0.9 },
		"fast":                              func(m Manner) bool { return m.Rate > 1.1 },
		"not fast":                          func(m Manner) bool { return m.Rate < 1 && m.Rate > 0.85 },
		"not too fast, but happy":           func(m Manner) bool { return m.Rate < 1.05 && m.Shape.Pitch > 0.5 },
		"monotone":                          func(m Manner) bool { return m.Shape.Range < -0.7 },
		"angry":                             func(m Manner) bool { return m.Shape.Gain > 2 && m.Shape.Brightness > 2 },
		"cheerful":                          func(m Manner) bool { return m.Shape.Range > 0.2 && m.Shape.Pitch > 0.5 },
		"dramatic":                          func(m Manner) bool { return m.Shape.Pauses > 0.5 && m.Shape.Range > 0.3 },
		"a deep-voiced old man, whispering": func(m Manner) bool { return m.Shape.Breath == 1 && m.Shape.Pitch < -1 },
		"without shouting":                  func(m Manner) bool { return m.Shape.Gain <= 0 },
		"an elderly woman from London":      func(m Manner) bool { return m.Rate == 1 && m.Shape.Pitch == 0 },
		"with anger":                        func(m Manner) bool { return m.Shape.Gain > 2 && m.Shape.Brightness > 2 },
		"with great anger":                  func(m Manner) bool { return m.Shape.Gain > Direct("anger").Shape.Gain },
		"she is frustrated":                 func(m Manner) bool { return m.Shape.Gain > 2 },
		"full of sadness":                   func(m Manner) bool { return m.Rate < Direct("sad").Rate },
		"without any emotion":               func(m Manner) bool { return m.Shape.Range < -0.7 },
		"no fear":                           func(m Manner) bool { return m.Shape.Pitch < 0 },
		"sobbing":                           func(m Manner) bool { return m.Rate < 0.9 },
		"a bit disappointed": func(m Manner) bool {
			return m.Shape.Range < 0 && m.Shape.Range > Direct("sad").Shape.Range
		},
		"xyzzy über 你好 \x00 🎉 plugh -- ,,, ''": func(m Manner) bool { return reflect.DeepEqual(m, Manner{Rate: 1}) },
	} {
		if m := Direct(description); !law(m) {
			t.Errorf("%q: %+v", description, m)
		}
	}
}

// Every emotion that analysis can find in a voice can be asked of a voice.
func TestEveryEmotionIsADirection(t *testing.T) {
	for i := range contract.EmotionCount {
		e := contract.EmotionName(i)
		if reflect.DeepEqual(Direct(e), Manner{Rate: 1}) {
			t.Errorf("%q changes nothing", e)
		}
	}
}

func TestDesignMatchesTheDescription(t *testing.T) {
	library := all()
	// heard returns how many semitones above the mean of its gender a voice is.
	heard := func(r Recipe) float64 {
		return semitonesAboveMean(pitchOf(library, r.Parts), baseByID(library, r.Parts[0].Voice).Gender) + r.Shape.Pitch
	}
	gender := func(r Recipe) Gender { return baseByID(library, r.Parts[0].Voice).Gender }
	for description, law := range map[string]func(r Recipe) bool{
		"a woman":                          func(r Recipe) bool { return gender(r) == Female },
		"A deep, gravelly male voice.":     func(r Recipe) bool { return gender(r) == Male && r.Shape.Rough > 0.3 },
		"an old man who misses his mother": func(r Recipe) bool { return gender(r) == Male && r.Shape.Rough > 0.2 },
		"She is tired":                     func(r Recipe) bool { return gender(r) == Female && r.Rate < 1 },
		"a boy of eight": func(r Recipe) bool {
			return gender(r) == Male && r.Shape.Pitch > 5 && r.Shape.Formant > 3
		},
		"an 8 year old girl": func(r Recipe) bool { return gender(r) == Female && r.Shape.Formant > 2 },
		"a woman in her 70s": func(r Recipe) bool { return r.Shape.Rough > 0.2 },
		"a man aged 25":      func(r Recipe) bool { return r.Shape.Rough == 0 },
		"a British gentleman": func(r Recipe) bool {
			return baseByID(library, r.Parts[0].Voice).Language == "en-GB"
		},
		"a woman with a French accent": func(r Recipe) bool {
			return strings.HasPrefix(baseByID(library, r.Parts[0].Voice).Language, "en")
		},
		"a woman, speaking French": func(r Recipe) bool {
			return baseByID(library, r.Parts[0].Voice).Language == "fr-FR"
		},
		"a warm, bright, breathy, slow voice": func(r Recipe) bool {
			s := r.Shape
			return s.Warmth > 2 && s.Brightness > 1 && s.Breath > 0.3 && r.Rate < 0.9
		},
		"not a man, a woman":                   func(r Recipe) bool { return gender(r) == Female },
		"high-pitched and extremely energetic": func(r Recipe) bool { return heard(r) > 2 && r.Shape.Range > 0.6 },
		"a deep old man":                       func(r Recipe) bool { return heard(r) < -1 && r.Shape.Rough > 0.2 },
		"a very deep man":                      func(r Recipe) bool { return heard(r) < -3 },
		"a squeaky cartoon mouse": func(r Recipe) bool {
			return gender(r) == Female && heard(r) > 4 && r.Shape.Formant > 1.5
		},
		"a squeaky old man": func(r Recipe) bool { return gender(r) == Male && heard(r) > 3 },
		"a gruff troll": func(r Recipe) bool {
			return gender(r) == Male && heard(r) < -2.5 && r.Shape.Rough > 0.5
		},
		"a woman with a high voice": func(r Recipe) bool { return gender(r) == Female && heard(r) > 1.5 },
	} {
		for seed := range int64(20) {
			r := Design(library, description, 0, seed)
			if !law(r) {
				t.Errorf("%q, seed %d: %+v", description, seed, r)
				break
			}
		}
	}
}

// Each candidate is a different voice; the same seed makes the same voice.
func TestCandidatesDifferAndSeedsRepeat(t *testing.T) {
	for _, library := range [][]Base{all(), all()[:1], all()[:2]} {
		for _, description := range []string{"", "a warm woman", "a very deep man", "a man, speaking Italian"} {
			for seed := range int64(10) {
				var made []Recipe
				for i := range 5 {
					r := Design(library, description, i, seed)
					if !reflect.DeepEqual(r, Design(library, description, i, seed)) {
						t.Fatalf("%q: the same seed makes another voice", description)
					}
					sum := 0.0
					for _, p := range r.Parts {
						sum += p.Weight
					}
					if math.Abs(sum-1) > 1e-9 {
						t.Errorf("%q: weights make %g", description, sum)
					}
					for j, other := range made {
						if reflect.DeepEqual(r.Parts, other.Parts) &&
							math.Abs(r.Shape.Pitch-other.Shape.Pitch)+
								math.Abs(r.Shape.Formant-other.Shape.Formant) < 1 {
							t.Fatalf("%d voices, %q, seed %d: candidates %d and %d are alike: %+v, %+v", len(library),
								description, seed, j, i, r, other)
						}
					}
					made = append(made, r)
				}
			}
		}
	}
	if reflect.DeepEqual(Design(all(), "a woman", 0, 1), Design(all(), "a woman", 0, 2)) {
		t.Error("another seed makes the same voice")
	}
}

func TestEveryVocabularyWordIsInterpreted(t *testing.T) {
	l, neutral := newLexicon(), interpretation{}
	for _, s := range vocabulary() {
		for _, trait := range s.traits {
			for phrase := range strings.SplitSeq(trait.Words, ", ") {
				if r := l.interpret(phrase, true); r == neutral {
					t.Errorf("%q changes nothing", phrase)
				}
				if len(strings.Fields(phrase)) > longestPhrase || l[phrase].trait == nil ||
					l[phrase].trait.Words != trait.Words {
					t.Errorf("%q is not found", phrase)
				}
			}
		}
	}
	for _, d := range degrees() {
		for phrase := range strings.SplitSeq(d.Words, ", ") {
			if l[phrase].degree != d.times {
				t.Errorf("%q is not found as a degree", phrase)
			}
		}
	}
}

func TestLibraryVoiceNamesAreUnique(t *testing.T) {
	names, ids := map[string]bool{}, map[string]bool{}
	for _, b := range all() {
		name := strings.ToLower(b.Name)
		if names[name] || ids[b.ID] || b.Name == "" || b.LanguageName() == "" || b.Gender == "" {
			t.Errorf("%+v", b)
		}
		names[name], ids[b.ID] = true, true
	}
	for name, id := range map[string]string{"joe": "voice-joe", "Joe": "voice-joe", "voice-joe": "voice-joe",
		"heart": "kokoro-af-heart", "kokoro-af-heart": "kokoro-af-heart", "nobody": ""} {
		if b, ok := Find(all(), name); b.ID != id || ok != (id != "") {
			t.Errorf("%s: %s", name, b.ID)
		}
	}
}

func FuzzDescriptions(f *testing.F) {
	f.Add("a very deep, not too slow British man in his 60s", 3, int64(7))
	f.Fuzz(func(t *testing.T, description string, candidate int, seed int64) {
		if candidate < 0 || candidate > 4 {
			return
		}
		r := Design(all(), description, candidate, seed)
		m := Direct(description)
		for _, x := range []float64{r.Rate, m.Rate} {
			if !(x >= minRate && x <= maxRate) {
				t.Errorf("rate %g", x)
			}
		}
		if s := r.Shape; s != s.Plus(s.Plus(s)).Plus(s) && (math.Abs(s.Pitch) > 12 || s.Breath > 1 || s.Range < -1) {
			t.Errorf("%+v", s)
		}
	})
}
