package chat

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// lively are parts that take as long as real ones, stop when their context ends, and fail now and then.
type lively struct {
	*fakes

	mu     sync.Mutex
	chance *rand.Rand
	fails  int           // one call in so many fails; 0: none
	broken chan struct{} // closed when the line is gone
	full   bool          // the disk is full
	after  int           // calls of the line after it was closed
	over   bool
}

func newLively(chance *rand.Rand, fails int) *lively {
	l := &lively{
		fakes:  newFakes(),
		chance: chance,
		fails:  fails,
		broken: make(chan struct{}),
	}
	l.closed = make(chan int, 10)
	l.replies = []string{"It opens ", "at ten. ", "Not on Mondays, ", "but on all other days. ", "Come and ", "see us."}
	return l
}

func (l *lively) draw(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.chance.IntN(n)
}

// work takes up to most, and may fail.
func (l *lively) work(ctx context.Context, most time.Duration) error {
	select {
	case <-time.After(time.Duration(l.draw(int(most)))):
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.fails > 0 && l.draw(l.fails) == 0 {
		return []error{engine.ErrUnreachable, engine.ErrBroken, context.DeadlineExceeded,
			errors.New("it broke")}[l.draw(4)]
	}
	return nil
}

func (l *lively) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript, error) {
	if err := l.work(ctx, 300*time.Millisecond); err != nil {
		return engine.Transcript{}, err
	}
	// Longer sound has another transcript, as when a user goes on.
	return engine.Transcript{Text: fmt.Sprintf("I have said %d things.", len(pcm)/8000), Language: "en"}, nil
}

func (l *lively) Load(context.Context) {}

// Probability is that of a TurnEnd.
func (l *lively) Probability(ctx context.Context, _ []float32, _ *engine.Urgency) (float64, error) {
	err := l.work(ctx, 60*time.Millisecond)
	return float64(l.draw(100)) / 100, err
}

func (l *lively) Prefill(ctx context.Context, _ engine.Prompt) error {
	return l.work(ctx, 400*time.Millisecond)
}

func (l *lively) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	l.fakes.mu.Lock()
	l.asked = append(l.asked, p.Messages)
	l.fakes.mu.Unlock()
	said := l.replies[:1+l.draw(len(l.replies))]
	if len(p.Tools) > 0 && !p.NoToolCalls && l.draw(2) == 0 {
		if err := l.work(ctx, 200*time.Millisecond); err != nil {
			return engine.Usage{}, err
		}
		call := &engine.ToolCall{ID: "1", Name: p.Tools[l.draw(len(p.Tools))].Name,
			Arguments: []string{`{"query":"x"}`, `{"query":3}`, "{"}[l.draw(3)]}
		return engine.Usage{}, emit(engine.Part{Call: call})
	}
	for _, piece := range said {
		if err := l.work(ctx, 200*time.Millisecond); err != nil {
			return engine.Usage{}, err
		}
		if err := emit(engine.Part{Text: piece}); err != nil {
			return engine.Usage{}, err
		}
	}
	return engine.Usage{}, nil
}

// RunTool runs the box's tools.
func (l *lively) RunTool(ctx context.Context, _ reply.ToolRun) (string, error) {
	err := l.work(ctx, 3*time.Second)
	return "Found.", err
}

// Advise is a plugin's advice, which may be late.
func (l *lively) Advise(ctx context.Context, _ reply.Question) (turn.Advice, error) {
	err := l.work(ctx, 2*turn.AdviceLimit)
	return turn.Advice{Context: []string{"", "It is raining."}[l.draw(2)],
		Answer: []string{"", "", "I know that myself."}[l.draw(3)]}, err
}

// Installed returns plugins, which come and go.
func (l *lively) Installed() []turn.Plugin {
	return []turn.Plugin{hoursPlugin, {Name: "greeter", OnTurn: true}}[:l.draw(3)]
}

func (l *lively) Prepare(account, name string) error {
	if name == "jenny" {
		return nil
	}
	return l.fakes.Prepare(account, name)
}

func (l *lively) Voice(ctx context.Context, account, name string) (engine.Synthesizer, error) {
	if err := l.work(ctx, 500*time.Millisecond); err != nil {
		return nil, err
	}
	return livelyVoice{l}, l.Prepare(account, name)
}

type livelyVoice struct{ *lively }

func (v livelyVoice) Speak(ctx context.Context, text string, _ engine.SpeakOptions,
	emit func(engine.Sound) error) error {
	whole := 24 * 60 * len(text) // 60 ms a letter
	for made := 0; made < whole; {
		if err := v.work(ctx, 100*time.Millisecond); err != nil {
			return err
		}
		piece := min(whole-made, 6000)
		made += piece
		if err := emit(engine.Sound{PCM: make([]float32, piece), TotalSamples: whole,
			Last: made == whole}); err != nil {
			return err
		}
	}
	return nil
}

// errLineGone is the error of a line whose client has gone.
var errLineGone = errors.New("the line is gone")

func (l *lively) Send(ctx context.Context, m contract.ServerMessage) error {
	l.mu.Lock()
	if l.over {
		l.after++
	}
	l.mu.Unlock()
	select {
	case <-l.broken:
		return errLineGone
	case <-time.After(time.Duration(l.draw(int(20 * time.Millisecond)))):
	case <-ctx.Done():
		return ctx.Err()
	}
	return l.fakes.Send(ctx, m)
}

func (l *lively) Play(ctx context.Context, s contract.Sound) error {
	return l.Send(ctx, contract.AudioOutput{ID: s.ID, Index: s.Index, CustomSessionID: s.CustomSessionID})
}

func (l *lively) Close(code int, reason string) {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.fakes.Close(code, reason)
}

func (l *lively) WriteChat(ctx context.Context, id string, w store.ChatWrite) error {
	select {
	case <-time.After(time.Duration(l.draw(int(30 * time.Millisecond)))):
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	full := l.full
	l.mu.Unlock()
	if full {
		return store.ErrFull
	}
	return l.fakes.WriteChat(ctx, id, w)
}

// newest returns the ID of the newest sentence that was sent.
func (l *lively) newest() string {
	l.fakes.mu.Lock()
	defer l.fakes.mu.Unlock()
	for _, m := range slices.Backward(l.sent) {
		if said, ok := m.(contract.AssistantMessage); ok {
			return said.ID
		}
	}
	return ""
}

// call returns the ID of the newest tool call that was sent.
func (l *lively) call() string {
	l.fakes.mu.Lock()
	defer l.fakes.mu.Unlock()
	for _, m := range slices.Backward(l.sent) {
		if called, ok := m.(contract.ToolCallMessage); ok {
			return called.ToolCallID
		}
	}
	return "none"
}

// drop breaks the line, once.
func (l *lively) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.broken:
	default:
		close(l.broken)
	}
}

func (l *lively) fill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.full = true
}
