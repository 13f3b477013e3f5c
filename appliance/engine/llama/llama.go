// Package llama runs a language model on the local processor through libllama, which it loads at
// run time. One goroutine decodes for all conversations together. What was computed for a
// conversation is cached for its next turn, and a beginning that several conversations share is
// computed once.
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

// Options select the model and limit its resources.
type Options struct {
	LibraryDir    string       // the pack runtime-llama
	ModelPath     string       // a GGUF file
	Gate          *engine.Gate // shares the cores; nil: a separate gate
	Threads       int          // per decode; 0: two, or all cores if fewer
	ContextTokens int          // cells of the key-value cache, for all conversations together; 0: 17408
	Conversations int          // how many conversations are cached and answered at once; 0: 8
	PromptDir     string       // folder for computed prompts; empty: they are not kept across restarts
	ResultTokens  int          // maximum tokens of a tool's result that are prefilled; 0: 600
	Log           *slog.Logger // nil: none

	lookup lookupMode // for tests; the zero value is lookupAuto
}

// DefaultMaxTokens is the longest reply if the prompt sets no limit: a minute of speech.
const DefaultMaxTokens = 160

// The bounds of Options.
const (
	// defaultContextTokens holds eight conversations of 2,000 tokens with a reply, and a prompt of
	// 400 tokens.
	defaultContextTokens = 17408
	minContextTokens     = 256
	// conversationTokens is the longest context of one conversation, half an hour of talk. It
	// leaves as much for others.
	conversationTokens   = 8192
	defaultConversations = 8
	// choiceSequences and otherSequences are sequences for requests without a conversation, so that
	// no conversation has to be evicted for them: two of the box itself, such as a choice, and the
	// messages that other programs ask for, six at once, each with its router.
	choiceSequences = 2
	otherSequences  = 2 * 6
	extraSequences  = choiceSequences + otherSequences
	// MaxConversations is the library's limit of 256 sequences, less those of prompts and the extra
	// ones.
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
		return o, fmt.Errorf("llama: threads (%d): 1 to %d are allowed on this machine", o.Threads, runtime.NumCPU())
	case o.ContextTokens < minContextTokens:
		return o, fmt.Errorf("llama: context of %d tokens is too small: at least %d are needed", o.ContextTokens,
			minContextTokens)
	case o.Conversations < 1 || o.Conversations > MaxConversations:
		return o, fmt.Errorf("llama: conversations (%d): 1 to %d are allowed", o.Conversations, MaxConversations)
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

// sequences returns the number of sequences: one for each conversation, a second one for its router
// as far as the limit allows, and the extra ones.
func (o Options) sequences() int {
	return o.Conversations + min(o.Conversations, MaxConversations-o.Conversations) + extraSequences
}

// Model is an open language model. It implements engine.LanguageModel.
type Model struct {
	options     Options
	lib         *library
	model       handle
	description Description
	template    template
	mailbox     *mailbox
	toolsets    toolsets
	results     results
	stopped     chan struct{} // closed when the decoder has ended

	// use protects the model from being freed while other goroutines use it; the decoder ends
	// before that.
	use    sync.RWMutex
	closed bool
}

var (
	_ engine.LanguageModel = (*Model)(nil)
	_ engine.ToolChecker   = (*Model)(nil)
	_ engine.PromptChecker = (*Model)(nil)
)

// Open loads a model, which takes a second or two per GB. The first call in a process loads
// libllama; later calls must name the same LibraryDir.
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
		options: o,
		lib:     lib,
		model:   model,
		mailbox: newMailbox(&abort{gate: o.Gate}),
		stopped: make(chan struct{}),
	}
	vocab := newVocabulary(lib, model)
	m.template = newTemplate(lib, model, vocab, o.Log)
	m.description = m.describe()
	go m.serve(ctx, vocab)
	return m, nil
}

