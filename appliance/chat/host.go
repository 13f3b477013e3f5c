package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// Parts are what a Host makes conversations of.
type Parts struct {
	Detector    engine.VoiceDetector
	Transcriber engine.Transcriber
	Model       engine.LanguageModel
	Voices      Voices
	Records     ChatRecords
	Recordings  Recordings // nil where chats are not recorded
	Configs     Configs
	Models      Models // those that configs name; Model is the default
	// StrictModels refuses a chat whose config names a model that Models has
	// not; else the default answers.
	StrictModels bool
	Defaults     Settings
	Log          *slog.Logger
	// MaxChats is how many conversations there may be at once; one more is
	// refused rather than all of them made late.
	MaxChats int
	// Observe is told how long the stages of a turn took; nil if nobody asks.
	Observe func(Stage, time.Duration)
}

// Host opens conversations and knows those that are open.
type Host struct {
	Parts

	running context.Context // until Stop
	stop    context.CancelFunc

	mu       sync.Mutex
	seats    int
	stopping bool
	open     sync.WaitGroup
}

// NewHost returns a Host of parts; ctx gives its conversations their values.
func NewHost(ctx context.Context, parts Parts) *Host {
	h := &Host{Parts: parts}
	h.running, h.stop = context.WithCancel(context.WithoutCancel(ctx))
	h.open.Go(h.rehearse)
	return h
}

// rehearse has the model read the box's own prompt before the first chat comes;
// later ones find it read.
func (h *Host) rehearse() {
	p := engine.Prompt{
		Conversation: "rehearsal", Messages: NewState(h.Defaults, time.Now(), nil).messages(),
		MaxTokens: replyTokens, Priority: engine.Batch,
	}
	if err := h.Model.Prefill(h.running, p); err != nil && h.running.Err() == nil {
		h.Log.Warn("cannot read the system prompt ahead", "err", err)
	}
}

// ChatRecords is where chats are begun, written and read again.
type ChatRecords interface {
	Records
	StartChat(ctx context.Context, c store.NewChat, first ...store.Event) error
	GroupHistory(ctx context.Context, groupID string, limit int) ([]store.Event, error)
}

// fullRetry is when a box that is full is worth another try: chats are minutes
// long, so some seat among several is free in half of one.
const fullRetry = 30 * time.Second

// Seat is room for one conversation, taken before the line is.
type Seat struct {
	host *Host
	once sync.Once
}

// Reserve takes room for a conversation. Without any it returns a
// contract.ErrFull.
func (h *Host) Reserve() (*Seat, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopping || h.seats >= h.MaxChats {
		return nil, contract.ErrFull{RetryAfter: fullRetry}
	}
	h.seats++
	h.open.Add(1)
	return &Seat{host: h}, nil
}

// Release gives the seat back; the session does it at its end.
func (s *Seat) Release() {
	s.once.Do(func() {
		s.host.mu.Lock()
		s.host.seats--
		s.host.mu.Unlock()
		s.host.open.Done()
	})
}

// Live is how many conversations there are.
func (h *Host) Live() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seats
}

// Opening is what a line says of the conversation that it brings.
type Opening struct {
	Account   string
	RequestID string // by which the line's own log knows it; made here where there is none
	Line      Line
	Connect   contract.ConnectSettings
}

// Open begins a conversation on the seat. A contract.Fault is an error that
// the client must be told of; the seat is given back then.
func (s *Seat) Open(ctx context.Context, o Opening) (*Session, error) {
	c, opened, err := s.host.begin(ctx, o)
	if err != nil {
		s.Release()
		return nil, err
	}
	go func() {
		defer s.Release()
		c.run(s.host.running, opened)
	}()
	return c, nil
}

func (h *Host) begin(ctx context.Context, o Opening) (*Session, Opened, error) {
	o.RequestID = cmp.Or(o.RequestID, contract.NewID())
	chosen, err := h.choose(ctx, o)
	if err != nil {
		return nil, Opened{}, err
	}
	resumed := o.Connect.ResumedChatGroupID != ""
	meta := contract.ChatMetadata{ChatID: contract.NewID(), ChatGroupID: contract.NewID(), RequestID: o.RequestID}
	if resumed {
		meta.ChatGroupID = o.Connect.ResumedChatGroupID
	}
	begun := time.Now()
	err = h.Records.StartChat(ctx, store.NewChat{
		ID: meta.ChatID, GroupID: meta.ChatGroupID, Resume: resumed, AccountID: o.Account,
		Config: chosen.config, StartedMS: begun.UnixMilli(), RequestID: meta.RequestID, CustomSessionID: chosen.settings.CustomSessionID,
		Metadata: chosen.metadata,
		Recorded: h.Recordings != nil,
	})
	if err != nil {
		return nil, Opened{}, startFault(err, meta.ChatGroupID, resumed)
	}
	var history []engine.Message
	if resumed {
		if history, err = h.remember(ctx, meta.ChatGroupID, o.Connect.EventLimit); err != nil {
			return nil, Opened{}, errors.Join(err, h.Records.EndChat(ctx, meta.ChatID, store.Failed, begun.UnixMilli()))
		}
	}
	c := h.session(meta, chosen, begun, history, o.Line)
	c.log.Info("chat begins", "account", o.Account, "resumed", resumed, "config", chosen.config.ID)
	greeting := sentences(chosen.settings.fill(chosen.settings.Greeting.Text, begun))
	return c, Opened{Metadata: meta, Asked: chosen.asked, Greeting: greeting}, nil
}

