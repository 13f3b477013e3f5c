package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/internal/addresses"
	"parley/internal/machine"
	"parley/store"
)

const (
	// attemptTime bounds an attempt from the DNS lookup to the status of the response: a
	// receiver that needs longer should respond first and work afterwards.
	attemptTime = 10 * time.Second
	// connectTime bounds the connection: time to lose two packets.
	connectTime = 5 * time.Second
	// drainTime and drainBytes bound how much of the response body is read, so that the
	// connection can be reused. The content is ignored.
	drainTime  = 200 * time.Millisecond
	drainBytes = 4 << 10
	// idleTime is how long an idle connection stays open: the webhooks of a chat come
	// seconds to minutes apart.
	idleTime = 60 * time.Second
	// maxRetryAfter bounds the Retry-After of a receiver.
	maxRetryAfter = maxBackOff
)

// client sends webhooks over http and https, to allowed addresses only.
type client struct {
	agent    string // the User-Agent
	byScheme map[string]*http.Client
}

// newClient returns a client. A nil resolver is the system's.
func newClient(agent string, allowPrivate bool, resolver *net.Resolver) *client {
	c, table := &client{agent: agent, byScheme: map[string]*http.Client{}}, addresses.NewTable(machine.Addresses)
	for _, scheme := range []string{"http", "https"} {
		g := dialFilter{plain: scheme == "http", allowPrivate: allowPrivate, table: table}
		dialer := net.Dialer{Timeout: connectTime, Resolver: resolver, ControlContext: g.control}
		c.byScheme[scheme] = &http.Client{
			Transport: &http.Transport{
				// No proxy: it would connect past the dial filter.
				DialContext:            dialer.DialContext,
				TLSHandshakeTimeout:    connectTime,
				MaxIdleConns:           maxAttempts,
				MaxIdleConnsPerHost:    maxPerReceiver,
				IdleConnTimeout:        idleTime,
				MaxResponseHeaderBytes: 64 << 10,
				DisableCompression:     true,
			},
			// Redirects are not followed: the body was signed for the receiver that the
			// config names.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return c
}

func (c *client) close() {
	for _, client := range c.byScheme {
		client.CloseIdleConnections()
	}
}

// Try sends a webhook once, without an outbox, under the rules of the box. The error says
// in plain words why it was not delivered.
func Try(ctx context.Context, d store.Delivery, agent string, allowPrivate bool) error {
	c := newClient(agent, allowPrivate, nil)
	defer c.close()
	return c.send(ctx, d)
}

// Redacted returns the URL of a webhook without its password.
func Redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(not a URL)"
	}
	return u.Redacted()
}

// failure is why an attempt failed, in words for the operator, and how long the receiver
// asks to wait.
type failure struct {
	why  string
	wait time.Duration
}

func (f failure) Error() string { return f.why }

// send makes one attempt. It returns nil if the receiver accepted the webhook, and
// otherwise a failure or the error of ctx.
func (c *client) send(ctx context.Context, d store.Delivery) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, strings.NewReader(d.Body))
	if err != nil {
		return failure{why: "the URL is not valid: " + reasonOf(err)}
	}
	client, ok := c.byScheme[r.URL.Scheme]
	if !ok {
		return failure{why: fmt.Sprintf("the URL begins with %q; webhooks go to http:// and https://", r.URL.Scheme)}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", c.agent)
	r.Header.Set("X-Service-Webhook-Id", d.ID)
	sign(r.Header, d.SigningKey, d.Body, time.Now())
	answer, err := client.Do(r)
	if err != nil {
		return failure{why: reasonOf(err)}
	}
	defer answer.Body.Close()
	defer drain(answer, cancel)
	if answer.StatusCode/100 == 2 {
		return nil
	}
	return refusal(answer)
}

// drain reads the rest of a response if it is small and comes at once.
func drain(answer *http.Response, giveUp func()) {
	late := time.AfterFunc(drainTime, giveUp)
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, answer.Body, drainBytes)
}

// refusal returns the failure for a response other than 2xx.
func refusal(answer *http.Response) failure {
	f := failure{why: "answered " + answer.Status}
	switch {
	case answer.StatusCode/100 == 3:
		f.why += ": redirects are not followed; put the address that it points to into the config"
	case answer.StatusCode == http.StatusTooManyRequests, answer.StatusCode == http.StatusServiceUnavailable:
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
			f.wait = min(time.Duration(min(seconds, int(maxRetryAfter/time.Second)))*time.Second, maxRetryAfter)
		}
	}
	return f
}

// maxReasonBytes bounds the stored reason: a receiver may put much into its status line.
const maxReasonBytes = 300

// reasonOf describes an error without the method and the URL, which may hold secrets.
func reasonOf(err error) string {
	var refused ErrRefused
	if errors.As(err, &refused) {
		return refused.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no answer within %v", attemptTime)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the receiver closed the connection without an answer"
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return err.Error()
}

// shorten returns a reason within maxReasonBytes.
func shorten(why string) string {
	why = strings.ToValidUTF8(why, "�")
	if len(why) <= maxReasonBytes {
		return why
	}
	return strings.ToValidUTF8(why[:maxReasonBytes], "") + "…"
}
