// Package door sends the clients of a hub to boxes: it chooses a box by its load, and proxies the request or redirects
// the client.
package door

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"parley/appliance/contract"
	"parley/fleet"
)

// Fleet knows the boxes. Its methods are called by many goroutines.
type Fleet interface {
	// Boxes returns all boxes.
	Boxes() []Box
	// BoxesOf returns the boxes that run a config, and false if no box is to run it.
	BoxesOf(config string) (names map[string]bool, rolledOut bool)
	// BoxOfGroup returns the box with the last chat of a chat group of an account; empty if none is known.
	BoxOfGroup(ctx context.Context, account, group string) (name string, err error)
	// BoxOfChat returns the box of a chat of an account; empty if none is known.
	BoxOfChat(ctx context.Context, account, chat string) (name string, err error)
	// Key returns the hub's own API key for an account at a box, which no other box knows.
	Key(ctx context.Context, box, account string) (string, error)
}

// Box is a box as the hub knows it now.
type Box struct {
	Name   string
	Groups []string
	State  fleet.State
	Seen   time.Time // when State came, by the hub's clock
}

// Options are the settings of a door.
type Options struct {
	Mode  Mode   // empty: Proxy
	Group string // choose boxes of this group only; empty: of all
	// Running ends when the hub stops; sockets are closed then.
	Running context.Context
	Log     *slog.Logger
}

// Mode is what the door does with a client.
type Mode string

const (
	Proxy    Mode = "proxy"
	Redirect Mode = "redirect" // answer 307 where the client can go to the box itself; otherwise proxy
	Off      Mode = "off"      // refuse
)

// Door sends clients to boxes.
type Door struct {
	fleet   Fleet
	options Options
	now     func() time.Time
	silence time.Duration // see maxSilence
	stall   time.Duration // see maxStall
	buffers buffers
	sockets sync.WaitGroup // that are open

	mu         sync.Mutex
	loads      map[string]*load
	transports map[string]*transport // by the name of the box
	// calls are the boxes of calls over WebRTC, by the path of the call.
	calls *lru.Cache[string, string]
	// generations are the boxes of generations of speech, by account and id.
	generations *lru.Cache[string, string]
	finding     chan struct{} // has a value for each box that is being asked for one
}

// maxCalls bounds the stored calls, 150 bytes each. Calls are not found in the history by their ids.
const maxCalls = 10_000

// New returns a door to the boxes of f.
func New(f Fleet, o Options) *Door {
	calls, _ := lru.New[string, string](maxCalls) // fails for a size below 1 only
	generations, _ := lru.New[string, string](maxGenerations)
	if o.Running == nil {
		o.Running = context.Background()
	}
	return &Door{
		fleet:      f,
		options:    o,
		now:        time.Now,
		silence:    maxSilence,
		stall:      maxStall,
		loads:      map[string]*load{},
		transports: map[string]*transport{},
		calls:      calls,

		generations: generations,
		finding:     make(chan struct{}, findParallel),
	}
}

// Close waits until the sockets are closed after Running has ended, and closes the idle connections to boxes.
func (d *Door) Close() {
	closed := make(chan struct{})
	go func() {
		d.sockets.Wait()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(partingLimit + time.Second): // only clients that take nothing are left
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, t := range d.transports {
		t.CloseIdleConnections()
		delete(d.transports, name)
	}
}

// Kind is what a request needs of a box.
type Kind int

const (
	// Chat begins a chat, which takes a seat: a box with room is chosen, or the box of the chat group that is resumed.
	Chat Kind = iota
	// Live is about the live chat ID, which is on one box.
	Live
	// Call is about the call over WebRTC with the path of the request, which is on one box.
	Call
	// Work takes no seat, such as speech: the box with the least of it is chosen.
	Work
)

// Request is a request of a client that the hub has authenticated.
type Request struct {
	Kind    Kind
	ID      string // of the live chat, or of the generation of speech
	Account string // its id
	// Portable means that the client's own credentials open the box too, so that the client can be redirected.
	Portable bool
	// Lost ends, with an error for the client as its cause, when the client may no longer hold a socket open; nil:
	// never.
	Lost context.Context
}

// Serve answers a request by a box. If the error is not nil, nothing was written to w; it is an error of package
// contract for the client, or of the context.
func (d *Door) Serve(w http.ResponseWriter, r *http.Request, asked Request) error {
	if d.options.Mode == Off {
		return contract.ErrUnavailable{Why: "this hub sends no clients to boxes: its operator has turned that off " +
			"(hub.door); use the address of a box"}
	}
	body, err := readBody(r)
	if err != nil {
		return err
	}
	only, err := d.onlyBox(r, asked, body)
	if err != nil {
		return err
	}
	if d.options.Mode == Redirect && asked.Portable {
		return d.redirect(w, r, asked, only)
	}
	return d.proxy(w, r, &passage{
		door:  d,
		asked: asked,
		only:  only,
		body:  body,
	})
}

// onlyBox returns the one box that can answer a request; empty if any can.
func (d *Door) onlyBox(r *http.Request, asked Request, body *heldBody) (string, error) {
	switch asked.Kind {
	case Chat:
		if group := r.URL.Query().Get("resumed_chat_group_id"); group != "" {
			// A box says that a group does not exist, as it does to its own clients.
			return d.fleet.BoxOfGroup(r.Context(), asked.Account, group)
		}
	case Live:
		name, err := d.fleet.BoxOfChat(r.Context(), asked.Account, asked.ID)
		if err == nil && name == "" {
			err = contract.ErrNotFound{What: "live chat", ID: asked.ID}
		}
		return name, err
	case Call:
		if name, ok := d.calls.Get(r.URL.Path); ok {
			return name, nil
		}
		return "", contract.ErrNotFound{What: "call", ID: r.URL.Path}
	case Work:
		if id := generationOf(r, asked, body.start); id != "" {
			// A box says that a generation does not exist.
			return d.boxOfGeneration(r.Context(), asked, id)
		}
	}
	return "", nil
}

// redirect sends the client to a box. The query has the client's own key if the client sent it there.
func (d *Door) redirect(w http.ResponseWriter, r *http.Request, asked Request, only string) error {
	chosen, err := d.choose(r, asked, only, nil)
	if err != nil {
		return err
	}
	chosen.leave()
	to := chosen.address + r.URL.RequestURI()
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		to = "ws" + strings.TrimPrefix(to, "http") // clients of sockets follow no other scheme
	}
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store") // the next request may go elsewhere
	w.WriteHeader(http.StatusTemporaryRedirect)
	return nil
}

// random breaks ties.
func random() float64 { return rand.Float64() }
