package appliance

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"parley/appliance/certs"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/metrics"
	"parley/firmware/backup"
	"parley/firmware/doctor"
	"parley/internal/disk"
	"parley/internal/machine"
	"parley/store"
)

// boxHealth is api's BoxHealth.
type boxHealth struct {
	cfg       config.Config
	begun     time.Time
	records   *store.Store
	figures   *metrics.Metrics
	admission *admission
	identity  *certs.Identity
	speaker   *kioskDoor
	gate      atomic.Pointer[engine.Gate] // nil until the engines are open
	examining atomic.Bool
}

// lateFrom is by how much an answer may come later than the silence before it
// until it counts as late, where the settings let answers come as late as they may.
const lateFrom = 3 * time.Second

// Health is how the box does now.
func (b *boxHealth) Health(ctx context.Context) (contract.ReturnBoxHealth, error) {
	return b.since(ctx, time.Time{})
}

// since is Health with the answers since a time.
func (b *boxHealth) since(ctx context.Context, newest time.Time) (h contract.ReturnBoxHealth, err error) {
	h = contract.ReturnBoxHealth{
		Version:   Version(),
		Now:       time.Now().UnixMilli(),
		StartedOn: b.begun.UnixMilli(),
		Missing:   append([]string{}, b.admission.Missing(ctx)...),
		Serves: contract.BoxServes{Transcriber: b.cfg.Engines.Transcriber, LanguageModels: []string{},
			Voice: b.cfg.Engines.Voice},
		Chats:   contract.BoxChats{Seats: b.cfg.MaxChats()},
		Answers: b.answers(newest),
		Cores:   b.cores(),
		Memory:  memory(),
	}
	h.Ready = len(h.Missing) == 0
	for _, m := range b.cfg.Models() {
		h.Serves.LanguageModels = append(h.Serves.LanguageModels, m.Describe())
	}
	if host := b.admission.host.Load(); host != nil {
		h.Chats.Live, h.Chats.Accounts, _ = host.Load()
	}
	if h.Disk.Free, err = disk.Free(b.cfg.Data); err == nil {
		h.Disk.Total, err = disk.Size(b.cfg.Data)
	}
	if err != nil {
		return h, err
	}
	if h.Webhooks.Waiting, h.Webhooks.Dead, err = b.records.WebhookCounts(ctx); err != nil {
		return h, err
	}
	if h.Kiosks, err = b.records.CountKiosks(ctx); err != nil {
		return h, err
	}
	if now, err := b.speaker.Status(); err == nil {
		h.Speaker = &now
	}
	if leaf := b.identity.Shown(); leaf != nil {
		mode := b.cfg.TLS.Mode
		h.Certificate = &contract.BoxCertificate{
			Source:  string(mode),
			EndsOn:  leaf.NotAfter.UnixMilli(),
			Names:   append([]string{}, leaf.DNSNames...),
			Renewed: mode != config.TLSFiles,
		}
		for _, ip := range leaf.IPAddresses {
			h.Certificate.Names = append(h.Certificate.Names, ip.String())
		}
	}
	made, ok, err := backup.Newest(b.cfg.Data)
	if ok {
		h.Backup = &contract.BoxBackup{MadeOn: made.MadeMS, Bytes: made.Bytes}
	}
	return h, err
}

