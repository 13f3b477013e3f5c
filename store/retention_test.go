package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/internal/layout"
)

// talk stores a chat that ended at a time, with a recording, and returns it.
func talk(t *testing.T, s *Store, account string, endedMS int64, n NewChat, said ...Event) NewChat {
	t.Helper()
	n.ID, n.AccountID, n.Recorded, n.RequestID = uuid.NewString(), account, true, "r"
	n.StartedMS = endedMS - 1000
	if n.GroupID == "" {
		n.GroupID = uuid.NewString()
	}
	must(t, s.StartChat(t.Context(), n, said...))
	for _, side := range []Side{UserSide, AssistantSide} {
		f, err := s.CreateRecording(n.ID, side)
		must(t, err)
		_, err = f.WriteString("sound")
		must(t, errors.Join(err, f.Close()))
	}
	must(t, s.EndChat(t.Context(), n.ID, UserEnded, endedMS))
	return n
}

func recordingsIn(t *testing.T, s *Store) (names []string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(s.dir, layout.Recordings))
	must(t, err)
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// The recording of a chat that is being deleted is not found any more, though its rows
// and files go later.
func TestChatInDeletionHasNoRecording(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	chat := talk(t, s, newAccount(t, s, "home"), 5000, NewChat{})
	must(t, s.Close())
	joined := joinStore(t, dir) // without a background deletion
	for _, step := range []string{
		`UPDATE chat_group SET account = 0 WHERE id = ?2`,
		`UPDATE chat SET account = 0, chat_group = 0 WHERE id = ?1`,
	} {
		before, err := joined.Recordings(t.Context(), chat.ID)
		must(t, err)
		must(t, joined.change(t.Context(), "deleting", func(ctx context.Context, c conn) error {
			return changeOne(ctx, c, step, chat.ID, chat.GroupID)
		}))
		after, err := joined.Recordings(t.Context(), chat.ID)
		must(t, err)
		if strings.Contains(step, "chat_group SET") && len(before) != 1 || len(after) != 0 {
			t.Errorf("after %s: %v, before: %v", step, after, before)
		}
	}
}

func TestRecordingIsCompleteWhenItsChatEnds(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	stored := talk(t, s, home, 5000, NewChat{})
	silent := startChat(t, s, home)
	live := NewChat{
		ID:        uuid.NewString(),
		GroupID:   uuid.NewString(),
		AccountID: home,
		RequestID: "r",
		Recorded:  true,
	}
	broken := NewChat{
		ID:        uuid.NewString(),
		GroupID:   uuid.NewString(),
		AccountID: home,
		RequestID: "r",
		Recorded:  true,
	}
	must(t, errors.Join(s.StartChat(t.Context(), live), s.StartChat(t.Context(), broken)))
	must(t, s.FailRecording(t.Context(), broken.ID))
	must(t, s.EndChat(t.Context(), broken.ID, UserEnded, 9000))
	check := func(want map[string]RecordingStatus) {
		t.Helper()
		got, err := s.Recordings(t.Context(), stored.ID, silent.ID, live.ID, broken.ID, "none")
		must(t, err)
		if len(got) != len(want) {
			t.Errorf("recordings are %v, want %v", got, want)
		}
		for id, status := range want {
			if got[id].Status != status || id == stored.ID && got[id].ModifiedMS != 5000 {
				t.Errorf("recording of %s is %v, want %s", id, got[id], status)
			}
		}
	}
	check(map[string]RecordingStatus{stored.ID: Recorded, live.ID: Recording, broken.ID: RecordingFailed})
	_, err := s.EndOpenChats(t.Context(), 1000, func(string) time.Duration { return 0 }) // as after a crash
	must(t, err)
	check(map[string]RecordingStatus{stored.ID: Recorded, live.ID: Recorded, broken.ID: RecordingFailed})
	if _, err := s.CreateRecording(stored.ID, UserSide); err == nil {
		t.Error("a recording can be written over")
	}
	_, err = s.OpenRecording(live.ID, UserSide)
	wantError(t, err, ErrNotFound)
	wantError(t, s.FailRecording(t.Context(), silent.ID), ErrNotFound)
}

func TestDeletedGroupLeavesNoTrace(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	home := newAccount(t, s, "home")
	const secret = "the treasure lies under the third oak"
	first := talk(t, s, home, 5000, NewChat{}, said(secret))
	talk(t, s, home, 6000, NewChat{GroupID: first.GroupID, Resume: true}, said(secret))
	other := talk(t, s, home, 7000, NewChat{}, said("nothing special"))
	live := startChat(t, s, home)
	wantError(t, s.DeleteChatGroup(t.Context(), home, live.GroupID), ErrActive)

	must(t, s.DeleteChatGroup(t.Context(), home, first.GroupID))
	wantError(t, s.DeleteChatGroup(t.Context(), home, first.GroupID), ErrNotFound)
	if got := strings.Join(recordingsIn(t, s), " "); got != other.ID+"-assistant.opus "+other.ID+"-user.opus" {
		t.Errorf("the recordings are %s", got)
	}
	files, err := filepath.Glob(filepath.Join(dir, "parley.db*"))
	must(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		must(t, err)
		if bytes.Contains(data, []byte(secret)) || bytes.Contains(data, []byte(first.ID)) {
			t.Errorf("%s still has what was deleted", filepath.Base(file))
		}
	}
}

