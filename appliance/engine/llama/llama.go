// Package llama answers with a language model on this machine's processor,
// through libllama, which it loads at run time. One goroutine decodes for all
// conversations together; what was computed for a conversation is kept for its
// next turn, and what two conversations begin with alike is computed once.
package llama

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"parley/appliance/engine"
)

// Options say which model to open and what it may use.
type Options struct {
	LibraryDir    string       // the pack runtime-llama
	ModelPath     string       // a GGUF file
	Gate          *engine.Gate // shares the cores; nil: a gate of its own
	Threads       int          // for one decode; 0: two, or all cores if fewer
	ContextTokens int          // cells of the cache, for all conversations together; 0: 17408
	Conversations int          // how many keep their cache, and can be answered at once; 0: 8
	PromptDir     string       // a folder for prompts that were read; empty: none are kept over restarts
	ResultTokens  int          // how much of a tool's answer is read at most; 0: 600
	Log           *slog.Logger // nil: none

	lookup lookupMode // but for tests: where it pays
}

// DefaultMaxTokens is the longest reply where the prompt does not say: a
// spoken minute.
const DefaultMaxTokens = 160

// The bounds of Options.
const (
	// defaultContextTokens are eight conversations of 2,000 tokens with a
	// reply, and a prompt of 400 beside them.
	defaultContextTokens = 17408
	minContextTokens     = 256
	// conversationTokens is the longest that one conversation may get, half an
	// hour of talk: it leaves others as much.
	conversationTokens   = 8192
	defaultConversations = 8
	// extraSequences are sequences for what belongs to no conversation, such as a choice,
	// so that none has to go for it.
	extraSequences = 2
	// MaxConversations is the library's 256 sequences without those of prompts.
	MaxConversations = 256 - promptSequences - extraSequences
	defaultThreads   = 2
)

func (o Options) withDefaults() (Options, error) {
	if o.Threads == 0 {
		o.Threads = min(defaultThreads, runtime.NumCPU())
	}
	if o.ContextTokens == 0 {
		o.ContextTokens = defaultContextTokens
	}
	if o.Conversations == 0 {
		o.Conversations = defaultConversations
	}
	if o.ResultTokens == 0 {
		o.ResultTokens = DefaultResultTokens
	}
	switch {
	case o.Threads < 1 || o.Threads > runtime.NumCPU():
		return o, fmt.Errorf("llama: %d threads; this machine allows 1 to %d", o.Threads, runtime.NumCPU())
	case o.ContextTokens < minContextTokens:
		return o, fmt.Errorf("llama: a context of %d tokens; at least %d are needed", o.ContextTokens, minContextTokens)
	case o.Conversations < 1 || o.Conversations > MaxConversations:
		return o, fmt.Errorf("llama: %d conversations; 1 to %d are allowed", o.Conversations, MaxConversations)
	}
	if o.Gate == nil {
		o.Gate = engine.NewGate(o.Threads)
	}
	o.Threads = min(o.Threads, o.Gate.Cores())
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// sequences are those of conversations, each of which has another for its router
// as far as there are as many, and those aside.
func (o Options) sequences() int {
	return o.Conversations + min(o.Conversations, MaxConversations-o.Conversations) + extraSequences
}

// Model is an open language model: an engine.LanguageModel.
type Model struct {
	o        Options
	lib      *library
	model    handle
	about    Description
	template template
	mailbox  *mailbox
	toolsets toolsets
	results  results
	stopped  chan struct{} // closed when the owner has ended

	// use guards the model against being freed under those who use it on
	// their own goroutines; the owner ends before that.
	use    sync.RWMutex
	closed bool
}

var (
	_ engine.LanguageModel = (*Model)(nil)
	_ engine.ToolChecker   = (*Model)(nil)
	_ engine.PromptChecker = (*Model)(nil)
)

// Open loads the model, which takes a second or two for each GB. The first
// call in a process loads libllama; later ones must name the same LibraryDir.
func Open(o Options) (*Model, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := checkGGUF(o.ModelPath); err != nil {
		return nil, fmt.Errorf("llama: %w", err)
	}
	lib, err := load(o.LibraryDir, o.Log)
	if err != nil {
		return nil, fmt.Errorf("llama: %w", err)
	}
	model, err := lib.openModel(o.ModelPath)
	if err != nil {
		return nil, fmt.Errorf("llama: %w", err)
	}
	ctx, err := lib.openContext(model, o.shape())
	if err != nil {
		lib.modelFree(model)
		return nil, fmt.Errorf("llama: %s: %w", o.ModelPath, err)
	}
	m := &Model{
		o:       o,
		lib:     lib,
		model:   model,
		mailbox: newMailbox(&abort{gate: o.Gate}),
		stopped: make(chan struct{}),
	}
	vocab := newVocabulary(lib, model)
	m.template = newTemplate(lib, model, vocab, o.Log)
	m.about = m.describe()
	go m.serve(ctx, vocab)
	return m, nil
}

// serve is the owner's goroutine.
func (m *Model) serve(ctx handle, vocab vocabulary) {
	defer close(m.stopped)
	// libllama sets up the matrix unit of an x86 processor (AMX) once a thread, and
	// ONNX Runtime, for models in 8 bits, as it needs it: on a thread that both have
	// used, everything that libllama computes is wrong from then on. So its thread is
	// nobody else's, and ends with this goroutine, since it is never unlocked.
	runtime.LockOSThread()
	divisible := !m.lib.modelIsRecurrent(m.model) && !m.lib.modelIsHybrid(m.model)
	own := &decoder{
		lib:          m.lib,
		ctx:          ctx,
		vocab:        vocab,
		gate:         m.o.Gate,
		threadTuner:  newThreadTuner(m.o.Threads),
		prefillSpeed: &m.results.speed,
		cells:        m.o.ContextTokens,
		abort:        m.mailbox.abort,
		mailbox:      m.mailbox,
		cache:        newCache(m.lib, ctx, m.o.sequences(), promptSequences, divisible),
		prompts:      openPromptCache(m.o.PromptDir, m.o.ModelPath, m.about.Library, promptCacheBytes, m.o.Log),
		batch:        newBatch(m.lib, m.o.shape().batchTokens),
		// A model that looks back only so far may have lost what it would see
		// again once a wrong guess is taken back.
		guessing:   divisible && m.lib.modelNSWA(m.model) == 0 && m.o.lookup != lookupNever,
		guessStats: newGuessStats(m.o.lookup == lookupAlways),
		log:        m.o.Log,
	}
	ask, stop := m.lib.watch(ctx, own.abort)
	own.askAbort = ask
	own.run()
	stop()
	own.batch.close()
	m.lib.free(ctx)
}

// Generate streams the reply to p; see engine.LanguageModel. Where p is longer
// than the context, its oldest turns are left out. It returns ErrBusy when too
// many requests wait, ErrClosed after Close.
func (m *Model) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	if len(p.Tools) > 0 && p.Grammar == "" {
		return m.generateWithTools(ctx, p, emit)
	}
	if p.NoClaims && p.Grammar == "" {
		return m.replyInWords(ctx, p, nil, time.Now(), emit)
	}
	return m.reply(ctx, p, nil, time.Now(), emit)
}

