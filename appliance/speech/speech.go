// Package speech is text-to-speech as a service. It cuts utterances into snippets, has a voice
// synthesise each, and writes the sound as files and messages.
package speech

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"golang.org/x/sync/semaphore"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
	"parley/internal/limit"
)

// Voice is a voice that can speak.
type Voice struct {
	ID, Name string // empty for a voice designed from a description
	Provider contract.VoiceProvider
	// Recipe is what the voice is made of; VoiceMaker.FromRecipe makes the same voice from it.
	Recipe      json.RawMessage
	Language    string // BCP 47; empty: unknown
	Synthesizer engine.Synthesizer
}

// VoiceMaker finds voices and makes new ones. A manner is a description of how to speak, and
// may be empty. The methods wait until the engines they need are loaded, or ctx ends.
type VoiceMaker interface {
	// Find returns the voice that ref names for an account, or a contract.ErrNotFound.
	Find(ctx context.Context, account string, ref contract.VoiceRef, manner string) (Voice, error)
	// Design makes a voice from a description of it. Candidates, counted from 0, sound
	// different; the same seed makes the same voice.
	Design(ctx context.Context, description string, candidate int, seed int64) (Voice, error)
	// FromRecipe makes the voice of a recipe.
	FromRecipe(ctx context.Context, recipe json.RawMessage, manner string) (Voice, error)
}

// Parts are the dependencies of a Service.
type Parts struct {
	Voices VoiceMaker
	// Pronunciation returns how an account's texts are pronounced; nil: as the voices do by
	// default.
	Pronunciation func(ctx context.Context, account string) text.Options
	Ear           Ear
	Records       Records // nil: nothing is stored
	Retention     Retention
	Observe       Observer // nil: nothing is observed
	Log           *slog.Logger
}

// Observer measures what is spoken.
type Observer interface {
	// FirstSound records the time from the start of a request to its first sound.
	FirstSound(after time.Duration)
	// Synthesized records an amount of synthesised sound.
	Synthesized(sound time.Duration)
	// WordErrors records how many of the words of a snippet the ear transcribed wrongly.
	WordErrors(wrong, of int)
	// Retried records that a snippet was synthesised twice, and whether the second attempt was
	// better.
	Retried(better bool)
}

// Service is text-to-speech. It is safe for concurrent use.
type Service struct {
	Parts
	requests    *limit.Limiter[string] // by account, like the other limiters
	conversions *limit.Limiter[string]
	sockets     *limit.Limiter[string] // open sockets

	memory *semaphore.Weighted // in characters whose sound is held in memory
}

// New returns a service made of p.
func New(p Parts) *Service {
	if p.Observe == nil {
		p.Observe = unobserved{}
	}
	return &Service{
		Parts:       p,
		requests:    newRequestLimiter(),
		conversions: newConversionLimiter(),
		sockets:     limit.New[string](limit.Rule{MaxActive: maxSockets, MaxPerKey: socketsPerAccount}),
		memory:      semaphore.NewWeighted(maxHeldChars),
	}
}

// Request is a request for speech by an account.
type Request struct {
	Account, RequestID string
	// Unstored speech cannot be made again by the id of its generation.
	Unstored bool
	contract.PostedTTS
}

// Job is a request that was admitted. The caller must close it.
type Job struct {
	service     *Service
	request     Request
	generations []*generation
	release     func()
	begun       time.Time
	sounding    bool       // it had its first sound
	stored      chan error // receives one error when the generations are stored; nil: there is nothing to wait for
}

// Begin waits until the request is admitted, and then checks what only the service can check,
// such as whether the voices exist. It returns the errors of package contract: ErrInvalid,
// ErrNotFound, ErrTooMany, ErrUnavailable.
func (s *Service) Begin(ctx context.Context, a Request) (*Job, error) {
	begun := time.Now()
	leave, err := enter(ctx, s.requests, a.Account)
	if err != nil {
		return nil, err
	}
	j := &Job{
		service: s,
		request: a,
		release: leave,
		begun:   begun,
	}
	if err := j.plan(ctx); err != nil {
		leave()
		return nil, err
	}
	j.startStoring(ctx)
	return j, nil
}

// Close ends the request and admits the next one.
func (j *Job) Close() { j.release() }

func (j *Job) instant() bool { return *j.request.InstantMode }

// Format returns the audio format of the answer.
func (j *Job) Format() contract.AudioFormat { return j.request.Format.Type }

// countSound reports samples at the output rate to the observer.
func (j *Job) countSound(samples int) {
	if samples > 0 && !j.sounding {
		j.sounding = true
		j.service.Observe.FirstSound(time.Since(j.begun))
	}
	j.service.Observe.Synthesized(time.Duration(samples) * time.Second / contract.OutputRateHz)
}

type unobserved struct{}

func (unobserved) FirstSound(time.Duration)  {}
func (unobserved) Synthesized(time.Duration) {}
func (unobserved) WordErrors(int, int)       {}
func (unobserved) Retried(bool)              {}