func TestOnlyOldChatsAreDeleted(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	var old []NewChat
	for range 2*chatsAtOnce + 1 {
		old = append(old, talk(t, s, home, 5000, NewChat{}, said("old")))
	}
	long := talk(t, s, home, 5000, NewChat{}, said("old"))
	newer := talk(t, s, home, 50_000, NewChat{GroupID: long.GroupID, Resume: true}, said("new"))
	live := startChat(t, s, home) // at 1000, and it still goes on

	deleted, err := s.Expire(t.Context(), 10_000)
	must(t, err)
	if deleted != len(old)+1 {
		t.Errorf("%d chats were deleted, want %d", deleted, len(old)+1)
	}
	_, err = s.Chat(t.Context(), home, old[0].ID)
	wantError(t, err, ErrNotFound)
	groups, total, err := s.ChatGroups(t.Context(), home, "", Page{Size: 10})
	must(t, err)
	if total != 2 || groups[0].ID != long.GroupID || groups[0].NumChats != 1 ||
		groups[0].FirstStartMS != newer.StartedMS || groups[1].ID != live.GroupID {
		t.Errorf("the groups are %+v", groups)
	}
	if got := len(recordingsIn(t, s)); got != 2 {
		t.Errorf("%d recordings are left, want 2", got)
	}
	if deleted, err := s.Expire(t.Context(), 10_000); err != nil || deleted != 0 {
		t.Errorf("again %d, %v", deleted, err)
	}
}

func TestTidyRemovesFilesWithoutARow(t *testing.T) {
	s := openStore(t, t.TempDir())
	must(t, s.Tidy(t.Context(), 0)) // without a folder
	must(t, os.MkdirAll(filepath.Join(s.dir, layout.Recordings), 0o700))
	must(t, s.Tidy(t.Context(), 0)) // an empty folder
	stored := talk(t, s, newAccount(t, s, "home"), 5000, NewChat{})
	folder := filepath.Join(s.dir, layout.Recordings)
	for _, name := range []string{uuid.NewString() + "-user.opus", "notes.txt", "no-side.opus"} {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600))
	}
	aside := filepath.Join(s.dir, "parley-before-v4.db")
	must(t, os.WriteFile(aside, []byte("x"), 0o600))
	must(t, s.Tidy(t.Context(), 0))
	if _, err := os.Stat(aside); err != nil {
		t.Error("the copy of an upgrade was deleted, though chats are retained for ever")
	}
	must(t, s.Tidy(t.Context(), time.Now().Add(time.Hour).UnixMilli()))
	if _, err := os.Stat(aside); err == nil {
		t.Error("the copy of an upgrade outlives the chats in it")
	}
	if got := strings.Join(recordingsIn(t, s), " "); got != stored.ID+"-assistant.opus "+stored.ID+
		"-user.opus no-side.opus notes.txt" {
		t.Errorf("the folder has %s", got)
	}
}

// A dropped recording is as if it never was, and its chat stays; the recording of an
// active chat cannot be dropped. Files that a crash leaves are removed.
func TestDroppedRecordingLeavesTheChat(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, other := newAccount(t, s, "home"), newAccount(t, s, "other")
	late, early := talk(t, s, home, 9000, NewChat{}), talk(t, s, other, 5000, NewChat{})
	live := NewChat{
		ID:        uuid.NewString(),
		GroupID:   uuid.NewString(),
		AccountID: home,
		RequestID: "r",
		Recorded:  true,
	}
	must(t, s.StartChat(t.Context(), live))
	f, err := s.CreateRecording(live.ID, UserSide)
	must(t, err)
	must(t, f.Close())
	stored, err := s.StoredSounds(t.Context())
	must(t, err)
	want := []StoredSound{{early.ID, other, 5000, 10}, {late.ID, home, 9000, 10}, {live.ID, home, 0, 0}}
	if !slices.Equal(stored, want) {
		t.Errorf("stored are %v, want %v", stored, want)
	}
	must(t, s.DropSounds(t.Context(), []string{early.ID, live.ID, "nobody"}))
	if got := fmt.Sprint(recordingsIn(t, s)); strings.Contains(got, early.ID) || !strings.Contains(got, late.ID) ||
		!strings.Contains(got, live.ID) {
		t.Errorf("left are %s", got)
	}
	known, err := s.Recordings(t.Context(), early.ID, late.ID, live.ID)
	must(t, err)
	if _, there := known[early.ID]; there || len(known) != 2 {
		t.Errorf("known are %v", known)
	}
	if _, err := s.Chat(t.Context(), other, early.ID); err != nil {
		t.Errorf("the chat: %v", err)
	}
	if u, err := s.Usage(t.Context(), other); err != nil || u.SoundBytes != 0 {
		t.Errorf("its account holds %+v, %v", u, err)
	}
	// As a crash leaves it: the row is gone, the file not yet.
	must(t, os.WriteFile(s.recordingPath(early.ID, UserSide), []byte("x"), 0o600))
	must(t, s.Tidy(t.Context(), 0))
	if got := fmt.Sprint(recordingsIn(t, s)); strings.Contains(got, early.ID) || !strings.Contains(got, live.ID) {
		t.Errorf("left are %s", got)
	}
}

func TestSecretIsCreatedOnceAndStored(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	a, err := s.Secret(t.Context(), "a")
	must(t, err)
	b, err := s.Secret(t.Context(), "b")
	must(t, err)
	must(t, s.Close())
	again, err := openStore(t, dir).Secret(t.Context(), "a")
	must(t, err)
	if len(a) != 32 || bytes.Equal(a, b) || !bytes.Equal(a, again) {
		t.Errorf("%x and %x, then %x", a, b, again)
	}
}
