package remote

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"parley/appliance/engine"
)

// ModelPool is a language model on one or several servers. Until the first words of an answer, the next
// server takes over if one fails, and joins in if one is slow. A conversation stays with its server as
// long as that is not much busier than others, because the server has its prompt in a cache.
type ModelPool struct {
	*pool
	models  []*Model
	covered bool

	mu     sync.Mutex
	served map[string]int // the server of each conversation
}

var _ engine.LanguageModel = (*ModelPool)(nil)

// modelPatience is the default Pacing.Patience of language models: a server on a processor needs up to
// 3 s for a prompt that it has not seen, and a caller begins to wonder.
const modelPatience = 3 * time.Second

// OpenModels prepares the use of a model on servers without calling them. covered says that another
// model answers when all of them fail. An error names the wrong option.
func OpenModels(servers []Options, covered bool, o PoolOptions) (*ModelPool, error) {
	p := &ModelPool{covered: covered, served: map[string]int{}}
	var all []*server
	for _, one := range servers {
		one.Once = len(servers) > 1 || covered
		m, err := Open(one)
		if err != nil {
			return nil, err
		}
		p.models, all = append(p.models, m), append(all, &m.server)
	}
	p.pool = newPool(all, o, modelPatience)
	return p, nil
}

// Generate streams the reply of a server.
func (p *ModelPool) Generate(ctx context.Context, q engine.Prompt, emit func(engine.Part) error) (u engine.Usage,
	err error) {
	if err := unsupported(q); err != nil {
		return u, err
	}
	start := time.Now()
	usages := make([]engine.Usage, len(p.models))
	served := -1
	err = p.race(ctx, p.request(q), func(ctx context.Context, i int, pass func(func() error) error) (err error) {
		waited := time.Since(start)
		usages[i], err = p.models[i].Generate(ctx, q, func(part engine.Part) error {
			return pass(func() error {
				if served < 0 {
					served = i
					p.serves(q.Conversation, i)
				}
				return emit(part)
			})
		})
		usages[i].FirstToken += waited
		return err
	})
	if served >= 0 {
		u = usages[served]
	}
	return u, err
}

// Choose implements engine.LanguageModel.
func (p *ModelPool) Choose(ctx context.Context, q engine.Prompt, choices []string) (likely []float64, err error) {
	err = p.race(ctx, p.request(q), func(ctx context.Context, i int, pass func(func() error) error) error {
		found, err := p.models[i].Choose(ctx, q, choices)
		if err != nil {
			return err
		}
		return pass(func() error { likely = found; return nil })
	})
	return likely, err
}

// Prefill has each server that is up write one token after the system prompt of conversations to come, so
// that their first answers begin sooner where a server has a cache. The prompts of conversations that
// have begun are in the caches already. Failures only mean that the first answer takes longer.
func (p *ModelPool) Prefill(ctx context.Context, q engine.Prompt) error {
	if q.Conversation != "" || len(q.Messages) == 0 || q.Messages[0].Role != engine.System {
		return nil
	}
	hash := sha256.Sum256([]byte(q.Messages[0].Content))
	q.Conversation = fmt.Sprintf("prompt %x", hash[:8])
	q.Messages = []engine.Message{q.Messages[0], {Role: engine.User, Content: "Hello."}}
	q.MaxTokens = 1
	_ = p.warm(ctx, func(ctx context.Context, i int) error {
		if p.members[i].load(time.Now()).away > 0 {
			return nil
		}
		_, err := p.models[i].Generate(ctx, q, func(engine.Part) error { return nil })
		return err
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// Forget forgets which server had a conversation.
func (p *ModelPool) Forget(conversation string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.served, conversation)
}

// maxServed bounds the conversations of which the server is known: far more than a box has chats.
const maxServed = 4096

func (p *ModelPool) serves(conversation string, i int) {
	if conversation == "" || len(p.models) == 1 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.served) >= maxServed {
		clear(p.served)
	}
	p.served[conversation] = i
}

// request returns how the server for a prompt is chosen.
func (p *ModelPool) request(q engine.Prompt) request {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := request{prefer: -1, covered: p.covered}
	if i, known := p.served[q.Conversation]; known {
		r.prefer = i
	}
	return r
}

// Continues reports whether another server can continue an answer that one has begun.
func (p *ModelPool) Continues() bool { return len(p.models) > 1 }

// Warm requests one token of each server, so that they load the model and a wrong address, key or name
// is detected early. The error is an *Error of kind Refused if a server refuses and none answers;
// other failures may be temporary.
func (p *ModelPool) Warm(ctx context.Context) error {
	return p.warm(ctx, func(ctx context.Context, i int) error {
		return p.models[i].Warm(ctx)
	})
}
