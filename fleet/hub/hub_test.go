package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/appliance/contract"
	"parley/fleet"
	"parley/fleet/bus"
	"parley/fleet/fleettest"
	"parley/store"
)

// rig is a hub with a real server and a real database.
type rig struct {
	*Hub
	t      *testing.T
	fleet  *fleettest.Fleet
	folder string
	joins  map[string]bus.Join
	bus    *bus.Hub
	wrap   func(Bus) Bus // nil: as it is
}

func start(t *testing.T) *rig {
	r := &rig{t: t, fleet: fleettest.Start(t), folder: t.TempDir(), joins: map[string]bus.Join{}}
	r.open()
	t.Cleanup(func() { r.close() })
	return r
}

func (r *rig) open() {
	r.t.Helper()
	records, err := store.Open(r.t.Context(), r.folder, slog.New(slog.DiscardHandler))
	must(r.t, err)
	r.bus = r.fleet.Hub(r.t)
	wrapped := Bus(r.bus)
	if r.wrap != nil {
		wrapped = r.wrap(r.bus)
	}
	r.Hub, err = Open(r.t.Context(), Parts{
		Name:    "test hub",
		Servers: r.fleet.Servers,
		Limits:  bus.Limits{Age: time.Hour, Bytes: 256 << 20, Sound: 64 << 20},
		Folder:  filepath.Join(r.folder, "incoming"),
		Records: records,
		Bus:     wrapped,
		Trust:   r,
		Plugins: noPlugins{},
		CheckSetting: func(key, _ string) error {
			if key != "log.level" {
				return errors.New("it may not be made from afar")
			}
			return nil
		},
		Log: fleettest.Log(r.t),
	})
	must(r.t, err)
}

func (r *rig) close() {
	r.Close()
	r.bus.Close()
	r.Records.Close()
}

// Join makes credentials as the appliance does.
func (r *rig) Join(box string) (text, key string, err error) {
	user, err := r.fleet.Trust.Box(box, time.Time{})
	if err != nil {
		return "", "", err
	}
	j := bus.Join{Box: box, Hub: r.Name, Servers: r.fleet.Servers, JWT: user.JWT, Seed: user.Seed,
		Authority: r.fleet.Authority}
	r.joins[box] = j
	file, err := j.Text()
	return string(file), user.Key, err
}

func (r *rig) Revoke(ctx context.Context, key string) error {
	return errors.Join(r.fleet.Trust.Revoke(key), r.bus.PushAccount(ctx))
}

type noPlugins struct{}

func (noPlugins) Plugin(_ context.Context, name string) (fleet.Plugin, []byte, error) {
	return fleet.Plugin{Name: name, Version: "1.0.0", SHA256: sumOf("file"), Bytes: 4, Granted: json.RawMessage(`{}`)},
		[]byte("file"), nil
}

