package onnx

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

// sameSound is the tolerance for samples that should be equal: ONNX Runtime adds in another order
// if a tensor has another length. It is 84 dB below full scale, two steps of 16-bit sound.
const sameSound = 6e-5

func phraseOf(t testing.TB, p *Piper, s string) phrase {
	t.Helper()
	all, err := p.allPhrases(t.Context(), s, engine.SpeakOptions{})
	if err != nil || len(all) == 0 {
		t.Fatalf("%q: %d phrases, %v", s, len(all), err)
	}
	return all[0]
}

// inPieces synthesizes a phrase piece by piece. ModelSpeed is passed to the model as it is; only a
// separate encoder keeps Speed exactly.
func inPieces(t testing.TB, p *Piper, b phrase, modelSpeed float64) (pcm, frames []float32) {
	t.Helper()
	w, frames, err := p.synthesize(t.Context(), b, engine.SpeakOptions{Speed: 1, ModelSpeed: modelSpeed})
	for err == nil {
		var piece []float32
		if piece, err = w.piece(t.Context(), nil); piece == nil {
			break
		}
		pcm = append(pcm, piece...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pcm, frames
}

// openWhole loads the voice of a pack in one piece.
func openWhole(t testing.TB, rt *Runtime, pack string) *Piper {
	t.Helper()
	path := packtest.File(t, pack, "voice.onnx")
	config, err := readPiperConfig(filepath.Join(filepath.Dir(path), "voice.json"))
	if err != nil {
		t.Fatal(err)
	}
	ph := openPhonemizer(t)
	return sharedOf(t, pack+" in one piece", func() (*Piper, error) {
		p := &Piper{
			config:     config,
			cores:      piperThreads,
			alphabet:   config.alphabet(),
			gate:       engine.NewGate(2),
			pronouncer: config.pronouncer(ph),
			levelGain:  1,
		}
		model, release, err := readModel(path, durationsPatch)
		if err != nil {
			return nil, err
		}
		return p, errors.Join(p.openWhole(rt, path, model[:len(model)-len(durationsPatch)]), release())
	})
}

func oddTexts() []string {
	return []string{
		"No.", "A", "Mhm,", "Good morning.", "Sure, I can help you with that.",
		"The swimming pool on the second floor is open every day from seven in the morning until ten at night, and " +
			"towels are free of charge.",
		"Wait! What? Really: no; yes...", "3.14159 and 2026-11-22, 17:45", "zzzzzzzzzzzz sssss",
		"Peter Piper picked a peck of pickled peppers; a peck of pickled peppers Peter Piper picked.",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "Ça va? Größe, naïve, İstanbul.", "π", "hm hm hm hm hm",
	}
}

// TestPiecesAddUpToTheWhole compares the pieces of a cut model with the sound of the original
// model.
func TestPiecesAddUpToTheWhole(t *testing.T) {
	rt := openRuntime(t)
	for n, pack := range voices() {
		if n == 1 && os.Getenv("PARLEY_FULL_TESTS") == "" {
			continue // two of them are enough for the everyday test
		}
		t.Run(pack, func(t *testing.T) {
			cut, uncut := openVoice(t, rt, pack), openWhole(t, rt, pack)
			if cut.streamError != nil {
				t.Fatal(cut.streamError)
			}
			worst, same, all := 0.0, 0, 0
			for i, s := range oddTexts() {
				everyday := os.Getenv("PARLEY_FULL_TESTS") == ""
				if everyday && n > 0 && i%5 != 2 {
					continue // the first voice speaks them all
				}
				for _, modelSpeed := range []float64{1, 0.7, 1.6} {
					if modelSpeed != 1 && (i%5 != 0 || everyday && i == 5) { // the longest
						continue
					}
					b := phraseOf(t, cut, s)
					got, frames := inPieces(t, cut, b, modelSpeed)
					want, wantFrames := inPieces(t, uncut, b, modelSpeed)
					if len(got) != len(want) || framesOf(frames) != framesOf(wantFrames) {
						t.Fatalf("%q: %d samples in pieces, %d in one", s, len(got), len(want))
					}
					for i := range got {
						d := math.Abs(float64(got[i] - want[i]))
						if worst = max(worst, d); d == 0 {
							same++
						}
						all++
						if d > sameSound {
							t.Fatalf("%q at model speed %g: sample %d of %d differs by %g", s, modelSpeed, i, len(got),
								d)
						}
					}
				}
			}
			t.Logf("largest difference %.2g, %d of %d samples the same", worst, same, all)
		})
	}
}

// However sound is cut, its edges are the same as for the complete sound.
func TestEdgesAreThoseOfTheWhole(t *testing.T) {
	const rateHz = 22050
	whole := func(pcm []float32) []float32 {
		begin := slices.IndexFunc(pcm, func(x float32) bool { return !quiet(x) })
		if begin < 0 {
			return nil
		}
		end := len(pcm)
		for quiet(pcm[end-1]) {
			end--
		}
		begin, end = max(begin-rateHz*leadMS/1000, 0), min(end+rateHz*tailMS/1000, len(pcm))
		out := slices.Clone(pcm[begin:end])
		n := min(rateHz*fadeMS/1000, len(out)/2)
		for i := range n {
			k := float32(i) / float32(n)
			out[i] *= k
			out[len(out)-1-i] *= k
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		var pcm []float32
		for range rapid.IntRange(1, 6).Draw(t, "stretches") { // of silence and of sound
			level := rapid.SampledFrom([]float32{0, 0.001, 0.3}).Draw(t, "level")
			for range rapid.IntRange(0, 4000).Draw(t, "length") {
				pcm = append(pcm, level)
			}
		}
		want := whole(pcm)
		e := newEdges(rateHz)
		var got []float32
		for rest := slices.Clone(pcm); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			got = append(got, e.add(slices.Clone(rest[:n]))...)
			rest = rest[n:]
		}
		got = append(got, e.end()...)
		if !slices.Equal(got, want) {
			t.Fatalf("%d samples, want %d, of %d", len(got), len(want), len(pcm))
		}
	})
}

// Whatever a text's length, the first piece is short, later ones grow, and each reports the total
// length.
func TestTheFirstSoundDoesNotWaitForTheRest(t *testing.T) {
	p := openVoice(t, openRuntime(t), "voice-joe")
	long := 15
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		long = 60 // two minutes of sound
	}
	for _, s := range append(oddTexts(), strings.Repeat("banana", 2*long)) {
		var sizes []int
		sum, last := 0, false
		whole := 0
		begun := time.Now()
		err := p.Speak(t.Context(), s, engine.SpeakOptions{}, func(piece engine.Sound) error {
			if last {
				t.Errorf("%.20q: a piece after the last", s)
			}
			if len(sizes) == 0 {
				t.Logf("%.20q: first %d samples after %v, of %d", s, len(piece.PCM),
					time.Since(begun).Round(time.Millisecond), piece.TotalSamples)
				whole = piece.TotalSamples
			}
			sizes = append(sizes, len(piece.PCM))
			sum += len(piece.PCM)
			last = piece.Last
			if last && piece.TotalSamples != sum {
				t.Errorf("%.20q: the last piece reports %d of %d samples", s, piece.TotalSamples, sum)
			}
			return nil
		})
		if err != nil || !last {
			t.Fatalf("%.20q: %v, last %v", s, err, last)
		}
		if most := (firstPiece + 1) * piperHop; sizes[0] > most {
			t.Errorf("%.20q: the first piece has %d samples, at most %d are allowed", s, sizes[0], most)
		}
		for i, n := range sizes {
			if most := (unhurriedPiece+1)*piperHop + p.RateHz()*(tailMS+betweenSentencesMS)/1000; n > most {
				t.Errorf("%.20q: piece %d has %d samples, at most %d are allowed", s, i, n, most)
			}
		}
		if off := math.Abs(float64(whole-sum)) / float64(sum); off > 0.35 && whole-sum > p.RateHz()/2 {
			t.Errorf("%.20q: expected %d samples, got %d", s, whole, sum)
		}
	}
}

