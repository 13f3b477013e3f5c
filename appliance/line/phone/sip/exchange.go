package sip

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/emiago/sipgo/sip"
)

// maxResponses bounds the responses of one request that wait to be read. A call rings a few
// times; further ones are repetitions, which come again.
const maxResponses = 32

// An exchange is a request of the box with the responses to it.
type exchange struct {
	// responses has all responses in their order, also later ones with a status of 200 to an
	// INVITE, of other branches or repeated. It is never closed.
	responses chan *sip.Response
	// done is closed when no more come, after the last one is in responses.
	done chan struct{}

	request *sip.Request
	flow    *flow
	tx      *sip.ClientTx
	arrived chan *sip.Response
}

// err returns why the exchange is over: sip.ErrTransactionTimeout when nobody answered.
func (x *exchange) err() error { return x.tx.Err() }

// stop ends the exchange: later responses are ignored.
func (x *exchange) stop() { x.tx.Terminate() }

// start sends a request on a flow. It adds Via, Max-Forwards and User-Agent.
func (e *Endpoint) start(f *flow, req *sip.Request) (*exchange, error) {
	e.prepare(f, req)
	key, err := sip.ClientTxKeyMake(req)
	if err != nil {
		return nil, fmt.Errorf("sip: %w", err)
	}
	x := &exchange{
		responses: make(chan *sip.Response, maxResponses),
		request:   req,
		flow:      f,
		tx:        sip.NewClientTx(key, req, f, slog.New(slog.DiscardHandler)),
		arrived:   make(chan *sip.Response, maxResponses),
		done:      make(chan struct{}),
	}
	x.tx.OnRetransmission(x.hand)
	e.transactions.mu.Lock()
	if len(e.clients) >= maxTransactions {
		e.transactions.mu.Unlock()
		return nil, fmt.Errorf("sip: more than %d requests wait for responses", maxTransactions)
	}
	e.clients[key] = x
	e.transactions.mu.Unlock()
	release := e.sources.hold(f.remote.Addr())
	x.tx.OnTerminate(func(string, error) {
		release()
		e.transactions.mu.Lock()
		defer e.transactions.mu.Unlock()
		delete(e.clients, key)
	})
	if err := x.tx.Init(); err != nil {
		x.tx.Terminate()
		return nil, fmt.Errorf("sip: sending to %s: %w", f.remote, err)
	}
	go x.feed()
	go x.pass()
	return x, nil
}

// feed gives the responses to the state machine, which may wait, so that the reader of the
// socket need not.
func (x *exchange) feed() {
	for {
		select {
		case res := <-x.arrived:
			x.tx.Receive(res)
		case <-x.tx.Done():
			return
		}
	}
}

// pass takes the responses that the state machine lets through. Over TCP the transaction
// is over as soon as it has handed on the final one, which must not be missed then.
func (x *exchange) pass() {
	defer close(x.done)
	for {
		select {
		case res := <-x.tx.Responses():
			x.hand(res)
		case <-x.tx.Done():
			return
		}
	}
}

func (x *exchange) hand(res *sip.Response) {
	select {
	case x.responses <- res:
	default:
	}
}

// response takes a response from a peer.
func (e *Endpoint) response(res *sip.Response) {
	key, err := sip.ClientTxKeyMake(res)
	if err != nil {
		return
	}
	e.transactions.mu.Lock()
	x := e.clients[key]
	e.transactions.mu.Unlock()
	if x == nil {
		return
	}
	select {
	case x.arrived <- res:
	default:
	}
}

// prepare adds to a request what the way to the peer decides.
func (e *Endpoint) prepare(f *flow, req *sip.Request) {
	req.SetTransport(f.transport)
	if req.Method != sip.CANCEL { // which has the Via of its INVITE
		for req.RemoveHeader("Via") {
		}
		req.PrependHeader(e.via(f))
	}
	if req.MaxForwards() == nil {
		hops := sip.MaxForwardsHeader(70)
		req.AppendHeader(&hops)
	}
	if e.UserAgent != "" && req.GetHeader("User-Agent") == nil {
		req.AppendHeader(sip.NewHeader("User-Agent", e.UserAgent))
	}
	req.SetBody(req.Body())
}

// via returns the Via of a new request.
func (e *Endpoint) via(f *flow) *sip.ViaHeader {
	host, port := e.face(f)
	via := &sip.ViaHeader{
		ProtocolName:    "SIP",
		ProtocolVersion: "2.0",
		Transport:       f.transport,
		Host:            host.String(),
		Port:            int(port),
	}
	via.Params.Add("branch", sip.GenerateBranchN(24))
	via.Params.Add("rport", "")
	return via
}

// do sends a request that is not an INVITE and returns the final response.
func (e *Endpoint) do(ctx context.Context, f *flow, req *sip.Request) (*sip.Response, error) {
	x, err := e.start(f, req)
	if err != nil {
		return nil, err
	}
	return x.final(ctx)
}

// final waits for the final response.
func (x *exchange) final(ctx context.Context) (*sip.Response, error) {
	for {
		select {
		case res := <-x.responses:
			if !res.IsProvisional() {
				return res, nil
			}
		case <-x.done:
			return x.last()
		case <-ctx.Done():
			x.stop()
			return nil, context.Cause(ctx)
		}
	}
}

// last returns the final response that came just before the exchange was over, or why there
// is none.
func (x *exchange) last() (*sip.Response, error) {
	for {
		select {
		case res := <-x.responses:
			if !res.IsProvisional() {
				return res, nil
			}
		default:
			if err := x.err(); err != nil {
				return nil, err
			}
			return nil, errors.New("sip: no response")
		}
	}
}

// ack sends the ACK of a 200 to an INVITE, which is not a transaction.
func (e *Endpoint) ack(f *flow, req *sip.Request) error {
	e.prepare(f, req)
	return f.WriteMsg(req)
}
