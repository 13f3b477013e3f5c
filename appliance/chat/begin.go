package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"parley/appliance/chat/ear"
	"parley/appliance/chat/record"
	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
	"parley/store"
)

// Records starts, writes and reads the history of chats.
type Records interface {
	record.Records
	StartChat(ctx context.Context, c store.NewChat, first ...store.Event) error
	GroupHistory(ctx context.Context, groupID string, limit int) ([]store.Event, error)
}

// Recordings records the sound of chats.
type Recordings interface {
	// Recorder returns the recorder of a chat. Its clock counts from the beginning of the chat.
	Recorder(chatID string, clock func() time.Duration, log *slog.Logger) Recorder
	// FailRecording notes that the recording of a chat is incomplete.
	FailRecording(ctx context.Context, chatID string) error
}

// A Recorder records the sound of a chat. Only End may block.
type Recorder interface {
	record.Recorder
	// Run records until End.
	Run()
	// Heard takes sound of the user that begins at a time. The recorder owns pcm from then on.
	Heard(at time.Duration, pcm []float32)
	// End closes the recording at a time and waits until it is written or ctx ends. It reports whether the
	// recording is complete.
	End(ctx context.Context, at time.Duration) (whole bool)
}

// noRecorder records nothing.
type noRecorder struct{}

func (noRecorder) Run()                                    {}
func (noRecorder) Heard(time.Duration, []float32)          {}
func (noRecorder) Said(time.Duration, []float32)           {}
func (noRecorder) Cut(time.Duration)                       {}
func (noRecorder) End(context.Context, time.Duration) bool { return true }

// lazyRecorder is a Recorder that starts with the first sound, because many conversations have none.
type lazyRecorder struct {
	Recorder
	once sync.Once
	run  func()
	runs atomic.Bool
}

func (r *lazyRecorder) begin() {
	r.once.Do(func() {
		r.runs.Store(true)
		r.run()
	})
}

// Heard records the user.
func (r *lazyRecorder) Heard(at time.Duration, pcm []float32) {
	r.begin()
	r.Recorder.Heard(at, pcm)
}

// Said records the assistant.
func (r *lazyRecorder) Said(at time.Duration, pcm []float32) {
	r.begin()
	r.Recorder.Said(at, pcm)
}

// Cut silences the assistant, if there is a recording.
func (r *lazyRecorder) Cut(at time.Duration) {
	if r.runs.Load() {
		r.Recorder.Cut(at)
	}
}

// End closes the recording, if there is one.
func (r *lazyRecorder) End(ctx context.Context, at time.Duration) (whole bool) {
	r.once.Do(func() {}) // it must not start after this
	return !r.runs.Load() || r.Recorder.End(ctx, at)
}

// Open begins a conversation on the slot. If it fails, the slot is released. A contract.Fault is an error
// that the client must be told.
func (s *Slot) Open(ctx context.Context, o connection.Opening) (*Session, error) {
	var c *Session
	var opened turn.Opened
	var err error
	if crash := catchPanic(s.host.Log, func() { c, opened, err = s.host.begin(ctx, o) }); crash != nil {
		err = crash
	}
	if err != nil {
		s.Release()
		return nil, err
	}
	s.host.register(c)
	if s.host.Plugins != nil { // they may have changed since its settings were made
		c.setPlugins(s.host.Plugins.Installed())
	}
	s.host.sessions.Go(func() {
		defer s.Release()
		defer s.host.releaseGroup(c)
		c.run(s.host.ctx, opened)
	})
	return c, nil
}

