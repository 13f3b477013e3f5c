package bus

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
)

// explain says why a box is not connected, and what to do.
func (j Join) explain(err error) string {
	file := j.file
	if file == "" {
		file = "the join file"
	}
	anew := fmt.Sprintf(`on the hub, make a new file with "parley hub boxes %s --join" and copy it to %s`, j.Box, file)
	until := j.Expires()
	switch {
	case isRefusal(err) && !until.IsZero() && time.Now().After(until):
		return fmt.Sprintf("the credentials in %s expired at %s: %s", file, until.Format(time.DateTime), anew)
	case isRefusal(err):
		return fmt.Sprintf("the hub %s refuses the credentials in %s, since they were revoked or come from another "+
			"hub: %s", j.Hub, file, anew)
	}
	if why := explainTLS(err, anew); why != "" {
		return why
	}
	return explainNetwork(err)
}

// isRefusal reports whether a server refuses the credentials. While a client connects, the client library passes on
// the words of some refusals and not their error.
func isRefusal(err error) bool {
	for _, e := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked} {
		if errors.Is(err, e) {
			return true
		}
	}
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "authentication expired") || strings.Contains(text, "authentication revoked")
}

func explainTLS(err error, anew string) string {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &unknown):
		return "the server's certificate is not the hub's, or the hub has a new authority: " + anew
	case errors.As(err, &name):
		return fmt.Sprintf("the server's certificate is for other names (%v): add this name to the hub's setting "+
			"tls.names", name)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the server's certificate is not valid by this box's clock, which says %s: set the clock, "+
			"or renew the certificate (%v)", time.Now().Format(time.DateTime), invalid)
	}
	return ""
}

func explainNetwork(err error) string {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return fmt.Sprintf("the name %s is not found: check the network, or the name in the join file", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there: the hub does not run, or a firewall is in between (" + err.Error() + ")"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, nats.ErrTimeout):
		return "no answer: the network or the hub is down (" + err.Error() + ")"
	case errors.Is(err, nats.ErrStaleConnection):
		return "the server does not answer any more"
	}
	return err.Error()
}
