package appliance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/recording"
	"parley/internal/layout"
	"parley/store"
)

// ended waits until a chat is over, and returns it with its events.
func (b *runningBox) ended(t *testing.T, id string) map[string]any {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); ; <-time.After(50 * time.Millisecond) {
		chat := b.get(t, "/v0/evi/chats/"+id+"?page_size=100")
		if chat["status"] != "ACTIVE" {
			return chat
		}
		if time.Now().After(deadline) {
			t.Fatalf("chat %s is still live", id)
		}
	}
}

// The recording of a chat has both sides: the question, and an answer up to the user's
// interruption.
func recordingOfAChatCanBeFetched(t *testing.T, b *runningBox) {
	c := b.call(t, linear16)
	begun := c.until("chat_metadata", 1, waitLimit)[0].ServerMessage.(contract.ChatMetadata)
	c.send(contract.AssistantInput{Text: longSpeech})
	c.until("audio_output", 1, waitLimit)
	<-time.After(4 * time.Second) // the first sentence, and a part of the second
	stop := make(chan struct{})
	asked, began := recordingPCM(t, question), time.Since(c.begun)
	spoken := c.say(asked, stop)
	heard := c.until("user_interruption", 1, waitLimit)
	interrupted := heard[len(heard)-1].at
	<-spoken
	<-time.After(3 * time.Second) // until a busy box has heard it; it need not understand it
	close(stop)
	if got := b.get(t, "/v0/evi/chats/"+begun.ChatID+"/audio"); got["status"] != "IN_PROGRESS" {
		t.Errorf("while it is live: %v", got)
	}
	c.conn.CloseNow()
	events := fmt.Sprint(b.ended(t, begun.ChatID))
	for _, kind := range []contract.ChatEventType{contract.EventChatStart, contract.EventSessionSettings,
		contract.EventSystemPrompt, contract.EventUserRecordingStart,
		contract.EventAgentMessage, contract.EventUserInterruption, contract.EventChatEnd} {
		if !strings.Contains(events, string(kind)) {
			t.Errorf("there is no %s in %s", kind, events)
		}
	}
	pcm := b.hear(t, begun.ChatID)

	// The start of the question overlaps the assistant's last words. So it is searched
	// on the user's side, and in the mixed recording after the overlap.
	file, err := os.ReadFile(filepath.Join(b.cfg.Data, layout.Recordings,
		begun.ChatID+"-"+string(store.UserSide)+".opus"))
	if err != nil {
		t.Fatal(err)
	}
	user, err := audio.DecodeAll(file, engine.SpeechRateHz)
	if err != nil {
		t.Fatal(err)
	}
	wantHeard(t, "the question, on the user's side,", matched(asked, user))
	over := int((interrupted + slack - began) * engine.SpeechRateHz / time.Second)
	if over < len(asked)-engine.SpeechRateHz { // otherwise the box was too busy to be interrupted sooner
		wantHeard(t, "the question after the interruption", matched(asked[over:], pcm))
	}
	said, played := 0, playbacks(t, heard)
	for _, text := range strings.SplitAfter(longSpeech, ". ") {
		text = strings.TrimSpace(text)
		s, sent := played[text]
		switch {
		case !sent || s.begin > interrupted+slack:
			wantUnheard(t, text, matched(s.pcm, pcm))
			if strings.Contains(events, text) {
				t.Errorf("%q was not spoken and is in %s", text, events)
			}
		case s.end+slack < began:
			wantHeard(t, text, matched(s.pcm, pcm))
			if said++; !strings.Contains(events, text) {
				t.Errorf("%q is not in %s", text, events)
			}
		}
	}
	if said == 0 {
		t.Errorf("no sentence was spoken before the question: %s", types(heard))
	}
}

// slack is how much later than the box a client on a busy machine may notice something.
const slack = 500 * time.Millisecond

// hear returns the recording of a chat that is over, at 16 kHz.
func (b *runningBox) hear(t *testing.T, id string) []float32 {
	t.Helper()
	link := b.get(t, "/v0/evi/chats/"+id+"/audio")["signed_audio_url"].(string)
	answer, err := http.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	wav, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("%d, %v", answer.StatusCode, err)
	}
	pcm, err := audio.DecodeAll(wav, engine.SpeechRateHz)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// playback is when a client plays a sentence of the assistant, if it plays one after the
// other.
type playback struct {
	pcm        []float32
	begin, end time.Duration
}

// playbacks returns the playbacks of all sentences, by their text.
func playbacks(t *testing.T, heard []receivedMessage) map[string]playback {
	t.Helper()
	all := map[string]playback{}
	var silent time.Duration
	text := ""
	for _, m := range heard {
		switch message := m.ServerMessage.(type) {
		case contract.AssistantMessage:
			text = message.Message.Content
		case contract.AudioOutput:
			pcm, err := audio.DecodeAll(message.Data, engine.SpeechRateHz)
			if err != nil {
				t.Fatal(err)
			}
			begin := max(m.at, silent)
			silent = begin + time.Duration(len(pcm))*time.Second/engine.SpeechRateHz
			s, more := all[text]
			if !more {
				s.begin = begin
			}
			s.pcm, s.end = append(s.pcm, pcm...), silent
			all[text] = s
		}
	}
	return all
}