func sumOf(text string) string { return fmt.Sprintf("%x", sum(text)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fakeBox applies what it is to run at once, unless refuse says why not.
type fakeBox struct {
	*bus.Box
	t    *testing.T
	done chan struct{}

	mu     sync.Mutex
	state  fleet.State
	want   fleet.Want
	refuse func(fleet.Want) string
	last   uint64
	change chan struct{} // closed and replaced when the want changes
}

// box adds a box and connects it.
func (r *rig) box(name string, groups ...string) *fakeBox {
	r.t.Helper()
	_, err := r.AddBox(r.t.Context(), contract.PostedFleetBox{Name: name, Groups: groups})
	must(r.t, err)
	return r.connect(name)
}

func (r *rig) connect(name string) *fakeBox {
	b := &fakeBox{
		Box:    r.fleet.Box(r.t, r.joins[name]),
		t:      r.t,
		done:   make(chan struct{}),
		state:  fleet.State{Box: name, Ready: true, Seats: 4, Version: "test"},
		refuse: func(fleet.Want) string { return "" },
		change: make(chan struct{}),
	}
	ctx, cancel := context.WithCancel(r.t.Context())
	go func() {
		defer close(b.done)
		b.run(ctx)
	}()
	r.t.Cleanup(func() { cancel(); <-b.done })
	return b
}

func (b *fakeBox) run(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond) // of its states
	defer tick.Stop()
	for {
		b.apply(ctx)
		select {
		case <-b.Changed():
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// apply asks for what the box is to run, and says what it runs.
func (b *fakeBox) apply(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w, changed, err := b.Want(ctx, b.state.Wanted)
	if err == nil && changed {
		b.state.Wanted = w.Revision
		if b.state.Why = b.refuse(w); b.state.Why == "" {
			b.state.Running, b.want = w.Revision, w
		}
		close(b.change)
		b.change = make(chan struct{})
	}
	b.state.AtMS++
	_ = b.SendState(ctx, b.state) // it is sent again
}

func (b *fakeBox) set(change func(*fakeBox)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b)
}

// runs waits until what the box runs fulfils a condition.
func (b *fakeBox) runs(what string, ok func(fleet.Want) bool) {
	b.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		b.mu.Lock()
		w, change := b.want, b.change
		b.mu.Unlock()
		if ok(w) {
			return
		}
		select {
		case <-change:
		case <-limit:
			b.t.Fatalf("%s: box %s runs %+v", what, b.Name(), w)
		}
	}
}

// opens reports whether a box that runs w knows a key of the account home.
func opens(w fleet.Want, key string) bool {
	return slices.ContainsFunc(w.Accounts, func(a fleet.Account) bool {
		return a.Name == "home" && slices.ContainsFunc(a.Keys, func(k fleet.Key) bool {
			return bytes.Equal(k.APIHash, sum(key))
		})
	})
}

// versionOf returns which version of a config a want has; -1: none.
func versionOf(w fleet.Want, id string) int {
	for _, a := range w.Accounts {
		for _, c := range a.Configs {
			if c.ID == id {
				return c.Version
			}
		}
	}
	return -1
}

// eventually waits for something that the hub does by itself, and looks whenever it has planned.
func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			r.t.Fatal("never: " + what)
		}
	}
}

// config saves a config, with a prompt, in the account home, or its next version.
func (r *rig) config(id string) store.Version {
	r.t.Helper()
	ctx := r.t.Context()
	if _, err := r.Records.Account(ctx, "home"); errors.Is(err, store.ErrNotFound) {
		_, err := r.Records.CreateKey(ctx, store.NewKey{Account: "home", Label: "lobby", Role: store.ClientKey})
		must(r.t, err)
	}
	account, err := r.Records.Account(ctx, "home")
	must(r.t, err)
	prompt := uuid.NewString()
	next := store.NewVersion{
		Kind:    store.KindConfig,
		ID:      id,
		Content: fmt.Sprintf(`{"evi_version":"4-mini","prompt":{"id":%q},"new_field":1}`, prompt),
	}
	if id == "" {
		next.ID, next.Name = uuid.NewString(), "Guide"
	}
	first := store.NewVersion{Kind: store.KindPrompt, ID: prompt, Name: "P " + prompt, Content: `{"text":"Be brief."}`}
	versions, err := r.Records.AddVersions(ctx, account.ID, first, next)
	must(r.t, err)
	return versions[1]
}

func (r *rig) rollout(id, target string, more func(*contract.PostedRollout)) contract.ReturnRollout {
	r.t.Helper()
	account, err := r.Records.Account(r.t.Context(), "home")
	must(r.t, err)
	p := contract.PostedRollout{Item: contract.FleetItem{Kind: contract.FleetConfig, ID: id}, Target: target}
	if more != nil {
		more(&p)
	}
	begun, err := r.BeginRollout(r.t.Context(), account.ID, p)
	must(r.t, err)
	return begun
}

