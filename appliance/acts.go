package appliance

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"parley/internal/version"
	"parley/store"
)

// actTimeout bounds the write of an act of the box itself: as long as a busy disk takes.
const actTimeout = 5 * time.Second

// versionSetting is the name under which the version of the program is stored among the
// settings.
const versionSetting = "version"

// recordSettings records which settings, and which version, differ from those of the last
// start. A box whose disk is full starts nevertheless.
func (a *appliance) recordSettings(ctx context.Context) {
	now := map[string]string{versionSetting: version.String()}
	for _, s := range a.cfg.Effective() {
		value := s.Value
		if s.From == "" {
			value = s.DefaultInWords
		}
		now[s.Key] = value
	}
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	changed, err := a.records.RecordSettings(ctx, now, settingAct)
	if err != nil {
		a.log.Error("the audit log does not have the settings of this start", "err", err)
	}
	for _, c := range changed {
		a.log.Info("a setting changed since the last start", "setting", c.Name, "before", c.Before, "now", c.Now)
	}
}

// settingAct describes a setting that was changed between two starts. Who changed it is
// not known: it may have been anybody who can write the file or start the box.
func settingAct(c store.SettingChange) store.Act {
	one := boxAct("settings.change", "setting", c.Name,
		fmt.Sprintf("started with the setting %s %s, before it was %s", c.Name, valueText(c.Now), valueText(c.Before)))
	if c.Name == versionSetting {
		one.What, one.On = "box.version", store.Object{Kind: "box", Name: c.Now}
		one.Text = fmt.Sprintf("started Parley %s, before it was %s", c.Now, c.Before)
	}
	return one
}

func valueText(value string) string {
	if value == "" {
		return "empty"
	}
	return strconv.Quote(value)
}

// boxAct returns an act of the box itself.
func boxAct(what, kind, name, text string) store.Act {
	return store.Act{
		Who:  store.Actor{Kind: store.ByBox},
		What: what,
		On:   store.Object{Kind: kind, Name: name},
		Text: text,
	}
}

// recordBoxAct records an act of the box itself; the log has it if that fails.
func recordBoxAct(records *store.Store, log *slog.Logger, one store.Act) {
	ctx, cancel := context.WithTimeout(context.Background(), actTimeout)
	defer cancel()
	if err := records.RecordAct(ctx, one); err != nil {
		log.Error("an act of the box is not in the audit log, but only here", "what", one.What, "text", one.Text,
			"err", err)
	}
}

// sweepRecordsEvery is how often the audit log gets the numbers of what retention has
// deleted: a row an hour would hide the others.
const sweepRecordsEvery = 24 * time.Hour

// sweptRecord counts what retention deletes, for the audit log.
type sweptRecord struct {
	since  time.Time
	counts map[string]int // by kind, such as chats
}

func newSweptRecord(now time.Time) *sweptRecord { return &sweptRecord{now, map[string]int{}} }

func (s *sweptRecord) add(what string, n int) {
	if n > 0 {
		s.counts[what] += n
	}
}

// record records the counts, at the latest sweepRecordsEvery after the first of them.
func (s *sweptRecord) record(records *store.Store, log *slog.Logger, now time.Time, last bool) {
	if now.Sub(s.since) < sweepRecordsEvery && !last {
		return
	}
	for what, n := range s.counts {
		recordBoxAct(records, log, boxAct(what+".expire", what, "",
			fmt.Sprintf("deleted what had passed its retention: %d %s", n, what)))
	}
	*s = *newSweptRecord(now)
}
