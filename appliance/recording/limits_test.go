package recording

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"parley/store"
)

var noon = time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)

// ended returns a recording of as many megabytes as its name has letters; "aa" belongs to
// account a. Its chat ended that many hours before noon.
func ended(name string, hours int) store.StoredSound {
	return store.StoredSound{
		ChatID:    fmt.Sprintf("%s%d", name, hours),
		AccountID: name[:1],
		EndedMS:   noon.Add(-time.Duration(hours) * time.Hour).UnixMilli(),
		Bytes:     int64(len(name)) * 1e6,
	}
}

func live(name string) store.StoredSound {
	return store.StoredSound{ChatID: name, AccountID: name[:1], Bytes: int64(len(name)) * 1e6}
}

func TestSurplusFollowsTheLimits(t *testing.T) {
	day := 24
	for name, c := range map[string]struct {
		limits Limits
		kept   []store.StoredSound
		want   string
	}{
		"no limits":   {Limits{}, []store.StoredSound{ended("aaaa", 9999*day)}, ""},
		"within them": {Limits{30, 10e6, 10e6}, []store.StoredSound{ended("aaaa", 29*day), ended("b", 1)}, ""},
		"too old": {Limits{Days: 30},
			[]store.StoredSound{ended("a", 32*day), ended("b", 31*day), ended("a", 29*day)}, "a768 b744"},
		"too much, the first": {Limits{Bytes: 4e6}, []store.StoredSound{ended("aa", 9), ended("aa", 8), ended("aa", 7)},
			"aa9"},
		// a has more, and later ones; b keeps its only one.
		"of the largest": {Limits{Bytes: 5e6},
			[]store.StoredSound{ended("bb", 9), ended("aaa", 8), ended("aa", 7)}, "aaa8"},
		"then of the next": {Limits{Bytes: 3e6},
			[]store.StoredSound{ended("bb", 9), ended("aa", 8), ended("bb", 7), ended("a", 6)}, "bb9 aa8"},
		"of one account": {Limits{AccountBytes: 3e6},
			[]store.StoredSound{ended("bbb", 9), ended("aa", 8), ended("aa", 7), ended("a", 6)}, "aa8"},
		"not of chats that go": {Limits{Bytes: 2e6}, []store.StoredSound{ended("b", 9), live("aaaaa")}, "b9"},
		"nor just ended":       {Limits{Bytes: 1e6, Days: 1}, []store.StoredSound{ended("aa", 0)}, ""},
		"days and room at once": {Limits{Days: 1, Bytes: 2e6},
			[]store.StoredSound{ended("aa", 25), ended("aa", 9), ended("a", 8)}, "aa25 aa9"},
	} {
		var got []string
		for _, k := range c.limits.Surplus(c.kept, noon) {
			got = append(got, k.ChatID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v goes, want %s", name, got, c.want)
		}
	}
}

// For any recordings: the rest is within the limits unless nothing more may be deleted, the
// oldest of each account come first, and an account loses nothing to one that has more.
func TestSurplusIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sounds := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) store.StoredSound {
			k := ended(strings.Repeat(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "account"),
				rapid.IntRange(1, 5).Draw(t, "mb")),
				rapid.IntRange(0, 2000).Draw(t, "hours"))
			if rapid.IntRange(0, 9).Draw(t, "live") == 0 {
				k.EndedMS = 0
			}
			return k
		}), 0, 40).Draw(t, "kept")
		slices.SortStableFunc(sounds, func(a, b store.StoredSound) int { return int(a.EndedMS - b.EndedMS) })
		for i := range sounds {
			sounds[i].ChatID = fmt.Sprint(i)
		}
		limits := Limits{Bytes: rapid.Int64Range(1, 60).Draw(t, "room") * 1e6}
		surplus := map[string]bool{}
		for _, k := range limits.Surplus(sounds, noon) {
			if surplus[k.ChatID] || k.EndedMS == 0 {
				t.Fatalf("%v goes", k)
			}
			surplus[k.ChatID] = true
		}
		left, lost, mayGo := map[string]int64{}, map[string]int64{}, false
		stayed := map[string]bool{}
		var total int64
		for _, k := range sounds {
			settled := k.EndedMS > 0 && k.EndedMS <= noon.Add(-minAge).UnixMilli()
			if surplus[k.ChatID] {
				if stayed[k.AccountID] {
					t.Fatalf("%v goes before an older one", k)
				}
				lost[k.AccountID] = k.Bytes
				continue
			}
			stayed[k.AccountID] = stayed[k.AccountID] || settled
			mayGo = mayGo || settled
			left[k.AccountID] += k.Bytes
			total += k.Bytes
		}
		if total > limits.Bytes && mayGo {
			t.Fatalf("%d bytes are left of %d allowed", total, limits.Bytes)
		}
		for poor, last := range lost {
			for rich := range stayed {
				if stayed[rich] && left[rich] > left[poor]+last {
					t.Fatalf("%s lost something, and %s has more: %v", poor, rich, left)
				}
			}
		}
	})
}

// fakeArchive records when recordings are deleted.
type fakeArchive struct {
	begun time.Time
	steps []string
	fails error
}

func (a *fakeArchive) StoredSounds(context.Context) ([]store.StoredSound, error) { return nil, nil }

func (a *fakeArchive) DropSounds(_ context.Context, ids []string) error {
	a.steps = append(a.steps, fmt.Sprintf("%d after %v", len(ids), time.Since(a.begun)))
	return a.fails
}

func TestRecordingsAreDeletedInSmallSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		surplus := make([]store.StoredSound, 2*stepSize+3)
		s := &fakeArchive{begun: time.Now()}
		dropped, err := Drop(t.Context(), s, surplus)
		if err != nil || dropped != len(surplus) || fmt.Sprint(s.steps) != "[8 after 0s 8 after 50ms 3 after 100ms]" {
			t.Errorf("%d, %v: %v", dropped, err, s.steps)
		}
		s = &fakeArchive{begun: time.Now(), fails: store.ErrFull}
		if dropped, err := Drop(t.Context(), s, surplus); !errors.Is(err, store.ErrFull) || dropped != 0 {
			t.Errorf("%d, %v", dropped, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		dropped, err = Drop(ctx, &fakeArchive{}, surplus)
		if !errors.Is(err, context.Canceled) || dropped != stepSize {
			t.Errorf("called off: %d, %v", dropped, err)
		}
	})
}

func TestNoticeIsGivenOnce(t *testing.T) {
	fresh, old := t.TempDir(), t.TempDir()
	n, err := GiveNotice(fresh, 0, 0, noon)
	if err != nil || !n.From.Equal(noon) {
		t.Errorf("a box with nothing to delete: %+v, %v", n, err)
	}
	n, err = GiveNotice(old, 3, 3e6, noon)
	if err != nil || !n.From.Equal(noon.Add(noticePeriod)) || n.Recordings != 3 {
		t.Errorf("a box with old recordings: %+v, %v", n, err)
	}
	again, err := GiveNotice(old, 9, 9e6, noon.Add(time.Hour))
	if err != nil || again != n {
		t.Errorf("at its next start: %+v, %v", again, err)
	}
}
