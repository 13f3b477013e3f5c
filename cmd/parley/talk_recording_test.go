package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

func TestARecordingIsSentInRealTimeWithSilenceBehind(t *testing.T) {
	t.Parallel()
	question := make([]float32, 16000/2)
	for i := range question {
		question[i] = 0.25
	}
	in, out := filepath.Join(t.TempDir(), "in.wav"), filepath.Join(t.TempDir(), "out.wav")
	if err := os.WriteFile(in, audio.EncodeWAV(question, 16000), 0o644); err != nil {
		t.Fatal(err)
	}
	var loud, quiet atomic.Int32
	begun := time.Now() // before anything is sent, for this box may read it late
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		s, ok := box.next(ctx).(contract.SessionSettings)
		if !ok || s.Audio == nil || s.Audio.SampleRate != 16000 || s.Audio.Channels != 1 {
			t.Errorf("settings %+v", s)
		}
		for {
			m, ok := box.next(ctx).(contract.AudioInput)
			if !ok {
				return
			}
			if len(m.Data) != 640 {
				t.Errorf("%d bytes, want 20 ms", len(m.Data))
			}
			if m.Data[1] != 0 {
				if loud.Add(1) == 25 {
					if d := time.Since(begun); d < 400*time.Millisecond {
						t.Errorf("half a second was sent in %v", d)
					}
				}
				continue
			}
			if quiet.Add(1) != 10 {
				continue
			}
			box.send(ctx,
				contract.UserMessage{Message: contract.ChatMessage{Role: contract.RoleUser, Content: "Hello?"},
					Time: contract.MillisecondInterval{Begin: 120}})
			box.send(ctx, contract.AssistantMessage{ID: "a", Message: said("Yes.")})
			box.send(ctx, contract.AudioOutput{ID: "a", Data: tone(300)})
			box.send(ctx, contract.AssistantMessage{ID: "b", Message: said("And no.")})
			box.send(ctx, contract.AudioOutput{ID: "b", Data: tone(300)})
			box.send(ctx, contract.AssistantEnd{})
		}
	})
	code, text, errs := talk(t, url, "", "--wav", in, "--out", out, "--both")
	if code != exitDone || loud.Load() != 25 {
		t.Fatalf("code %d, %d loud pieces, want 25: %s", code, loud.Load(), errs)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 3 || strings.Join(strings.Fields(lines[0]), " ") != "0.12 s you Hello?" ||
		!strings.HasSuffix(lines[1], "Yes.") || !strings.HasSuffix(lines[2], "And no.") {
		t.Errorf("printed\n%s", text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	both, err := audio.DecodeAll(data, 48000) // the mean of both sides
	if err != nil {
		t.Fatal(err)
	}
	// The user is heard from the beginning, half a second, and the answer right
	// behind the ten pieces of silence (200 ms), for 600 ms.
	end := len(both)
	if end < 48*1250 || end > 48*1700 {
		t.Errorf("%d ms were recorded, want about 1300", end/48)
	}
	if peak(both[48*20:48*480]) < 0.1 || peak(both[48*540:48*680]) > 0.01 || peak(both[end-48*500:]) < 0.2 {
		t.Errorf("loudness user %.2f, pause %.2f, answer %.2f", peak(both[48*20:48*480]), peak(both[48*540:48*680]),
			peak(both[end-48*500:]))
	}
}

func peak(pcm []float32) (p float32) {
	for _, s := range pcm {
		p = max(p, s, -s)
	}
	return p
}

func TestAnInterruptionCutsWhatIsHeard(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "in.wav"), filepath.Join(t.TempDir(), "out.wav")
	if err := os.WriteFile(in, audio.EncodeWAV(make([]float32, 1600), 16000), 0o644); err != nil {
		t.Fatal(err)
	}
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		box.next(ctx)
		box.send(ctx, contract.AssistantMessage{ID: "a", Message: said("A long story.")})
		box.send(ctx, contract.AudioOutput{ID: "a", Data: tone(10_000)})
		time.Sleep(500 * time.Millisecond)
		box.send(ctx, contract.UserInterruption{Time: time.Now().UnixMilli()})
		box.conn.Close(websocket.StatusNormalClosure, "over")
	})
	code, text, errs := talk(t, url, "", "--wav", in, "--out", out)
	if code != exitDone || !strings.Contains(text, "(interrupted)") {
		t.Fatalf("code %d, %q, %s", code, text, errs)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	// of ten seconds
	if pcm, err := audio.DecodeAll(data, 48000); err != nil || len(pcm) < 48*400 || len(pcm) > 48*5000 {
		t.Errorf("%d ms were recorded (%v), want about 500", len(pcm)/48, err)
	}
}