// Nothing more is synthesized for a caller that has left.
func TestAVoiceStopsWithinAPiece(t *testing.T) {
	p := openVoice(t, openRuntime(t), "voice-joe")
	long := oddTexts()[5]
	gone := errors.New("gone")
	n := 0
	if err := p.Speak(t.Context(), long, engine.SpeakOptions{}, func(engine.Sound) error {
		n++
		return gone
	}); err != gone || n != 1 {
		t.Errorf("%d pieces, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n = 0
	if err := p.Speak(ctx, long, engine.SpeakOptions{}, func(engine.Sound) error {
		n++
		cancel()
		return nil
	}); err != context.Canceled || n != 1 {
		t.Errorf("%d pieces, %v", n, err)
	}
}

// The first part does not end like a sentence, and the second continues it, as the same words do in
// the whole sentence.
func TestASentenceSaidInTwoPartsSoundsLikeOne(t *testing.T) {
	p := openVoice(t, openRuntime(t), "voice-joe")
	for _, c := range [][2]string{
		{"The museum is open", "from ten in the morning until six."},
		{"There are two trains", "that leave before noon."},
		{"I'm sorry,", "but I do not know that."},
	} {
		whole := say(t, p, c[0]+" "+c[1], engine.SpeakOptions{})
		first, ended := say(t, p, c[0], engine.SpeakOptions{Continues: true}), say(t, p, c[0], engine.SpeakOptions{})
		rest, alone := say(t, p, c[1], engine.SpeakOptions{Previous: c[0] + " "}),
			say(t, p, c[1], engine.SpeakOptions{})
		if len(first.Phonemes) != len(ended.Phonemes) || len(rest.Phonemes) != len(alone.Phonemes) ||
			len(first.Phonemes)+len(rest.Phonemes) != len(whole.Phonemes) {
			t.Fatalf("%q: %d and %d phonemes, of %d", c, len(first.Phonemes), len(rest.Phonemes), len(whole.Phonemes))
		}
		within := whole.Phonemes[len(first.Phonemes)].Begin // where the second part begins in the whole
		off := func(a, b int) time.Duration {
			return (time.Duration(a-b) * time.Second / time.Duration(p.RateHz())).Abs()
		}
		if d := off(len(rest.PCM), len(whole.PCM)-within); d > 100*time.Millisecond {
			t.Errorf("%q is %v off its length in the sentence", c[1], d)
		}
		// A voice lengthens the last word of a sentence.
		if d, full := off(len(first.PCM), within),
			off(len(ended.PCM), within); !strings.HasSuffix(c[0], ",") && d >= full {
			t.Errorf("%q is %v off its length in the sentence, with a full stop %v", c[0], d, full)
		}
	}
}

// If nobody waits, the sound comes in longer pieces, and is the same.
func TestLongPiecesGiveTheSameSound(t *testing.T) {
	p := openVoice(t, openRuntime(t), "voice-joe")
	for _, s := range []string{"Good morning.", oddTexts()[5]} {
		hurried := say(t, p, s, engine.SpeakOptions{})
		passages := 0
		p.gate.Observe(func(engine.Passage) { passages++ })
		calm := say(t, p, s, engine.SpeakOptions{LongPieces: true})
		p.gate.Observe(func(engine.Passage) {})
		// Each sentence passes the gate once with its text, and for all of them twice per step and
		// once per piece.
		phrases, err := p.allPhrases(t.Context(), s, engine.SpeakOptions{})
		if err != nil {
			t.Fatal(err)
		}
		frames := len(calm.PCM) / piperHop
		if most := 5*len(phrases) + frames/120 + 2*frames/640; passages > most {
			t.Errorf("%.20q: %d passages of %d frames in %d sentences, want %d at most", s, passages, frames,
				len(phrases), most)
		}
		again := say(t, p, s, engine.SpeakOptions{LongPieces: true})
		if !slices.Equal(calm.PCM, again.PCM) {
			t.Errorf("%.20q: two times the same is not the same", s)
		}
		if len(calm.PCM) != len(hurried.PCM) {
			t.Fatalf("%.20q: %d samples, %d in short pieces", s, len(calm.PCM), len(hurried.PCM))
		}
		for i, x := range calm.PCM {
			if d := x - hurried.PCM[i]; d > 2*sameSound || d < -2*sameSound {
				t.Fatalf("%.20q: sample %d is %g, %g in short pieces", s, i, x, hurried.PCM[i])
			}
		}
	}
}
