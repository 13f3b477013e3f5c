package llama

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"parley/appliance/engine"
)

// request is one call of Generate or Prefill on its way through the decoder.
type request struct {
	prompt       []Token
	conversation string
	urgency      *engine.Urgency
	maxTokens    int // limit of the reply
	prefill      bool
	// headTokens is how many tokens of the prompt other conversations may share: those before the
	// first message that is not the system's.
	headTokens     int
	shared         bool // a prefill of the head, for all future conversations
	sampler        sampler
	begins         map[Token]float32 // added to the logits of the first token
	grammar        *grammar          // constrains the reply; nil: none
	copier         *copier           // restricts the reply to words of the conversation, besides its grammar; nil: none
	onLogits       func([]float32)   // gets the logits of the first token instead of a reply
	retainHead     bool              // although it has no conversation
	wholeSentences bool              // the reply must not end in the middle of a sentence
	router         *request          // decides whether the held back reply is needed; nil: it is needed

	// out has capacity for everything that the decoder sends, so that a slow caller delays nobody.
	out       chan delivery
	abandoned atomic.Bool // the caller no longer listens

	// The decoder owns the other fields.
	seq          *sequence
	cached       int
	startedAt    time.Time // when the request got its sequence
	startStep    int       // the decoder's step count then
	stepsToFirst int       // steps until the first token that may be delivered
	decided      bool      // of a router: it has finished
	// fetched says that the prompt cache was searched for the head. fetchedState is the state that
	// was loaded, and fetchedTokens is its prompt.
	fetched       bool
	fetchedTokens []Token
	fetchedState  []byte
	next          Token // sampled, not decoded yet; only after the prompt
	generated     []Token
	text          string // the text of generated, as far as its end matters: see mayEnd
	runes         runes
}

// delivery is a message from the decoder to a caller: a piece of the reply, or its end.
type delivery struct {
	piece   string
	replied int // tokens so far
	cached  int
	steps   int
	done    bool
	err     error
}

// cells returns how many cells r may need.
func (r *request) cells() int { return len(r.prompt) + r.maxTokens }

// decoded returns how many tokens of r are decoded.
func (r *request) decoded() int { return len(r.seq.tokens) }

// replying reports whether the prompt is decoded and next holds a token to decode.
func (r *request) replying() bool { return len(r.generated) > 0 }

// held reports whether the reply of r is held back until its router, which is still running, has
// decided.
func (r *request) held() bool { return r.router != nil && r.router.seq != nil && !r.router.decided }

// remaining returns the part of the prompt that is not decoded yet.
func (r *request) remaining() []Token { return r.prompt[r.decoded():] }

func (r *request) deliver(piece string) {
	if piece != "" {
		if r.wholeSentences && len(r.generated) <= earlyTokens {
			r.text += piece
		}
		r.out <- delivery{
			piece:   piece,
			replied: len(r.generated),
			cached:  r.cached,
			steps:   r.stepsToFirst,
		}
	}
}

func (r *request) end(err error) {
	r.out <- delivery{
		replied: len(r.generated),
		cached:  r.cached,
		steps:   r.stepsToFirst,
		done:    true,
		err:     err,
	}
}

// stream passes the reply to emit as it arrives. emit is not called after stream returns, whatever
// the decoder still does.
func (r *request) stream(ctx context.Context, box *mailbox, begun time.Time,
	emit func(engine.Part) error) (engine.Usage, error) {
	u := engine.Usage{PromptTokens: len(r.prompt)}
	for {
		if err := context.Cause(ctx); err != nil {
			box.abandon(r)
			return u, err
		}
		select {
		case <-ctx.Done():
		case d := <-r.out:
			u.CachedTokens, u.ReplyTokens, u.Steps = d.cached, d.replied, d.steps
			if d.done {
				return u, d.err
			}
			if u.FirstToken == 0 {
				u.FirstToken = time.Since(begun)
			}
			if err := emit(engine.Part{Text: d.piece}); err != nil {
				box.abandon(r)
				return u, err
			}
		}
	}
}

// sample picks the next token by its logit, among those that the grammar allows.
func (r *request) sample(logits []float32) (Token, error) {
	if len(r.generated) == 0 && len(r.begins) > 0 {
		logits = slices.Clone(logits) // the library owns them
		for t, more := range r.begins {
			logits[t] += more
		}
	}
	if r.grammar == nil {
		return r.sampler.next(logits)
	}
	if r.copier != nil {
		t, err := r.copier.pick(logits, r.grammar)
		if err == nil {
			r.grammar.took(t)
		}
		return t, err
	}
	if r.sampler.temperature > 0 {
		logits = r.grammar.mask(logits)
	} else if best, err := likeliest(logits); err != nil {
		return 0, err
	} else if !r.grammar.allows(best, logits[best]) {
		logits = r.grammar.mask(logits)
	}
	t, err := r.sampler.next(logits)
	if err == nil {
		r.grammar.took(t)
	}
	return t, err
}
