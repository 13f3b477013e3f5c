package box

import (
	"context"
	"crypto/x509"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/metrics"
	"parley/firmware/backup"
	"parley/firmware/doctor"
	"parley/internal/disk"
	"parley/internal/machine"
	"parley/internal/version"
)

// HealthSources are what Health reads.
type HealthSources struct {
	Config  config.Config // Listen is the real address of the box
	Started time.Time
	Records Records
	Figures Figures
	Chats   Chats
	Speaker Speaker
	Leaf    func() *x509.Certificate // returns the certificate that clients see; nil without TLS
	// Fleet returns what the box knows of its fleet; nil if it is in none. It may be nil.
	Fleet func(context.Context) *contract.BoxFleet
}

// Records counts rows of the database.
type Records interface {
	WebhookCounts(ctx context.Context) (waiting, dead int, err error)
	CountKiosks(ctx context.Context) (int, error)
}

// Figures measures answers.
type Figures interface {
	// Answers returns how long the newest answers took, and how much of that came
	// on top of the silence before them.
	Answers() (took, added []metrics.Sample)
}

// Chats is what starts chats.
type Chats interface {
	// Missing returns the reasons why chats cannot start.
	Missing(ctx context.Context) []string
	// Live counts the live chats, and the accounts that have them.
	Live() (chats, accounts int)
}

// Speaker is the line of the box's own loudspeaker and microphone.
type Speaker interface {
	// Status returns an error when the box has no such line, or not yet.
	Status() (contract.BoxKiosk, error)
}

// Health reports the state of a running box. It implements api.BoxHealth.
type Health struct {
	HealthSources
	gate      atomic.Pointer[engine.Gate]                 // nil before the engines are open
	servers   atomic.Pointer[func() []engine.ServerState] // nil before the engines are open
	examining atomic.Bool
}

// NewHealth returns the health of a box whose engines are not open yet.
func NewHealth(s HealthSources) *Health { return &Health{HealthSources: s} }

// WatchEngines has the load of the engines reported from now on, and how the servers are that run some
// of them.
func (b *Health) WatchEngines(g *engine.Gate, servers func() []engine.ServerState) {
	b.gate.Store(g)
	b.servers.Store(&servers)
}

// lateFrom is how much later than the silence before it an answer may come until it
// counts as late, if the settings set no limit.
const lateFrom = 3 * time.Second

// Health returns the state of the box.
func (b *Health) Health(ctx context.Context) (contract.ReturnBoxHealth, error) {
	return b.since(ctx, time.Time{})
}

// since returns the state of the box; Recent has only the answers after newest.
func (b *Health) since(ctx context.Context, newest time.Time) (h contract.ReturnBoxHealth, err error) {
	h = contract.ReturnBoxHealth{
		Version:     version.String(),
		Now:         time.Now().UnixMilli(),
		StartedOn:   b.Started.UnixMilli(),
		Missing:     append([]string{}, b.Chats.Missing(ctx)...),
		Serves:      b.serves(),
		Chats:       contract.BoxChats{Seats: b.Config.MaxChats()},
		Answers:     b.answers(newest),
		Cores:       b.cores(),
		Memory:      contract.BoxMemory(machine.ReadMemory()),
		Certificate: b.certificate(),
	}
	h.Ready = len(h.Missing) == 0
	h.Chats.Live, h.Chats.Accounts = b.Chats.Live()
	if h.Disk.Free, err = disk.Free(b.Config.Data); err == nil {
		h.Disk.Total, err = disk.Size(b.Config.Data)
	}
	if err != nil {
		return h, err
	}
	if h.Webhooks.Waiting, h.Webhooks.Dead, err = b.Records.WebhookCounts(ctx); err != nil {
		return h, err
	}
	if h.Kiosks, err = b.Records.CountKiosks(ctx); err != nil {
		return h, err
	}
	if now, err := b.Speaker.Status(); err == nil {
		h.Speaker = &now
	}
	if b.Fleet != nil {
		h.Fleet = b.Fleet(ctx)
	}
	made, ok, err := backup.Latest(b.Config.Data)
	if ok {
		h.Backup = &contract.BoxBackup{MadeOn: made.MadeMS, Bytes: made.Bytes}
	}
	return h, err
}

func (b *Health) serves() contract.BoxServes {
	s := contract.BoxServes{
		Transcriber:    b.Config.Engines.DescribeTranscriber(),
		LanguageModels: []string{},
		Voice:          b.Config.Engines.Voice,
		Servers:        []contract.BoxServer{},
	}
	for _, m := range b.Config.Models() {
		s.LanguageModels = append(s.LanguageModels, m.Describe())
	}
	if list := b.servers.Load(); list != nil {
		for _, one := range (*list)() {
			s.Servers = append(s.Servers, contract.BoxServer{
				Serves:    one.Serves,
				Server:    one.Server,
				Model:     one.Model,
				State:     one.State,
				Why:       one.Why,
				Calls:     one.Calls,
				Answers:   int64(one.Answers),
				Failures:  int64(one.Failures),
				LatencyMS: milliseconds(one.Latency),
			})
		}
	}
	return s
}

