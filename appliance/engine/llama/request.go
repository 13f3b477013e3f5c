package llama

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"parley/appliance/engine"
)

// request is one call of Generate or Prefill on its way through the owner.
type request struct {
	prompt       []Token
	conversation string
	urgency      *engine.Urgency
	maxTokens    int // of the reply
	prefill      bool
	// headTokens is how many tokens of the prompt other conversations may have too:
	// what stands before the first message but the system's.
	headTokens     int
	shared         bool // a prefill of the head, for every conversation to come
	sampler        sampler
	begins         map[Token]float32 // what is added to the logits of the first token
	grammar        *grammar          // that the reply follows; nil: none
	copier         *copier           // that keeps it to what was said, beside its grammar; nil: none
	onLogits       func([]float32)   // gets the logits of the first token in place of a reply
	retainHead     bool              // though it is of no conversation
	wholeSentences bool              // the reply is kept from ending in the middle of a sentence
	router         *request          // that says whether the reply is wanted: until then nobody hears it; nil: it is

	// out has room for all that the owner will ever put in, so a caller who is
	// slow to read holds up nobody.
	out       chan delivery
	abandoned atomic.Bool // the caller no longer listens

	// The rest is the owner's.
	seq          *sequence
	cached       int
	startedAt    time.Time // when the owner took r
	startStep    int       // steps that it had made then
	stepsToFirst int       // of the owner until the first token that may be heard
	decided      bool      // it is over; of one that judges
	// fetched: the shelf was asked for the head; state is what it had, and from the
	// prompt of which that is.
	fetched       bool
	fetchedTokens []Token
	fetchedState  []byte
	next          Token // sampled, not decoded yet; only after the prompt
	generated     []Token
	text          string // of said, as far as its end matters: see mayEnd
	runes         runes
}

// delivery is what the owner tells a caller: a piece of the reply, or its end.
type delivery struct {
	piece   string
	replied int // tokens so far
	cached  int
	steps   int
	done    bool
	err     error
}

// cells is how many cells r can come to use.
func (r *request) cells() int { return len(r.prompt) + r.maxTokens }

// decoded is how much of r is decoded.
func (r *request) decoded() int { return len(r.seq.tokens) }

// replying says that the prompt is read and next holds a token to decode.
func (r *request) replying() bool { return len(r.generated) > 0 }

// held says that what r replies is kept back until another request, which is
// being read, has said whether it is wanted.
func (r *request) held() bool { return r.router != nil && r.router.seq != nil && !r.router.decided }

// remaining is what of the prompt is not decoded yet.
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

// stream hands the reply to emit as it comes. When it returns, emit is not
// called again, whatever the owner still does.
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

// sample takes the next token by its weight, of those that the grammar allows.
func (r *request) sample(logits []float32) (Token, error) {
	if len(r.generated) == 0 && len(r.begins) > 0 {
		logits = slices.Clone(logits) // they are the library's
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
