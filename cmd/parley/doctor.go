package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance"
	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/engine/espeak"
	"parley/appliance/engine/llama"
	"parley/appliance/engine/onnx"
	"parley/cmd/parley/terminal"
	"parley/firmware/doctor"
	"parley/internal/layout"
	"parley/internal/progress"
	"parley/store"
)

// doctorCmd looks for what is wrong with a box.
type doctorCmd struct {
	JSON bool `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data listen packs profile engines.transcriber engines.language_model engines.voice limits.recordings limits.recordings_days"`
}

// Help shows the command in use.
func (doctorCmd) Help() string {
	return `Examples:

  parley doctor --data /var/lib/parley

  parley doctor --json | jq '.findings[] | select(.health != "ok")'

It changes nothing, and may be asked while the box runs. Exits with 1 when there is a problem; a warning is none.`
}

// diagnosis is what doctor prints with --json.
type diagnosis struct {
	Healthy  bool             `json:"healthy"` // no finding is a problem
	Running  bool             `json:"running"` // a box runs on the data folder
	Findings []doctor.Finding `json:"findings"`
}

// Run examines the box and prints what it found.
func (cmd *doctorCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	c.endsAtOnce(interrupted{kept: "the box is as it was"})
	var d diagnosis
	err = withBars(ctx, c.err, func(p progress.Func) error {
		d, err = diagnose(ctx, cfg, p)
		return err
	})
	if err != nil {
		return brokenOff(ctx, fmt.Errorf("doctor: %w", err), "the box is as it was", "")
	}
	if cmd.JSON {
		err = c.json(d)
	} else {
		err = d.print(c)
	}
	if !d.Healthy {
		err = errors.Join(err, errors.New("doctor: something is wrong with the box: see above"))
	}
	return err
}

func (d diagnosis) print(c *console) error {
	t := &terminal.Table{}
	for _, f := range d.Findings {
		t.Add(string(f.Health), f.Part, f.What)
		if f.Mend != "" {
			t.Add("", "", "→ "+f.Mend)
		}
	}
	return c.table(t)
}

// diagnose examines every part. progress hears of what takes long.
func diagnose(ctx context.Context, cfg config.Config, progress progress.Func) (d diagnosis, err error) {
	pid, running, err := store.Holder(cfg.Data)
	if err != nil {
		return d, err
	}
	d.Running = running
	d.add(doctor.Folder(cfg.Data), doctor.Disk(cfg.Data))
	database, err := examineDatabase(ctx, cfg.Data)
	if err != nil {
		return d, err
	}
	recordings, err := examineRecordings(ctx, cfg, progress)
	if err != nil {
		return d, err
	}
	webhooks, err := examineWebhooks(ctx, cfg.Data)
	if err != nil {
		return d, err
	}
	d.add(database, recordings)
	d.add(webhooks...)
	found, err := doctor.Packs(ctx, cfg.Packs, appliance.Needs(cfg))
	if err != nil {
		return d, err
	}
	d.add(found...)
	d.add(examineLibraries(cfg), doctor.Memory(cfg.Packs, appliance.Needs(cfg), running),
		doctor.Clock(time.Now(), latest(cfg.Data)), examinePort(cfg.Listen, pid, running))
	d.Healthy = !slices.ContainsFunc(d.Findings, func(f doctor.Finding) bool { return f.Health == doctor.Trouble })
	return d, nil
}

func (d *diagnosis) add(found ...doctor.Finding) { d.Findings = append(d.Findings, found...) }

// examineDatabase reads the whole database. The error is only ctx's.
func examineDatabase(ctx context.Context, data string) (doctor.Finding, error) {
	f := doctor.Finding{Part: "database", Health: doctor.Trouble}
	schema, err := store.Inspect(ctx, data)
	newest, newestErr := store.NewestSchema()
	switch {
	case ctx.Err() != nil:
		return f, context.Cause(ctx)
	case newestErr != nil:
		return f, newestErr
	case errors.Is(err, store.ErrNotFound):
		f.Health, f.What, f.Mend = doctor.Doubt, "there is none", doctor.NoBox
		if found := likelyBox(data); found != "" {
			f.Mend = "a box has its data in " + found + ": pass --data " + found
		}
	case errors.Is(err, store.ErrDamaged):
		f.What, f.Mend = err.Error(), fmt.Sprintf("stop the box, then: parley restore BACKUP --data %s --force", data)
	case errors.Is(err, store.ErrNewer):
		f.What, f.Mend = err.Error(), "install the newer Parley"
	case err != nil:
		f.What, f.Mend = err.Error(), "run this as the user that runs the box"
	case schema < newest:
		f.Health, f.What = doctor.Well, fmt.Sprintf("sound; the next start brings its schema from %d to %d, after copying it aside", schema, newest)
	default:
		f.Health, f.What = doctor.Well, fmt.Sprintf("sound, schema %d", schema)
	}
	return f, nil
}