func TestWithoutHistoryNoChatIsWritten(t *testing.T) {
	b := startBox(t, withScriptedModel(t), func(c *config.Config) { c.Retention.History = false })
	c := b.call(t, "")
	c.until("chat_metadata", 1, waitLimit)
	c.send(contract.UserInput{Text: "The password is rhubarb."})
	c.until("assistant_end", 1, waitLimit)
	c.conn.CloseNow()
	again := b.call(t, "&resumed_chat_group_id="+contract.NewID())
	heard := again.until("error", 1, waitLimit)
	if e := heard[len(heard)-1].ServerMessage.(contract.WebSocketError); e.Code != contract.NoDataRetention {
		t.Errorf("resuming: %s %s", e.Code, e.Message)
	}
	if got := b.get(t, "/v0/evi/chats"); got["total_pages"] != 0.0 {
		t.Errorf("chats: %v", got)
	}
	if err := b.stop(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(b.cfg.Data, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if filepath.Base(file) == layout.Recordings {
			t.Error("there is a folder of recordings")
		}
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "rhubarb") {
			t.Errorf("%s contains the conversation", filepath.Base(file))
		}
	}
}

func TestSweepDeletesOldChats(t *testing.T) {
	records, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	if _, err := records.CreateKey(t.Context(), store.NewKey{Account: "home"}); err != nil {
		t.Fatal(err)
	}
	home, err := records.Account(t.Context(), "home")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, days := range []int{40, 31, 29, 0} {
		id, ended := contract.NewID(), now.AddDate(0, 0, -days)
		n := store.NewChat{
			ID:        id,
			GroupID:   contract.NewID(),
			AccountID: home.ID,
			StartedMS: ended.UnixMilli() - 1000,
			RequestID: "r",
		}
		if err := records.StartChat(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		if err := records.EndChat(t.Context(), id, store.UserEnded, ended.UnixMilli()); err != nil {
			t.Fatal(err)
		}
	}
	left := func() int {
		_, total, err := records.Chats(t.Context(), home.ID, store.ChatFilter{}, store.Page{Size: 10})
		if err != nil {
			t.Fatal(err)
		}
		return total
	}
	log := slog.New(slog.DiscardHandler)
	if _, err := sweepChats(t.Context(), config.Retention{}, records, now, log); err != nil || left() != 4 {
		t.Errorf("without a limit %d of 4 are left, %v", left(), err)
	}
	cfg := config.Config{Data: t.TempDir(), Retention: config.Retention{Days: 30}}
	stop := inBackground(t.Context(), func(ctx context.Context) { sweeping(ctx, cfg, records, log) })
	for deadline := time.Now().Add(time.Minute); left() != 2 && time.Now().Before(deadline); {
		<-time.After(10 * time.Millisecond)
	}
	stop()
	if left() != 2 {
		t.Errorf("%d are left, want those of 29 days and of today", left())
	}
}

// A box that finds recordings that are too old announces their deletion and waits. After
// that it deletes them.
func TestRecordingsAreDeletedAfterTheNotice(t *testing.T) {
	data := t.TempDir()
	records, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	if _, err := records.CreateKey(t.Context(), store.NewKey{Account: "home"}); err != nil {
		t.Fatal(err)
	}
	home, err := records.Account(t.Context(), "home")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	record := func(days int) (id string) {
		ended := now.AddDate(0, 0, -days)
		id = contract.NewID()
		n := store.NewChat{
			ID:        id,
			GroupID:   contract.NewID(),
			AccountID: home.ID,
			StartedMS: ended.UnixMilli() - 1000,
			RequestID: "r",
			Recorded:  true,
		}
		f, err := records.CreateRecording(id, store.UserSide)
		if err == nil {
			err = errors.Join(f.Close(), records.StartChat(t.Context(), n),
				records.EndChat(t.Context(), id, store.UserEnded, ended.UnixMilli()))
		}
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	old, fresh := record(40), record(29)
	cfg := config.Config{Data: data, Limits: config.Limits{RecordingsDays: 30}}
	pass := func(days int) (log string, left map[string]store.ChatRecording) {
		t.Helper()
		var out bytes.Buffer
		_, err := sweepRecordings(t.Context(), cfg, records, now.AddDate(0, 0, days), days == 0,
			slog.New(slog.NewTextHandler(&out, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if left, err = records.Recordings(t.Context(), old, fresh); err != nil {
			t.Fatal(err)
		}
		return out.String(), left
	}
	if log, left := pass(0); len(left) != 2 || !strings.Contains(log, "will be deleted") ||
		!strings.Contains(log, "days=30") {
		t.Errorf("at the first start %v are left, and it says %s", left, log)
	}
	n, err := recording.ReadNotice(cfg.Data)
	if err != nil || n.Recordings != 1 || n.From.Before(now.AddDate(0, 0, 6)) {
		t.Errorf("the doctor hears %+v, %v", n, err)
	}
	if _, left := pass(6); len(left) != 2 {
		t.Errorf("in the first week %v are left", left)
	}
	if log, left := pass(8); len(left) != 0 || !strings.Contains(log, "deleted recordings") {
		t.Errorf("after it %v are left, and it says %s", left, log)
	}
	if _, err := records.Chat(t.Context(), home.ID, old); err != nil {
		t.Errorf("the chat: %v", err)
	}
}
