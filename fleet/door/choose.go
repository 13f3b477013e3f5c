package door

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"parley/appliance/contract"
)

const (
	// maxAge is how old the state of a box that is online may be: a box sends one every ten seconds, and two may be
	// lost.
	maxAge = 25 * time.Second
	// avoidFor is how long a box that refused a client, or could not be reached, gets no other: as long as boxes ask
	// clients to wait.
	avoidFor = 5 * time.Second
	// retryAfter is when a client is to try again that no box can take. Chats last minutes, so of some dozen seats one
	// is free after some seconds.
	retryAfter = 5 * time.Second
	// placedFor bounds how long a client counts that was sent to a box and does not show in the states of the box: one
	// state, and the time to get there.
	placedFor = 12 * time.Second
)

// load is what the door itself knows of the load of a box.
type load struct {
	held    int         // sockets that pass through the door, with those that are being opened
	placed  []time.Time // when clients were sent to the box that the door does not hold, and no state shows yet
	working int         // requests that take no seat
	avoid   time.Time

	seen  time.Time // of the newest state
	other int       // chats in that state that the door does not hold
}

// update takes a new state of the box into account. The state shows the sockets of the door and other chats; more
// other chats than before are those clients that were sent to the box.
func (l *load) update(b Box, now time.Time) {
	l.placed = slices.DeleteFunc(l.placed, func(at time.Time) bool { return now.Sub(at) > placedFor })
	if !b.Seen.After(l.seen) {
		return
	}
	other := max(b.State.Live-l.held, 0)
	l.placed = slices.Delete(l.placed, 0, min(max(other-l.other, 0), len(l.placed)))
	l.seen, l.other = b.Seen, other
}

// room returns how many more chats the box can take. A state may lack sockets that have been opened since.
func (l *load) room(b Box) int {
	if !b.State.Ready {
		return 0
	}
	return b.State.Seats - l.held - l.other - len(l.placed)
}

// placement is a request that was sent to a box.
type placement struct {
	door    *Door
	load    *load
	box     string
	address string
	kind    Kind
}

// end says that the request is over, or that the box did not take it.
func (p *placement) end() {
	p.door.mu.Lock()
	defer p.door.mu.Unlock()
	p.add(-1)
}

// refused says that the box did not take the request, and is to get no client for a while.
func (p *placement) refused() {
	p.door.mu.Lock()
	defer p.door.mu.Unlock()
	p.add(-1)
	p.load.avoid = p.door.now().Add(avoidFor)
}

// leave says that the client goes on with the box, and the door does not see how long.
func (p *placement) leave() {
	p.door.mu.Lock()
	defer p.door.mu.Unlock()
	p.add(-1)
	if p.kind == Chat {
		p.load.placed = append(p.load.placed, p.door.now())
	}
}

// add changes what the door counts of the box. The caller holds the lock of the door.
func (p *placement) add(n int) {
	switch p.kind {
	case Chat:
		p.load.held += n
	case Work:
		p.load.working += n
	}
}

// candidate is a box that could answer a request.
type candidate struct {
	Box
	room    int
	working int
	tie     float64
}

// choose chooses a box: only, unless it is empty, and none of tried. The error is an ErrFull or ErrUnavailable of
// package contract, with a time to wait, if no box can take the client now.
func (d *Door) choose(r *http.Request, asked Request, only string, tried []string) (*placement, error) {
	all := d.fleet.Boxes()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget(all)
	var found []candidate
	var why error
	if only != "" {
		found, why = d.one(all, only, tried)
	} else {
		found, why = d.several(all, r.URL.Query().Get("config_id"), asked.Kind, tried)
	}
	if len(found) == 0 {
		return nil, why
	}
	best := slices.MinFunc(found, func(a, b candidate) int {
		if asked.Kind == Work {
			return cmp.Or(cmp.Compare(a.working, b.working), cmp.Compare(b.room, a.room), cmp.Compare(a.tie, b.tie))
		}
		return cmp.Or(cmp.Compare(b.room, a.room), cmp.Compare(a.State.AddedMS, b.State.AddedMS),
			cmp.Compare(a.tie, b.tie))
	})
	p := &placement{
		door:    d,
		load:    d.load(best.Name),
		box:     best.Name,
		address: best.State.Address,
		kind:    asked.Kind,
	}
	p.add(1)
	return p, nil
}

// several returns the boxes that could take a request which any box can answer.
func (d *Door) several(all []Box, config string, kind Kind, tried []string) (found []candidate, why error) {
	running, rolledOut := map[string]bool(nil), false
	if config != "" && kind == Chat {
		running, rolledOut = d.fleet.BoxesOf(config)
	}
	now := d.now()
	reachable := 0
	for _, b := range all {
		l := d.load(b.Name)
		l.update(b, now)
		if !d.reachable(b) || rolledOut && !running[b.Name] {
			continue
		}
		reachable++
		room := l.room(b)
		if slices.Contains(tried, b.Name) || now.Before(l.avoid) || kind == Chat && room <= 0 {
			continue
		}
		found = append(found, candidate{Box: b, room: room, working: l.working, tie: random()})
	}
	switch {
	case reachable > 0:
		return found, contract.ErrFull{What: "no box of this hub has room for one more now", RetryAfter: retryAfter}
	case rolledOut:
		return nil, unavailable("no box that runs config %q is online", contract.Clip(config))
	}
	return nil, unavailable("no box of this hub is online and ready")
}

// one returns the box of this name, if it can be reached.
func (d *Door) one(all []Box, name string, tried []string) (found []candidate, why error) {
	at := slices.IndexFunc(all, func(b Box) bool { return b.Name == name })
	if at < 0 {
		return nil, contract.ErrNotFound{What: "box", ID: name, Hint: "the hub has removed it, and what lies on it"}
	}
	b := all[at]
	switch {
	case b.State.Address == "":
		return nil, contract.ErrUnavailable{Why: "the hub does not know the address of box " + name +
			", where this is; set tls.names on the box to a name or address of it"}
	case d.now().Sub(b.Seen) > maxAge || !b.State.Ready || slices.Contains(tried, name):
		return nil, unavailable("box %s, where this is, is away", name)
	}
	return []candidate{{Box: b}}, nil
}

func unavailable(format string, values ...any) error {
	return contract.ErrUnavailable{Why: fmt.Sprintf(format, values...) + fmt.Sprintf("; try again in %s", retryAfter),
		RetryAfter: retryAfter}
}

func (d *Door) load(box string) *load {
	l := d.loads[box]
	if l == nil {
		l = &load{}
		d.loads[box] = l
	}
	return l
}

// forget drops what the door knows of boxes that the hub has removed.
func (d *Door) forget(all []Box) {
	if len(d.loads) <= len(all) && len(d.transports) <= len(all) {
		return
	}
	gone := func(name string) bool { return !slices.ContainsFunc(all, func(b Box) bool { return b.Name == name }) }
	for name := range d.loads {
		if gone(name) {
			delete(d.loads, name)
		}
	}
	for name, t := range d.transports {
		if gone(name) {
			t.CloseIdleConnections()
			delete(d.transports, name)
		}
	}
}
