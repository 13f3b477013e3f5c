package sip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/emiago/sipgo/sip"
)

// dialogID identifies a dialog (RFC 3261, section 12): its Call-ID and the tags of the box
// and of the peer.
type dialogID struct{ callID, local, remote string }

// A dialog is how requests of one call reach the other side.
type dialog struct {
	id       dialogID
	endpoint *Endpoint

	mu        sync.Mutex
	flow      *flow // on which the peer sent the last request
	natted    bool  // Contact does not reach the peer: requests go to the flow
	localSeq  uint32
	inviteSeq uint32 // of the last INVITE of the box
	remoteSeq uint32
	local     sip.FromHeader
	remote    sip.ToHeader
	target    sip.Uri
	routes    []sip.Uri
	contact   *sip.ContactHeader // of the box
}

var errNoContact = errors.New("sip: there is no valid Contact")

// calledDialog returns the dialog of a call in. The INVITE has a Contact.
func (e *Endpoint) calledDialog(f *flow, invite *sip.Request, tag string) (*dialog, error) {
	contact := invite.Contact()
	if contact == nil || contact.Address.Wildcard || contact.Address.Host == "" {
		return nil, errNoContact
	}
	local, remote := invite.To().AsFrom(), invite.From().AsTo()
	local.Params.Add("tag", tag)
	d := &dialog{
		endpoint:  e,
		flow:      f,
		remoteSeq: invite.CSeq().SeqNo,
		local:     local,
		remote:    remote,
		target:    *contact.Address.Clone(),
		routes:    recordRoutes(invite),
		contact:   e.contact(f, invite.Recipient.User),
	}
	d.id = dialogID{string(*invite.CallID()), tag, tagOf(remote.Params)}
	d.natted = isNATted(f, invite, &contact.Address)
	return d, nil
}

// callingDialog returns the dialog that a response to an INVITE of the box begins.
func (e *Endpoint) callingDialog(f *flow, invite *sip.Request, res *sip.Response) (*dialog, error) {
	d := &dialog{
		endpoint:  e,
		flow:      f,
		localSeq:  invite.CSeq().SeqNo,
		inviteSeq: invite.CSeq().SeqNo,
		local:     *sip.HeaderClone(invite.From()).(*sip.FromHeader),
		remote:    *sip.HeaderClone(res.To()).(*sip.ToHeader),
		target:    *invite.Recipient.Clone(),
		routes:    recordRoutes(res),
		contact:   invite.Contact(),
	}
	slices.Reverse(d.routes)
	d.id = dialogID{string(*invite.CallID()), tagOf(d.local.Params), tagOf(d.remote.Params)}
	if c := res.Contact(); c != nil && !c.Address.Wildcard && c.Address.Host != "" {
		d.target = *c.Address.Clone()
		d.natted = isPrivateOf(f, &c.Address)
	} else if res.IsSuccess() {
		d.natted = true
	}
	return d, nil
}

func tagOf(p sip.HeaderParams) string {
	tag, _ := p.Get("tag")
	return tag
}

// recordRoutes returns the proxies that want to see the requests of the dialog.
func recordRoutes(m sip.Message) (routes []sip.Uri) {
	for _, h := range m.GetHeaders("record-route") {
		if r, ok := h.(*sip.RecordRouteHeader); ok {
			routes = append(routes, *r.Address.Clone())
		}
	}
	return routes
}

// isNATted reports whether the Contact of a request does not lead to its sender: the sender
// is the next hop, and it is behind a translator of addresses.
func isNATted(f *flow, req *sip.Request, contact *sip.Uri) bool {
	if len(req.GetHeaders("via")) > 1 {
		return false
	}
	via := req.Via()
	at, err := netip.ParseAddr(via.Host)
	port := via.Port
	if port == 0 {
		port = sip.DefaultPort(f.transport)
	}
	translated := err == nil && (at.Unmap() != f.remote.Addr() || f.stream == nil && port != int(f.remote.Port()))
	return translated || isPrivateOf(f, contact)
}

