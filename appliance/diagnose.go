package appliance

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"parley/appliance/config"
	"parley/appliance/engines"
	"parley/firmware/doctor"
	"parley/internal/layout"
	"parley/internal/progress"
	"parley/store"
)

// Diagnosis is what was found of a box.
type Diagnosis struct {
	Healthy  bool             `json:"healthy"` // no finding is a problem
	Running  bool             `json:"running"` // a box runs on the data folder
	Findings []doctor.Finding `json:"findings"`
}

// Diagnose examines every part of the box whose data lies in the folder of the
// settings, which may run. progress hears of what takes long.
func Diagnose(ctx context.Context, cfg config.Config, progress progress.Func) (d Diagnosis, err error) {
	return diagnose(ctx, cfg, examineLibraries, progress)
}

// diagnose is Diagnose; libraries are examined as the caller can.
func diagnose(ctx context.Context, cfg config.Config, libraries func(config.Config) doctor.Finding,
	progress progress.Func) (d Diagnosis, err error) {
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
	if store.Exists(cfg.Data) {
		d.add(examineBackup(cfg.Data))
	}
	d.add(webhooks...)
	found, err := doctor.Packs(ctx, cfg.Packs, engines.Needs(cfg))
	if err != nil {
		return d, err
	}
	d.add(found...)
	d.add(libraries(cfg), examineHearing(cfg), doctor.Memory(cfg.Packs, engines.Needs(cfg), running),
		doctor.Clock(time.Now(), latest(cfg.Data)), examinePort(cfg.Listen, pid, running))
	d.add(examineKiosk(cfg.Kiosk)...)
	visitor, err := examineVisitor(ctx, cfg)
	if err != nil {
		return d, err
	}
	d.add(visitor...)
	d.Healthy = !slices.ContainsFunc(d.Findings, func(f doctor.Finding) bool { return f.Health == doctor.Trouble })
	return d, nil
}

func (d *Diagnosis) add(found ...doctor.Finding) { d.Findings = append(d.Findings, found...) }

// examinePort looks whether the box can listen, or does.
func examinePort(listen, pid string, running bool) doctor.Finding {
	f := doctor.Finding{Part: "port", Health: doctor.Well}
	if !running {
		l, err := net.Listen("tcp", listen)
		if err != nil {
			return doctor.Finding{
				Part:   "port",
				Health: doctor.Trouble,
				What:   err.Error(),
				Mend:   "stop what uses it, or choose another address with --listen",
			}
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
	conn, err := net.DialTimeout("tcp", Dialable(listen), 2*time.Second)
	if err != nil {
		return doctor.Finding{
			Part:   "port",
			Health: doctor.Doubt,
			What:   fmt.Sprintf("the box runs (process %s), but not on %s: %v", pid, listen, err),
			Mend:   "pass the --listen or --config that it was started with, or see its log",
		}
	}
	if err := conn.Close(); err != nil {
		f.Health, f.What = doctor.Doubt, err.Error()
	}
	return f
}

// Dialable is an address at which a box that listens there is found from here.
func Dialable(listen string) string {
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
