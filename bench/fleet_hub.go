package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/contract"
)

// fleetHub is a hub in a process of its own.
type fleetHub struct {
	endpoint endpoint
	pid      int
	output   *lastLine
	stop     func() error
}

// startFleetHub starts a hub on a data folder.
func startFleetHub(ctx context.Context, o Options, data string) (*fleetHub, error) {
	if len(o.ServeCommand) == 0 {
		return nil, errors.New("the command to start a hub is missing")
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	bus, err := freeAddress()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	h := &fleetHub{endpoint: endpoint{address: address}, output: &lastLine{log: o.Log}}
	args := append(slices.Clone(o.ServeCommand[1:]), "--data", data, "--listen", address, "--tls", "off",
		"--log-level", "warn")
	cmd := exec.CommandContext(ctx, o.ServeCommand[0], args...)
	cmd.Stderr = h.output
	cmd.Env = append(cmd.Environ(), "PARLEY_HUB_LISTEN="+bus, "PARLEY_REQUESTS_PER_SECOND=0",
		"PARLEY_CONNECTIONS=0")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = boxStop
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		err := runBox(cmd, started)
		cancel()
		ended <- err
	}()
	h.stop = sync.OnceValue(func() error {
		cancel()
		return stopped(<-ended)
	})
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("starting a hub: %w", err), h.stop())
	}
	h.pid = cmd.Process.Pid
	if err := h.endpoint.untilReady(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the hub is not ready: %w: %s", err, h.output), h.stop())
	}
	if h.endpoint.key, err = newKey(ctx, data); err != nil {
		return nil, errors.Join(err, h.stop())
	}
	return h, nil
}

// ask sends a request with a body of JSON, unless it is nil, and decodes the answer.
func (h *fleetHub) ask(ctx context.Context, method, path string, body, answer any) error {
	var sent io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+h.endpoint.address+path, sent)
	if err != nil {
		return err
	}
	r.Header.Set("X-Service-Api-Key", h.endpoint.key)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
	}
	return json.Unmarshal(text, answer)
}

// configVersion is what a config's answer says of it.
type configVersion struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
}

// createConfig creates a config with a prompt of some hundred words, and returns its id.
func (h *fleetHub) createConfig(ctx context.Context) (string, error) {
	var made configVersion
	err := h.ask(ctx, "POST", "/v0/evi/configs", map[string]any{
		"name":        "guide",
		"evi_version": "3",
		"voice":       map[string]string{"provider": "HUME_AI", "name": "joe"},
		"prompt":      map[string]string{"text": hotel},
	}, &made)
	return made.ID, err
}

// changeConfig adds a version.
func (h *fleetHub) changeConfig(ctx context.Context, id string, want int) error {
	var made configVersion
	err := h.ask(ctx, "POST", "/v0/evi/configs/"+id, map[string]any{
		"evi_version": "3",
		"voice":       map[string]string{"provider": "HUME_AI", "name": "joe"},
		"prompt":      map[string]string{"text": hotel + " It is day " + strconv.Itoa(want) + "."},
	}, &made)
	if err == nil && made.Version != want {
		err = fmt.Errorf("the config has version %d, not %d", made.Version, want)
	}
	return err
}

// rollOut rolls the newest version of a config out to all boxes at once.
func (h *fleetHub) rollOut(ctx context.Context, config string) error {
	var begun contract.ReturnRollout
	return h.ask(ctx, "POST", "/v0/box/fleet/rollouts", map[string]any{
		"item":   contract.FleetItem{Kind: contract.FleetConfig, ID: config},
		"target": "all",
	}, &begun)
}

// fleetPoll is how often the hub is asked whether something is done. Times of boxes do not depend on it.
const fleetPoll = 50 * time.Millisecond

// untilDone waits until the newest roll-out is done.
func (h *fleetHub) untilDone(ctx context.Context) error {
	for {
		var page contract.ReturnPagedRollouts
		if err := h.ask(ctx, "GET", "/v0/box/fleet/rollouts?page_size=1", nil, &page); err != nil {
			return err
		}
		if len(page.RolloutsPage) > 0 && page.RolloutsPage[0].State == contract.RolloutDone {
			return nil
		}
		if err := sleep(ctx, fleetPoll); err != nil {
			return fmt.Errorf("the roll-out is not done: %w", err)
		}
	}
}

// untilChats waits until the hub stores this many ended chats.
func (h *fleetHub) untilChats(ctx context.Context, want int) error {
	for {
		var all contract.ReturnFleetBoxes
		if err := h.ask(ctx, "GET", "/v0/box/fleet/boxes", nil, &all); err != nil {
			return err
		}
		var have, waiting int
		for _, b := range all.Boxes {
			have += int(b.Chats)
		}
		var f contract.ReturnFleet
		if err := h.ask(ctx, "GET", "/v0/box/fleet", nil, &f); err != nil {
			return err
		}
		if waiting = int(f.Waiting); have >= want && waiting == 0 {
			return nil
		}
		if err := sleep(ctx, fleetPoll); err != nil {
			return fmt.Errorf("the hub has %d of %d chats, and %d messages wait: %w", have, want, waiting, err)
		}
	}
}

// errFull is the answer of a door whose boxes have no room.
var errFull = errors.New("no box has room")

// dial opens a chat through the door.
func (h *fleetHub) dial(ctx context.Context) (*websocket.Conn, error) {
	c, res, err := websocket.Dial(ctx, "ws://"+h.endpoint.address+chatPath,
		&websocket.DialOptions{HTTPHeader: http.Header{"X-Service-Api-Key": {h.endpoint.key}}})
	if err != nil && res != nil && res.StatusCode == http.StatusServiceUnavailable {
		return nil, errFull
	}
	return c, err
}