func (r *rig) state(id int64) contract.ReturnRollout {
	r.t.Helper()
	one, err := r.Rollout(r.t.Context(), id)
	must(r.t, err)
	return one
}

func canaryOn(names ...string) func(*contract.PostedRollout) {
	return func(p *contract.PostedRollout) {
		none := 0
		p.CanaryBoxes, p.SoakMinutes = names, &none
	}
}

func TestAConfigGoesToItsTargetWithAllThatItNeeds(t *testing.T) {
	r := start(t)
	a, b := r.box("a", "museum"), r.box("b")
	config := r.config("")
	begun := r.rollout(config.ID, "group:museum", nil)
	a.runs("the config", func(w fleet.Want) bool { return versionOf(w, config.ID) == 0 })
	r.eventually("the roll-out is done", func() bool { return r.state(begun.ID).State == done })

	// The prompt comes along, under the number that the config names from now on.
	var home fleet.Account
	for _, one := range a.want.Accounts {
		if one.Name == "home" {
			home = one
		}
	}
	var content struct {
		Prompt struct {
			ID      string
			Version *int
		}
		NewField int `json:"new_field"`
	}
	must(t, json.Unmarshal(home.Configs[0].Content, &content))
	if len(home.Prompts) != 1 || content.Prompt.Version == nil || home.Prompts[0].ID != content.Prompt.ID ||
		content.NewField != 1 {
		t.Errorf("the box has the prompts %+v, and its config %s", home.Prompts, home.Configs[0].Content)
	}
	// Keys of clients and of the hub itself go to every box, b has them too.
	b.runs("the keys", func(w fleet.Want) bool {
		return slices.ContainsFunc(w.Accounts, func(one fleet.Account) bool {
			return one.Name == "home" && len(one.Keys) == 2
		})
	})
	// A box sees the hub's key when the hub uses it: it must not open another one.
	for _, box := range []*fakeBox{a, b} {
		for _, other := range []string{"a", "b"} {
			key, err := r.DoorKey(t.Context(), other, "home")
			must(t, err)
			if opens(box.want, key) != (box.Name() == other) {
				t.Errorf("the hub's key at box %s opens box %s: %v", other, box.Name(), opens(box.want, key))
			}
		}
	}
	if versionOf(b.want, config.ID) >= 0 {
		t.Error("a box outside the group has the config")
	}
	// A later edit goes nowhere until it is rolled out.
	r.config(config.ID)
	r.box("c", "museum").runs("the first version", func(w fleet.Want) bool { return versionOf(w, config.ID) == 0 })
	r.rollout(config.ID, "group:museum", nil)
	a.runs("the second version", func(w fleet.Want) bool { return versionOf(w, config.ID) == 1 })
}

func TestTheNarrowerTargetCountsAndAStopBringsBackWhatWasBefore(t *testing.T) {
	r := start(t)
	a, b := r.box("a"), r.box("b")
	config := r.config("")
	r.rollout(config.ID, "all", nil)
	r.config(config.ID)
	narrow := r.rollout(config.ID, "box:a", nil)
	a.runs("version 1", func(w fleet.Want) bool { return versionOf(w, config.ID) == 1 })
	b.runs("version 0", func(w fleet.Want) bool { return versionOf(w, config.ID) == 0 })
	r.config(config.ID)
	wide := r.rollout(config.ID, "all", nil)
	b.runs("version 2", func(w fleet.Want) bool { return versionOf(w, config.ID) == 2 })
	for _, one := range r.state(wide.ID).Boxes {
		if one.Box == "a" && one.State != boxReplaced {
			t.Errorf("box a, which has a narrower target, is %s", one.State)
		}
	}
	if versionOf(a.want, config.ID) != 1 {
		t.Error("the wider target counts")
	}
	_, err := r.StopRollout(t.Context(), narrow.ID)
	must(t, err)
	a.runs("version 2", func(w fleet.Want) bool { return versionOf(w, config.ID) == 2 })
	_, err = r.StopRollout(t.Context(), wide.ID)
	must(t, err)
	for _, box := range []*fakeBox{a, b} {
		box.runs("version 0 again", func(w fleet.Want) bool { return versionOf(w, config.ID) == 0 })
	}
	r.rollout(config.ID, "all", func(p *contract.PostedRollout) { p.Remove = true })
	for _, box := range []*fakeBox{a, b} {
		box.runs("nothing", func(w fleet.Want) bool { return versionOf(w, config.ID) == -1 })
	}
}