// isPrivateOf reports whether a Contact has an address of an inside network while its
// sender comes from outside.
func isPrivateOf(f *flow, contact *sip.Uri) bool {
	at, err := netip.ParseAddr(strings.Trim(contact.Host, "[]"))
	return err == nil && (at.IsPrivate() || at.IsUnspecified() || at.IsLoopback()) && at.Unmap() != f.remote.Addr() &&
		!f.remote.Addr().IsPrivate() && !f.remote.Addr().IsLoopback()
}

// request returns a request in the dialog, with the next number; an ACK has that of the
// last INVITE.
func (d *dialog) request(method sip.RequestMethod) *sip.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	to, routes := d.target, d.routes
	if len(routes) > 0 && !routes[0].UriParams.Has("lr") { // a strict router (RFC 3261, section 12.2.1.1)
		to, routes = routes[0], append(slices.Clone(routes[1:]), d.target)
	}
	to.Headers = nil
	req := sip.NewRequest(method, to)
	for _, r := range routes {
		req.AppendHeader(&sip.RouteHeader{Address: r})
	}
	from, remote, callID := d.local, d.remote, sip.CallIDHeader(d.id.callID)
	from.Params, remote.Params = from.Params.Clone(), remote.Params.Clone()
	req.AppendHeader(&from)
	req.AppendHeader(&remote)
	req.AppendHeader(&callID)
	switch method {
	case sip.ACK:
	case sip.INVITE:
		d.localSeq++
		d.inviteSeq = d.localSeq
	default:
		d.localSeq++
	}
	number := d.localSeq
	if method == sip.ACK {
		number = d.inviteSeq
	}
	req.AppendHeader(&sip.CSeqHeader{SeqNo: number, MethodName: method})
	if d.contact != nil && method != sip.BYE {
		req.AppendHeader(d.contact.Clone())
	}
	if method == sip.INVITE || method == sip.UPDATE {
		req.AppendHeader(allow())
		req.AppendHeader(supported())
	}
	return req
}

// renumber gives a request the next number, to send it again with other contents.
func (d *dialog) renumber(req *sip.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.localSeq++
	if req.Method == sip.INVITE {
		d.inviteSeq = d.localSeq
	}
	req.CSeq().SeqNo = d.localSeq
}

// way returns the flow for requests of the dialog: the one on which the peer sends, where
// it leads to the first proxy or to the peer, otherwise one to that.
func (d *dialog) way(ctx context.Context) (*flow, error) {
	d.mu.Lock()
	f, natted, routed := d.flow, d.natted, len(d.routes) > 0
	hop := d.target
	if routed {
		hop = d.routes[0]
	}
	d.mu.Unlock()
	if !routed && natted && f.alive() {
		return f, nil
	}
	transport, to, name, err := nextHop(ctx, &hop)
	if err == nil {
		same := transport == f.transport && to.Addr() == f.remote.Addr()
		if same && f.alive() && (f.stream != nil || to.Port() == f.remote.Port()) {
			return f, nil
		}
		var other *flow
		if other, err = d.endpoint.flowTo(ctx, transport, to, name); err == nil {
			return other, nil
		}
	}
	if f.alive() {
		return f, nil
	}
	return nil, fmt.Errorf("sip: no way to the peer: %w", err)
}

// heard takes what a request of the peer says about the dialog: its number and, if it
// changes the peer's address, that. old reports a request that is out of order.
func (d *dialog) heard(f *flow, req *sip.Request) (old bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if req.CSeq().SeqNo <= d.remoteSeq {
		return true
	}
	d.remoteSeq = req.CSeq().SeqNo
	d.flow = f
	if req.Method != sip.INVITE && req.Method != sip.UPDATE {
		return false
	}
	if c := req.Contact(); c != nil && !c.Address.Wildcard && c.Address.Host != "" {
		d.target = *c.Address.Clone()
		d.natted = isNATted(f, req, &d.target)
	}
	return false
}
