package onnx

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/engine"
	"parley/appliance/text"
)

// The transcript of the beginning of a sound is verified at once; where it is wrong, the text
// continues as without it, and the words are as accurate. They are not always the same: the model
// computes in 8 bits, whose step depends on everything in a batch, so near ties may change.
func TestSpeculativeTokensCostNoAccuracy(t *testing.T) {
	m := openMoonshine(t)
	all := testPrompts(t, 12)
	wrong, alone, changed := map[string]int{}, 0, 0
	for i, p := range all {
		pcm, expected := p.pcm(t), text.Words(p.text)
		want := hear(t, m, pcm)
		alone += text.WordErrors(expected, text.Words(want.Text))
		guesses := map[string]engine.TranscriptTokens{
			"of its first three quarters": hear(t, m, pcm[:len(pcm)*3/4]).Tokens}
		if i%5 == 0 {
			guesses["of something else"] = slices.Repeat(engine.TranscriptTokens{77, 1234}, 8)
			guesses["of no token"] = engine.TranscriptTokens{1 << 40}
			guesses["of more than the limit"] = slices.Repeat(engine.TranscriptTokens{77, 1234}, 200)
			guesses["of its end"] = append(slices.Clone(want.Tokens), moonshineEOS, 5)
		}
		for name, tokens := range guesses {
			got, err := m.Transcribe(context.Background(), pcm, engine.TranscribeOptions{SpeculativeTokens: tokens})
			if err != nil {
				t.Fatalf("%s, with speculative tokens %s: %v", p.name, name, err)
			}
			n := text.WordErrors(text.Words(want.Text), text.Words(got.Text))
			if name == "of its first three quarters" {
				wrong[name] += text.WordErrors(expected, text.Words(got.Text))
				changed += min(n, 1)
			} else if n > 2 {
				t.Errorf("%s, with speculative tokens %s: %q, without %q", p.name, name, got.Text, want.Text)
			}
		}
	}
	for name, n := range wrong {
		t.Logf("%d texts: %d words wrong with speculative tokens %s, %d without; the words of %d texts change",
			len(all), n, name,
			alone, changed)
		if n > alone+max(3, alone/10) || changed > len(all)/5 {
			t.Errorf("%d words are wrong with speculative tokens %s, %d without; %d texts change", n, name, alone,
				changed)
		}
	}
}

// One step accepts as many tokens as are right, and no more remain.
func TestSpeculativeTokensAreVerifiedInOneStep(t *testing.T) {
	m := openMoonshine(t)
	pcm := prompts(t)[40].pcm(t)
	want := hear(t, m, pcm)
	ids := want.Tokens
	for _, right := range []int{0, 1, len(ids) / 2, len(ids)} {
		tokens := slices.Clone(ids)
		if right < len(ids) {
			tokens[right] = 77
		}
		err := m.workspaces.use(func(w *moonshineWorkspace) error {
			w.sound = slices.Concat(make([]float32, moonshineLead), pcm, make([]float32, moonshineTail))
			if err := m.encode(t.Context(), w, int64(len(ids)+9)); err != nil {
				return err
			}
			found := greedy{limit: len(ids) + 9, end: moonshineEOS}
			take := func(logits []float32) (int64, bool) {
				id := argmax(logits)
				return id, found.add(id)
			}
			done, err := w.verify(tokens, take)
			n := len(found.ids)
			if err != nil || n < min(right, 4) || n > right+1 || !slices.Equal(found.ids[:n-1], ids[:n-1]) ||
				!done && w.length != int64(n) {
				t.Errorf("%d of %d tokens right: %v are taken of %v, %d stay in the decoder, done %v, %v", right,
					len(ids), found.ids, tokens, w.length, done, err)
			}
			for !done && err == nil {
				var logits []float32
				if logits, err = w.step(found.last(0)); err == nil {
					_, more := take(logits)
					done = !more
				}
			}
			if got := m.Text(found.ids); text.WordErrors(text.Words(want.Text), text.Words(got)) > 1 {
				t.Errorf("%d tokens right: %q, want %q", right, got, want.Text)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Between two pieces of a call no less urgent work runs, and more urgent work does.
func TestPiecesYieldOnlyToMoreUrgentWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := engine.NewGate(1)
		var order []string
		other := func(name string, p engine.Priority) {
			go func() {
				leave, err := gate.Enter(t.Context(), p.Urgency(), 1)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, name)
				leave()
			}()
			synctest.Wait()
		}
		n := 0
		err := runPieces(t.Context(), gate, engine.NewUrgency(engine.Speculative, time.Now().Add(time.Second)), 1,
			func() (bool, error) {
				n++
				order = append(order, "piece")
				switch n {
				case 1:
					other("ahead", engine.Prefetch)
				case 2:
					other("live", engine.Live)
				}
				return n == 3, nil
			})
		synctest.Wait()
		if want := []string{"piece", "piece", "live", "piece", "ahead"}; err != nil || !slices.Equal(order, want) {
			t.Errorf("%v %v, want %v", order, err, want)
		}
	})
}
