// Package speech speaks texts for those who ask for it: utterances are cut into
// snippets, snippets become sound, and sound the files and messages of an
// answer.
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

// Voice is one that texts are spoken with.
type Voice struct {
	ID, Name string // empty where it was made from a description
	Provider contract.VoiceProvider
	// Recipe is what the voice is made of, by which Voices makes it again.
	Recipe      json.RawMessage
	Language    string // BCP 47; empty: not known
	Synthesizer engine.Synthesizer
}

// VoiceMaker finds voices and makes new ones. A manner is a description of how to
// speak; it may be empty. The methods wait for what has to be loaded, until ctx ends.
type VoiceMaker interface {
	// Find returns the voice that ref names for an account; a contract.ErrNotFound
	// where there is none.
	Find(ctx context.Context, account string, ref contract.VoiceRef, manner string) (Voice, error)
	// Design makes a voice of a description of it. Candidates, counted from 0, differ
	// so that it can be heard; the same seed makes the same voice.
	Design(ctx context.Context, description string, candidate int, seed int64) (Voice, error)
	// FromRecipe makes a voice of its recipe.
	FromRecipe(ctx context.Context, recipe json.RawMessage, manner string) (Voice, error)
}

// Parts are what the service is made of.
type Parts struct {
	Voices VoiceMaker
	// Pronunciation says how an account's texts are read aloud; nil: as the voices do.
	Pronunciation func(ctx context.Context, account string) text.Options
	Ear           Ear
	Records       Records // nil: nothing is kept
	Retention     Retention
	Observe       Observer // nil: nobody does
	Log           *slog.Logger
}

// An Observer counts what is spoken.
type Observer interface {
	// FirstSound is told how long after it began a request had its first sound.
	FirstSound(after time.Duration)
	// Designed is told how much sound was made.
	Synthesized(sound time.Duration)
	// WordErrors is told how many of the words of a snippet the box's ear heard wrong.
	WordErrors(wrong, of int)
	// Retried is told of a snippet that was made twice, and whether it helped.
	Retried(better bool)
}

// Service speaks texts. Any number of goroutines may use it.
type Service struct {
	Parts
	requests    *limit.Limiter[string] // by account, as the others
	conversions *limit.Limiter[string]
	sockets     *limit.Limiter[string] // that are open

	memory *semaphore.Weighted // characters whose sound is held in memory
}

// New returns the service.
func New(p Parts) *Service {
	if p.Observe == nil {
		p.Observe = unobserved{}
	}
	return &Service{
		Parts:       p,
		requests:    newRequestLimiter(),
		conversions: newConversionLimiter(),
		sockets:     limit.New[string](limit.Rule{MaxActive: socketsAtOnce, MaxPerKey: socketsOfOne}),
		memory:      semaphore.NewWeighted(maxHeldChars),
	}
}

// Request is a request.
type Request struct {
	Account, RequestID string
	contract.PostedTTS
}

// A Job is a request that has its turn. Close it.
type Job struct {
	service     *Service
	request     Request
	generations []*generation
	release     func()
	begun       time.Time
	sounding    bool       // it had its first sound
	stored      chan error // not nil: gets one when the takes are written
}

// Begin finds out what can only be known here, such as which voices there are,
// and waits for the request's turn. The errors are those of package contract:
// ErrInvalid, ErrNotFound, ErrTooMany, ErrUnavailable.
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

// Close gives the turn to others.
func (j *Job) Close() { j.release() }

func (j *Job) instant() bool { return *j.request.InstantMode }

// Format is what is made.
func (j *Job) Format() contract.AudioFormat { return j.request.Format.Type }

// add counts sound at the rate of the wire.
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
