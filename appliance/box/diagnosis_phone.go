package box

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"parley/appliance/config"
	"parley/firmware/doctor"
	"parley/store"
)

// examinePhone checks what telephone calls over SIP need, if the settings have any. It
// binds the ports only while no box runs. The error is only ctx's.
func examinePhone(ctx context.Context, cfg config.Config, running bool) ([]doctor.Finding, error) {
	p := cfg.Phone
	var found []doctor.Finding
	if _, err := p.AuthToken(); err != nil {
		found = append(found, phoneProblem("media streams", err, "write the token into that file, for the box's user"))
	}
	if _, err := HoldMusic(p); err != nil {
		found = append(found, phoneProblem("phone", err,
			"use on, off or the path of a file with sound, which the box's user can read"))
	}
	if len(p.Listen) == 0 {
		return found, nil
	}
	if !running {
		for _, l := range p.Listen {
			found = append(found, examineListener(ctx, l))
		}
		found = append(found, examineRTPPorts(ctx, p.RTPPorts))
	}
	for _, t := range p.Trunks {
		found = append(found, examineTrunk(ctx, t))
	}
	extensions, err := examineExtensions(ctx, cfg)
	return append(found, extensions...), err
}

func phoneProblem(part string, err error, mend string) doctor.Finding {
	return doctor.Finding{
		Part:   part,
		Health: doctor.Problem,
		What:   err.Error(),
		Mend:   mend,
	}
}

// examineListener checks whether an address for SIP is free.
func examineListener(ctx context.Context, l config.PhoneListener) doctor.Finding {
	if err := bind(ctx, l.Transport, l.Address); err != nil {
		return phoneProblem("phone", err, "stop what uses it, such as another telephone system on this machine, or "+
			"choose another address with phone.listen")
	}
	return doctor.Finding{Part: "phone", Health: doctor.OK, What: l.String() + " is free"}
}

// bind opens and closes a socket.
func bind(ctx context.Context, transport, address string) error {
	var socket io.Closer
	var err error
	if transport == config.TransportUDP {
		socket, err = new(net.ListenConfig).ListenPacket(ctx, "udp", address)
	} else {
		socket, err = new(net.ListenConfig).Listen(ctx, "tcp", address)
	}
	if err != nil {
		return err
	}
	return socket.Close()
}

// examineRTPPorts checks how many of the ports for sound are free.
func examineRTPPorts(ctx context.Context, ports config.PortRange) doctor.Finding {
	taken, all := 0, ports.Last-ports.First+1
	for port := ports.First; port <= ports.Last; port++ {
		if bind(ctx, config.TransportUDP, net.JoinHostPort("", strconv.Itoa(port))) != nil {
			taken++
		}
	}
	name := fmt.Sprintf("the UDP ports %d-%d", ports.First, ports.Last)
	if taken == 0 {
		return doctor.Finding{Part: "phone", Health: doctor.OK, What: name + " for sound are free"}
	}
	return doctor.Finding{
		Part:   "phone",
		Health: doctor.Warning,
		What:   fmt.Sprintf("of %s for sound, %d of %d are in use", name, taken, all),
		Mend:   "choose other ports with phone.rtp_ports; each call needs two",
	}
}

// trunkLookUp limits how long DNS may take to find a trunk.
const trunkLookUp = 2 * time.Second

// examineTrunk checks the password of a trunk, and whether the names in its address
// lead somewhere.
func examineTrunk(ctx context.Context, t config.Trunk) doctor.Finding {
	part := "trunk " + t.Name
	if _, err := t.Secret(); err != nil {
		return phoneProblem(part, err, "write the password there, for the box's user")
	}
	ctx, cancel := context.WithTimeout(ctx, trunkLookUp)
	defer cancel()
	for _, a := range t.Addresses {
		if a.Host != "" && !resolves(ctx, a.Host) {
			return phoneProblem(part, fmt.Errorf("%s is not known in the network", a.Host),
				"correct the address in phone.trunks, or the DNS server of this machine")
		}
	}
	what := t.Address
	if what == "" {
		what = "any address, as " + t.User
	}
	return doctor.Finding{Part: part, Health: doctor.OK, What: what}
}

// resolves reports whether DNS knows a host, as an address or as a service.
func resolves(ctx context.Context, host string) bool {
	var dns net.Resolver
	if _, err := dns.LookupNetIP(ctx, "ip", host); err == nil {
		return true
	}
	for _, proto := range []string{"udp", "tcp"} {
		if _, found, err := dns.LookupSRV(ctx, "sip", proto, host); err == nil && len(found) > 0 {
			return true
		}
	}
	_, found, err := dns.LookupSRV(ctx, "sips", "tcp", host)
	return err == nil && len(found) > 0
}

// examineExtensions checks the accounts and configs of the extensions. Without a database
// there is no finding: the first start creates the account. The error is only ctx's.
func examineExtensions(ctx context.Context, cfg config.Config) ([]doctor.Finding, error) {
	records, err := store.Join(ctx, cfg.Data)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	defer records.Close()
	var found []doctor.Finding
	var numbers []string
	for _, e := range cfg.Phone.Extensions {
		_, _, err := PhoneChat(ctx, records, e)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			found = append(found, phoneProblem("phone", err, "name an account and a config that exist, or create them "+
				"(see docs/console.md)"))
		default:
			numbers = append(numbers, e.Number)
		}
	}
	if len(numbers) > 0 {
		found = append(found, doctor.Finding{Part: "phone", Health: doctor.OK,
			What: "answers " + strings.Join(numbers, ", ")})
	}
	return found, nil
}