func silentWAV(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "silence.wav")
	if err := os.WriteFile(file, audio.EncodeWAV(make([]float32, 1600), 16000), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestARecordingWithoutSpeechIsSaidToBeOne(t *testing.T) {
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		for box.next(ctx) != nil {
		}
	})
	begun := time.Now()
	code, out, errs := talk(t, url, "", "--wav", silentWAV(t))
	took := time.Since(begun)
	if code != exitFailed || out != "" || !strings.Contains(errs, "silence.wav: the box heard no speech") ||
		took > atOnce {
		t.Errorf("code %d after %v, %q, %q", code, took, out, errs)
	}
}

func TestABoxThatHeardAVoiceIsWaitedFor(t *testing.T) {
	t.Parallel()
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		box.next(ctx)
		said := func(interim bool) {
			box.send(ctx, contract.UserMessage{Interim: interim,
				Message: contract.ChatMessage{Role: contract.RoleUser, Content: "Hello?"}})
		}
		time.Sleep(voiceTimeout / 10)
		said(true)
		time.Sleep(voiceTimeout + 500*time.Millisecond)
		said(false)
		box.send(ctx, contract.AssistantEnd{})
		box.conn.Close(websocket.StatusNormalClosure, "")
	})
	if code, out, errs := talk(t, url, "", "--wav", silentWAV(t)); code != exitDone ||
		strings.Count(out, "Hello?") != 1 {
		t.Errorf("code %d, %q, %q", code, out, errs)
	}
}

func TestAnUnreadableRecordingIsSaidBeforeTheBoxIsAsked(t *testing.T) {
	text := filepath.Join(t.TempDir(), "notes.wav")
	if err := os.WriteFile(text, []byte("buy milk and bread, and call the plumber"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{text, "/not/there.wav", t.TempDir()} {
		code, _, errs := parley(t, "", "talk", "--url", "ws://127.0.0.1:1", "--key", "k", "--wav", file)
		if code != exitMisuse || !strings.Contains(errs, file) {
			t.Errorf("%s: code %d, %q", file, code, errs)
		}
	}
}

func TestWhatWasSaidIsKeptOnCtrlC(t *testing.T) {
	out, answered := filepath.Join(t.TempDir(), "out.wav"), make(chan struct{})
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		box.next(ctx)
		box.next(ctx)
		box.send(ctx, contract.AssistantMessage{ID: "a", Message: said("A long story.")})
		box.send(ctx, contract.AudioOutput{ID: "a", Data: tone(10_000)})
		time.Sleep(300 * time.Millisecond) // for the clip to be taken
		close(answered)
		for box.next(ctx) != nil {
		}
	})
	cmd := program(t, nil, "talk", "--text", "--url", url, "--key", "right", "--out", out)
	cmd.Stdin = strings.NewReader("tell me a story\n")
	code, errs, took := signalWhenReady(t, cmd, answered, syscall.SIGINT)
	if want := "parley: interrupted: " + out + " has the conversation up to here\n"; code != 130 || errs != want ||
		took > atOnce {
		t.Errorf("code %d after %v, %q; want 130, %q", code, took, errs, want)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	// of ten seconds
	if pcm, err := audio.DecodeAll(data, 48000); err != nil || len(pcm) < 48*200 || len(pcm) > 48*8000 {
		t.Errorf("%d ms, %v", len(pcm)/48, err)
	}
}
