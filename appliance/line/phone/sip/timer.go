package sip

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
)

const (
	// sessionInterval is the interval of the session timer that the box proposes (RFC 4028).
	sessionInterval = 30 * time.Minute
	// minInterval is the shortest that it accepts: the lower bound of RFC 4028.
	minInterval = 90 * time.Second
	// refreshTimeout bounds one refreshing (RFC 3261, timer F).
	refreshTimeout = 32 * time.Second
)

// sessionTimer ends the call when the peer no longer confirms it (RFC 4028).
type sessionTimer struct {
	mu       sync.Mutex
	timer    *time.Timer
	interval time.Duration // 0: the call has no session timer
	refresh  bool          // the box refreshes
	shortest time.Duration // that the peer takes, once it has refused a shorter one
	expires  time.Time
	update   bool // the peer takes UPDATE
}

func (s *sessionTimer) init() {
	s.timer = time.NewTimer(time.Hour)
	s.timer.Stop()
}

func (s *sessionTimer) due() <-chan time.Time { return s.timer.C }

func (s *sessionTimer) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interval = 0
	s.timer.Stop()
}

// begin begins the interval anew. The one who refreshes does so at half of it; the other
// one hangs up shortly before its end (RFC 4028, section 10).
func (s *sessionTimer) begin(interval time.Duration, refresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interval, s.refresh = interval, refresh
	s.expires = time.Now().Add(interval - min(32*time.Second, interval/3))
	if refresh {
		s.timer.Reset(interval / 2)
		return
	}
	s.timer.Reset(time.Until(s.expires))
}

// learn notes whether the peer takes UPDATE.
func (s *sessionTimer) learn(m sip.Message) {
	if allowed := list(m, "allow", ""); len(allowed) > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.update = contains(allowed, "UPDATE")
	}
}

// parseInterval reads Session-Expires: its seconds, and who refreshes ("" if it does not
// say).
func parseInterval(m sip.Message) (interval time.Duration, refresher string) {
	value, params, _ := strings.Cut(field(m, "session-expires", "x"), ";")
	if interval = parseSeconds(value); interval == 0 {
		return 0, ""
	}
	for p := range strings.SplitSeq(params, ";") {
		if name, who, ok := strings.Cut(p, "="); ok && strings.EqualFold(strings.TrimSpace(name), "refresher") {
			refresher = strings.ToLower(strings.TrimSpace(who))
		}
	}
	return interval, refresher
}

// shortTimer returns 422 for a session timer that is too short, if the peer can take that.
func shortTimer(req *sip.Request) (status int, headers []sip.Header) {
	interval, _ := parseInterval(req)
	if interval == 0 || interval >= minInterval || !contains(optionTags(req), "timer") {
		return 0, nil
	}
	return 422, []sip.Header{sip.NewHeader("Min-SE", seconds(minInterval))}
}

// grantTimer agrees on the session timer that a request asks for, and returns what the 200
// says about it. Without a peer that knows session timers there is none.
func (c *Call) grantTimer(req *sip.Request) []sip.Header {
	c.timer.learn(req)
	if !contains(optionTags(req), "timer") {
		return nil
	}
	interval, refresher := parseInterval(req)
	switch {
	case interval == 0: // the peer has not asked for one: it may not count on having to refresh it
		interval, refresher = max(sessionInterval, minSE(req)), "uas"
	case refresher != "uas":
		refresher = "uac"
	}
	interval = max(interval, minInterval)
	c.timer.begin(interval, refresher == "uas")
	headers := []sip.Header{sip.NewHeader("Session-Expires", seconds(interval)+";refresher="+refresher)}
	if refresher == "uac" {
		headers = append(headers, sip.NewHeader("Require", "timer"))
	}
	return headers
}

func minSE(m sip.Message) time.Duration { return parseSeconds(field(m, "min-se", "")) }

