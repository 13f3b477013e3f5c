package sip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/emiago/sipgo/sip"

	"parley/internal/sipuri"
)

// trunk is a Trunk at work.
type trunk struct {
	Trunk
	peers []sipuri.Address
}

func (t *trunk) has(from netip.Addr) bool {
	for _, a := range t.peers {
		if a.Network.IsValid() && a.Network.Contains(from) || a.Host == from.String() {
			return true
		}
	}
	return false
}

func (e *Endpoint) openTrunks() error {
	for _, o := range e.Options.Trunks {
		t := &trunk{Trunk: o}
		if o.Address != "" {
			peers, err := sipuri.ParseAddresses(o.Address)
			if err != nil {
				return fmt.Errorf("sip: the address of the trunk %s: %w", o.Name, err)
			}
			t.peers = peers
		}
		e.trunks = append(e.trunks, t)
	}
	return nil
}

func (e *Endpoint) startTrunks() {}

func (e *Endpoint) closeTrunks(context.Context) {}

func (t *trunk) authorize(*sip.Request, *sip.Response) error { return errors.ErrUnsupported }

func (c *Call) serveRefer(t *transaction) { _ = t.respond(sip.StatusMethodNotAllowed, nil, allow()) }

func (c *Call) serveNotify(t *transaction) {
	_ = t.respond(sip.StatusCallTransactionDoesNotExists, nil)
}
