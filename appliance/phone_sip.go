package appliance

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"parley/appliance/contract"
	"parley/appliance/line/phone"
	"parley/appliance/line/phone/media"
	"parley/appliance/line/phone/sip"
	"parley/appliance/line/rtp"
	"parley/internal/version"
)

// openSIP opens the listeners of the settings.
func (t *telephone) openSIP() (*sip.Endpoint, error) {
	cfg, log := t.cfg.Phone, t.log.With("line", phone.Kind)
	o := sip.Options{
		TLS:       t.identity.Config(),
		External:  externalAddress(cfg.External),
		UserAgent: "Parley/" + version.String(),
		Log:       log,
	}
	for _, l := range cfg.Listen {
		o.Listen = append(o.Listen, l.String())
	}
	for _, trunk := range cfg.Trunks {
		password, err := trunk.Secret()
		if err != nil {
			return nil, err
		}
		o.Trunks = append(o.Trunks, sip.Trunk{
			Name:     trunk.Name,
			Address:  trunk.Address,
			Register: trunk.Register,
			User:     trunk.User,
			Password: password,
			From:     trunk.From,
		})
	}
	sound := media.Options{
		Ports:    media.Ports{From: uint16(cfg.RTPPorts.First), To: uint16(cfg.RTPPorts.Last)},
		External: o.External,
		Clock:    rtp.NewClock(),
		Log:      log,
	}
	o.Media = func(peer netip.Addr, secure bool) (sip.Media, error) {
		of := sound
		of.Secure = secure
		return media.New(of, peer)
	}
	return sip.Open(o, t.invited)
}

// invited takes a call, or refuses it.
func (t *telephone) invited(ctx context.Context, i *sip.Invitation) {
	s, err := t.server()
	if err != nil {
		_ = i.Reject(503, loadingRetry) // an error means that the caller has given up
		return
	}
	s.Invited(ctx, phone.Caller{From: i.From, To: i.To, Trunk: i.Trunk}, invitation{i})
}

// invitation is a sip.Invitation with the types of package phone.
type invitation struct{ *sip.Invitation }

// Answer implements phone.Invitation.
func (i invitation) Answer(ctx context.Context) (phone.Leg, error) {
	c, err := i.Invitation.Answer(ctx)
	if err != nil {
		return nil, err
	}
	return sipLeg{c}, nil
}

// sipLeg is a sip.Call with the errors of package phone.
type sipLeg struct{ *sip.Call }

// Err implements phone.Leg.
func (l sipLeg) Err() error {
	if err := l.Call.Err(); !errors.Is(err, sip.ErrClosed) {
		return err
	}
	return nil
}

// canDial returns why a trunk cannot call a number.
func (t *telephone) canDial(trunk, to string) error { return t.endpoint.CanDial(trunk, to) }

// dial calls a number over a trunk.
func (t *telephone) dial(ctx context.Context, d phone.Dialled) (phone.Leg, error) {
	c, err := t.endpoint.Dial(ctx, sip.DialOptions{Trunk: d.Trunk, To: d.To, RingFor: d.Ring})
	if refused, ok := errors.AsType[*sip.DialError](err); ok {
		return nil, phone.DialError{By: refused.By, Reason: refused.Error()}
	}
	if err != nil {
		return nil, err
	}
	return sipLeg{c}, nil
}

// trunks returns the state of the trunks.
func (t *telephone) trunks() []contract.PhoneTrunk {
	all := []contract.PhoneTrunk{}
	for i, s := range t.endpoint.Trunks() {
		trunk := t.cfg.Phone.Trunks[i]
		p := contract.PhoneTrunk{
			Name:        s.Name,
			Address:     trunk.Address,
			Register:    trunk.Register,
			State:       contract.TrunkReady,
			LastError:   s.LastError,
			LastErrorOn: unixMilli(s.LastErrAt),
		}
		switch {
		case !trunk.Register:
		case s.Registered:
			p.State, p.RegisteredAt, p.ExpiresOn = contract.TrunkRegistered, s.At, unixMilli(s.Expires)
		case s.LastError != "":
			p.State = contract.TrunkFailed
		default:
			p.State = contract.TrunkRegistering
		}
		all = append(all, p)
	}
	return all
}

// unixMilli returns a time as Unix milliseconds; 0 for the zero time.
func unixMilli(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}