// certificate returns nil without TLS.
func (b *Health) certificate() *contract.BoxCertificate {
	leaf := b.Leaf()
	if leaf == nil {
		return nil
	}
	mode := b.Config.TLS.Mode
	c := &contract.BoxCertificate{
		Source:  string(mode),
		EndsOn:  leaf.NotAfter.UnixMilli(),
		Names:   append([]string{}, leaf.DNSNames...),
		Renewed: mode != config.TLSFiles,
	}
	for _, ip := range leaf.IPAddresses {
		c.Names = append(c.Names, ip.String())
	}
	return c
}

// answers summarises the answers of the last hour, and lists those after since.
func (b *Health) answers(since time.Time) contract.BoxAnswers {
	from := lateFrom
	if b.Config.Chat.MaxAddedMS > 0 {
		from = time.Duration(b.Config.Chat.MaxAddedMS) * time.Millisecond
	}
	took, added := b.Figures.Answers()
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

// quantiles returns the median and the 95th percentile, by the nearest-rank method,
// and 0 for an empty list.
func quantiles(all []metrics.Sample) (median, p95 float64) {
	if len(all) == 0 {
		return 0, 0
	}
	sorted := slices.SortedFunc(slices.Values(all), func(x, y metrics.Sample) int { return int(x.Took - y.Took) })
	rank := func(percent int) float64 { return milliseconds(sorted[(len(sorted)*percent+99)/100-1].Took) }
	return rank(50), rank(95)
}

func (b *Health) cores() contract.BoxCores {
	c := contract.BoxCores{
		Machine:        runtime.NumCPU(),
		ProcessSeconds: machine.ProcessSeconds(),
		Waiting:        []contract.BoxWaiting{},
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

// watchEvery is the interval of Watch: short enough to see something move, and a
// thousandth of a core's work.
const watchEvery = 2 * time.Second

// Watch calls tell with the state of the box every watchEvery until ctx ends. Each
// answer is in Recent once.
func (b *Health) Watch(ctx context.Context, tell func(any) error) error {
	tick := time.NewTicker(watchEvery)
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

// Diagnose returns what parley doctor finds. While one diagnosis runs, another one
// gets a contract.ErrConflict.
func (b *Health) Diagnose(ctx context.Context) (contract.ReturnDiagnosis, error) {
	if !b.examining.CompareAndSwap(false, true) {
		return contract.ReturnDiagnosis{},
			contract.ErrConflict{Why: "the box is being examined already; ask again when that is over"}
	}
	defer b.examining.Store(false)
	d, err := diagnose(ctx, b.Config, b.examineLoaded, nil)
	r := contract.ReturnDiagnosis{Healthy: d.Healthy, Findings: []contract.BoxFinding{}}
	for _, f := range d.Findings {
		r.Findings = append(r.Findings, contract.BoxFinding{
			Part:   f.Part,
			Health: string(f.Health),
			What:   f.What,
			Mend:   f.Mend,
		})
	}
	return r, err
}

// examineLoaded examines the libraries of a running box. The box has loaded the
// libraries of its engines, and they must not be loaded twice.
func (b *Health) examineLoaded(ctx context.Context, _ config.Config) doctor.Finding {
	if b.gate.Load() == nil {
		return doctor.Finding{
			Part:   "libraries",
			Health: doctor.Warning,
			What:   "they are being loaded",
			Mend:   "look again when the box is ready",
		}
	}
	return examineSystem(ctx, nil)
}

// Settings returns the settings of the box.
func (b *Health) Settings() contract.ReturnSettings { return Settings(b.Config) }

// Settings returns the settings of cfg, and where each was set.
func Settings(cfg config.Config) contract.ReturnSettings {
	r := contract.ReturnSettings{File: cfg.File, Settings: []contract.ReturnSetting{}}
	for _, s := range cfg.Effective() {
		one := contract.ReturnSetting{
			Key:       s.Key,
			Group:     s.Group,
			Help:      s.Help,
			Allowed:   s.Allowed(),
			Value:     s.Value,
			Otherwise: s.DefaultInWords,
			Default:   s.Default,
			From:      s.From,
			Remote:    s.Remote,
		}
		if !s.FileOnly() {
			one.Flag, one.Variable = "--"+s.Flag, s.Env()
		}
		r.Settings = append(r.Settings, one)
	}
	return r
}
