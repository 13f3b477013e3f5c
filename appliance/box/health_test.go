package box

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"parley/appliance/certs"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/metrics"
	"parley/firmware/doctor"
	"parley/store"
)

// stopped replaces the chats and the speaker of a box that has neither.
type stopped struct{}

func (stopped) Missing(context.Context) []string { return []string{"the models are being loaded"} }
func (stopped) Live() (chats, accounts int)      { return 0, 0 }
func (stopped) Status() (contract.BoxKiosk, error) {
	return contract.BoxKiosk{}, errors.New("there is none")
}

// newHealth returns the health of a box without engines, and its figures.
func newHealth(t *testing.T) (*Health, *metrics.Metrics) {
	t.Helper()
	cfg, err := config.Load(config.Sources{Flags: map[string]string{"data": t.TempDir(), "profile": "test"},
		Dir: t.TempDir(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	records, err := store.Open(t.Context(), cfg.Data, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := records.Close(); err != nil {
			t.Error(err)
		}
	})
	figures := metrics.New("", log)
	return NewHealth(HealthSources{
		Config:  cfg,
		Started: time.Now(),
		Records: records,
		Figures: figures,
		Chats:   stopped{},
		Speaker: stopped{},
		Leaf:    (&certs.Identity{}).Leaf,
	}), figures
}

func TestHealthSummarisesTheNewestAnswers(t *testing.T) {
	b, figures := newHealth(t)
	h, err := b.Health(t.Context())
	if err != nil || h.Ready || len(h.Missing) != 1 || h.Answers.Count != 0 || h.Disk.Free == 0 ||
		h.Memory.Resident == 0 || h.Memory.Total == 0 || h.Chats.Seats == 0 {
		t.Fatalf("%+v, %v", h, err)
	}
	if h.Certificate != nil || h.Backup != nil || h.Speaker != nil || len(h.Serves.LanguageModels) != 1 {
		t.Errorf("%+v", h)
	}
	gate := engine.NewGate(3)
	b.WatchEngines(gate, func() []engine.ServerState { return nil })
	leave, err := gate.Enter(t.Context(), engine.Live.Urgency(), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	for ms := range 100 {
		figures.Turn("answer", time.Duration(ms+1)*10*time.Millisecond)
		figures.Turn("late", time.Duration(ms+1)*100*time.Millisecond)
	}
	h, err = b.Health(t.Context())
	if a := h.Answers; err != nil || a.Count != 100 || a.MedianMS != 500 || a.P95MS != 950 || a.AddedMedianMS != 5000 ||
		a.LateShare != .7 || a.LateFromMS != 3000 || len(a.Recent) != 100 {
		t.Errorf("%+v, %v", a, err)
	}
	if c := h.Cores; c.Engines != 3 || c.Busy != 2 || len(c.Waiting) != 5 || c.Waiting[0].Priority != "live" ||
		c.ProcessSeconds == 0 {
		t.Errorf("%+v", c)
	}
	for range 1000 {
		figures.Turn("answer", time.Second)
	}
	if h, _ = b.Health(t.Context()); h.Answers.Count != 512 || h.Answers.MedianMS != 1000 {
		t.Errorf("the newest are %+v", h.Answers.Count)
	}
}

func TestWatchReportsEachAnswerOnce(t *testing.T) {
	b, figures := newHealth(t)
	figures.Turn("answer", time.Second)
	counts, enough := []int{}, errors.New("enough")
	err := b.Watch(t.Context(), func(v any) error {
		counts = append(counts, len(v.(contract.ReturnBoxHealth).Answers.Recent))
		if len(counts) == 2 {
			return enough
		}
		figures.Turn("answer", time.Second)
		figures.Turn("answer", time.Second)
		return nil
	})
	if !errors.Is(err, enough) || counts[0] != 1 || counts[1] != 2 {
		t.Errorf("got %v, %v", counts, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	if err := b.Watch(ended, func(any) error { cancel(); return nil }); err != nil {
		t.Errorf("a watcher that leaves: %v", err)
	}
}

func TestOnlyOneDiagnosisAtATime(t *testing.T) {
	b, _ := newHealth(t)
	d, err := b.Diagnose(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]contract.BoxFinding{}
	for _, f := range d.Findings {
		found[f.Part] = f
	}
	if found["database"].Health != string(doctor.OK) || found["libraries"].Health != string(doctor.Warning) ||
		found["backup"].Mend == "" || found["webhooks"].Part == "" {
		t.Errorf("%+v", d)
	}
	b.examining.Store(true)
	if _, err := b.Diagnose(t.Context()); !isConflict(err, "examined already") {
		t.Errorf("a second one: %v", err)
	}
}

// Without ffmpeg, one finding says what cannot be read, and how to install it.
func TestMissingFFmpegIsOneFinding(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	f := examineSystem(t.Context(), nil)
	if f.Health != doctor.Warning || !strings.Contains(f.What, "pictures, videos and sounds") ||
		f.Mend != "apt-get install ffmpeg" {
		t.Errorf("%+v", f)
	}
}

func TestSettingsListSources(t *testing.T) {
	b, _ := newHealth(t)
	s := b.Settings()
	if len(s.Settings) != len(config.Settings()) {
		t.Errorf("%d settings", len(s.Settings))
	}
	for _, setting := range s.Settings {
		if setting.Key == "profile" && (setting.Value != "test" || setting.From != "--profile" ||
			setting.Variable != "PARLEY_PROFILE") {
			t.Errorf("%+v", setting)
		}
	}
}
