package chat

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/audio"
	"parley/appliance/chat/record"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/appliance/recording"
	"parley/store"
)

// archive stores the recordings of one chat in a folder.
type archive struct {
	t   *testing.T
	dir string
}

func (a *archive) path(side store.Side) string { return filepath.Join(a.dir, string(side)+".opus") }

func (a *archive) CreateRecording(_ string, side store.Side) (*os.File, error) {
	return os.Create(a.path(side))
}

func (a *archive) FailRecording(context.Context, string) error {
	a.t.Error("the recording is not whole")
	return nil
}

func (a *archive) Recorder(chatID string, clock func() time.Duration, log *slog.Logger) Recorder {
	return recording.New(chatID, a, recording.NewSyncer(), clock, log)
}

// hear returns one side of the recorded chat at 16 kHz.
func (a *archive) hear(side store.Side) []float32 {
	a.t.Helper()
	data, err := os.ReadFile(a.path(side))
	if err != nil {
		a.t.Fatal(err)
	}
	pcm, err := audio.DecodeAll(data, engine.SpeechRateHz)
	if err != nil {
		a.t.Fatal(err)
	}
	return pcm
}

const ms = time.Millisecond

func beep(rateHz int, length time.Duration) []float32 {
	pcm := make([]float32, audio.Samples(length, rateHz))
	for i := range pcm {
		pcm[i] = float32(0.5 * math.Sin(2*math.Pi*800*float64(i)/float64(rateHz)))
	}
	return pcm
}

// sounding returns the times at which sound in pcm begins and ends, in pairs. Gaps under 15 ms do not count,
// because a tone crosses zero.
func sounding(pcm []float32) (times []time.Duration) {
	last := -1
	at := func(i int) time.Duration { return time.Duration(i) * time.Second / engine.SpeechRateHz }
	for i, v := range pcm {
		if v > -0.1 && v < 0.1 {
			continue
		}
		if gap := engine.SpeechRateHz * 15 / 1000; last < 0 || i-last > gap {
			if last >= 0 {
				times = append(times, at(last))
			}
			times = append(times, at(i))
		}
		last = i
	}
	if last >= 0 {
		times = append(times, at(last))
	}
	return times
}

// The recording has the user and the assistant, and an interruption cuts the answer.
func TestASessionIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := newFakes(), &archive{t: t, dir: t.TempDir()}
		h := hostOf(voiced{f, enginetest.FixedSound(24000, beep(24000, time.Second))}, func(p *Parts) {
			p.Recordings = s
		})
		c := begin(t, h, connection.Opening{Line: f})
		if err := c.Receive(contract.UserInput{Text: "Hello"}); err != nil {
			t.Fatal(err)
		}
		f.until(t, "assistant_end") // two sentences of a second and a pause each
		<-time.After(700 * ms)
		interrupted := c.clock()
		if err := c.Receive(contract.PauseAssistantMessage{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(400 * ms)
		loud := beep(engine.SpeechRateHz, 200*ms)
		spoke := c.clock()
		if err := c.Hear(loud); err != nil {
			t.Fatal(err)
		}
		<-time.After(100 * ms)
		c.HangUp()
		<-c.Done()
		assistant, user := sounding(s.hear(store.AssistantSide)), sounding(s.hear(store.UserSide))
		if n := len(assistant); n != 2 || (assistant[n-1]-interrupted).Abs() > 20*ms {
			t.Errorf("the assistant sounds %v, interrupted at %v", assistant, interrupted)
		}
		// A piece of 200 ms that comes now began 200 ms ago.
		if len(user) != 2 || (user[1]-spoke).Abs() > 20*ms || (user[1]-user[0]-200*ms).Abs() > 20*ms {
			t.Errorf("the user sounds %v, and came at %v", user, spoke)
		}
	})
}

// The longest text that a client may dictate, spoken by a slow voice, is recorded completely: twelve minutes,
// although it can be made in a second.
func TestALongTextIsRecordedToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := newFakes(), &archive{t: t, dir: t.TempDir()}
		h := hostOf(voiced{f, enginetest.FixedSound(24000, make([]float32, 24000*135/100))}, func(p *Parts) {
			p.Recordings = s
		})
		c := begin(t, h, connection.Opening{Line: f})
		const sentence = "This is a sentence. "
		const sentences = contract.MaxInputChars / len(sentence)
		const whole = time.Duration(sentences) * 1500 * ms
		if err := c.Receive(contract.AssistantInput{Text: strings.Repeat(sentence, sentences)}); err != nil {
			t.Fatal(err)
		}
		<-time.After(whole)
		c.HangUp()
		<-c.Done()
		data, err := os.ReadFile(s.path(store.AssistantSide))
		if err != nil {
			t.Fatal(err)
		}
		// The granule position of the last page is its end, at 48 kHz (RFC 7845).
		last := data[bytes.LastIndex(data, []byte("OggS"))+6:]
		if got := time.Duration(binary.LittleEndian.Uint64(last)) * time.Second / 48000; got < whole-time.Second {
			t.Errorf("%v of %v are recorded", got, whole)
		}
	})
}

func TestWithoutHistoryNothingIsStoredOrResumed(t *testing.T) {
	f := newFakes()
	h := hostOf(f, func(p *Parts) { p.Records, p.MaxChats = record.Unrecorded{}, 2 })
	c := begin(t, h, connection.Opening{Line: f})
	if err := c.Receive(contract.UserInput{Text: "Hello"}); err != nil {
		t.Fatal(err)
	}
	f.until(t, "assistant_end")
	c.HangUp()
	<-c.Done()
	if len(f.stored) != 0 {
		t.Errorf("stored %v", f.stored)
	}
	_, err := enter(t, h,
		connection.Opening{Line: f, Settings: contract.ConnectSettings{ResumedChatGroupID: contract.NewID()}})
	if fault, ok := errors.AsType[contract.Fault](err); !ok || fault.Code != contract.NoDataRetention {
		t.Errorf("resuming: %v", err)
	}
}
