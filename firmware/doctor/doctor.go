// Package doctor checks a box for problems, and says how to fix them.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"parley/firmware/packs"
	"parley/internal/disk"
	"parley/internal/layout"
	"parley/internal/machine"
)

// Health is the health of a part of the box.
type Health string

// How a part may be.
const (
	OK      Health = "ok"
	Warning Health = "warning" // the box runs, but not as well as it could, or not for long
	Problem Health = "problem" // the box does not run, or loses data
)

// A Finding is the result of checking one part.
type Finding struct {
	Part   string `json:"part"`
	Health Health `json:"health"`
	What   string `json:"what"`
	Mend   string `json:"mend,omitempty"` // how to fix it; empty if OK
}

// NoBox is the advice for a folder without a box.
const NoBox = "name the box's folder with --data; parley serve creates a new box"

// Folder checks the data folder itself.
func Folder(data string) Finding {
	f := Finding{Part: "data folder", Health: OK}
	info, err := os.Stat(data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Health, f.What, f.Mend = Warning, "there is no "+data, NoBox
	case err != nil:
		f.Health, f.What, f.Mend = Problem, fmt.Sprintf("%s cannot be examined: %s", data, disk.Reason(err)),
			"run this as the user that runs the box"
	case !info.IsDir():
		f.Health, f.What, f.Mend = Problem, data+" is not a folder", "name another with --data"
	case unix.Access(data, unix.R_OK|unix.W_OK|unix.X_OK) != nil:
		f.Health, f.What, f.Mend = Problem, data+" cannot be written by this user",
			"run this as the user that runs the box, or fix its owner: chown -R USER "+data
	case info.Mode().Perm()&^layout.DataMode != 0:
		f.Health, f.What, f.Mend = Warning,
			fmt.Sprintf("%s has mode %04o: other users of this machine can list it", data, info.Mode().Perm()),
			fmt.Sprintf("chmod %o %s", layout.DataMode, data)
	default:
		f.What = fmt.Sprintf("%s, for its owner only", data)
	}
	return f
}

// lowSpace is the free space below which there is a warning. A day of talk is some 500 MB
// of recordings, at 24 kbit/s for each side, and a few MB of text.
const lowSpace = 1 << 30

// Disk checks the free space for the data folder.
func Disk(data string) Finding {
	f := Finding{Part: "disk", Health: OK, Mend: "free some space, or lower limits.recordings or retention.keep"}
	free, err := disk.Free(disk.Nearest(data))
	if err != nil {
		return Finding{"disk", Problem, err.Error(), "name a folder on a working disk with --data"}
	}
	f.What = fmt.Sprintf("%.1f GB free for conversations and recordings", float64(free)/1e9)
	switch {
	case free < disk.Spare:
		f.Health = Problem
	case free < lowSpace:
		f.Health = Warning
	default:
		f.Mend = ""
	}
	return f
}

// Packs checks packs as [packs.Verify] does, without hashing files that it hashed before.
func Packs(ctx context.Context, dir string, names []string) ([]Finding, error) {
	chosen, err := packs.Find(dir, names...)
	if err != nil {
		return []Finding{{"packs", Problem, err.Error(),
			"name one of them in the settings, or add it: parley packs add"}}, nil
	}
	states, err := packs.Verify(ctx, dir, chosen, false)
	if err != nil {
		return nil, err
	}
	var found []Finding
	var bytes int64
	for _, s := range states {
		if s.Status != packs.Ready {
			found = append(found, Finding{"packs", Problem, fmt.Sprintf("%s is %s: %s", s.Pack.Name, s.Status, s.Why),
				"run: " + s.Mend})
		}
		bytes += s.Pack.Bytes()
	}
	if found == nil {
		found = []Finding{{Part: "packs", Health: OK,
			What: fmt.Sprintf("%d packs, %.1f GB, in %s", len(chosen), float64(bytes)/1e9, dir)}}
	}
	return found, nil
}

// The memory of the engines, measured with parley-bench talk: speech-to-text and a voice;
// for a language model its file and a third for its caches.
const (
	speechBytes = 700 << 20
	modelFactor = 1.3
)

// MemoryNeed returns about how much memory a box with the named packs needs, in bytes.
func MemoryNeed(dir string, names []string) int64 {
	need := int64(speechBytes)
	if chosen, err := packs.Find(dir, names...); err == nil {
		for _, p := range chosen {
			if p.Kind == packs.LanguageModel {
				need += int64(modelFactor * float64(p.Bytes()))
			}
		}
	}
	return need
}

// MemoryLimit returns how much memory the container of this process may use, in bytes; ok is
// false if there is no limit below most.
func MemoryLimit(most int64) (limit int64, ok bool) {
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if n, err := machine.Number(file); err == nil && n < most {
			limit, most, ok = n, n, true
		}
	}
	return limit, ok
}

// Memory compares what the named packs need with the memory of this machine or container:
// free memory, or all if the box runs and uses it already.
func Memory(dir string, names []string, running bool) Finding {
	need := float64(MemoryNeed(dir, names))
	entry, has := "MemAvailable", "free"
	if running {
		entry, has = "MemTotal", "in all"
	}
	have := float64(machine.Bytes("/proc/meminfo", entry))
	if limit, ok := MemoryLimit(int64(have)); ok {
		have, has = float64(limit), "allowed to this container"
	}
	f := Finding{Part: "memory", Health: OK,
		What: fmt.Sprintf("%.1f GB %s; the chosen models need about %.1f GB", have/1e9, has, need/1e9)}
	if have < need {
		f.Health, f.Mend = Problem, "choose smaller models, such as --profile small, or stop other programs"
	}
	return f
}

// backupAge is how old the newest backup may be.
const backupAge = 30 * 24 * time.Hour

// Backup checks the age of the newest backup that was made on this machine; the zero time
// means none.
func Backup(made, now time.Time) Finding {
	f := Finding{Part: "backup", Health: Warning, Mend: "run: parley backup FILE, on another disk"}
	switch age := now.Sub(made); {
	case made.IsZero():
		f.What = "none was made on this machine"
	case age > backupAge:
		f.What = fmt.Sprintf("the newest is from %s", made.Local().Format(time.DateOnly))
	default:
		f.Health, f.What, f.Mend = OK, fmt.Sprintf("the newest is from %s", made.Local().Format(time.DateTime)), ""
	}
	return f
}

// Clock checks the clock of the machine, on which tokens and certificates depend. newest
// is the latest time known to be past, such as that of the last write.
func Clock(now, newest time.Time) Finding {
	// Files are written a moment after their time stamp was read.
	const slack = time.Minute
	if now.Before(newest.Add(-slack)) {
		return Finding{"clock", Problem,
			fmt.Sprintf("it says %s, but %s is past already", now.Format(time.DateTime), newest.Format(time.DateTime)),
			"set it: timedatectl set-ntp true, or timedatectl set-time 'YYYY-MM-DD HH:MM:SS'"}
	}
	const timeError = 5 // TIME_ERROR of adjtimex(2): not synchronised
	if state, err := unix.Adjtimex(&unix.Timex{}); err == nil && state == timeError {
		return Finding{"clock", Warning, now.Format(time.DateTime) + ", but it is not synchronised",
			"if there is a time server: timedatectl set-ntp true"}
	}
	return Finding{Part: "clock", Health: OK, What: now.Format(time.DateTime) + ", synchronised with a time server"}
}
