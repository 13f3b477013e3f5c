package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"parley/appliance"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/store"
)

// runHub is parley hub. Its arguments are the data folder and the addresses for HTTP and NATS.
func runHub(ctx context.Context, args []string) error {
	cfg, err := config.Load(config.Sources{Flags: map[string]string{
		"data":                       args[0],
		"listen":                     args[1],
		"hub.listen":                 args[2],
		"hub.name":                   "hub",
		"limits.requests_per_second": "0",
	}})
	if err != nil {
		return err
	}
	return appliance.RunHub(ctx, cfg, appliance.Console{Log: quiet()})
}

// fleetOfProcesses is a hub and its boxes, each a process.
type fleetOfProcesses struct {
	t       *testing.T
	plan    plan
	folder  string
	address string // of the hub's HTTP
	key     string
	hub     *process
	boxes   []*process
	relay   *relay
	number  int // of the newest version of the config
	config  string
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

func (f *fleetOfProcesses) data(name string) string { return filepath.Join(f.folder, name) }

// boxName returns the name of a box.
func boxName(i int) string { return "box-" + strconv.Itoa(i) }

var serversLine = regexp.MustCompile(`(?m)^# servers: .*$`)

// newFleet starts a hub, and boxes that reach it over a relay.
func newFleet(t *testing.T, p plan) *fleetOfProcesses {
	t.Helper()
	f := &fleetOfProcesses{t: t, plan: p, folder: t.TempDir(), address: freeAddress(t)}
	nats := freeAddress(t)
	f.relay = newRelay(t, nats)
	f.hub = f.process("hub", f.data("hub"), f.address, nats)
	f.hub.start()
	f.eventually("the hub is ready", func() error { return f.ask("GET", "/readyz", nil, nil) })
	f.makeKey()
	for i := range p.boxes {
		var added contract.AddedFleetBox
		must(t, f.ask("POST", "/v0/box/fleet/boxes", map[string]any{"name": boxName(i)}, &added))
		join := serversLine.ReplaceAllString(added.Join, "# servers: tls://"+f.relay.listen.Addr().String())
		file := f.data(boxName(i) + ".join")
		must(t, os.WriteFile(file, []byte(join), 0o600))
		box := f.process("box", f.data(boxName(i)), file, strconv.Itoa(p.chats))
		f.boxes = append(f.boxes, box)
		box.start()
	}
	return f
}

func (f *fleetOfProcesses) process(role string, args ...string) *process {
	p := &process{t: f.t, role: role, args: args, errs: &tail{}}
	f.t.Cleanup(func() {
		p.kill()
		if f.t.Failed() {
			f.t.Logf("%s %v said at its end:\n%s", role, args, p.errs)
		}
	})
	return p
}

// makeKey creates an operator's key as parley keys does. Of the account home, which the boxes' chats have too.
func (f *fleetOfProcesses) makeKey() {
	f.t.Helper()
	s, err := store.Join(f.t.Context(), f.data("hub"))
	must(f.t, err)
	defer s.Close()
	made, err := s.CreateKey(f.t.Context(), store.NewKey{Account: "home", Role: store.OperatorKey})
	must(f.t, err)
	f.key = made.APIKey
}

// ask sends a request to the hub.
func (f *fleetOfProcesses) ask(method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
	defer cancel()
	text := []byte{}
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+f.address+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("X-Service-Api-Key", f.key)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if text, err = io.ReadAll(response.Body); err != nil {
		return err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// eventually tries something that other processes bring about, until it succeeds.
func (f *fleetOfProcesses) eventually(what string, try func() error) {
	f.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(time.Minute)
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			f.t.Fatalf("never: %s: %v", what, err)
		}
	}
}

// working reports whether a box has chats to write.
func (f *fleetOfProcesses) working() bool {
	for i := range f.boxes {
		if !isThere(finished(f.data(boxName(i)))) {
			return true
		}
	}
	return false
}

// rollOut saves a version of the config with a prompt and a tool of its own, and rolls it out. It reports whether the
// hub took it: it may be dead.
func (f *fleetOfProcesses) rollOut() bool {
	f.number++
	number := strconv.Itoa(f.number)
	var tool, made struct {
		ID string `json:"id"`
	}
	if f.ask("POST", "/v0/evi/tools", map[string]any{
		"name":        "tool_" + number,
		"description": number,
		"parameters":  `{"type":"object"}`,
	}, &tool) != nil {
		return false
	}
	version := map[string]any{
		"evi_version":         "4-mini",
		"version_description": number,
		"prompt":              map[string]any{"text": number},
		"tools":               []any{map[string]any{"id": tool.ID}},
	}
	path := "/v0/evi/configs"
	if f.config == "" {
		version["name"] = "Guide"
	} else {
		path += "/" + f.config
	}
	if f.ask("POST", path, version, &made) != nil {
		return false
	}
	f.config = made.ID
	return f.ask("POST", "/v0/box/fleet/rollouts", map[string]any{
		"item":   map[string]any{"kind": "config", "id": f.config},
		"target": "all",
	}, nil) == nil
}

// untilStill waits until the hub has all facts and every box runs what it is to run.
func (f *fleetOfProcesses) untilStill() {
	f.t.Helper()
	f.eventually("the last roll-out is taken", func() error {
		if !f.rollOut() {
			return fmt.Errorf("the hub does not take roll-out %d", f.number)
		}
		return nil
	})
	f.eventually("the fleet is still", func() error {
		var hub contract.ReturnFleet
		if err := f.ask("GET", "/v0/box/fleet", nil, &hub); err != nil {
			return err
		}
		var all contract.ReturnFleetBoxes
		if err := f.ask("GET", "/v0/box/fleet/boxes", nil, &all); err != nil {
			return err
		}
		var rolled contract.ReturnPagedRollouts
		if err := f.ask("GET", "/v0/box/fleet/rollouts?page_size=1", nil, &rolled); err != nil {
			return err
		}
		waits := slices.ContainsFunc(all.Boxes, func(b contract.ReturnFleetBox) bool {
			return !b.Online || b.State == nil || b.State.FactsWaiting > 0 || b.State.Running != b.Wanted
		})
		newest := rolled.RolloutsPage[0]
		if hub.Waiting > 0 || waits || newest.State != contract.RolloutDone {
			states, _ := json.Marshal(all.Boxes)
			return fmt.Errorf("%d messages wait, roll-out %d is %s, and the boxes are %s", hub.Waiting, newest.ID,
				newest.State, states)
		}
		return nil
	})
}

// stop ends all processes: the boxes as they end, the hub by a kill.
func (f *fleetOfProcesses) stop() {
	f.t.Helper()
	for _, box := range f.boxes {
		box.tell("end")
		if err := box.cmd.Wait(); err != nil {
			f.t.Errorf("box %v: %v\n%s", box.args, err, box.errs)
		}
	}
	f.hub.kill()
}

// compare compares the databases of the boxes with that of the hub.
func (f *fleetOfProcesses) compare() {
	f.t.Helper()
	ctx := f.t.Context()
	hub, err := store.Open(ctx, f.data("hub"), quiet())
	must(f.t, err)
	defer hub.Close()
	all := 0
	for i := range f.boxes {
		box, err := store.Open(ctx, f.data(boxName(i)), quiet())
		must(f.t, err)
		all += f.compareBox(hub, box, boxName(i))
		if err := checkWhole(ctx, box); err != nil {
			f.t.Errorf("%s: %v", boxName(i), err)
		}
		must(f.t, box.Close())
	}
	chats := f.chats(hub)
	if len(chats) != all {
		f.t.Errorf("the hub has %d chats, and the boxes have %d", len(chats), all)
	}
	f.t.Logf("%d chats are the same on the hub and the boxes", all)
}

// chats returns all chats of the account home.
func (f *fleetOfProcesses) chats(s *store.Store) (all []store.Chat) {
	f.t.Helper()
	account, err := s.Account(f.t.Context(), "home")
	must(f.t, err)
	for page := 0; ; page++ {
		some, total, err := s.Chats(f.t.Context(), account.ID, store.ChatFilter{}, store.Page{Number: page, Size: 100})
		must(f.t, err)
		all = append(all, some...)
		if len(some) == 0 {
			if len(all) != total {
				f.t.Errorf("the account counts %d chats and has %d", total, len(all))
			}
			return all
		}
	}
}

// compareEvents reports the first event that differs.
func (f *fleetOfProcesses) compareEvents(what string, box, hub []store.Event) {
	f.t.Helper()
	if len(box) != len(hub) {
		f.t.Errorf("%s: %d events on the box, and %d on the hub", what, len(box), len(hub))
	}
	for i := range min(len(box), len(hub)) {
		if box[i] != hub[i] {
			f.t.Errorf("%s: event %d is\n%+v\non the box, and\n%+v\non the hub", what, i+1, box[i], hub[i])
			return
		}
	}
}

// compareBox compares the chats of a box, and returns how many it has.
func (f *fleetOfProcesses) compareBox(hub, box *store.Store, name string) int {
	f.t.Helper()
	ctx := f.t.Context()
	chats := f.chats(box)
	for _, c := range chats {
		copied, err := hub.ImportedChat(ctx, c.ID)
		if err != nil {
			f.t.Errorf("%s: %v", name, err)
			continue
		}
		if owner, _, err := hub.BoxOfChat(ctx, c.ID); err != nil || owner != name {
			f.t.Errorf("chat %s of %s belongs to %q on the hub, %v", c.ID, name, owner, err)
		}
		copied.AccountID = c.AccountID // each has its own ids of accounts
		if copied != c {
			f.t.Errorf("chat %s of %s is\n%+v\non the hub, and\n%+v\non the box", c.ID, name, copied, c)
		}
		here, err := box.ImportedEvents(ctx, c.ID, 0, 1000)
		must(f.t, err)
		there, err := hub.ImportedEvents(ctx, c.ID, 0, 1000)
		must(f.t, err)
		f.compareEvents(name+", chat "+c.ID, here, there)
	}
	return len(chats)
}
