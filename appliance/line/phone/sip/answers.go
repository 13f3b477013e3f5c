package sip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/appliance/contract"
	"parley/internal/sipuri"
)

// errNoResponse is the error of a request to which nothing came.
var errNoResponse = errors.New("the peer does not answer")

// responseError is a final response that refuses a request.
type responseError struct{ res *sip.Response }

func (e *responseError) Error() string {
	return fmt.Sprintf("the peer answered %d %s", e.res.StatusCode, clean(e.res.Reason))
}

// redirectError is a response that names another address for a request.
type redirectError struct{ res *sip.Response }

func (e *redirectError) Error() string {
	return fmt.Sprintf("the peer redirects the box (%d) too often", e.res.StatusCode)
}

func isRedirect(res *sip.Response) bool {
	return res.StatusCode == sip.StatusMovedPermanently || res.StatusCode == sip.StatusMovedTemporarily
}

// contact returns the URI that the response names.
func (e *redirectError) contact() (sip.Uri, error) {
	c := e.res.Contact()
	if c == nil || c.Address.Host == "" || c.Address.Scheme != "sip" && c.Address.Scheme != "sips" {
		return sip.Uri{}, fmt.Errorf("the peer redirects the box (%d) and names no SIP address", e.res.StatusCode)
	}
	return c.Address, nil
}

// targets looks up where the response redirects to.
func (e *redirectError) targets(ctx context.Context) ([]target, error) {
	uri, err := e.contact()
	if err != nil {
		return nil, err
	}
	return uriTargets(ctx, &uri)
}

// uriTargets looks up where a SIP URI of a peer is.
func uriTargets(ctx context.Context, u *sip.Uri) ([]target, error) {
	text := u.Host
	if u.Port != 0 {
		text += ":" + strconv.Itoa(u.Port)
	}
	if u.Scheme == "sips" {
		text = "sips:" + text
	}
	if transport, ok := u.UriParams.Get("transport"); ok {
		text += ";transport=" + transport
	}
	all, err := sipuri.ParseAddresses(text)
	if err != nil {
		return nil, err
	}
	return resolve(ctx, net.DefaultResolver, all[0])
}

// grantedExpires returns how long a registrar keeps a contact: what it names with the
// contact, else for all, else what was asked (RFC 3261, section 10.2.4).
func grantedExpires(res *sip.Response, contact *sip.ContactHeader, asked time.Duration) time.Duration {
	text := ""
	if h := res.GetHeader("Expires"); h != nil {
		text = h.Value()
	}
	for _, h := range res.GetHeaders("Contact") {
		for one := range strings.SplitSeq(h.Value(), ",") {
			at := contact.Address.Host + ":" + strconv.Itoa(contact.Address.Port)
			if strings.Contains(one, "@"+at) || strings.Contains(one, "@["+contact.Address.Host+"]:") {
				if _, rest, ok := strings.Cut(strings.ToLower(one), "expires="); ok {
					text, _, _ = strings.Cut(rest, ";")
				}
			}
		}
	}
	n, err := strconv.ParseUint(strings.Trim(text, "\" "), 10, 32)
	if err != nil {
		return asked
	}
	return min(time.Duration(n)*time.Second, maxExpires)
}

// retryAfter returns how long a peer asks the box to wait; 0 if it does not ask.
func retryAfter(res *sip.Response) time.Duration {
	return parseSeconds(field(res, "retry-after", ""))
}

// DialError is why a call out was not answered.
type DialError struct {
	Status int                 // of SIP; 0 if no response came
	By     contract.AnsweredBy // busy, no_answer, rejected, wrong_number or failed
	Reason string              // in words
}

func (e *DialError) Error() string { return e.Reason }

// dialError returns the DialError for a final response. A gateway to the telephone network
// tells more exactly than by its status why it failed, in Reason (RFC 3326): then the
// cause counts.
func dialError(res *sip.Response) *DialError {
	e := &DialError{Status: res.StatusCode, By: byStatus(res.StatusCode)}
	e.Reason = (&responseError{res}).Error()
	for _, h := range res.GetHeaders("Reason") {
		protocol, parameters, _ := strings.Cut(h.Value(), ";")
		if !strings.EqualFold(strings.TrimSpace(protocol), "Q.850") {
			continue
		}
		for p := range strings.SplitSeq(parameters, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
			if by, ok := byCause(strings.TrimSpace(value)); ok && strings.EqualFold(name, "cause") {
				e.By = by
			}
		}
	}
	return e
}

func byStatus(status int) contract.AnsweredBy {
	switch status {
	case 486, 600:
		return contract.ByBusy
	case 408, 480, 487:
		return contract.ByNobody
	case 403, 433, 603, 607, 608:
		return contract.ByRejected
	case 404, 410, 416, 484, 485, 604:
		return contract.ByWrongNumber
	}
	return contract.ByFailedNetworks
}

// byCause reads a cause of ITU-T Q.850.
func byCause(cause string) (contract.AnsweredBy, bool) {
	switch cause {
	case "1", "2", "3", "22", "28":
		return contract.ByWrongNumber, true
	case "17":
		return contract.ByBusy, true
	case "18", "19", "20":
		return contract.ByNobody, true
	case "21":
		return contract.ByRejected, true
	}
	return "", false
}
