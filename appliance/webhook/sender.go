// Package webhook delivers the webhooks in the outbox: signed, in order within each chat,
// and repeated until the receiver has accepted them or a day has passed.
package webhook

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"parley/store"
)

const (
	// maxAttempts is how many attempts run in parallel: each holds a connection, some
	// 50 KB. maxPerReceiver is how many of them may be for one receiver.
	maxAttempts    = 192
	maxPerReceiver = 4
	// Receivers whose health is unknown or doubtful get one attempt at a time each, and
	// together at most this many of each kind: however many of them hang, the good
	// receivers have the rest. A receiver is doubtful if its last attempt failed or took
	// longer than slowAnswer.
	maxUnknown  = 96
	maxDoubtful = 48
	slowAnswer  = 2 * time.Second
	// After failsBeforeHold failed attempts in a row, a receiver gets no attempt for up to
	// firstHold, and for twice as long after each further failure, up to maxHold. So
	// thousands of webhooks for a receiver that is down cost next to nothing, and each is
	// still tried several times a day.
	failsBeforeHold = 3
	firstHold       = 250 * time.Millisecond
	maxHold         = 5 * time.Second
	// maxIdleReceivers is how many receivers without waiting webhooks are remembered.
	maxIdleReceivers = 1000
	// firstBackOff is the longest time until the second attempt. It doubles with each
	// attempt, up to maxBackOff. The actual time is uniformly random below that (full
	// jitter), so that attempts that failed together are not repeated together.
	firstBackOff = 2 * time.Second
	maxBackOff   = time.Hour
	// storeRetry is how long the sender waits after an error of the database.
	storeRetry = 5 * time.Second
	// stopLimit is how long the sender still sends due webhooks when the box stops, so
	// that receivers that are up learn of the end of chats.
	stopLimit = time.Second
)

// Outbox stores the webhooks that wait.
type Outbox interface {
	WebhooksChanged() <-chan struct{}
	ResumeWebhooks(ctx context.Context, longest time.Duration) error
	WaitingReceivers(ctx context.Context) ([]store.WaitingReceiver, error)
	DueWebhooks(ctx context.Context, receiver, atMS int64, most int) (due []store.Delivery, nextMS int64, err error)
	WebhookDelivered(ctx context.Context, num, atMS int64) error
	WebhookFailed(ctx context.Context, num, atMS int64, why string, nextMS int64) error
	WebhookDead(ctx context.Context, num, atMS int64, why string) error
	WebhooksSince(ctx context.Context, num int64) (newest int64, number int, bytes int64, err error)
	ShedWebhooks(ctx context.Context, b store.WebhookBounds, why string) (shed int, err error)
}

// Result is how an attempt ended.
type Result string

// The results of attempts.
const (
	Delivered Result = "delivered"
	Failed    Result = "failed" // will be repeated
	Dead      Result = "dead"   // failed, and is given up
)

// Results returns all results.
func Results() []Result { return []Result{Delivered, Failed, Dead} }

// Parts are what a Sender needs.
type Parts struct {
	Outbox       Outbox
	AllowPrivate bool   // receivers may have private addresses
	Agent        string // User-Agent of the requests: "Parley/1.0"
	Log          *slog.Logger
	// Observe is called after each attempt; it may be nil. For a first attempt that was
	// delivered, after is the time since the event.
	Observe func(r Result, first bool, after time.Duration)
	// Shed is called with the number of webhooks that were given up because too many wait;
	// it may be nil.
	Shed func(number int)

	resolver *net.Resolver       // nil for the system's
	bounds   store.WebhookBounds // zero for accountBounds
}

// Sender delivers webhooks. One goroutine decides which attempts to start, and never waits
// for a receiver.
type Sender struct {
	Parts
	client *client

	receivers map[int64]*receiver
	inFlight  map[int64]bool // numbers of the webhooks with a running attempt
	byHealth  map[health]int // number of running attempts for receivers of each health
	ended     chan outcome
	shedState shedState

	attempts sync.WaitGroup
	closing  chan struct{}
	closed   chan struct{}
	once     sync.Once
}

// receiver is one receiver of webhooks.
type receiver struct {
	inFlight int   // running attempts
	dueMS    int64 // when the next webhook without an attempt is due; 0 if none is known
	heldMS   int64 // no attempt before this time
	fails    int   // failed attempts in a row
	health   health
}

// health is how a receiver answered lately.
type health int

const (
	unknown health = iota
	good
	doubtful
)