// generate streams a reply.
func (m *Model) generate(ctx context.Context, p engine.Prompt, set *toolset, begun time.Time,
	emit func(engine.Part) error) (engine.Usage, error) {
	r, err := m.request(ctx, p, set, false, "")
	if err != nil {
		return engine.Usage{}, err
	}
	return m.run(ctx, r, begun, emit)
}

// run has the owner make the reply to r.
func (m *Model) run(ctx context.Context, r *request, begun time.Time, emit func(engine.Part) error) (engine.Usage,
	error) {
	if err := m.mailbox.put(r); err != nil {
		return engine.Usage{}, err
	}
	defer r.urgency.Watch(func() { m.mailbox.promoted(r) })()
	return r.stream(ctx, m.mailbox, begun, emit)
}

// Prefill computes the messages of p into the cache of its conversation. A
// Generate for the same conversation may follow before it returns: it goes on
// from what is computed by then. Without a conversation it returns when the
// prompt is read and on the disk, or found there.
func (m *Model) Prefill(ctx context.Context, p engine.Prompt) error {
	var set *toolset
	if len(p.Tools) > 0 {
		var err error
		if set, err = m.toolset(p.Tools); err != nil {
			return err
		}
	}
	r, err := m.request(ctx, p, set, true, "")
	if err != nil {
		return err
	}
	all := []*request{r}
	if set != nil && len(set.tools) > 0 {
		router, err := m.routerRequest(ctx, p, set, true)
		if err != nil {
			return err
		}
		all = append(all, router)
	}
	return m.prefillAll(ctx, all)
}