func TestCanariesGoFirst(t *testing.T) {
	r := start(t)
	a, b := r.box("a"), r.box("b")
	config := r.config("")
	r.eventually("both are online", func() bool { f, _ := r.Fleet(t.Context()); return f.Online == 2 })
	long := r.rollout(config.ID, "all", func(p *contract.PostedRollout) { p.CanaryBoxes = []string{"a"} })
	a.runs("the config", func(w fleet.Want) bool { return versionOf(w, config.ID) == 0 })
	r.eventually("it soaks", func() bool { return r.state(long.ID).SoakedFrom > 0 })
	if versionOf(b.want, config.ID) >= 0 {
		t.Fatal("the config went past its canary")
	}
	if _, err := r.BeginRollout(t.Context(), accountID(t, r), contract.PostedRollout{
		Item:   contract.FleetItem{Kind: contract.FleetConfig, ID: config.ID},
		Target: "all",
	}); !errors.As(err, new(contract.ErrConflict)) {
		t.Errorf("a second roll-out: %v", err)
	}
	_, err := r.ContinueRollout(t.Context(), long.ID)
	must(t, err)
	b.runs("the config", func(w fleet.Want) bool { return versionOf(w, config.ID) == 0 })

	// A canary that cannot run it stops it.
	r.config(config.ID)
	a.set(func(b *fakeBox) { b.refuse = func(fleet.Want) string { return "no such voice" } })
	bad := r.rollout(config.ID, "all", canaryOn("a"))
	r.eventually("it fails", func() bool { return r.state(bad.ID).State == failed })
	if why := r.state(bad.ID).Why; why != "box a: no such voice" {
		t.Errorf("it failed: %s", why)
	}
	a.set(func(b *fakeBox) { b.refuse = func(fleet.Want) string { return "" } })
	a.runs("what it ran before", func(w fleet.Want) bool { return versionOf(w, config.ID) == 0 && w.Revision >= 3 })

	// One that runs well lets it go on by itself.
	good := r.rollout(config.ID, "all", canaryOn("a"))
	b.runs("version 1", func(w fleet.Want) bool { return versionOf(w, config.ID) == 1 })
	r.eventually("it is done", func() bool { return r.state(good.ID).State == done })
}

// A box that died of what was rolled out to it was ready in its last state.
func TestACanaryThatIsAwayHoldsARollout(t *testing.T) {
	r := start(t)
	a := r.box("a")
	config := r.config("")
	r.eventually("a is online", func() bool { f, _ := r.Fleet(t.Context()); return f.Online == 1 })
	begun := r.rollout(config.ID, "all", func(p *contract.PostedRollout) { p.CanaryBoxes = []string{"a"} })
	r.eventually("it soaks", func() bool { return r.state(begun.ID).SoakedFrom > 0 })
	a.set(func(b *fakeBox) {
		b.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.boxes["a"].seen = time.Now().Add(-time.Hour)
	})
	r.replan()
	r.eventually("it waits", func() bool { return r.state(begun.ID).SoakedFrom == 0 })
	if s := r.state(begun.ID); s.State != canary || s.Why != "waits for box a, which runs it and is offline" {
		t.Errorf("the roll-out is %s: %s", s.State, s.Why)
	}
}

func accountID(t *testing.T, r *rig) string {
	t.Helper()
	account, err := r.Records.Account(t.Context(), "home")
	must(t, err)
	return account.ID
}