// serve runs the decoder; it is the decoder's goroutine.
func (m *Model) serve(ctx handle, vocab vocabulary) {
	defer close(m.stopped)
	// libllama sets up the matrix unit of an x86 processor (AMX) once per thread, and ONNX Runtime
	// sets it up for 8-bit models when it needs it. On a thread that both have used, all later
	// results of libllama are wrong. So the decoder locks its thread, which ends with the goroutine
	// since it is never unlocked.
	runtime.LockOSThread()
	divisible := !m.lib.modelIsRecurrent(m.model) && !m.lib.modelIsHybrid(m.model)
	d := &decoder{
		lib:          m.lib,
		ctx:          ctx,
		vocab:        vocab,
		gate:         m.options.Gate,
		threadTuner:  newThreadTuner(m.options.Threads),
		prefillSpeed: &m.results.speed,
		cells:        m.options.ContextTokens,
		abort:        m.mailbox.abort,
		mailbox:      m.mailbox,
		cache:        newCache(m.lib, ctx, m.options.sequences(), promptSequences, divisible),
		prompts: openPromptCache(m.options.PromptDir, m.options.ModelPath, m.description.Library, promptCacheBytes,
			m.options.Log),
		batch: newBatch(m.lib, m.options.shape().batchTokens),
		// With sliding-window attention, tokens that were evicted cannot be restored after a wrong
		// guess.
		guessing:   divisible && m.lib.modelNSWA(m.model) == 0 && m.options.lookup != lookupNever,
		guessStats: newGuessStats(m.options.lookup == lookupAlways),
		log:        m.options.Log,
	}
	ask, stop := m.lib.watch(ctx, d.abort)
	d.askAbort = ask
	d.run()
	stop()
	d.batch.close()
	m.lib.free(ctx)
}

// Generate streams the reply to p; see engine.LanguageModel. If p is longer than the context, its
// oldest turns are left out. Generate returns ErrBusy when too many requests wait, and ErrClosed
// after Close.
func (m *Model) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	if len(p.Tools) > 0 && p.Grammar == "" {
		return m.generateWithTools(ctx, p, emit)
	}
	if p.NoClaims && p.Grammar == "" {
		return m.replyInWords(ctx, p, nil, time.Now(), emit)
	}
	return m.reply(ctx, p, nil, time.Now(), emit)
}

// generate streams a reply without retries or checks.
func (m *Model) generate(ctx context.Context, p engine.Prompt, set *toolset, begun time.Time,
	emit func(engine.Part) error) (engine.Usage, error) {
	r, err := m.request(ctx, p, set, false, "")
	if err != nil {
		return engine.Usage{}, err
	}
	return m.run(ctx, r, begun, emit)
}

// run passes r to the decoder and streams its reply.
func (m *Model) run(ctx context.Context, r *request, begun time.Time, emit func(engine.Part) error) (engine.Usage,
	error) {
	if err := m.mailbox.put(r); err != nil {
		return engine.Usage{}, err
	}
	defer r.urgency.Watch(func() { m.mailbox.promoted(r) })()
	return r.stream(ctx, m.mailbox, begun, emit)
}

// Prefill computes the messages of p into the cache of its conversation. A Generate for the same
// conversation may start before Prefill returns; it continues from the tokens computed by then.
// Without a conversation, Prefill returns when the prompt is computed and stored on disk, or found
// there.
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

// prefillAll runs prefill requests in parallel and waits for them.
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

// discardPart ignores a part of a reply.
func discardPart(engine.Part) error { return nil }

// Forget discards the cache of a conversation, after the reply in progress.
func (m *Model) Forget(conversation string) {
	if conversation != "" {
		m.mailbox.forget(conversation)
		m.mailbox.forget(conversation + routerSuffix)
	}
}

// request tokenizes p into a request; opening is the beginning of the reply.
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
		out:            make(chan delivery, maxTokens+2), // one delivery per piece, and the end
	}, nil
}

// promptTokens tokenizes p, with or without the beginning of a reply. headTokens is how many tokens
// other conversations may share, and maxTokens is the limit of the reply; prompt and reply together
// fit into the context.
func (m *Model) promptTokens(ctx context.Context, p engine.Prompt, set *toolset, reply bool) (prompt []Token, head,
	maxTokens int, err error) {
	limit := min(m.description.TrainedTokens, m.options.ContextTokens, conversationTokens)
	maxTokens = p.MaxTokens
	if maxTokens <= 0 {
		maxTokens = DefaultMaxTokens
	}
	maxTokens = min(maxTokens, limit/2) // the prompt gets at least the other half
	prompt, head, err = m.fit(ctx, p, set, limit-maxTokens, reply)
	return prompt, head, maxTokens, err
}

// CheckPrompt returns an engine.ErrTooLong if the system message of p, its tools and its newest
// message do not fit into the context.
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

// warmUpText is the prompt of Warm. It is short, since the box waits for Warm at each start.
const warmUpText = "Hello."

// Warm generates two tokens, so that memory and threads are ready before the first real reply.
func (m *Model) Warm(ctx context.Context) error {
	_, err := m.Generate(ctx, engine.Prompt{
		Messages:  []engine.Message{{Role: engine.User, Content: warmUpText}},
		MaxTokens: 2,
		Urgency:   engine.Request.Urgency(),
	}, discardPart)
	return err
}

// Close ends all calls with ErrClosed and frees the model. It waits for the decode step in
// progress. Calling it again does nothing.
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
