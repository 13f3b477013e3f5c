package appliance

import (
	"context"
	"log/slog"
	"math"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"parley/appliance/api"
	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/voices"
	"parley/firmware/backup"
	"parley/internal/version"
	"parley/store"
)

// A backup made during a chat, once restored, has the chat ended as an error at the end of
// its stored sound.
func TestRestoredBackupEndsItsLiveChat(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	live := filepath.Join(t.TempDir(), "live")
	records, err := store.Open(t.Context(), live, log)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	key, err := records.CreateKey(t.Context(), store.NewKey{Account: "home"})
	if err != nil {
		t.Fatal(err)
	}
	home, err := records.Account(t.Context(), "home")
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now().Add(-time.Minute).UnixMilli()
	chat := store.NewChat{
		ID:        contract.NewID(),
		GroupID:   contract.NewID(),
		AccountID: home.ID,
		StartedMS: begun,
		RequestID: "r",
		Recorded:  true,
	}
	if err := records.StartChat(t.Context(), chat, store.Event{
		ID:          contract.NewID(),
		AtMS:        begun + 2000,
		Type:        store.UserMessage,
		Role:        store.User,
		MessageText: "Hello",
	}); err != nil {
		t.Fatal(err)
	}
	user, assistant := beginSide(t, records, chat.ID, store.UserSide),
		beginSide(t, records, chat.ID, store.AssistantSide)
	user(0, 3300*time.Millisecond)
	assistant(4*time.Second, 1700*time.Millisecond)

	file := filepath.Join(t.TempDir(), "backup")
	box := backup.Box{Data: live, Version: version.String(),
		Database: func(ctx context.Context, file string, progress func(done, total int64)) (int64, error) {
			return store.Backup(ctx, live, file, progress)
		}}
	if _, err := backup.Make(t.Context(), box, file, nil); err != nil {
		t.Fatal(err)
	}
	user(10*time.Second, 5*time.Second) // the chat goes on in the live box
	schema, err := store.NewestSchema()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	check := func(context.Context, string) error { return nil }
	if _, _, err := backup.Restore(t.Context(), file, backup.Target{Data: elsewhere, Schema: schema, Check: check},
		nil); err != nil {
		t.Fatal(err)
	}

	cfg := config.Config{Data: elsewhere}
	a := &appliance{cfg: cfg, log: log}
	defer a.close()
	if err := a.openStore(t.Context()); err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(api.New(api.Parts{
		Keys:    a.records,
		Records: a.records,
		Voices:  voices.Voices{Config: cfg, Records: a.records},
		Models:  engines.Catalogue{Config: cfg},
		Ready:   &admission{},
		Log:     log,
	}))
	defer served.Close()
	b := &runningBox{url: served.URL, key: key.APIKey}
	got := b.get(t, "/v0/evi/chats/"+chat.ID)
	// A page of half a second is written when the next one starts.
	if length := time.Duration(got["end_timestamp"].(float64)-float64(
		begun)) * time.Millisecond; got["status"] != "ERROR" || length < 5*time.Second ||
		length > 5700*time.Millisecond {
		t.Errorf("the chat is %v and ended after %v", got["status"], length)
	}
	if audio := b.get(t, "/v0/evi/chats/"+chat.ID+"/audio"); audio["status"] != "COMPLETE" {
		t.Errorf("its sound is %v", audio)
	}
	pcm := b.hear(t, chat.ID)
	second := func(n int) float64 {
		return math.Sqrt(product(pcm[n*engine.SpeechRateHz:][:engine.SpeechRateHz/2],
			pcm[n*engine.SpeechRateHz:]) * 2 / engine.SpeechRateHz)
	}
	if len(pcm) > 6*engine.SpeechRateHz || second(1) < 0.2 || second(3) > 0.01 || second(4) < 0.2 {
		t.Errorf("%d samples, as loud as %.2f, %.2f, %.2f", len(pcm), second(1), second(3), second(4))
	}
}

// beginSide returns a function that writes a tone into one side of a chat, from a time on.
func beginSide(t *testing.T, records *store.Store, chatID string, side store.Side) func(at, length time.Duration) {
	t.Helper()
	f, err := records.CreateRecording(chatID, side)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	w, err := audio.NewOggOpusWriter(f, engine.SpeechRateHz, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	return func(at, length time.Duration) {
		t.Helper()
		from := int(at * engine.SpeechRateHz / time.Second)
		pcm := make([]float32, from-written+int(length*engine.SpeechRateHz/time.Second))
		for i := from - written; i < len(pcm); i++ {
			pcm[i] = float32(0.5 * math.Sin(2*math.Pi*500*float64(i)/engine.SpeechRateHz))
		}
		written += len(pcm)
		if err := w.Write(pcm); err != nil {
			t.Fatal(err)
		}
	}
}
