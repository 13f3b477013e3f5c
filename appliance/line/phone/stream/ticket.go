package stream

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// A Ticket is what the box knows of a call when its stream begins.
type Ticket struct {
	Account       string
	Settings      contract.ConnectSettings
	Authorization connection.Authorization
	RequestID     string            // of the request for TwiML
	CallSID       string            // the provider's id of the call
	Caller        string            // the caller's number; "" if it is withheld
	Called        string            // the number that was called
	Twilio        map[string]string // what the provider tells about the call; "" stands for unknown
}

// readForm returns the parameters of a provider's POST; none for other bodies.
func readForm(r *http.Request) (url.Values, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Method != http.MethodPost || kind != "application/x-www-form-urlencoded" {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, contract.ErrInvalid{Field: "body", Why: "expected a form as application/x-www-form-urlencoded"}
	}
	return form, nil
}

// newTicket returns a ticket with the provider's parameters: those of the form, or of the query in a GET.
func newTicket(r *http.Request, form url.Values) Ticket {
	q := r.URL.Query()
	value := func(name string) string {
		v := form.Get(name)
		if v == "" {
			v = q.Get(name)
		}
		return v
	}
	caller := number(value("From"))
	twilio := map[string]string{
		"call_sid":      value("CallSid"),
		"account_sid":   value("AccountSid"),
		"from_number":   value("From"),
		"to_number":     value("To"),
		"caller_name":   value("CallerName"),
		"caller_number": caller,
		"from_city":     value("FromCity"),
		"from_state":    value("FromState"),
		"from_zip":      value("FromZip"),
		"from_country":  value("FromCountry"),
		"to_city":       value("ToCity"),
		"to_state":      value("ToState"),
		"to_zip":        value("ToZip"),
		"to_country":    value("ToCountry"),
	}
	return Ticket{
		CallSID: value("CallSid"),
		Caller:  caller,
		Called:  number(value("To")),
		Twilio:  twilio,
	}
}

// digits matches a telephone number. Short ones are those of a company's own telephones.
var digits = regexp.MustCompile(`^\+?[0-9]{2,15}$`)

// number returns a telephone number, or "" for a caller who has none or withholds it.
func number(from string) string {
	if strings.HasPrefix(from, " ") { // a plus sign that was not escaped in a query
		from = "+" + from[1:]
	}
	switch from = strings.TrimSpace(from); from {
	// The provider writes these words with the keys of a telephone: anonymous, restricted, blocked, unknown,
	// unavailable.
	case "+266696687", "+7378742833", "+2562533", "+8656696", "+86282452253":
		return ""
	}
	if !digits.MatchString(from) {
		return ""
	}
	return from
}

const (
	// tokenLifetime is how long a token is valid. Providers connect within a second; a slow one, or a person
	// with a test client, has a minute.
	tokenLifetime = time.Minute
	// maxTokens and maxTokensEach bound the valid tokens, in total and of one account. An account has far
	// fewer calls that begin in the same minute.
	maxTokens, maxTokensEach = 1000, 200
)

// errToken is the same for wrong, used and expired tokens, so it tells an attacker nothing.
var errToken = errors.New("the token is wrong, was used before, or is older than 60 s; " +
	"ask /v0/evi/twilio for a new one")

// tokens are the valid tokens. Each works once. The zero value is ready to use.
type tokens struct {
	mu     sync.Mutex
	valid  map[string]Ticket
	issued []issuedToken // oldest first; some of them used
}

type issuedToken struct {
	text    string
	account string
	at      time.Time
}

// issue returns a new token for a ticket. The error is a contract.ErrFull or contract.ErrTooMany.
func (t *tokens) issue(ticket Ticket, now time.Time) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep(now)
	const what = "more telephone calls begin than the box takes in a minute"
	if len(t.issued) >= maxTokens {
		return "", contract.ErrFull{What: what, RetryAfter: tokenLifetime}
	}
	n := 0
	for _, i := range t.issued {
		if i.account == ticket.Account {
			n++
		}
	}
	if n >= maxTokensEach {
		return "", contract.ErrTooMany{What: what, RetryAfter: tokenLifetime}
	}
	text := newToken()
	if t.valid == nil {
		t.valid = map[string]Ticket{}
	}
	t.valid[text] = ticket
	t.issued = append(t.issued, issuedToken{text, ticket.Account, now})
	return text, nil
}

// has reports whether a token is valid.
func (t *tokens) has(token string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep(now)
	_, ok := t.valid[token]
	return ok
}

// redeem returns the ticket of a token, which is not valid any more afterwards.
func (t *tokens) redeem(token string, now time.Time) (Ticket, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep(now)
	ticket, ok := t.valid[token]
	if !ok {
		return Ticket{}, errToken
	}
	delete(t.valid, token)
	return ticket, nil
}

// sweep drops the expired tokens.
func (t *tokens) sweep(now time.Time) {
	n := 0
	for ; n < len(t.issued) && now.Sub(t.issued[n].at) >= tokenLifetime; n++ {
		delete(t.valid, t.issued[n].text)
	}
	t.issued = append(t.issued[:0:0], t.issued[n:]...)
}

// newToken returns 32 random bytes as text that needs no escaping in XML or a URL.
func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