// answers sums up those of the last hour, and names those since a time.
func (b *boxHealth) answers(since time.Time) contract.BoxAnswers {
	from := lateFrom
	if b.cfg.Chat.MaxAddedMS > 0 {
		from = time.Duration(b.cfg.Chat.MaxAddedMS) * time.Millisecond
	}
	took, added := b.figures.Answers()
	a := contract.BoxAnswers{Count: len(took), LateFromMS: from.Milliseconds(), Recent: []contract.BoxAnswer{}}
	for _, t := range took {
		if t.At.After(since) {
			a.Recent = append(a.Recent, contract.BoxAnswer{On: t.At.UnixMilli(), TookMS: milliseconds(t.Took)})
		}
	}
	a.MedianMS, a.P95MS = quantiles(took)
	a.AddedMedianMS, a.AddedP95MS = quantiles(added)
	late := 0
	for _, t := range added {
		if t.Took > from {
			late++
		}
	}
	if len(added) > 0 {
		a.LateShare = float64(late) / float64(len(added))
	}
	return a
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// quantiles are the median and the 95th percentile, as nearest ranks; 0 of none.
func quantiles(all []metrics.Took) (median, p95 float64) {
	if len(all) == 0 {
		return 0, 0
	}
	sorted := slices.SortedFunc(slices.Values(all), func(x, y metrics.Took) int { return int(x.Took - y.Took) })
	rank := func(percent int) float64 { return milliseconds(sorted[(len(sorted)*percent+99)/100-1].Took) }
	return rank(50), rank(95)
}

func (b *boxHealth) cores() contract.BoxCores {
	c := contract.BoxCores{Machine: runtime.NumCPU(), Waiting: []contract.BoxWaiting{}}
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) == nil {
		c.ProcessSeconds = float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
	}
	gate := b.gate.Load()
	if gate == nil {
		return c
	}
	busy, waiting := gate.Load()
	c.Engines, c.Busy = gate.Cores(), busy
	for p := engine.Live; p >= engine.Batch; p-- {
		c.Waiting = append(c.Waiting, contract.BoxWaiting{Priority: p.String(), Calls: waiting[p]})
	}
	return c
}

// memory is what the kernel says; 0 for what it does not.
func memory() contract.BoxMemory {
	return contract.BoxMemory{
		Resident:  machine.Bytes("/proc/self/status", "VmRSS"),
		Available: machine.Bytes("/proc/meminfo", "MemAvailable"),
		Total:     machine.Bytes("/proc/meminfo", "MemTotal"),
	}
}

// healthEvery is how often somebody who watches is told: often enough to see
// something move, and a thousandth of a core's work.
const healthEvery = 2 * time.Second

// Watch tells how the box does until ctx ends.
func (b *boxHealth) Watch(ctx context.Context, tell func(any) error) error {
	tick := time.NewTicker(healthEvery)
	defer tick.Stop()
	var newest time.Time
	for {
		at := time.Now()
		h, err := b.since(ctx, newest)
		if err == nil {
			err = tell(h)
		}
		if err != nil {
			return err
		}
		newest = at
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Diagnose finds what parley doctor finds.
func (b *boxHealth) Diagnose(ctx context.Context) (contract.ReturnDiagnosis, error) {
	if !b.examining.CompareAndSwap(false, true) {
		return contract.ReturnDiagnosis{},
			contract.ErrConflict{Why: "the box is being examined already; ask again when that is over"}
	}
	defer b.examining.Store(false)
	d, err := diagnose(ctx, b.cfg, b.loaded, nil)
	told := contract.ReturnDiagnosis{Healthy: d.Healthy, Findings: []contract.BoxFinding{}}
	for _, f := range d.Findings {
		told.Findings = append(told.Findings, contract.BoxFinding{
			Part:   f.Part,
			Health: string(f.Health),
			What:   f.What,
			Mend:   f.Mend,
		})
	}
	return told, err
}

// loaded examines the libraries of a box that runs: it has loaded those that its
// engines stand on, and they are not to be loaded twice.
func (b *boxHealth) loaded(config.Config) doctor.Finding {
	if b.gate.Load() == nil {
		return doctor.Finding{
			Part:   "libraries",
			Health: doctor.Doubt,
			What:   "they are being loaded",
			Mend:   "look again when the box is ready",
		}
	}
	return examineSystem(nil)
}

// Settings are those that hold.
func (b *boxHealth) Settings() contract.ReturnSettings { return Settings(b.cfg) }

// Settings lists those of cfg, with where each was set.
func Settings(cfg config.Config) contract.ReturnSettings {
	told := contract.ReturnSettings{File: cfg.File, Settings: []contract.ReturnSetting{}}
	for _, s := range cfg.Effective() {
		told.Settings = append(told.Settings, contract.ReturnSetting{
			Key:       s.Key,
			Group:     s.Group,
			Help:      s.Help,
			Allowed:   s.Allowed(),
			Value:     s.Value,
			Otherwise: s.Otherwise,
			Default:   s.Default,
			From:      s.From,
			Flag:      "--" + s.Flag,
			Variable:  s.Env(),
		})
	}
	return told
}