// prefillAll has requests read beside each other, and waits for them.
func (m *Model) prefillAll(ctx context.Context, all []*request) (err error) {
	if err := m.mailbox.put(all...); err != nil {
		return err
	}
	for _, r := range all {
		defer r.urgency.Watch(func() { m.mailbox.promoted(r) })()
	}
	for _, r := range all {
		if _, failed := r.stream(ctx, m.mailbox, time.Now(), discardPart); failed != nil && err == nil {
			err = failed
		}
	}
	return err
}

// discardPart takes the parts of a reply that nobody is to hear.
func discardPart(engine.Part) error { return nil }

// Forget gives up the cache of a conversation, after the reply in progress.
func (m *Model) Forget(conversation string) {
	if conversation != "" {
		m.mailbox.forget(conversation)
		m.mailbox.forget(conversation + routerSuffix)
	}
}

// request writes p as tokens, with opening as the beginning of the reply.
func (m *Model) request(ctx context.Context, p engine.Prompt, set *toolset, prefill bool, opening string) (*request,
	error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if err := checkRoles(p); set == nil && err != nil {
		return nil, err
	}
	m.use.RLock()
	defer m.use.RUnlock()
	if m.closed {
		return nil, ErrClosed
	}
	prompt, head, maxTokens, err := m.promptTokens(ctx, p, set, !prefill)
	if err != nil {
		return nil, err
	}
	shared := prefill && p.Conversation == ""
	if shared {
		prompt, maxTokens = prompt[:head], 0
	}
	if opening != "" {
		opened, err := m.template.vocab.markup(opening)
		if err != nil {
			return nil, err
		}
		prompt = append(prompt, opened...)
	}
	var follows *grammar
	if p.Grammar != "" && !prefill {
		if follows, err = newGrammar(m.template.vocab, p.Grammar); err != nil {
			return nil, err
		}
	}
	begins, err := m.firstTokenBiases(p.FirstWordBias)
	if err != nil {
		return nil, err
	}
	if set != nil && opening == "" && p.Grammar == "" && !prefill {
		for _, t := range set.markupTokens {
			begins[t] = excludedBias
		}
	}
	return &request{
		prompt:         prompt,
		headTokens:     head,
		shared:         shared,
		conversation:   p.Conversation,
		urgency:        p.Urgency,
		maxTokens:      maxTokens,
		prefill:        prefill,
		sampler:        sampler{temperature: p.Temperature, rng: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))},
		grammar:        follows,
		begins:         begins,
		wholeSentences: interrupted(p.Messages),
		out:            make(chan delivery, maxTokens+2), // every piece, and the end
	}, nil
}

// promptTokens returns p as tokens, with or without the beginning of a reply, how many
// of them other conversations may begin with, and how long the reply may get:
// together they fit into the context.
func (m *Model) promptTokens(ctx context.Context, p engine.Prompt, set *toolset, reply bool) (prompt []Token, head,
	maxTokens int, err error) {
	limit := min(m.about.TrainedTokens, m.o.ContextTokens, conversationTokens)
	maxTokens = p.MaxTokens
	if maxTokens <= 0 {
		maxTokens = DefaultMaxTokens
	}
	maxTokens = min(maxTokens, limit/2) // the prompt has the other half at least
	prompt, head, err = m.fit(ctx, p, set, limit-maxTokens, reply)
	return prompt, head, maxTokens, err
}

// CheckPrompt returns an engine.ErrTooLong where the context has no room for the
// system message of p and its newest one, with its tools.
func (m *Model) CheckPrompt(ctx context.Context, p engine.Prompt) (err error) {
	var set *toolset
	if len(p.Tools) > 0 {
		if set, err = m.toolset(p.Tools); err != nil {
			return err
		}
	}
	m.use.RLock()
	defer m.use.RUnlock()
	if m.closed {
		return ErrClosed
	}
	_, _, _, err = m.promptTokens(ctx, p, set, true)
	return err
}

// warmUpText is what Warm says: short, for the box waits for it at every start.
const warmUpText = "Hello."

// Warm answers once, with two tokens, so that the memory and the threads of the
// first real answer are there already.
func (m *Model) Warm(ctx context.Context) error {
	_, err := m.Generate(ctx, engine.Prompt{
		Messages:  []engine.Message{{Role: engine.User, Content: warmUpText}},
		MaxTokens: 2,
		Urgency:   engine.Request.Urgency(),
	}, discardPart)
	return err
}

// Close ends every call with ErrClosed and frees the model; it waits for the
// decode in progress. Calling it again does nothing.
func (m *Model) Close() error {
	m.mailbox.close()
	<-m.stopped
	m.use.Lock()
	defer m.use.Unlock()
	if !m.closed {
		m.closed = true
		m.lib.modelFree(m.model)
	}
	return nil
}