func (h *Host) begin(ctx context.Context, o connection.Opening) (*Session, turn.Opened, error) {
	o.RequestID = cmp.Or(o.RequestID, contract.NewID())
	chosen, err := h.setUp(ctx, o)
	if err != nil {
		return nil, turn.Opened{}, err
	}
	resumed := o.Settings.ResumedChatGroupID != ""
	meta := contract.ChatMetadata{ChatID: contract.NewID(), ChatGroupID: contract.NewID(), RequestID: o.RequestID}
	if resumed {
		meta.ChatGroupID = o.Settings.ResumedChatGroupID
	}
	dest := h.storageFor(o.Settings)
	begun := time.Now()
	notify := record.Notifications{
		ChatID:          meta.ChatID,
		GroupID:         meta.ChatGroupID,
		ConfigID:        chosen.config.ID,
		CustomSessionID: chosen.settings.CustomSessionID,
		Resumed:         resumed,
		Hooks:           chosen.webhooks,
		EndCalls:        chosen.settings.EndHooks,
	}
	begin := store.NewChat{
		ID:              meta.ChatID,
		GroupID:         meta.ChatGroupID,
		Resume:          resumed,
		AccountID:       o.Account,
		Config:          chosen.config,
		StartedMS:       begun.UnixMilli(),
		RequestID:       meta.RequestID,
		CustomSessionID: chosen.settings.CustomSessionID,
		Metadata:        chosen.metadata,
		Recorded:        dest.recordings != nil,
		Webhooks:        notify.AtStart(begun),
		EndCalls:        notify.AtEnd(begun),
	}
	err = dest.records.StartChat(ctx, begin)
	if errors.Is(err, store.ErrActive) && h.waitForGroup(ctx, meta.ChatGroupID) {
		err = dest.records.StartChat(ctx, begin)
	}
	if err != nil {
		return nil, turn.Opened{}, startFault(err, meta.ChatGroupID, resumed)
	}
	ready := false
	defer func() {
		if !ready {
			h.retry(h.Log.With("chat", meta.ChatID), "record the end of a chat that could not begin",
				func(ctx context.Context) error {
					return dest.records.EndChat(ctx, meta.ChatID, store.Failed, begun.UnixMilli())
				})
		}
	}()
	var history []turn.Entry
	if resumed {
		if history, err = h.groupHistory(ctx, meta.ChatGroupID, o.Settings.EventLimit); err != nil {
			return nil, turn.Opened{}, err
		}
	}
	c := h.newSession(meta, chosen, notify, begun, history, o, dest)
	c.warnUnset()
	c.log.Info("chat begins", "account", o.Account, "resumed", resumed, "config", chosen.config.ID)
	ready = true
	return c, turn.Opened{Metadata: meta, Requested: chosen.requested}, nil
}

// storage is where a conversation and its sound are stored. recordings is nil if the sound is not recorded.
type storage struct {
	records    Records
	recordings Recordings
}

// storageFor returns the storage for the client's connect settings.
func (h *Host) storageFor(c contract.ConnectSettings) storage {
	if c.NoHistory {
		return storage{record.Unrecorded{Outbox: h.Outbox}, nil}
	}
	return storage{h.Records, h.Recordings}
}

// startFault returns what a client is told when its chat cannot begin.
func startFault(err error, group string, resumed bool) error {
	switch {
	case resumed && errors.Is(err, store.ErrNotFound):
		return contract.Fault{Code: contract.GroupNotFound,
			Detail: fmt.Sprintf("resumed_chat_group_id: no chat group %q", group)}
	case errors.Is(err, record.ErrUnrecorded):
		return contract.Fault{Code: contract.NoDataRetention}
	case errors.Is(err, store.ErrActive):
		return contract.Fault{Code: contract.GroupActive,
			Detail: "End the chat that is live before resuming its group."}
	}
	return fmt.Errorf("beginning a chat: %w", err)
}

// groupHistory returns what was said in a chat group so far.
func (h *Host) groupHistory(ctx context.Context, group string, limit int) ([]turn.Entry, error) {
	if limit == 0 || limit > contract.MaxResumedEvents {
		limit = contract.MaxResumedEvents
	}
	events, err := h.Records.GroupHistory(ctx, group, limit)
	if err != nil {
		return nil, fmt.Errorf("resuming a chat group: %w", err)
	}
	return record.History(events), nil
}

