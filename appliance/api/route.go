package api

import (
	"net/http"
	"time"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// handler answers a request of somebody whom the row of its route has let in.
// refuse answers the error that it returns.
type handler func(w http.ResponseWriter, r *http.Request, by caller) error

// route is one row of the table of routes. What it says of who may use it, how
// large the body may be and how long the answer may take is enforced in gate.go
// and told by the descriptions; a handler does not see to any of it.
type route struct {
	method, path string
	access       describe.Access
	// body is the most bytes of the body.
	body int64
	// time is how long the box may take to begin its answer, from the last
	// byte of the body on; whileItLasts for sockets. How long the body and the
	// answer are under way depends on the client: see pace.go.
	time time.Duration
	// stores: it adds to what the account holds. One whose room on the disk is
	// full may not use it.
	stores bool
	handle handler
	says   describe.Operation
}

// The sizes of bodies, in bytes. Nothing holds a body in memory that is larger
// than recordBody: what needs more reads it as a stream.
const (
	// unread is for routes that read none: some clients send {} anyway.
	unread = 4 << 10
	// tokenBody holds two words.
	tokenBody = 16 << 10
	// offerBody: those of browsers have 3 to 8 kB.
	offerBody = 64 << 10
	// recordBody: the longest prompt or tool has a few hundred KB.
	recordBody = 4 << 20
)

// The times of answers.
const (
	// quick is for answers that are made in memory. A disk that does not
	// answer must not keep a health check waiting.
	quick = 10 * time.Second
	// normal is for questions to the database and single writes, which take
	// milliseconds: below the 60 s after which proxies give up by themselves.
	normal = 30 * time.Second
	// making is for speech that is made before the answer begins: half an hour of
	// it, and the time that others are waited for.
	making = 10 * time.Minute
	// bulk is for deleting what fills gigabytes.
	bulk = 5 * time.Minute
	// whileItLasts is no limit.
	whileItLasts time.Duration = -1
)

func (rt route) isSocket() bool { return rt.says.Socket != nil }

// keyInQuery says whether a key or a token may be in the query, as that of
// sockets, for which browsers let pages set no header.
func (rt route) keyInQuery() bool { return rt.isSocket() || rt.says.Call }

// Whether a row stores something.
const (
	storing       = true
	storesNothing = false
)

// section puts operations into a section of the descriptions.
func section(name string) func(describe.Operation) describe.Operation {
	return func(o describe.Operation) describe.Operation {
		o.Section = name
		return o
	}
}

// where lets requests through while there is what they are about.
func where(there func() bool, why string, handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request, by caller) error {
		if !there() {
			return contract.ErrUnavailable{Why: why}
		}
		return handle(w, r, by)
	}
}
