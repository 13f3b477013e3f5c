package bus_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/fleet"
	"parley/fleet/bus"
	"parley/fleet/fleettest"
)

// bounded ends a test that hangs.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func factsOf(box string, chats ...string) fleet.Facts {
	f := fleet.Facts{ID: uuid.NewString(), Box: box}
	for _, c := range chats {
		f.Facts = append(f.Facts, fleet.Fact{AtMS: 1, Chat: &fleet.Chat{ID: c, Account: "default"}})
	}
	return f
}

// readFacts reads until n messages have come.
func readFacts(t *testing.T, h *bus.Hub, after bus.Position, n int) []bus.Received {
	t.Helper()
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	var all []bus.Received
	err := h.Facts(ctx, after, func(_ context.Context, r []bus.Received) error {
		if all = append(all, r...); len(all) >= n {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("after %d of %d messages: %v", len(all), n, err)
	}
	return all
}

func TestFactsReachTheHubInOrder(t *testing.T) {
	onTheServers(t, func(t *testing.T, f *fleettest.Fleet) {
		b, h := f.Box(t, f.Join(t, "museum-1")), f.Hub(t)
		ctx := bounded(t)
		var sent []string
		last := uint64(0)
		for range 20 {
			m := factsOf("museum-1", "a", "b")
			seq, err := b.SendFacts(ctx, m, last)
			if err != nil {
				t.Fatal(err)
			}
			last = seq
			sent = append(sent, m.ID)
		}
		if seq, id, err := b.LastFacts(ctx); seq != last || id != sent[19] || err != nil {
			t.Errorf("LastFacts: %d %s %v, want %d %s", seq, id, err, last, sent[19])
		}
		var got []string
		for _, r := range readFacts(t, h, bus.Position{}, 20) {
			got = append(got, r.ID)
		}
		if !reflect.DeepEqual(got, sent) {
			t.Errorf("got %v, want %v", got, sent)
		}
		rest := readFacts(t, h, bus.Position{Seq: last - 1, ID: sent[18]}, 1)
		if len(rest) != 1 || rest[0].ID != sent[19] {
			t.Errorf("after the last but one comes %v", rest)
		}
	})
}

// A message that is sent again is not stored again, whatever the box knows of the first time.
func TestFactsAreStoredOnce(t *testing.T) {
	onTheServers(t, func(t *testing.T, f *fleettest.Fleet) {
		b := f.Box(t, f.Join(t, "museum-1"))
		ctx := bounded(t)
		first, second := factsOf("museum-1", "a"), factsOf("museum-1", "b")
		one, err := b.SendFacts(ctx, first, 0)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := b.SendFacts(ctx, first, 0); again != one || err != nil {
			t.Errorf("the same again: %d %v, want %d", again, err, one)
		}
		// The box believes that it has not sent anything: it was restored from a backup.
		var last bus.ErrLast
		if _, err := b.SendFacts(ctx, second, 0); !errors.As(err, &last) || last.Seq != one || last.ID != first.ID {
			t.Fatalf("another in place of the first: %v, want ErrLast of %d %s", err, one, first.ID)
		}
		two, err := b.SendFacts(ctx, second, last.Seq)
		if err != nil || two != one+1 {
			t.Errorf("%d %v, want %d", two, err, one+1)
		}
	})
}

func TestHubReadsOnlyAStreamThatItKnows(t *testing.T) {
	onTheServers(t, func(t *testing.T, f *fleettest.Fleet) {
		b, h := f.Box(t, f.Join(t, "museum-1")), f.Hub(t)
		if _, err := b.SendFacts(bounded(t), factsOf("museum-1"), 0); err != nil {
			t.Fatal(err)
		}
		for _, at := range []bus.Position{{Seq: 7, ID: "x"}, {Seq: 1, ID: "other"}} {
			var rewound bus.ErrRewound
			err := h.Facts(bounded(t), at, func(context.Context, []bus.Received) error { return errors.New("read") })
			if !errors.As(err, &rewound) {
				t.Errorf("after %v: %v, want ErrRewound", at, err)
			}
		}
	})
}

// wantOf returns a want that has about size bytes when it is compressed.
func wantOf(t *testing.T, revision int64, size int) fleet.Want {
	t.Helper()
	noise := make([]byte, size) // in Base64, which compresses to about as much again
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(noise)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.Want{Revision: revision, Hub: "test hub", Accounts: []fleet.Account{{
		Name:    "default",
		Configs: []fleet.Resource{{ID: "c", Name: "guide", Version: int(revision), Content: content}},
	}}}
}

func TestWantReachesTheBox(t *testing.T) {
	onTheServers(t, func(t *testing.T, f *fleettest.Fleet) {
		b, h := f.Box(t, f.Join(t, "museum-1")), f.Hub(t)
		ctx := bounded(t)
		if _, changed, err := b.Want(ctx, 0); changed || err != nil {
			t.Fatalf("before the hub wants anything: %v %v", changed, err)
		}
		sizes := map[int64]int{1: 100, 2: 2 << 20}
		full := os.Getenv("PARLEY_FULL_TESTS") != ""
		if full {
			sizes[3] = 22 << 20
		}
		for revision, size := range sizes {
			w := wantOf(t, revision, size)
			if err := h.PutWant(ctx, "museum-1", w); err != nil {
				t.Fatal(err)
			}
			<-b.Changed()
			got, changed, err := b.Want(ctx, 0)
			if !changed || err != nil || !reflect.DeepEqual(got, w) {
				t.Errorf("revision %d of %d bytes: %v %v, or it is another", revision, size, changed, err)
			}
			if _, changed, err := b.Want(ctx, revision); changed || err != nil {
				t.Errorf("revision %d, known: %v %v", revision, changed, err)
			}
		}
		if !full {
			return
		}
		if err := h.PutWant(ctx, "museum-1", wantOf(t, 4, 26<<20)); err == nil ||
			!strings.Contains(err.Error(), "at most 25165824 are sent") {
			t.Errorf("too large: %v", err)
		}
	})
}

func TestStatesReachTheHub(t *testing.T) {
	onTheServers(t, func(t *testing.T, f *fleettest.Fleet) {
		one, two, h := f.Box(t, f.Join(t, "museum-1")), f.Box(t, f.Join(t, "museum-2")), f.Hub(t)
		ctx, cancel := context.WithCancel(bounded(t))
		defer cancel()
		sent := make(chan struct{}, 4)
		send := func(b *bus.Box, live int) {
			defer func() { sent <- struct{}{} }()
			if err := b.SendState(t.Context(), fleet.State{Box: b.Name(), Live: live}); err != nil {
				t.Error(err)
			}
		}
		send(one, 1)
		send(one, 2) // replaces it
		send(two, 3)
		var got []fleet.State
		err := h.States(ctx, func(s fleet.State, at time.Time) {
			if since := time.Since(at); since < 0 || since > time.Minute {
				t.Errorf("stored %v ago", since)
			}
			switch got = append(got, s); len(got) {
			case 2:
				go send(one, 4)
			case 3:
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for range 4 {
			<-sent
		}
		want := []fleet.State{{Box: "museum-1", Live: 2}, {Box: "museum-2", Live: 3}, {Box: "museum-1", Live: 4}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestPluginsReachTheBox(t *testing.T) {
	onTheServers(t, func(t *testing.T, f *fleettest.Fleet) {
		b, h := f.Box(t, f.Join(t, "museum-1")), f.Hub(t)
		ctx := bounded(t)
		file := make([]byte, 1<<20+17)
		if _, err := rand.Read(file); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(file)
		sha := hex.EncodeToString(sum[:])
		var got bytes.Buffer
		if err := b.Plugin(ctx, sha, &got); err == nil || !strings.Contains(err.Error(), "does not have the plugin") {
			t.Errorf("a plugin that nobody has: %v", err)
		}
		if err := h.PutPlugin(ctx, sha, bytes.NewReader(file[1:])); err == nil {
			t.Error("the hub stored a damaged file")
		}
		if has, err := h.HasPlugin(ctx, sha); has || err != nil {
			t.Errorf("the hub has a damaged file: %v %v", has, err)
		}
		if err := h.PutPlugin(ctx, sha, bytes.NewReader(file)); err != nil {
			t.Fatal(err)
		}
		if has, err := h.HasPlugin(ctx, sha); !has || err != nil {
			t.Errorf("the hub does not have the file: %v", err)
		}
		if err := b.Plugin(ctx, sha, &got); err != nil || !bytes.Equal(got.Bytes(), file) {
			t.Errorf("got %d bytes of %d: %v", got.Len(), len(file), err)
		}
	})
}

func TestRecordingsReachTheHub(t *testing.T) {
	onTheServers(t, func(t *testing.T, f *fleettest.Fleet) {
		b, h := f.Box(t, f.Join(t, "museum-1")), f.Hub(t)
		ctx, cancel := context.WithCancel(bounded(t))
		defer cancel()
		want := map[string][]byte{}
		for _, size := range []int{5, 512 << 10, 1<<20 + 3} {
			data := make([]byte, size)
			if _, err := rand.Read(data); err != nil {
				t.Fatal(err)
			}
			chat := uuid.NewString()
			want[chat] = data
			for range 2 { // the box was killed before it could note that it had sent it
				if err := b.SendSound(ctx, chat, bytes.NewReader(data)); err != nil {
					t.Fatal(err)
				}
			}
		}
		errFull := errors.New("no space left on device")
		got, folder, calls := map[string][]byte{}, filepath.Join(t.TempDir(), "sound"), 0
		handle := func(_ context.Context, s bus.Sound) error {
			if calls++; calls == 3 {
				return errFull // what could not be handled comes again
			}
			data, err := os.ReadFile(s.File)
			if err != nil || s.Box != "museum-1" {
				t.Errorf("%v: %v", s, err)
			}
			if got[s.ChatID] = data; len(got) == len(want) {
				cancel()
			}
			return nil
		}
		if err := h.Sounds(ctx, folder, handle); err != errFull {
			t.Fatalf("%v, want the error of who handles recordings", err)
		}
		if err := h.Sounds(ctx, folder, handle); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %d recordings, or they are others", len(got))
		}
	})
}
