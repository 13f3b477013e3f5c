package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
)

// clipAfter returns a clip of silence and then a tone, of so many milliseconds each.
func clipAfter(t *testing.T, silence, ms int) []byte {
	t.Helper()
	pcm, err := audio.DecodeAll(tone(ms), 48000)
	if err != nil {
		t.Fatal(err)
	}
	return audio.EncodeWAV(append(make([]float32, 48*silence), pcm...), 48000)
}

// A caller measures from the last sound of a question to the first of its answer, and
// asks again after the answer has played.
func TestACallerIsTimedFromItsLastSoundToTheAnswersFirst(t *testing.T) {
	t.Parallel()
	const quiet, lead, answer = 10, 200, 300 // pieces of silence that end a turn; ms
	asked := make(chan time.Time, 2)
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		for {
			loud, silent := false, 0
			for !loud || silent < quiet {
				m := box.next(ctx)
				if m == nil {
					return
				}
				in, ok := m.(contract.AudioInput)
				switch {
				case !ok:
				case strings.Trim(string(in.Data), "\x00") == "":
					silent++
				default:
					if !loud {
						asked <- time.Now()
					}
					loud, silent = true, 0
				}
			}
			box.send(ctx, contract.AssistantMessage{ID: "a", Message: said("Paris.")})
			box.send(ctx, contract.AudioOutput{ID: "a", Data: clipAfter(t, lead, answer)})
			box.send(ctx, contract.AssistantEnd{})
		}
	})
	question, err := audio.DecodeAll(tone(500), chatRateHz)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	waited, err := testBox{url: url, key: "right"}.ask(t.Context(), question, 2, 0)
	if err != nil || len(waited) != 2 {
		t.Fatalf("%v, %v", waited, err)
	}
	// A busy machine makes everything later, never earlier.
	for _, d := range waited {
		if least := quiet*pieceDuration + lead*time.Millisecond; d < least-pieceDuration || d > time.Since(begun) {
			t.Errorf("waited %v for an answer that takes %v", d, least)
		}
	}
	if first, second := <-asked, <-asked; second.Sub(first) < 500*time.Millisecond+waited[0]+answer*time.Millisecond {
		t.Errorf("asked again after %v, before the answer was heard", second.Sub(first))
	}
}

func TestACallerSaysWhyThereIsNoAnswer(t *testing.T) {
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		box.send(ctx, contract.ModelTimedOut.Error("out of words"))
		for box.next(ctx) != nil {
		}
	})
	if _, err := (testBox{url: url, key: "right"}).ask(t.Context(), make([]float32, 1600), 1, 0); err == nil ||
		!strings.Contains(err.Error(), "out of words") {
		t.Errorf("%v", err)
	}
	if _, err := (testBox{url: url, key: "wrong"}).ask(t.Context(), nil, 1, 0); err == nil {
		t.Error("a caller that was refused got an answer")
	}
}

func TestTheSpeedOfAMachineIsMeasuredOnAFolderThatIsDeleted(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	code, out, errs := parley(t, "", "doctor", "--speed", "--profile", "test", "--packs", t.TempDir())
	if code != exitFailed || out != "" || !strings.Contains(errs, "parley packs pull") {
		t.Errorf("without packs: code %d, out %q, err %q", code, out, errs)
	}
	var errors, table strings.Builder
	c := &console{out: &table, err: &errors, environ: append(os.Environ(), "PARLEY_PROFILE=test")}
	cfg, err := config.Load(config.Sources{Environ: c.environ, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.measureSpeed(t.Context(), cfg, 1)
	if err != nil || len(s.Tried) != 1 || s.Tried[0].Answers == 0 || s.AnswerMS < 500 || s.SpeechPerSecond <= 0 ||
		s.FourCallers || (s.Callers == 1) != (s.Tried[0].InTime == s.Tried[0].Answers) || s.InTimeMS != 1800 {
		t.Errorf("%+v, %v, %s", s, err, errors.String())
	}
	if err := s.write(&table); err != nil || !strings.Contains(table.String(), "Four callers: no.") {
		t.Errorf("%v: %s", err, table.String())
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v is left of it, %v", left, err)
	}
}