func TestErrorsOfChatsStopARollout(t *testing.T) {
	r := start(t)
	a := r.box("a")
	config := r.config("")
	r.eventually("a is online", func() bool { f, _ := r.Fleet(t.Context()); return f.Online == 1 })
	begun := r.rollout(config.ID, "all", func(p *contract.PostedRollout) { p.CanaryBoxes = []string{"a"} })
	r.eventually("it soaks", func() bool { return r.state(begun.ID).SoakedFrom > 0 })
	at := time.Now().UnixMilli()
	a.send(chatFact(uuid.NewString(), "ERROR", at, at+1))
	r.eventually("the chat is stored", func() bool {
		b, err := r.FleetBox(t.Context(), "a")
		return err == nil && b.Chats == 1
	})
	r.replan()
	r.eventually("it fails", func() bool { return r.state(begun.ID).State == failed })
}

func chatFact(id, status string, from, until int64) fleet.Fact {
	return fleet.Fact{AtMS: until, Chat: &fleet.Chat{
		ID:         id,
		GroupID:    uuid.NewString(),
		Account:    "home",
		Status:     status,
		StartedMS:  from,
		EndedMS:    until,
		RequestID:  "r",
		EventCount: 1,
		Events: []fleet.Event{{
			Seq:  1,
			ID:   uuid.NewString(),
			AtMS: from,
			Type: "CHAT_START_MESSAGE",
			Role: "SYSTEM",
		}},
	}}
}

// Boxes name accounts in their chats. What one invents must not come to the others, which may refuse it.
func TestAnAccountThatABoxInventsGoesToNoBox(t *testing.T) {
	r := start(t)
	a, b := r.box("a"), r.box("b")
	good := chatFact(uuid.NewString(), "USER_ENDED", 1000, 2000)
	bad := chatFact(uuid.NewString(), "USER_ENDED", 1000, 2000)
	good.Chat.Account, bad.Chat.Account = "invented", "in\x00vented"
	a.send(bad, good)
	r.eventually("the chat is stored", func() bool { return has(t, r, good.Chat.ID) })
	if has(t, r, bad.Chat.ID) {
		t.Error("a chat is stored in an account with a name that no box takes")
	}
	r.config("") // makes a key of the account home
	b.runs("the key", func(w fleet.Want) bool {
		if slices.ContainsFunc(w.Accounts, func(a fleet.Account) bool { return a.Name != "home" }) {
			t.Errorf("a box gets the accounts %+v", w.Accounts)
		}
		return len(w.Accounts) > 0
	})
}

// send sends facts, as one message.
func (b *fakeBox) send(facts ...fleet.Fact) {
	b.t.Helper()
	seq, err := b.SendFacts(b.t.Context(), fleet.Facts{ID: uuid.NewString(), Box: b.Name(), Facts: facts}, b.last)
	must(b.t, err)
	b.last = seq
}

func TestARolloutSurvivesARestartOfTheHub(t *testing.T) {
	r := start(t)
	a, b := r.box("a"), r.box("b")
	config := r.config("")
	r.eventually("both are online", func() bool { f, _ := r.Fleet(t.Context()); return f.Online == 2 })
	begun := r.rollout(config.ID, "all", func(p *contract.PostedRollout) { p.CanaryBoxes = []string{"a"} })
	r.close()
	r.open()
	a.runs("the config", func(w fleet.Want) bool { return versionOf(w, config.ID) == 0 })
	_, err := r.ContinueRollout(t.Context(), begun.ID)
	must(t, err)
	r.close()
	r.open()
	b.runs("the config", func(w fleet.Want) bool { return versionOf(w, config.ID) == 0 })
	r.eventually("it is done", func() bool { return r.state(begun.ID).State == done })
}

