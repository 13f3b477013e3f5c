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

// RecordingsCheck is what it takes to examine recordings.
type RecordingsCheck struct {
	Folder string
	// Expected returns the names of the files that belong to a chat, and whether
	// each must be there; all others are stray. fs.ErrNotExist: nothing is
	// known. It is called after the files were listed, so that files which come
	// later do not count.
	Expected func(ctx context.Context) (due map[string]bool, err error)
	// Check reads a file whole and says what is wrong with it.
	Check  func(name string, f *os.File) error
	Limits RecordingLimits
}

// RecordingLimits is what recordings are allowed.
type RecordingLimits struct {
	Bytes int64 // of all together; 0: any
	Days  int   // that each is kept after its chat; 0: as long as the chat
	// DeletingFrom is when the box begins to delete recordings that it found when it
	// first had these limits; the zero time where nothing is known.
	DeletingFrom time.Time
	ToDelete     int // so many
}

// describe say what n bytes are of what is allowed, and how long it lasts.
func (r RecordingLimits) describe(bytes int64) string {
	words := fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	if r.Bytes > 0 {
		words += fmt.Sprintf(" of at most %.1f MB", float64(r.Bytes)/1e6)
	}
	if r.Days > 0 {
		return words + fmt.Sprintf(", each kept for %d days after its chat", r.Days)
	}
	return words + ", each kept as long as its chat"
}

// progressDelay is how long reading goes on before its progress is shown:
// the recordings of a few days take no longer.
const progressDelay = 2 * time.Second

// Recordings reads every recording, and compares what is there with what
// should be.
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
		return Finding{"recordings", Warning, "what should be there cannot be told: " + err.Error(),
			"see what is said of the database"}, ctx.Err()
	}
	broken, bytes, err := s.read(ctx, entries, tell.Serial())
	if err != nil {
		return f, err
	}
	var said []string
	add := func(names []string, what string) {
		if len(names) > 0 {
			said = append(said, fmt.Sprintf("%d %s, the first is %s", len(names), what, names[0]))
		}
	}
	add(broken, "cannot be heard whole")
	if known {
		add(s.missing(entries, due), "are missing")
		add(stray(entries, due), "belong to no chat")
	}
	f.What = fmt.Sprintf("%d files, %s", len(entries), s.Limits.describe(bytes))
	if len(entries) == 0 && len(said) == 0 {
		f.What = "none yet; " + s.Limits.describe(0)
	}
	var mend []string
	if len(said) > 0 {
		mend = append(mend, "bring back from a backup what is lost; delete what belongs to no chat")
	}
	if s.Limits.DeletingFrom.After(time.Now()) {
		said = append(said, fmt.Sprintf("%d chats' recordings are too old or too much, and are deleted from %s on",
			s.Limits.ToDelete, s.Limits.DeletingFrom.Local().Format(time.DateTime)))
		mend = append(mend, "to keep them, set limits.recordings to 0 for ever, or to more")
	}
	if len(said) > 0 {
		f.Health, f.Mend = Warning, strings.Join(mend, "; ")
		f.What += "; " + strings.Join(said, "; ")
	}
	return f, nil
}

// read checks the files, and returns those with which something is wrong, and
// why, and how many bytes all have.
func (s RecordingsCheck) read(ctx context.Context, entries []fs.DirEntry, tell progress.Func) (
	broken []string, bytes int64, err error,
) {
	e := progress.Event{Name: "recordings", Step: progress.Reading}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			e.Total += info.Size()
		}
	}
	begun, told := time.Now(), false
	for _, entry := range entries {
		if err := context.Cause(ctx); err != nil {
			return nil, 0, err
		}
		size, err := s.check(entry.Name())
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
			broken = append(broken, fmt.Sprintf("%s (%s)", entry.Name(), disk.Reason(err)))
		}
		e.Done += size
		if told = told || time.Since(begun) > progressDelay; told {
			tell(e)
		}
	}
	if e.Step = progress.Done; told {
		tell(e)
	}
	return broken, e.Done, nil
}

// check reads a file. One in which nothing is yet may become a recording.
func (s RecordingsCheck) check(name string) (size int64, err error) {
	f, err := os.Open(filepath.Join(s.Folder, name))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return 0, err
	}
	return info.Size(), s.Check(name, f)
}

// missing are the names of files that are due and not there.
func (s RecordingsCheck) missing(entries []fs.DirEntry, due map[string]bool) (names []string) {
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.Name()] = true
	}
	for name, must := range due {
		if !must || there[name] {
			continue
		}
		// It may have come since the folder was read.
		if _, err := os.Stat(filepath.Join(s.Folder, name)); errors.Is(err, fs.ErrNotExist) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// stray are the names of files that belong to no chat.
func stray(entries []fs.DirEntry, due map[string]bool) (names []string) {
	for _, e := range entries {
		if _, spoken := due[e.Name()]; !spoken {
			names = append(names, e.Name())
		}
	}
	return names
}