// startFault is what a client is told when its chat cannot begin.
func startFault(err error, group string, resumed bool) error {
	switch {
	case resumed && errors.Is(err, store.ErrNotFound):
		return contract.Fault{Code: contract.GroupNotFound, Detail: fmt.Sprintf("resumed_chat_group_id: no chat group %q", group)}
	case errors.Is(err, errNotKept):
		return contract.Fault{Code: contract.NoDataRetention}
	case errors.Is(err, store.ErrActive):
		return contract.Fault{Code: contract.GroupActive, Detail: "End the chat that is live before resuming its group."}
	}
	return fmt.Errorf("beginning a chat: %w", err)
}

// remember gathers what was said in a group so far.
func (h *Host) remember(ctx context.Context, group string, limit int) ([]engine.Message, error) {
	if limit == 0 || limit > contract.MaxResumedEvents {
		limit = contract.MaxResumedEvents
	}
	events, err := h.Records.GroupHistory(ctx, group, limit)
	if err != nil {
		return nil, fmt.Errorf("resuming a chat group: %w", err)
	}
	return remembered(events), nil
}

// remembered is what a language model sees of events.
func remembered(events []store.Event) []engine.Message {
	var out []engine.Message
	for _, e := range events {
		var role engine.Role
		switch e.Type {
		case store.UserMessage:
			role = engine.User
		case store.AgentMessage:
			role = engine.Assistant
		default:
			continue
		}
		if e.MessageText == cutMark { // interrupted before its first word
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content += " " + e.MessageText
			continue
		}
		out = append(out, engine.Message{Role: role, Content: e.MessageText})
	}
	return out
}

func (h *Host) session(meta contract.ChatMetadata, chosen chosen, begun time.Time, history []engine.Message, line Line) *Session {
	id := meta.ChatID
	c := &Session{
		id: id, log: h.Log.With("chat", id, "request", meta.RequestID), begun: begun, model: chosen.model,
		state:  NewState(chosen.settings, begun, history),
		events: make(chan Event, eventQueue), done: make(chan struct{}), turns: map[int]*turn{},
	}
	c.ear = newEar(h.Detector, h.Transcriber, chosen.settings, c.clock, c.post, func(f contract.Fault) {
		c.post(Faulty{At(c.clock()), f})
	})
	c.mind = mind{chosen.model, c.log, c.clock, c.post}
	c.mouth = mouth{h.Voices, c.clock, c.post}
	c.pace = pace{tell: h.Observe, log: c.log}
	if c.pace.tell == nil {
		c.pace.tell = func(Stage, time.Duration) {}
	}
	c.scribe = newScribe(id, h.Records, line, c.lost)
	c.insist = func(doing string, write func(context.Context) error) { h.insist(c.log, doing, write) }
	if h.Recordings != nil {
		c.recorder = newRecorder(id, h.Recordings, c.clock, c.log)
	}
	c.ear.tape = c.recorder.heard
	return c
}

// connected lays what the client asked for at connect over s.
func (h *Host) connected(s Settings, p contract.ConnectSettings) (Settings, error) {
	s, fault := s.merge(p.SessionSettings)
	if fault != nil {
		return s, *fault
	}
	if p.VoiceID != "" {
		s.Voice = p.VoiceID
	}
	if _, err := h.Voices.Voice(s.Voice); err != nil {
		return s, contract.Fault{Code: contract.VoiceNotFound, Detail: "voice_id: " + err.Error()}
	}
	s.Verbose = p.VerboseTranscription
	return s, nil
}

// Stop ends all conversations and waits until they are over, at most until ctx
// ends. No new ones begin.
func (h *Host) Stop(ctx context.Context) error {
	h.mu.Lock()
	h.stopping = true
	h.mu.Unlock()
	h.stop()
	over := make(chan struct{})
	go func() { h.open.Wait(); close(over) }()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%d chats did not end in time: %w", h.Live(), context.Cause(ctx))
	}
}
