package box

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"parley/appliance/config"
	"parley/appliance/engines"
	"parley/firmware/doctor"
	"parley/internal/layout"
	"parley/internal/progress"
	"parley/internal/version"
	"parley/store"
)

// Diagnosis is what Diagnose found.
type Diagnosis struct {
	Healthy  bool             `json:"healthy"` // no finding is doctor.Problem
	Running  bool             `json:"running"` // a box runs on the data folder
	Findings []doctor.Finding `json:"findings"`
}

// Diagnose examines every part of the box with these settings, which may run.
// progress reports the long steps.
func Diagnose(ctx context.Context, cfg config.Config, progress progress.Func) (d Diagnosis, err error) {
	return diagnose(ctx, cfg, examineLibraries, progress)
}

// diagnose is Diagnose with the caller's way to examine libraries.
func diagnose(ctx context.Context, cfg config.Config,
	examineLibraries func(context.Context, config.Config) doctor.Finding, progress progress.Func) (
	d Diagnosis, err error) {
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
	d.add(database, recordings)
	if store.Exists(cfg.Data) {
		d.add(examineBackup(cfg.Data))
	}
	for _, examine := range []func(context.Context, string) ([]doctor.Finding, error){examineWebhooks, examineActs} {
		found, err := examine(ctx, cfg.Data)
		if err != nil {
			return d, err
		}
		d.add(found...)
	}
	if isHub(cfg.Data) {
		found, err := examineHub(ctx, cfg, pid, running)
		d.add(found...)
		d.add(doctor.Clock(time.Now(), notBefore(cfg.Data)), examinePort(cfg.Listen, pid, running))
		d.judge()
		return d, err
	}
	found, err := doctor.Packs(ctx, cfg.Packs, engines.Needs(cfg))
	if err != nil {
		return d, err
	}
	d.add(found...)
	answers, err := examineAnswers(ctx, cfg)
	if err != nil {
		return d, err
	}
	d.add(
		examineLibraries(ctx, cfg),
		examineHearing(cfg),
		answers,
		doctor.Memory(cfg.Packs, engines.Needs(cfg), running),
		doctor.Clock(time.Now(), notBefore(cfg.Data)),
		examinePort(cfg.Listen, pid, running),
	)
	servers, err := examineServers(ctx, cfg)
	if err != nil {
		return d, err
	}
	d.add(servers...)
	d.add(examineKiosk(cfg.Kiosk)...)
	kioskChat, err := examineKioskChat(ctx, cfg)
	if err != nil {
		return d, err
	}
	d.add(kioskChat...)
	phone, err := examinePhone(ctx, cfg, running)
	if err != nil {
		return d, err
	}
	d.add(phone...)
	member, err := examineFleet(ctx, cfg)
	if err != nil {
		return d, err
	}
	d.add(member...)
	d.judge()
	return d, nil
}

// judge sets whether any finding is a problem.
func (d *Diagnosis) judge() {
	d.Healthy = !slices.ContainsFunc(d.Findings, func(f doctor.Finding) bool { return f.Health == doctor.Problem })
}

func (d *Diagnosis) add(found ...doctor.Finding) { d.Findings = append(d.Findings, found...) }

// examinePort checks whether the box can listen, or does.
func examinePort(listen, pid string, running bool) doctor.Finding {
	f := doctor.Finding{Part: "port", Health: doctor.OK}
	if !running {
		l, err := net.Listen("tcp", listen)
		if err != nil {
			return doctor.Finding{
				Part:   "port",
				Health: doctor.Problem,
				What:   err.Error(),
				Mend:   "stop what uses it, or choose another address with --listen",
			}
		}
		f.What = listen + " is free"
		if err := l.Close(); err != nil {
			f.Health, f.What = doctor.Warning, err.Error()
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
			Health: doctor.Warning,
			What:   fmt.Sprintf("the box runs (process %s), but not on %s: %v", pid, listen, err),
			Mend:   "pass the --listen or --config of the running box, or read its log",
		}
	}
	if err := conn.Close(); err != nil {
		f.Health, f.What = doctor.Warning, err.Error()
	}
	return f
}

// notBefore returns a time that is certainly in the past: when the program was
// built, or when the database was last written.
func notBefore(data string) time.Time {
	t := version.Time()
	for _, name := range []string{layout.Database, layout.Database + "-wal"} {
		if info, err := os.Stat(filepath.Join(data, name)); err == nil && info.ModTime().After(t) {
			t = info.ModTime()
		}
	}
	return t
}