func (h *Host) newSession(meta contract.ChatMetadata, chosen setup, notify record.Notifications, begun time.Time,
	history []turn.Entry, o connection.Opening, dest storage) *Session {
	id := meta.ChatID
	throughput := reply.NewThroughput() // only this chat uses a custom model
	if !chosen.custom {
		throughput = h.throughput(chosen.model)
	}
	c := &Session{
		id:           id,
		log:          h.Log.With("chat", id, "request", meta.RequestID),
		begun:        begun,
		voices:       boundVoices{h.Voices, o.Account},
		line:         o.Line,
		unbuffered:   o.Unbuffered,
		state:        turn.NewState(chosen.settings, begun, history),
		events:       make(chan queuedEvent, eventQueue),
		unregistered: make(chan struct{}),
		done:         make(chan struct{}),
		unsetLogged:  map[string]bool{},
		settingsLock: make(chan struct{}, 1),
		settings:     chosen.settings,
		models:       chosen.models(),
	}
	for _, g := range []*group{&c.workers, &c.scribing, &c.recording, &c.draining} {
		g.log, g.crashed = c.log, c.crashed
	}
	c.recorder = noRecorder{}
	if dest.recordings != nil {
		r := dest.recordings.Recorder(id, c.clock, c.log)
		c.recorder = &lazyRecorder{Recorder: r, run: func() { c.recording.Go(r.Run) }}
	}
	var newVoice func() ear.UtteranceScorer
	var feelings func(text string) contract.EmotionScores
	if h.Expression != nil {
		p := &boundedExpression{h.Expression, &c.workers, c.log,
			func(took time.Duration) { c.stages.observe(StageFeel, took) }}
		newVoice, feelings = p.voice, p.Text
	}
	c.ear = ear.New(ear.Parts{
		Detector:     h.Detector,
		Transcriber:  h.Transcriber,
		TurnEnd:      h.TurnEnd,
		Clock:        c.clock,
		RealTime:     o.RealTime,
		Post:         c.post,
		PostAndWait:  c.postAndWait,
		Record:       c.recorder.Heard,
		Go:           c.workers.Go,
		Listen:       func() { c.enqueue(queuedEvent{startEar: true}) },
		NewVoice:     newVoice,
		TellFeelings: !chosen.custom && h.TellFeelings != nil && h.TellFeelings(chosen.model),
	}, chosen.settings)
	c.replies = reply.New(reply.Parts{
		ChatID: id,
		Caller: reply.Caller{
			Account:  o.Account,
			ChatID:   id,
			GroupID:  meta.ChatGroupID,
			ConfigID: chosen.config.ID,
		},
		Model:         chosen.model,
		Voices:        boundVoices{h.Voices, o.Account},
		Throughput:    throughput,
		Fallback:      chosen.fallback,
		NoSpeculation: chosen.custom,
		Log:           c.log,
		Clock:         c.clock,
		Post:          c.post,
		Go:            c.workers.Go,
		Pronunciation: h.pronunciation(o.Account),
		Tools:         h.Tools,
		Feelings:      feelings,
		Advisers:      h.Plugins,
	})
	c.scribe = record.NewScribe(record.Chat{
		ID:            id,
		RequestID:     meta.RequestID,
		Begun:         begun,
		Notifications: notify,
	}, dest.records, echoLine{o.Line, c}, c.recorder, c.runScribe, c.scribeFailed)
	c.info = Info{
		ChatID:      id,
		GroupID:     meta.ChatGroupID,
		Account:     o.Account,
		RequestID:   meta.RequestID,
		Config:      chosen.config,
		Line:        o.Kind,
		Client:      o.Client,
		Since:       begun,
		Connectable: o.Settings.AllowConnection,
	}
	c.unregister = func() { h.unregister(c) }
	c.toolChecker, _ = chosen.model.(engine.ToolChecker)
	c.audio.Store(chosen.settings.Audio)
	c.stages = stageTimer{observe: h.Observe, log: c.log}
	if !chosen.custom {
		c.stages.observeDelay = func(late time.Duration) {
			h.delays.note(id, time.Now(), late)
			c.stages.observe(StageLate, late)
		}
	}
	if c.stages.observe == nil {
		c.stages.observe = func(Stage, time.Duration) {}
	}
	c.retry = func(doing string, write func(context.Context) error) { h.retry(c.log, doing, write) }
	c.failRecording = func(ctx context.Context) error { return dest.recordings.FailRecording(ctx, id) }
	return c
}

// pronunciation returns how texts in the chats of an account are pronounced.
func (h *Host) pronunciation(account string) func(context.Context) text.Options {
	if h.Pronunciation == nil {
		return func(context.Context) text.Options { return text.Options{} }
	}
	return func(ctx context.Context) text.Options { return h.Pronunciation(ctx, account) }
}

// withConnectSettings returns s overridden by what the client sent at connect.
func (h *Host) withConnectSettings(account string, s turn.Settings, p contract.ConnectSettings) (turn.Settings, error) {
	s, fault := s.Merge(p.SessionSettings)
	if fault != nil {
		return s, *fault
	}
	if p.VoiceID != "" {
		s.Voice = p.VoiceID
	}
	if err := h.Voices.Prepare(account, s.Voice); err != nil {
		return s, voiceFault(contract.VoiceNotFound, err)
	}
	s.Verbose = p.VerboseTranscription
	if p.SoundAheadSecs > 0 {
		s.Lead = time.Duration(p.SoundAheadSecs) * time.Second
	}
	return s, nil
}
