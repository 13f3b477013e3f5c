package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/internal/disk"
	"parley/internal/progress"
)

// RecordingsCheck has what [Recordings] needs.
type RecordingsCheck struct {
	Folder string
	// Expected returns the names of the files that belong to a chat, and whether each
	// must exist; all others are stray. The error is fs.ErrNotExist if that is unknown.
	// It is called after the files are listed, so that later files do not count.
	Expected func(ctx context.Context) (due map[string]bool, err error)
	// Check reads a whole file and returns what is wrong with it.
	Check  func(name string, f *os.File) error
	Limits RecordingLimits
}

// RecordingLimits are the limits of recordings.
type RecordingLimits struct {
	Bytes int64 // of all together; 0: unlimited
	Days  int   // for which each is stored after its chat; 0: as long as the chat
	// DeletingFrom is when the box begins to delete the recordings that exceeded the
	// limits when it first had them; zero if unknown.
	DeletingFrom time.Time
	ToDelete     int // number of these recordings
}

// describe describes n bytes of recordings and the limits.
func (r RecordingLimits) describe(bytes int64) string {
	words := fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	if r.Bytes > 0 {
		words += fmt.Sprintf(" of at most %.1f MB", float64(r.Bytes)/1e6)
	}
	if r.Days > 0 {
		return words + fmt.Sprintf(", each stored for %d days after its chat", r.Days)
	}
	return words + ", each stored as long as its chat"
}

// progressDelay is after how long progress is shown: checking the recordings of a few
// days takes no longer.
const progressDelay = 2 * time.Second

// Recordings reads every recording, and compares the files with those that should exist.
func Recordings(ctx context.Context, s RecordingsCheck, tell progress.Func) (Finding, error) {
	f := Finding{Part: "recordings", Health: OK}
	entries, err := os.ReadDir(s.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Finding{"recordings", Problem, fmt.Sprintf("%s cannot be read: %s", s.Folder, disk.Reason(err)),
			"run this as the user that runs the box"}, nil
	}
	due, err := s.Expected(ctx)
	known := !errors.Is(err, fs.ErrNotExist)
	if err != nil && known {
		return Finding{"recordings", Warning, "the expected files are unknown: " + err.Error(),
			"see the finding on the database"}, ctx.Err()
	}
	broken, bytes, err := s.read(ctx, entries, tell.Serial())
	if err != nil {
		return f, err
	}
	var notes []string
	add := func(names []string, what string) {
		if len(names) > 0 {
			notes = append(notes, fmt.Sprintf("%d %s, the first is %s", len(names), what, names[0]))
		}
	}
	add(broken, "are incomplete")
	if known {
		add(s.missing(entries, due), "are missing")
		add(stray(entries, due), "belong to no chat")
	}
	f.What = fmt.Sprintf("%d files, %s", len(entries), s.Limits.describe(bytes))
	if len(entries) == 0 && len(notes) == 0 {
		f.What = "none yet; " + s.Limits.describe(0)
	}
	var mend []string
	if len(notes) > 0 {
		mend = append(mend, "restore lost files from a backup; delete those that belong to no chat")
	}
	if s.Limits.DeletingFrom.After(time.Now()) {
		notes = append(notes, fmt.Sprintf("the recordings of %d chats exceed the limits, and are deleted from %s on",
			s.Limits.ToDelete, s.Limits.DeletingFrom.Local().Format(time.DateTime)))
		mend = append(mend, "to keep them, raise limits.recordings, or set it to 0 for ever")
	}
	if len(notes) > 0 {
		f.Health, f.Mend = Warning, strings.Join(mend, "; ")
		f.What += "; " + strings.Join(notes, "; ")
	}
	return f, nil
}

// read checks the files, and returns the broken ones with reasons, and the size of all.
func (c RecordingsCheck) read(ctx context.Context, entries []fs.DirEntry, tell progress.Func) (
	broken []string, bytes int64, err error,
) {
	e := progress.Event{Name: "recordings", Step: progress.Reading}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			e.Total += info.Size()
		}
	}
	begun, shown := time.Now(), false
	for _, entry := range entries {
		if err := context.Cause(ctx); err != nil {
			return nil, 0, err
		}
		size, err := c.check(entry.Name())
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
			broken = append(broken, fmt.Sprintf("%s (%s)", entry.Name(), disk.Reason(err)))
		}
		e.Done += size
		if shown = shown || time.Since(begun) > progressDelay; shown {
			tell(e)
		}
	}
	if e.Step = progress.Done; shown {
		tell(e)
	}
	return broken, e.Done, nil
}

// check reads a file. An empty one may become a recording.
func (c RecordingsCheck) check(name string) (size int64, err error) {
	f, err := os.Open(filepath.Join(c.Folder, name))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return 0, err
	}
	return info.Size(), c.Check(name, f)
}

// missing returns the names of expected files that do not exist.
func (c RecordingsCheck) missing(entries []fs.DirEntry, due map[string]bool) (names []string) {
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.Name()] = true
	}
	for name, must := range due {
		if !must || there[name] {
			continue
		}
		// It may have been created since the folder was listed.
		if _, err := os.Stat(filepath.Join(c.Folder, name)); errors.Is(err, fs.ErrNotExist) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// stray returns the names of files that belong to no chat.
func stray(entries []fs.DirEntry, due map[string]bool) (names []string) {
	for _, e := range entries {
		if _, spoken := due[e.Name()]; !spoken {
			names = append(names, e.Name())
		}
	}
	return names
}
