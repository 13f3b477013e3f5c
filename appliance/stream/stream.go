// Package stream answers the payloads of the socket that analyses media as they come.
package stream

import (
	"context"
	"log/slog"
	"time"

	"parley/appliance/analysis"
	"parley/appliance/contract"
	"parley/appliance/media"
	"parley/internal/limit"
)

const (
	// maxSockets is how many sockets may be open, idle or not, and socketsPerAccount how many of
	// one account: the medium of each takes up to 12 MB.
	maxSockets, socketsPerAccount = 32, 24
	// maxLarge is how many messages above 256 KiB are received at once, which take up to 60 MB
	// each until they are decoded. largeWait is how long others wait for that.
	maxLarge, largeWait = 4, time.Minute
	// maxWorking is how many media are analysed at once: each starts ffmpeg, which may take
	// 400 MB. workWait is how long others wait, half of what a client waits before it gives up.
	maxWorking, workWait = 2, 30 * time.Second
	// retryAfter is the Retry-After of a refused socket.
	retryAfter = 10 * time.Second
)

// Analyser measures one medium.
type Analyser interface {
	Analyse(ctx context.Context, s analysis.Source, r analysis.Request) (analysis.Report, error)
}

// Media reads media.
type Media interface {
	Probe(ctx context.Context, path string) (media.Info, error)
	Sound(ctx context.Context, path string, emit func(pcm []float32) error) error
}

// Line delivers answers to the client of a socket.
type Line interface {
	Send(ctx context.Context, m contract.StreamMessage) error
	Close(code int, reason string)
}

// Service answers the payloads of all sockets.
type Service struct {
	analyser Analyser
	media    Media
	log      *slog.Logger
	idle     time.Duration // contract.StreamIdleTimeout, unless a test changes it

	sockets, large, working *limit.Limiter[string] // by account
}

// New returns a service.
func New(a Analyser, m Media, log *slog.Logger) *Service {
	return &Service{
		analyser: a,
		media:    m,
		log:      log,
		idle:     contract.StreamIdleTimeout,
		sockets:  limit.New[string](limit.Rule{MaxActive: maxSockets, MaxPerKey: socketsPerAccount}),
		large:    limit.New[string](limit.Rule{MaxActive: maxLarge, MaxWait: largeWait}),
		working:  limit.New[string](limit.Rule{MaxActive: maxWorking, MaxWait: workWait}),
	}
}

// Admission admits one socket of an account, and its messages.
type Admission struct {
	service *Service
	account string
}

// Admission returns what admits a socket of an account.
func (s *Service) Admission(account string) Admission { return Admission{s, account} }

// Reserve admits the socket. The error is a contract.ErrTooMany or a contract.ErrFull.
func (a Admission) Reserve() (release func(), err error) {
	release, err = a.service.sockets.TryAcquire(a.account)
	switch err {
	case limit.ErrPerKey:
		return nil, contract.ErrTooMany{What: "this account has too many sockets open for analysis",
			RetryAfter: retryAfter}
	case limit.ErrFull:
		return nil, contract.ErrFull{What: "too many sockets are open for analysis", RetryAfter: retryAfter}
	}
	return release, err
}

// Enlarge waits until the account may send a large message.
func (a Admission) Enlarge(ctx context.Context) (release func(), err error) {
	return a.service.large.Acquire(ctx, a.account)
}
