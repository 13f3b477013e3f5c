// Package webhook sends what is in the outbox: signed, each chat's in order,
// again and again until the receiver has it or its day is over.
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
	// maxAttempts is how many attempts go on at once: each holds a connection,
	// some 50 KB. maxPerReceiver is how many of them may be for one receiver.
	maxAttempts    = 192
	maxPerReceiver = 4
	// Receivers of whom nothing is known yet, and those in doubt, have one attempt
	// each, and all of a kind together so many: however many of them hang, those
	// that do well have the rest. In doubt is one whose last attempt failed or took
	// longer than slow.
	maxUnknown  = 96
	maxDoubtful = 48
	slowAnswer  = 2 * time.Second
	// After failsBeforeHold attempts for a receiver that failed in a row it is left
	// alone for firstHold at most, and twice as long after each more, up to
	// maxHold: thousands that wait for one that is down cost next to nothing,
	// and each is still tried several times in a day.
	failsBeforeHold = 3
	firstHold       = 250 * time.Millisecond
	maxHold         = 5 * time.Second
	// maxIdleReceivers is how many receivers are remembered while nothing waits for
	// them.
	maxIdleReceivers = 1000
	// firstBackOff is the longest time until the second attempt. It doubles with
	// each, up to maxBackOff; in fact any time up to that is as likely (full
	// jitter), so that those that failed together do not come together again.
	firstBackOff = 2 * time.Second
	maxBackOff   = time.Hour
	// storeRetry is for how long the sender waits when the database fails it.
	storeRetry = 5 * time.Second
	// stopLimit is for how long what is due is still sent when the box stops:
	// receivers that are up learn of the end of chats before it.
	stopLimit = time.Second
)

// Outbox is where webhooks wait.
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

// Result is how an attempt came out.
type Result string

// How attempts come out.
const (
	Delivered Result = "delivered"
	Failed    Result = "failed" // and will be made again
	Dead      Result = "dead"   // and is given up
)

// Results are all of them.
func Results() []Result { return []Result{Delivered, Failed, Dead} }

// Parts are what a Sender is made of.
type Parts struct {
	Outbox       Outbox
	AllowPrivate bool   // receivers may have private addresses
	Agent        string // byScheme which receivers know the box: "Parley/1.0"
	Log          *slog.Logger
	// Observe is told of each attempt, and of a first one that was delivered how
	// long that was after what it tells; nil: nobody is.
	Observe func(r Result, first bool, after time.Duration)
	// Shed is told how many were given up because too many wait; nil: nobody is.
	Shed func(number int)

	resolver *net.Resolver       // nil: the system's
	bounds   store.WebhookBounds // the zero ones: those of a box
}

// Sender sends webhooks. One goroutine decides whose turn it is, and never waits
// for a receiver.
type Sender struct {
	Parts
	client *client

	receivers map[int64]*receiver
	inFlight  map[int64]bool // webhooks, by number, of which an attempt goes on
	byHealth  map[health]int // attempts for receivers of a standing
	ended     chan outcome
	shedState shedState

	attempts sync.WaitGroup
	closing  chan struct{}
	closed   chan struct{}
	once     sync.Once
}

// receiver is one for whom something waits, or did.
type receiver struct {
	inFlight int   // attempts that go on
	dueMS    int64 // byHealth the next attempt that does not; 0: none is known of
	heldMS   int64 // until then it is left alone
	fails    int   // attempts in a row
	health   health
}

// health is how a receiver did lately.
type health int

const (
	unknown health = iota
	good
	doubtful
)

// outcome is the end of an attempt.
type outcome struct {
	receiver, num int64
	health        health // byHealth the receiver when it began
	failed        bool
	took          time.Duration
}

// Start returns a Sender at work.
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

// Close stops the sender, after a second in which it sends what is due. What is
// not sent stays in the outbox.
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
		s.Log.Error("cannot make the outbox of webhooks ready", "err", err)
	}
	var stop <-chan time.Time
	closing := s.closing
	timer := time.NewTimer(0) // refresh at once: something may wait from before
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

// maxSleep is for how long the sender sleeps when nothing is due: until it is
// woken.
const maxSleep = 24 * time.Hour

// work sends what is due, as far as it may, and returns after how long there is
// more to do by itself.
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

// refresh learns for whom something waits, after what is too much was given up.
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

// capacity is how many more attempts there may be for a receiver.
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

// startDue begins the attempts for a receiver that are due and for which there is
// capacity. Those that go on are still due in the outbox.
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
			r.dueMS = now // as soon as one lands
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
		s.ended <- l // has room for all that may be under way
	})
}

func (s *Sender) finish(l outcome) {
	delete(s.inFlight, l.num)
	s.byHealth[l.health]--
	r := s.receivers[l.receiver]
	r.inFlight--
	r.dueMS = 1 // to be looked at: the next of its chat may be due now
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

// attempt sends a webhook once, and notes how that came out. It reports whether
// the receiver has it.
func (s *Sender) attempt(ctx context.Context, d store.Delivery) bool {
	err := s.client.send(ctx, d)
	if err != nil && ctx.Err() != nil {
		return false // the box stops; the next start makes this attempt
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

// backOff is how long to wait after an attempt that failed, after so many before
// it.
func backOff(attempts int) time.Duration {
	longest := maxBackOff
	if attempts < 16 { // 2 s doubled as often is more than an hour
		longest = min(longest, firstBackOff<<attempts)
	}
	return rand.N(longest)
}

// record writes how an attempt came out. Until that is done the attempt goes on:
// otherwise a database that cannot be written would have the receiver told again
// and again.
func (s *Sender) record(ctx context.Context, log *slog.Logger, write func(context.Context) error) {
	for {
		err := write(context.WithoutCancel(ctx)) // it was made, even if the box stops now
		if err == nil || ctx.Err() != nil {
			return
		}
		log.Error("cannot note how a webhook went; trying again", "err", err)
		select {
		case <-time.After(storeRetry):
		case <-ctx.Done():
			return
		}
	}
}