// offerTimer asks for a session timer in a request of the box, of at least the given
// shortest interval. refresher is uac, uas, or empty where the peer may choose.
func offerTimer(req *sip.Request, interval, shortest time.Duration, refresher string) {
	shortest = max(shortest, minInterval)
	for req.RemoveHeader("Session-Expires") || req.RemoveHeader("Min-SE") {
	}
	value := seconds(max(interval, shortest))
	if refresher != "" {
		value += ";refresher=" + refresher
	}
	req.AppendHeader(sip.NewHeader("Session-Expires", value))
	req.AppendHeader(sip.NewHeader("Min-SE", seconds(shortest)))
}

// agreeTimer takes what the 200 to a request of the box says about the session timer.
func (c *Call) agreeTimer(res *sip.Response) {
	c.timer.learn(res)
	interval, refresher := parseInterval(res)
	if interval == 0 {
		c.timer.stop()
		return
	}
	c.timer.begin(max(interval, minInterval), refresher != "uas")
}

// timerDue refreshes the session, or ends it.
func (c *Call) timerDue() {
	c.timer.mu.Lock()
	interval, refresh, expires := c.timer.interval, c.timer.refresh, c.timer.expires
	c.timer.mu.Unlock()
	switch {
	case interval == 0:
	case !refresh || !time.Now().Before(expires):
		c.log.Info("sip: the far end did not refresh the session timer")
		c.hangUp(ErrLost)
	default:
		c.endpoint.workers.Go(func() { c.refresh(interval, expires) })
	}
}

// refresh confirms to the peer that the call goes on.
func (c *Call) refresh(interval time.Duration, expires time.Time) {
	ctx, cancel := context.WithTimeout(c.endpoint.stopping, refreshTimeout)
	defer cancel()
	c.timer.mu.Lock()
	update, shortest := c.timer.update, c.timer.shortest
	c.timer.mu.Unlock()
	var res *sip.Response
	var err error
	if update {
		req := c.current().request(sip.UPDATE)
		offerTimer(req, interval, shortest, "uac")
		res, err = c.do(ctx, req)
	} else {
		res, err = c.reinvite(ctx, interval, shortest)
	}
	switch {
	case c.lost(res, err):
		return
	case err == nil && res.IsSuccess():
		c.agreeTimer(res)
		return
	case err == nil && res.StatusCode == 422:
		shortest = minSE(res)
	}
	// Refused for now, as while the peer changes the call itself: once more in a while.
	c.timer.mu.Lock()
	defer c.timer.mu.Unlock()
	if c.timer.interval != 0 {
		c.timer.shortest = shortest
		c.timer.timer.Reset(min(10*time.Second, max(time.Second, time.Until(expires))))
	}
}

// lost ends the call if the outcome of a request says that the peer does not know it any
// more (RFC 3261, section 12.2.1.2).
func (c *Call) lost(res *sip.Response, err error) bool {
	switch {
	case errors.Is(err, sip.ErrTransactionTimeout):
	case err != nil:
		return false
	case res.StatusCode != sip.StatusCallTransactionDoesNotExists && res.StatusCode != sip.StatusRequestTimeout:
		return false
	}
	c.log.Info("sip: the far end does not know the call any more")
	c.hangUp(ErrLost)
	return true
}

// probeEvery is how often a peer that holds the box, and knows no session timer, is asked
// whether it is there: no sound tells.
const probeEvery = 100 * time.Second

// probe asks the peer.
func (c *Call) probe() {
	c.timer.mu.Lock()
	timed := c.timer.interval != 0
	c.timer.mu.Unlock()
	if timed || c.early() || !c.Held() {
		return
	}
	c.endpoint.workers.Go(func() {
		ctx, cancel := context.WithTimeout(c.endpoint.stopping, 2*refreshTimeout)
		defer cancel()
		res, err := c.do(ctx, c.current().request(sip.OPTIONS))
		c.lost(res, err)
	})
}