// outcome is the end of an attempt.
type outcome struct {
	receiver, num int64
	health        health // of the receiver when the attempt started
	failed        bool
	took          time.Duration
}

// Start returns a running Sender.
func Start(p Parts) *Sender {
	s := &Sender{
		Parts:     p,
		client:    newClient(p.Agent, p.AllowPrivate, p.resolver),
		receivers: map[int64]*receiver{},
		inFlight:  map[int64]bool{},
		byHealth:  map[health]int{},
		ended:     make(chan outcome, maxAttempts),
		closing:   make(chan struct{}),
		closed:    make(chan struct{}),
	}
	if s.Observe == nil {
		s.Observe = func(Result, bool, time.Duration) {}
	}
	if s.Shed == nil {
		s.Shed = func(int) {}
	}
	if s.bounds == (store.WebhookBounds{}) {
		s.bounds = accountBounds()
	}
	go s.run()
	return s
}

// Close stops the sender within stopLimit, in which it sends what is due. Other webhooks
// stay in the outbox.
func (s *Sender) Close() {
	s.once.Do(func() { close(s.closing) })
	<-s.closed
}

func (s *Sender) run() {
	defer close(s.closed)
	ctx, cancel := context.WithCancel(context.Background())
	defer s.client.close()
	defer s.attempts.Wait()
	defer cancel()
	if err := s.Outbox.ResumeWebhooks(ctx, maxBackOff); err != nil {
		s.Log.Error("cannot prepare the outbox of webhooks", "err", err)
	}
	var stop <-chan time.Time
	closing := s.closing
	timer := time.NewTimer(0) // at once: webhooks may wait from before the start
	defer timer.Stop()
	for look := true; ; {
		wake := s.work(ctx, look)
		if stop != nil && len(s.inFlight) == 0 {
			return
		}
		timer.Reset(wake)
		look = false
		select {
		case <-s.Outbox.WebhooksChanged():
			look = true
		case l := <-s.ended:
			s.finish(l)
		case <-timer.C:
			look = wake == storeRetry
		case <-closing:
			closing, stop, look = nil, time.After(stopLimit), true
		case <-stop:
			return
		}
	}
}

// maxSleep is how long the sender sleeps when nothing is due, unless it is woken.
const maxSleep = 24 * time.Hour

// work starts the attempts that are due, as far as the limits allow, and returns when it
// must be called again.
func (s *Sender) work(ctx context.Context, look bool) time.Duration {
	if look {
		if err := s.refresh(ctx); err != nil {
			s.Log.Error("cannot read which webhooks wait; trying again", "err", err)
			return storeRetry
		}
	}
	now, wake := time.Now().UnixMilli(), int64(maxSleep/time.Millisecond)
	for num, r := range s.receivers {
		if r.dueMS != 0 && max(r.dueMS, r.heldMS) <= now && s.capacity(r) > 0 {
			if err := s.startDue(ctx, num, r, now); err != nil {
				s.Log.Error("cannot read webhooks that are due; trying again", "err", err)
				return storeRetry
			}
		}
		switch at := max(r.dueMS, r.heldMS); {
		case r.dueMS == 0 && r.inFlight == 0 && len(s.receivers) > maxIdleReceivers:
			delete(s.receivers, num)
		case r.dueMS != 0 && at > now:
			wake = min(wake, at-now)
		}
	}
	return time.Duration(wake) * time.Millisecond
}

// refresh gives up the webhooks beyond the bounds, and loads which receivers have webhooks
// waiting.
func (s *Sender) refresh(ctx context.Context) error {
	if err := s.shed(ctx); err != nil {
		return err
	}
	waiting, err := s.Outbox.WaitingReceivers(ctx)
	if err != nil {
		return err
	}
	for _, w := range waiting {
		if r := s.receivers[w.Num]; r != nil {
			r.dueMS = w.DueMS
		} else {
			s.receivers[w.Num] = &receiver{dueMS: w.DueMS}
		}
	}
	return nil
}

// capacity returns how many more attempts may start for a receiver.
func (s *Sender) capacity(r *receiver) int {
	free := maxAttempts - len(s.inFlight)
	switch r.health {
	case unknown:
		return min(1-r.inFlight, maxUnknown-s.byHealth[unknown], free)
	case doubtful:
		return min(1-r.inFlight, maxDoubtful-s.byHealth[doubtful], free)
	}
	return min(maxPerReceiver-r.inFlight, free)
}

