// Package doctor looks for what is wrong with a box, and says what to do about
// it.
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

// Health is how a part of the box is.
type Health string

// How a part may be.
const (
	OK      Health = "ok"
	Warning Health = "warning" // the box runs, but not as well as it could or not for long
	Problem Health = "problem" // the box does not run, or loses something
)

// A Finding is what was seen of one part, and what to do about it.
type Finding struct {
	Part   string `json:"part"`
	Health Health `json:"health"`
	What   string `json:"what"`
	Mend   string `json:"mend,omitempty"` // empty when all is well
}

// NoBox says what to do where no box has begun its data folder.
const NoBox = "name the box's folder with --data; parley serve begins a new one"

// Folder looks at the data folder itself.
func Folder(data string) Finding {
	f := Finding{Part: "data folder", Health: OK}
	info, err := os.Stat(data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Health, f.What, f.Mend = Warning, "there is no "+data, NoBox
	case err != nil:
		f.Health, f.What, f.Mend = Problem, fmt.Sprintf("%s cannot be looked at: %s", data, disk.Reason(err)),
			"run this as the user that runs the box"
	case !info.IsDir():
		f.Health, f.What, f.Mend = Problem, data+" is not a folder", "name another with --data"
	case unix.Access(data, unix.R_OK|unix.W_OK|unix.X_OK) != nil:
		f.Health, f.What, f.Mend = Problem, data+" cannot be written by this user",
			"run this as the user that runs the box, or mend it: chown -R USER "+data
	case info.Mode().Perm()&^layout.DataMode != 0:
		f.Health, f.What, f.Mend = Warning,
			fmt.Sprintf("%s has mode %04o: other users of this machine can look into it", data, info.Mode().Perm()),
			fmt.Sprintf("chmod %o %s", layout.DataMode, data)
	default:
		f.What = fmt.Sprintf("%s, for its owner only", data)
	}
	return f
}

// A day of talk is some 500 MB of recordings, at 24 kbit/s for each side, and
// a few MB of text.
const lowSpace = 1 << 30

// Disk looks at the room that the data folder has left.
func Disk(data string) Finding {
	f := Finding{Part: "disk", Health: OK, Mend: "make room on it, or lower limits.recordings or retention.keep"}
	free, err := disk.Free(disk.Nearest(data))
	if err != nil {
		return Finding{"disk", Problem, err.Error(), "name a folder on a disk that works with --data"}
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

// Packs looks at packs as [packs.Verify] does, without reading what it read
// before.
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

// What the engines take of memory, measured with parley-bench talk: the ears
// and a voice, and for a language model its file and a third for its caches.
const (
	speechBytes = 700 << 20
	modelFactor = 1.3
)

// Memory compares what the packs of these names need with what this
// machine, or the container, has: free, unless the box runs and holds it
// already.
func Memory(dir string, names []string, running bool) Finding {
	need := float64(speechBytes)
	if chosen, err := packs.Find(dir, names...); err == nil {
		for _, p := range chosen {
			if p.Kind == packs.LanguageModel {
				need += modelFactor * float64(p.Bytes())
			}
		}
	}
	entry, has := "MemAvailable", "free"
	if running {
		entry, has = "MemTotal", "in all"
	}
	have := float64(machine.Bytes("/proc/meminfo", entry))
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if limit, err := machine.Number(file); err == nil && float64(limit) < have {
			have, has = float64(limit), "allowed to this container"
		}
	}
	f := Finding{Part: "memory", Health: OK,
		What: fmt.Sprintf("%.1f GB %s; the chosen models need about %.1f GB", have/1e9, has, need/1e9)}
	if have < need {
		f.Health, f.Mend = Problem, "choose smaller models, such as --profile small, or stop what else takes memory"
	}
	return f
}

// backupAge is how old the newest backup may be.
const backupAge = 30 * 24 * time.Hour

// Backup looks how old the newest backup is that was made on this machine; the zero
// time is none.
func Backup(made, now time.Time) Finding {
	f := Finding{Part: "backup", Health: Warning, Mend: "run: parley backup FILE, on another disk"}
	switch age := now.Sub(made); {
	case made.IsZero():
		f.What = "none was made on this machine"
	case age > backupAge:
		f.What = fmt.Sprintf("the newest is of %s", made.Local().Format(time.DateOnly))
	default:
		f.Health, f.What, f.Mend = OK, fmt.Sprintf("the newest is of %s", made.Local().Format(time.DateTime)), ""
	}
	return f
}

// Clock looks whether the machine's clock can be right: tokens and
// certificates last by it. newest is the latest time known to have been, such
// as that of the last write.
func Clock(now, newest time.Time) Finding {
	// Files are written a moment after the time that they bear is read.
	const slack = time.Minute
	if now.Before(newest.Add(-slack)) {
		return Finding{"clock", Problem,
			fmt.Sprintf("it says %s, but %s has been already", now.Format(time.DateTime), newest.Format(time.DateTime)),
			"set it: timedatectl set-ntp true, or timedatectl set-time 'YYYY-MM-DD HH:MM:SS'"}
	}
	const timeError = 5 // TIME_ERROR of adjtimex(2): nobody keeps it right
	if state, err := unix.Adjtimex(&unix.Timex{}); err == nil && state == timeError {
		return Finding{"clock", Warning, now.Format(time.DateTime) + ", but nothing keeps it right",
			"where there is a time server: timedatectl set-ntp true"}
	}
	return Finding{Part: "clock", Health: OK, What: now.Format(time.DateTime) + ", kept right by a time server"}
}