// examineRecordings reads all recordings. The error is only ctx's.
func examineRecordings(ctx context.Context, cfg config.Config, tell progress.Func) (doctor.Finding, error) {
	data := cfg.Data
	var files map[string]store.Sound
	room, err := roomOf(cfg)
	if err != nil {
		return doctor.Finding{Part: "recordings", Health: doctor.Trouble, What: err.Error(), Mend: "run this as the user that runs the box"}, nil
	}
	sounds := doctor.Sounds{Folder: filepath.Join(data, layout.Recordings), Room: room}
	sounds.Known = func(ctx context.Context) (due map[string]bool, err error) {
		if files, err = store.SoundFiles(ctx, data); errors.Is(err, store.ErrNotFound) {
			return nil, fs.ErrNotExist
		}
		due = make(map[string]bool, len(files))
		for name, f := range files {
			due[name] = f.Due
		}
		return due, err
	}
	sounds.Check = func(name string, f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		sound, err := audio.NewOpusFile(f, info.Size())
		if err != nil {
			return err
		}
		err = sound.Check()
		if errors.Is(err, audio.ErrCutOff) && !files[name].Whole {
			return nil // by a crash, or it grows
		}
		return err
	}
	return doctor.Recordings(ctx, sounds, tell)
}

// roomOf is what recordings are allowed, and what the box says of when it keeps
// to that.
func roomOf(cfg config.Config) (room doctor.Room, err error) {
	limits, err := appliance.RecordingLimits(cfg)
	if err != nil {
		return room, err
	}
	notice, err := appliance.RecordingNotice(cfg)
	return doctor.Room{Bytes: limits.Bytes, Days: limits.Days, From: notice.From, Found: notice.Recordings}, err
}

// examineLibraries loads those that the engines stand on.
func examineLibraries(cfg config.Config) doctor.Finding {
	var broken []string
	say := func(err error) {
		if err != nil {
			broken = append(broken, err.Error())
		}
	}
	runtime, err := onnx.Open(filepath.Join(cfg.Pack("runtime-onnx"), "libonnxruntime.so"))
	if say(err); err == nil {
		say(runtime.Close())
	}
	var lacks []string
	phonemizer, err := espeak.Open()
	if say(err); err == nil {
		lacks = phonemizer.Lacks()
		say(phonemizer.Close())
	}
	if slices.Contains(appliance.Needs(cfg), "runtime-llama") {
		say(llama.Loads(cfg.Pack("runtime-llama"), slog.New(slog.DiscardHandler)))
	}
	if len(broken) > 0 {
		return doctor.Finding{Part: "libraries", Health: doctor.Trouble, What: strings.Join(broken, "; "), Mend: "run: parley packs pull, and see parley packs verify"}
	}
	if err := audio.CheckMP3(); err != nil {
		return doctor.Finding{Part: "libraries", Health: doctor.Doubt, What: err.Error(), Mend: "apt-get install libmpg123-0"}
	}
	if err := audio.CheckMP3Encoder(); err != nil {
		return doctor.Finding{Part: "libraries", Health: doctor.Doubt, What: err.Error(), Mend: "apt-get install libmp3lame0"}
	}
	if err := audio.CheckAAC(); err != nil {
		return doctor.Finding{Part: "libraries", Health: doctor.Doubt, What: err.Error(), Mend: "apt-get install libavcodec59 (Debian 12; libavcodec61 on Debian 13), or ffmpeg"}
	}
	if len(lacks) > 0 {
		return doctor.Finding{Part: "libraries", Health: doctor.Doubt, What: "all of them load; this kernel does not shut eSpeak NG in with " + strings.Join(lacks, ", nor with "), Mend: "use a Linux from 5.13 on that has Landlock switched on (lsm= on its command line)"}
	}
	return doctor.Finding{Part: "libraries", Health: doctor.Well, What: "all of them load"}
}

// examinePort looks whether the box can listen, or does.
func examinePort(listen, pid string, running bool) doctor.Finding {
	f := doctor.Finding{Part: "port", Health: doctor.Well}
	if !running {
		l, err := net.Listen("tcp", listen)
		if err != nil {
			return doctor.Finding{Part: "port", Health: doctor.Trouble, What: err.Error(), Mend: "stop what uses it, or choose another address with --listen"}
		}
		f.What = listen + " is free"
		if err := l.Close(); err != nil {
			f.Health, f.What = doctor.Doubt, err.Error()
		}
		return f
	}
	f.What = fmt.Sprintf("the box runs (process %s) and listens on %s", pid, listen)
	// Two seconds: a machine that is too busy to take a connection sooner is
	// too busy to converse.
	conn, err := net.DialTimeout("tcp", dialable(listen), 2*time.Second)
	if err != nil {
		return doctor.Finding{Part: "port", Health: doctor.Doubt, What: fmt.Sprintf("the box runs (process %s), but not on %s: %v", pid, listen, err), Mend: "pass the --listen or --config that it was started with, or see its log"}
	}
	if err := conn.Close(); err != nil {
		f.Health, f.What = doctor.Doubt, err.Error()
	}
	return f
}

// dialable is an address at which a box that listens there is found from here.
func dialable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// latest is the latest time that certainly has been: that of the program, and
// of the last write.
func latest(data string) (t time.Time) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if built, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
				t = built
			}
		}
	}
	for _, name := range []string{layout.Database, layout.Database + "-wal"} {
		if info, err := os.Stat(filepath.Join(data, name)); err == nil && info.ModTime().After(t) {
			t = info.ModTime()
		}
	}
	return t
}
