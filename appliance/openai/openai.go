// Package openai answers requests of OpenAI's API with the engines of the box: the next message of a conversation,
// transcripts of recordings, and speech in the formats of that API.
package openai

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/appliance/analysis"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/internal/limit"
)

// Parts are what a Service needs.
type Parts struct {
	// LanguageModels are the models that answer, the default first.
	LanguageModels []LanguageModel
	// Live transcribes as in chats, and Recordings as in jobs of analysis: slower, with fewer mistakes.
	Live, Recordings *analysis.Analyser
	// LiveName is the name of the transcriber of chats, such as moonshine.
	LiveName string
	// Chatting reports whether somebody talks with the box now.
	Chatting func() bool
}

// LanguageModel is a language model with the names under which it is asked for.
type LanguageModel struct {
	Names []string
	engine.LanguageModel
}

// Service answers requests. It is safe for concurrent use.
type Service struct {
	Parts
	chats       *limit.Limiter[string] // by account
	transcripts *limit.Limiter[string] // by account
}

// New returns a service made of p.
func New(p Parts) *Service {
	return &Service{
		Parts:       p,
		chats:       newLimiter(maxChats),
		transcripts: newLimiter(maxTranscripts),
	}
}

const (
	// maxChats is how many messages are written at once. Embedded models have that many sequences to spare, so that no
	// conversation is evicted (llama.otherSequences).
	maxChats = 4
	// maxTranscripts is how many recordings are transcribed at once. Short ones share the cores with long ones.
	maxTranscripts = 8
	// reserved is how many further requests are admitted of accounts that have none: long ones take minutes.
	reserved = 2
	// maxWaiting is how many requests wait, and maxPerAccount how many an account has, running and waiting: all the
	// chats of another box, which is one account, and the guesses about what their users say.
	maxWaiting    = 64
	maxPerAccount = 48
	// longestWait is half of the minute after which clients and proxies give up.
	longestWait = 30 * time.Second
	// retryAfter is when a retry is worthwhile: most requests take a few seconds.
	retryAfter = 5 * time.Second
)

func newLimiter(active int) *limit.Limiter[string] {
	return limit.New[string](limit.Rule{
		MaxActive:      active,
		Reserved:       reserved,
		MaxWaiting:     maxWaiting,
		MaxPerKeyTotal: maxPerAccount,
		MaxWait:        longestWait,
	})
}

// enter waits until a request of an account is admitted. The error is a contract.ErrTooMany.
func enter(ctx context.Context, of *limit.Limiter[string], account, what string) (leave func(), err error) {
	leave, err = of.Acquire(ctx, account)
	why := ""
	switch err {
	case limit.ErrPerKey:
		why = fmt.Sprintf("this account has %d %s in progress, the most allowed", of.MaxPerKeyTotal, what)
	case limit.ErrFull:
		why = fmt.Sprintf("%d %s are waiting already", of.MaxWaiting, what)
	case limit.ErrTimeout:
		why = fmt.Sprintf("all %d slots for %s have been in use for %s", of.MaxActive, what, of.MaxWait)
	default:
		return leave, err
	}
	return nil, contract.ErrTooMany{What: why, RetryAfter: retryAfter}
}

// renewal is how often the urgency of a request is renewed. A request that is late by engine.requestDelay, 10 s, comes
// before conversations; one that is renewed never does.
const renewal = time.Second

// urgency returns the urgency of a request that yields to conversations however long it takes: while somebody talks
// with the box it is engine.Batch, otherwise engine.Request. stop must be called once.
func (s *Service) urgency(ctx context.Context) (u *engine.Urgency, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	u = s.priority().Urgency()
	go func() {
		renew := time.NewTicker(renewal)
		defer renew.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-renew.C:
				u.Set(s.priority(), time.Time{})
			}
		}
	}()
	return u, cancel
}

func (s *Service) priority() engine.Priority {
	if s.Chatting() {
		return engine.Batch
	}
	return engine.Request
}

// Default is the model of every kind that the box uses for its own conversations.
const Default = "parley"

// The names of OpenAI's models that stand for those of the box.
func speechNames() []string { return []string{"tts-1", "tts-1-hd", "gpt-4o-mini-tts"} }
func transcriptNames() []string {
	return []string{"whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe"}
}

// Models lists the names of all models.
func (s *Service) Models() []string {
	all := []string{Default}
	for _, m := range s.LanguageModels {
		all = append(all, m.Names...)
	}
	all = append(all, s.LiveName)
	all = append(all, transcriptNames()...)
	all = append(all, speechNames()...)
	return unique(all)
}

func unique(names []string) []string {
	var all []string
	for _, name := range names {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// noModel is the error for a name that is none of names.
func noModel(name, kind string, names []string) error {
	return contract.ErrNotFound{What: "model", ID: name, Field: "model",
		Hint: fmt.Sprintf("the models of this box that %s are %s", kind, strings.Join(unique(names), ", "))}
}

// CheckSpeech returns an error unless a model speaks.
func (s *Service) CheckSpeech(model string) error {
	names := append([]string{Default}, speechNames()...)
	if slices.Contains(names, model) {
		return nil
	}
	return noModel(model, "speak", names)
}