func TestARestoredHubGetsAgainWhatItLostAndIsBelieved(t *testing.T) {
	r := start(t)
	a := r.box("a")
	config := r.config("")
	a.runs("the keys", func(w fleet.Want) bool { return w.Revision > 0 })
	r.close()
	copied := t.TempDir()
	must(t, os.CopyFS(copied, os.DirFS(r.folder)))
	r.open()
	first, second := uuid.NewString(), uuid.NewString()
	a.send(chatFact(first, "USER_ENDED", 1000, 2000))
	r.rollout(config.ID, "all", nil)
	a.runs("the config", func(w fleet.Want) bool { return versionOf(w, config.ID) == 0 })
	late := r.box("late")
	late.send(chatFact(second, "USER_ENDED", 1000, 2000))
	r.eventually("the chats are stored", func() bool { return has(t, r, first) && has(t, r, second) })

	r.close()
	r.folder = copied
	r.open()
	r.eventually("the chats are there again", func() bool { return has(t, r, first) && has(t, r, second) })
	a.runs("what the hub had then", func(w fleet.Want) bool { return versionOf(w, config.ID) == -1 })
	boxes, err := r.FleetBoxes(t.Context())
	must(t, err)
	if len(boxes.Boxes) != 2 {
		t.Errorf("the hub lists %+v", boxes.Boxes)
	}
}

