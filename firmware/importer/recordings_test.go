package importer

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/audio"
	"parley/internal/layout"
	"parley/store"
)

// tone writes a recording of half a second in a format that ffmpeg makes.
func tone(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "sine=440:duration=0.5", path).
		CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s: install ffmpeg, as make test does", err, out)
	}
}

// Recordings find their chats by names, folders and links, and are stored as the box
// records: complete, mixed in one side.
func TestRecordingsAreStoredAsTheBoxRecords(t *testing.T) {
	b := newBox(t)
	b.Settings.RecordingDays = 30
	dir := files(t, map[string]string{
		"chats.json":             chatRecord(1, 9) + chatRecord(2, 9) + chatRecord(3, 9) + chatRecord(4, 9),
		"audio.json":             `{"id":"` + id(3) + `","user_id":"u","status":"COMPLETE","filename":"third.mp4"}`,
		"chat_" + id(4) + ".ogg": "not a sound",
	})
	tone(t, filepath.Join(dir, "chat_"+strings.ToUpper(id(1))+".mp3"))
	tone(t, filepath.Join(dir, id(1)+".wav"))
	tone(t, filepath.Join(dir, id(2), "audio.aiff")) // only ffmpeg reads it
	tone(t, filepath.Join(dir, "third.mp4"))
	tone(t, filepath.Join(dir, id(77)+".wav"))
	b.From = dir
	im, err := Read(t.Context(), b.Options)
	b.must(err)
	defer func() { b.must(im.Close()) }()
	r, err := im.Run(t.Context(), true)
	b.must(err)
	b.want(r, kindRecording, 3)
	for _, line := range []string{
		"another recording, which was taken", "neither its name nor its folder is the id of a chat", "with ffmpeg:",
		"3 of the new recordings are of chats that ended more than 30 days ago",
	} {
		b.wantLine(r, line)
	}
	stored, err := b.Store.StoredSounds(t.Context())
	if b.must(err); len(stored) != 3 || stored[0].Bytes < 1000 {
		t.Errorf("the box has the recordings %+v", stored)
	}
	for n := 1; n <= 3; n++ {
		for side, length := range map[store.Side]int{store.UserSide: 8000, store.AssistantSide: 0} {
			f, err := b.Store.OpenRecording(id(n), side)
			b.must(err)
			data, err := os.ReadFile(f.Name())
			b.must(err)
			pcm, err := audio.DecodeAll(data, 16000)
			if err != nil || len(pcm) < length-400 || len(pcm) > length+2500 || !audio.CompleteRecording(data) {
				t.Errorf("chat %d, %s: %d samples, %v", n, side, len(pcm), err)
			}
			if _, err := audio.NewOpusFile(bytes.NewReader(data), int64(len(data))); err != nil {
				t.Errorf("chat %d, %s: %v", n, side, err)
			}
			b.must(f.Close())
		}
	}
	expected, err := store.SoundFiles(t.Context(), b.data)
	if err != nil || len(expected) != 6 {
		t.Errorf("parley doctor expects %v, %v", expected, err)
	}
	if again, err := im.Run(t.Context(), true); err != nil || again.New() != 0 || again.count(kindRecording).Here != 4 {
		t.Errorf("the second import: %v\n%s", err, lines(again))
	}
	// The files survive a night, and go with their chats.
	b.must(b.Store.Tidy(t.Context(), 0))
	b.must(b.Store.DeleteChatGroup(t.Context(), b.Account.ID, id(9)))
	if left, err := os.ReadDir(filepath.Join(b.data, layout.Recordings)); err != nil || len(left) != 0 {
		t.Errorf("after the deletion there is %v, %v", left, err)
	}
}
