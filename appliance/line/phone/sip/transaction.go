package sip

import (
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/emiago/sipgo/sip"
)

// maxTransactions bounds the transactions at once, of about 10 KiB each. One lives for 32 s
// after its end over UDP; at the rate of admitted requests (trunkRate) of four busy trunks
// there are less.
const maxTransactions = 8192

// transactions are those that have begun and may still see a message again.
type transactions struct {
	mu      sync.Mutex
	servers map[string]*transaction
	merged  map[string]string // of a request outside dialogs: who sent it, and its transaction
	clients map[string]*exchange
}

func (t *transactions) init() {
	t.servers, t.merged, t.clients = map[string]*transaction{}, map[string]string{}, map[string]*exchange{}
}

func (t *transactions) terminate() {
	t.mu.Lock()
	var all []interface{ Terminate() }
	for _, s := range t.servers {
		all = append(all, s.tx)
	}
	for _, c := range t.clients {
		all = append(all, c.tx)
	}
	t.mu.Unlock()
	for _, one := range all {
		one.Terminate()
	}
}

// A transaction is a request of a peer with the responses to it.
type transaction struct {
	endpoint *Endpoint
	request  *sip.Request
	flow     *flow
	tag      string // of us, in To, for requests outside dialogs
	tx       *sip.ServerTx
	final    atomic.Int32 // the status of the final response; 0: none yet

	mu       sync.Mutex
	cancel   func() // for INVITE: what CANCEL does
	canceled bool
}

// branchCookie begins the branch of a request whose transaction it identifies.
const branchCookie = sip.RFC3261BranchMagicCookie

// serverKey identifies the transaction of a request (RFC 3261, section 17.2.3). method is
// INVITE for the ACK and the CANCEL of one.
func serverKey(req *sip.Request, method sip.RequestMethod) string {
	via := req.Via()
	branch, _ := via.Params.Get("branch")
	if strings.HasPrefix(branch, branchCookie) && len(branch) > len(branchCookie) {
		return strings.Join([]string{branch, via.Host, strconv.Itoa(via.Port), string(method)}, " ")
	}
	tag, _ := req.From().Params.Get("tag")
	return strings.Join([]string{string(*req.CallID()), tag, strconv.Itoa(int(req.CSeq().SeqNo)), via.Host,
		strconv.Itoa(via.Port), string(method)}, " ")
}

// mergeKey is the same for the copies of a request that came by different ways. It is empty
// in a dialog.
func mergeKey(req *sip.Request) string {
	if req.To().Params.Has("tag") {
		return ""
	}
	tag, _ := req.From().Params.Get("tag")
	return strings.Join([]string{string(*req.CallID()), tag, strconv.Itoa(int(req.CSeq().SeqNo)),
		string(req.Method)}, " ")
}

// find returns the transaction with a key, or nil.
func (t *transactions) find(key string) *transaction {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.servers[key]
}

// begin begins a transaction for a request. status is 482 for a copy of a request that came
// by another way (RFC 3261, section 8.2.2.2), and 503 when there are too many.
func (e *Endpoint) begin(f *flow, req *sip.Request) (t *transaction, status int) {
	key, merge := serverKey(req, req.Method), mergeKey(req)
	t = &transaction{endpoint: e, request: req, flow: f, tag: e.tag(req)}
	t.tx = sip.NewServerTx(key, req, f.reply(req.Via()), slog.New(slog.DiscardHandler))
	e.transactions.mu.Lock()
	defer e.transactions.mu.Unlock()
	switch {
	case len(e.servers) >= maxTransactions:
		return nil, sip.StatusServiceUnavailable
	case merge != "" && e.merged[merge] != "":
		return nil, sip.StatusLoopDetected
	}
	if err := t.tx.Init(); err != nil {
		return nil, sip.StatusInternalServerError
	}
	e.servers[key] = t
	if merge != "" {
		e.merged[merge] = key
	}
	release := e.sources.hold(f.remote.Addr())
	t.tx.OnTerminate(func(string, error) {
		release()
		e.transactions.mu.Lock()
		defer e.transactions.mu.Unlock()
		delete(e.servers, key)
		delete(e.merged, merge)
	})
	return t, 0
}

// respond sends a response. With a body, it is SDP. Only the first final response counts.
func (t *transaction) respond(status int, body []byte, headers ...sip.Header) error {
	if status >= 200 && !t.final.CompareAndSwap(0, int32(status)) {
		return nil
	}
	return t.tx.Respond(t.endpoint.build(t.request, status, t.tag, body, headers...))
}

// refused reports whether the final response was a refusal, whose ACK belongs to the
// transaction.
func (t *transaction) refused() bool { return t.final.Load() >= 300 }

// onCancel sets what a CANCEL of an INVITE does. It does it at once if there was one.
func (t *transaction) onCancel(do func()) {
	t.mu.Lock()
	t.cancel = do
	now := t.canceled
	t.mu.Unlock()
	if now {
		do()
	}
}

func (t *transaction) cancelNow() {
	t.mu.Lock()
	t.canceled = true
	do := t.cancel
	t.mu.Unlock()
	if do != nil {
		do()
	}
}

// build returns a response to a request. tag identifies us in To, unless the request is in
// a dialog and has one.
func (e *Endpoint) build(req *sip.Request, status int, tag string, body []byte, headers ...sip.Header) *sip.Response {
	res := sip.NewResponseFromRequest(req, status, reason(status), body)
	res.SipVersion = "SIP/2.0"
	if to := res.To(); to != nil && status > 100 && !req.To().Params.Has("tag") {
		to.Params.Add("tag", tag)
	}
	if len(body) > 0 {
		res.AppendHeader(sip.NewHeader("Content-Type", "application/sdp"))
	}
	for _, h := range headers {
		res.AppendHeader(h)
	}
	if e.UserAgent != "" {
		res.AppendHeader(sip.NewHeader("Server", e.UserAgent))
	}
	return res
}

// answer sends a response without a transaction: nothing is stored.
func (e *Endpoint) answer(f *flow, req *sip.Request, status int, headers ...sip.Header) {
	if req.Method == sip.ACK {
		return
	}
	if err := f.reply(req.Via()).WriteMsg(e.build(req, status, e.tag(req), nil, headers...)); err != nil {
		e.log.Debug("sip: a response was not sent", "peer", f.remote, "error", err)
	}
}

// reason returns the phrase for a status of RFC 3261, section 21, and its extensions.
func reason(status int) string {
	if text, ok := reasons[status]; ok {
		return text
	}
	return "Status " + strconv.Itoa(status)
}

var reasons = map[int]string{
	100: "Trying",
	180: "Ringing",
	183: "Session Progress",
	200: "OK",
	202: "Accepted",
	302: "Moved Temporarily",
	400: "Bad Request",
	401: "Unauthorized",
	403: "Forbidden",
	404: "Not Found",
	405: "Method Not Allowed",
	408: "Request Timeout",
	415: "Unsupported Media Type",
	416: "Unsupported URI Scheme",
	420: "Bad Extension",
	421: "Extension Required",
	422: "Session Interval Too Small",
	480: "Temporarily Unavailable",
	481: "Call/Transaction Does Not Exist",
	482: "Loop Detected",
	483: "Too Many Hops",
	486: "Busy Here",
	487: "Request Terminated",
	488: "Not Acceptable Here",
	489: "Bad Event",
	491: "Request Pending",
	500: "Server Internal Error",
	501: "Not Implemented",
	503: "Service Unavailable",
	504: "Server Time-out",
	505: "Version Not Supported",
	513: "Message Too Large",
	600: "Busy Everywhere",
	603: "Decline",
}