// startDue starts the attempts for a receiver that are due, within its capacity. The outbox
// also lists the webhooks with a running attempt as due.
func (s *Sender) startDue(ctx context.Context, num int64, r *receiver, now int64) error {
	due, next, err := s.Outbox.DueWebhooks(ctx, num, now, s.capacity(r)+r.inFlight+1)
	if err != nil {
		return err
	}
	r.dueMS = next
	for _, d := range due {
		if s.inFlight[d.Num] {
			continue
		}
		if s.capacity(r) <= 0 {
			r.dueMS = now // as soon as an attempt ends
			return nil
		}
		s.start(ctx, num, r, d)
	}
	return nil
}

func (s *Sender) start(ctx context.Context, num int64, r *receiver, d store.Delivery) {
	l := outcome{receiver: num, num: d.Num, health: r.health}
	r.inFlight++
	s.inFlight[d.Num] = true
	s.byHealth[l.health]++
	s.attempts.Go(func() {
		begun := time.Now()
		l.failed = !s.attempt(ctx, d)
		l.took = time.Since(begun)
		s.ended <- l // never blocks: the channel holds maxAttempts
	})
}

func (s *Sender) finish(l outcome) {
	delete(s.inFlight, l.num)
	s.byHealth[l.health]--
	r := s.receivers[l.receiver]
	r.inFlight--
	r.dueMS = 1 // check again: the next webhook of its chat may be due now
	if !l.failed {
		r.fails, r.heldMS, r.health = 0, 0, good
		if l.took > slowAnswer {
			r.health = doubtful
		}
		return
	}
	r.health = doubtful
	if r.fails++; r.fails >= failsBeforeHold {
		longest := min(maxHold, firstHold<<min(r.fails-failsBeforeHold, 8))
		r.heldMS = time.Now().Add(rand.N(longest)).UnixMilli()
	}
}

// attempt sends a webhook once, and records the result. It reports whether the receiver
// accepted the webhook.
func (s *Sender) attempt(ctx context.Context, d store.Delivery) bool {
	err := s.client.send(ctx, d)
	if err != nil && ctx.Err() != nil {
		return false // the box stops; the next start repeats this attempt
	}
	now := time.Now()
	first := d.Attempts == 0
	log := s.Log.With("webhook", d.ID, "event", d.Event, "chat", d.Chat)
	var failed failure
	switch {
	case !errors.As(err, &failed):
		s.Observe(Delivered, first, now.Sub(time.UnixMilli(d.CreatedMS)))
		s.record(ctx, log, func(ctx context.Context) error {
			return s.Outbox.WebhookDelivered(ctx, d.Num, now.UnixMilli())
		})
		return true
	case now.UnixMilli() >= d.UntilMS:
		log.Error("a webhook is given up; parley webhooks --retry tries it again", "attempts", d.Attempts+1, "why",
			failed.why)
		s.Observe(Dead, first, 0)
		s.record(ctx, log, func(ctx context.Context) error {
			return s.Outbox.WebhookDead(ctx, d.Num, now.UnixMilli(), shorten(failed.why))
		})
	default:
		next := min(now.Add(max(backOff(d.Attempts), failed.wait)).UnixMilli(), d.UntilMS)
		if first {
			log.Warn("a webhook was not delivered; it is tried again for a day", "why", failed.why)
		}
		s.Observe(Failed, first, 0)
		s.record(ctx, log, func(ctx context.Context) error {
			return s.Outbox.WebhookFailed(ctx, d.Num, now.UnixMilli(), shorten(failed.why), next)
		})
	}
	return false
}

// backOff returns how long to wait after a failed attempt; attempts is how many failed
// before it.
func backOff(attempts int) time.Duration {
	longest := maxBackOff
	if attempts < 16 { // firstBackOff doubled 16 times exceeds maxBackOff
		longest = min(longest, firstBackOff<<attempts)
	}
	return rand.N(longest)
}

// record writes the result of an attempt, and retries until it is written. Until then the
// attempt counts as running: otherwise, while the database cannot be written, the receiver
// would get the webhook again and again.
func (s *Sender) record(ctx context.Context, log *slog.Logger, write func(context.Context) error) {
	for {
		err := write(context.WithoutCancel(ctx)) // the attempt was made, even if the box stops now
		if err == nil || ctx.Err() != nil {
			return
		}
		log.Error("cannot record the result of a webhook; trying again", "err", err)
		select {
		case <-time.After(storeRetry):
		case <-ctx.Done():
			return
		}
	}
}