func has(t *testing.T, r *rig, chat string) bool {
	t.Helper()
	_, err := r.Records.ImportedChat(t.Context(), chat)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func TestARemovedBoxIsCutOffAndMayComeAgain(t *testing.T) {
	r := start(t)
	a := r.box("a")
	id := uuid.NewString()
	a.send(chatFact(id, "USER_ENDED", 1000, 2000))
	r.eventually("the chat is stored", func() bool { return has(t, r, id) })
	must(t, r.RemoveBox(t.Context(), "a"))
	fleettest.WaitFor(t, a.Box, false)
	if _, err := r.FleetBox(t.Context(), "a"); !errors.As(err, new(contract.ErrNotFound)) {
		t.Errorf("the removed box: %v", err)
	}
	if !has(t, r, id) {
		t.Error("its chat is gone")
	}
	again := r.box("a")
	again.last = a.last
	next := uuid.NewString()
	again.send(chatFact(next, "USER_ENDED", 3000, 4000))
	r.eventually("its next chat is stored", func() bool { return has(t, r, next) })
	box, err := r.FleetBox(t.Context(), "a")
	must(t, err)
	if box.Chats != 2 {
		t.Errorf("the box has %d chats", box.Chats)
	}
}

func TestFactsThatNobodySendsDoNotStopTheOthers(t *testing.T) {
	r := start(t)
	a := r.box("a")
	good := uuid.NewString()
	bad := chatFact("no-uuid", "USER_ENDED", 1000, 2000)
	odd := chatFact(uuid.NewString(), "DANCING", 1000, 2000)
	live := chatFact(uuid.NewString(), "ACTIVE", 1000, 2000)
	twice := chatFact(uuid.NewString(), "USER_ENDED", 1000, 2000)
	twice.Chat.Events = append(twice.Chat.Events, twice.Chat.Events[0])
	a.send(bad, odd, live, twice, fleet.Fact{AtMS: 1}, fleet.Fact{AtMS: 1, Act: json.RawMessage(`"x"`)},
		chatFact(good, "USER_ENDED", 1000, 2000))
	r.eventually("the good chat is stored", func() bool { return has(t, r, good) })
	page, err := r.Acts(t.Context(), "a", store.HubRejected, store.Page{Size: 20})
	must(t, err)
	if len(page.ActsPage) != 6 {
		t.Errorf("%d facts are rejected, want 6: %+v", len(page.ActsPage), page.ActsPage)
	}
}

func TestTheAuditLogOfABoxComesUpWhole(t *testing.T) {
	r := start(t)
	a := r.box("a")
	box, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	must(t, err)
	defer box.Close()
	must(t, box.JoinFleet(t.Context(), store.Fleet{Box: "a", Hub: "test hub"}))
	for _, name := range []string{"first", "second"} {
		must(t, box.RecordAct(t.Context(), store.Act{
			Who:     store.Actor{Kind: store.ByUser, Name: "ada"},
			What:    "key.create",
			On:      store.Object{Kind: "key", Name: name},
			Text:    "created a key",
			Outcome: store.ActFailed,
			Why:     "the disk is full",
		}))
	}
	message, err := box.FleetMessage(t.Context())
	must(t, err)
	for _, f := range message.Facts {
		a.send(fleet.Fact{AtMS: f.AtMS, Act: json.RawMessage(f.Body)})
	}
	var page contract.ReturnPagedFleetActs
	r.eventually("both acts are listed", func() bool {
		page, err = r.Acts(t.Context(), "a", store.HubAct, store.Page{Size: 20})
		must(t, err)
		return len(page.ActsPage) == 2
	})
	act := *page.ActsPage[0].Act
	if act.ID != 2 || act.CreatedOn != message.Facts[1].AtMS || act.Object.Name != "second" || act.Who.Name != "ada" ||
		act.Reason != "the disk is full" {
		t.Errorf("the second act is %+v", act)
	}
}

// forgetful loses the first file that it gets, as a server does that is replaced.
type forgetful struct {
	Bus
	lost atomic.Bool
}

func (f *forgetful) PutPlugin(ctx context.Context, sha string, from io.Reader) error {
	if f.lost.CompareAndSwap(false, true) {
		return nil
	}
	return f.Bus.PutPlugin(ctx, sha, from)
}

func TestPluginsAreOnTheServerWhenBoxesAreToRunThem(t *testing.T) {
	r := &rig{t: t, fleet: fleettest.Start(t), folder: t.TempDir(), joins: map[string]bus.Join{},
		wrap: func(b Bus) Bus { return &forgetful{Bus: b} }}
	r.open()
	t.Cleanup(func() { r.close() })
	a := r.box("a")
	r.config("")
	r.rollout("", "all", func(p *contract.PostedRollout) {
		p.Item = contract.FleetItem{Kind: contract.FleetPlugin, Name: "weather"}
	})
	a.runs("the plugin", func(w fleet.Want) bool { return len(w.Plugins) == 1 })
	if err := a.Plugin(t.Context(), sumOf("file"), io.Discard); err != nil {
		t.Errorf("the box cannot fetch it: %v", err)
	}
}

func TestSettingsAndPluginsAreRolledOut(t *testing.T) {
	r := start(t)
	a := r.box("a")
	r.config("")
	r.rollout("", "all", func(p *contract.PostedRollout) {
		p.Item, p.Value = contract.FleetItem{Kind: contract.FleetSetting, Name: "log.level"}, "debug"
	})
	r.rollout("", "all", func(p *contract.PostedRollout) {
		p.Item = contract.FleetItem{Kind: contract.FleetPlugin, Name: "weather"}
	})
	a.runs("both", func(w fleet.Want) bool { return w.Settings["log.level"] == "debug" && len(w.Plugins) == 1 })
	file := filepath.Join(t.TempDir(), "plugin")
	f, err := os.Create(file)
	must(t, err)
	must(t, a.Plugin(t.Context(), sumOf("file"), f))
	must(t, f.Close())
	if text, err := os.ReadFile(file); err != nil || string(text) != "file" {
		t.Errorf("the box fetched %q, %v", text, err)
	}
	_, err = r.BeginRollout(t.Context(), accountID(t, r), contract.PostedRollout{
		Item:   contract.FleetItem{Kind: contract.FleetSetting, Name: "data"},
		Target: "all",
	})
	if !errors.As(err, new(contract.ErrInvalid)) {
		t.Errorf("a setting that may not be made from afar: %v", err)
	}
	items, err := r.Items(t.Context())
	must(t, err)
	if len(items.Items) != 2 {
		t.Errorf("items: %+v", items.Items)
	}
}
