package chat

import (
	"context"
	"time"

	"parley/appliance/chat/ear"
	"parley/appliance/chat/record"
	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
)

// newSession assembles the session of a chat: its state machine, ear, mind and mouth, and scribe.
func (h *Host) newSession(b newChat) *Session {
	id, s, o := b.meta.ChatID, b.setup, b.opening
	c := &Session{
		id:           id,
		log:          h.Log.With("chat", id, "request", b.meta.RequestID),
		begun:        b.begun,
		voices:       boundVoices{h.Voices, o.Account},
		line:         o.Line,
		unbuffered:   o.Unbuffered,
		state:        turn.NewState(s.settings, b.begun, b.history),
		events:       make(chan queuedEvent, eventQueue),
		unregistered: make(chan struct{}),
		done:         make(chan struct{}),
		unsetLogged:  map[string]bool{},
		settingsLock: make(chan struct{}, 1),
		settings:     s.settings,
		models:       s.models(),
		recorder:     noRecorder{},
		info:         b.info(),
	}
	for _, g := range []*group{&c.workers, &c.scribing, &c.recording, &c.draining} {
		g.log, g.crashed = c.log, c.crashed
	}
	if b.storage.recordings != nil {
		r := b.storage.recordings.Recorder(id, c.clock, c.log)
		c.recorder = &lazyRecorder{Recorder: r, run: func() { c.recording.Go(r.Run) }}
	}
	h.setStages(c, s.custom)
	h.setEarAndReplies(c, b)
	c.scribe = record.NewScribe(record.Chat{
		ID:            id,
		RequestID:     b.meta.RequestID,
		Begun:         b.begun,
		Notifications: b.notifications(),
	}, b.storage.records, echoLine{o.Line, c}, c.recorder, c.runScribe, c.scribeFailed)
	c.unregister = func() { h.unregister(c) }
	c.toolChecker, _ = s.model.(engine.ToolChecker)
	c.audio.Store(s.settings.Audio)
	c.retry = func(doing string, write func(context.Context) error) { h.retry(c.log, doing, write) }
	recordings := b.storage.recordings // the session must not hold all of b, which takes 1 KB
	c.failRecording = func(ctx context.Context) error { return recordings.FailRecording(ctx, id) }
	return c
}

// info describes the chat for lists of live chats.
func (n newChat) info() Info {
	return Info{
		ChatID:      n.meta.ChatID,
		GroupID:     n.meta.ChatGroupID,
		Account:     n.opening.Account,
		RequestID:   n.meta.RequestID,
		Config:      n.setup.config,
		Line:        n.opening.Kind,
		Client:      n.opening.Client,
		Since:       n.begun,
		Connectable: n.opening.Settings.AllowConnection,
	}
}

// setStages sets up the measurement of turns. Delays of a custom language model say nothing about the box, so
// they are not counted.
func (h *Host) setStages(c *Session, custom bool) {
	c.stages.log, c.stages.observe = c.log, h.Observe
	if c.stages.observe == nil {
		c.stages.observe = func(Stage, time.Duration) {}
	}
	if !custom {
		c.stages.observeDelay = func(late time.Duration) {
			h.delays.note(c.id, time.Now(), late)
			c.stages.observe(StageLate, late)
		}
	}
}

func (h *Host) setEarAndReplies(c *Session, b newChat) {
	var newVoice func() ear.UtteranceScorer
	var feelings func(text string) contract.EmotionScores
	if h.Expression != nil {
		p := &boundedExpression{h.Expression, &c.workers, c.log,
			func(took time.Duration) { c.stages.observe(StageFeel, took) }}
		newVoice, feelings = p.voice, p.Text
	}
	s := b.setup
	c.ear = ear.New(ear.Parts{
		Detector:     h.Detector,
		Transcriber:  h.Transcriber,
		TurnEnd:      h.TurnEnd,
		Clock:        c.clock,
		RealTime:     b.opening.RealTime,
		Post:         c.post,
		PostAndWait:  c.postAndWait,
		Record:       c.recorder.Heard,
		Go:           c.workers.Go,
		OnFirstSound: func() { c.enqueue(queuedEvent{startEar: true}) },
		NewVoice:     newVoice,
		TellFeelings: !s.custom && h.TellFeelings != nil && h.TellFeelings(s.model),
	}, s.settings)
	throughput := reply.NewThroughput() // only this chat uses a custom model
	if !s.custom {
		throughput = h.throughput(s.model)
	}
	c.replies = reply.New(reply.Parts{
		ChatID: c.id,
		Caller: reply.Caller{
			Account:  b.opening.Account,
			ChatID:   c.id,
			GroupID:  b.meta.ChatGroupID,
			ConfigID: s.config.ID,
		},
		Model:         s.model,
		Voices:        c.voices,
		Stored:        h.StoredSound,
		Throughput:    throughput,
		Fallback:      s.fallback,
		NoSpeculation: s.custom,
		Log:           c.log,
		Clock:         c.clock,
		Post:          c.post,
		Go:            c.workers.Go,
		Pronunciation: h.pronunciation(b.opening.Account),
		Tools:         h.Tools,
		LineTools:     b.opening.Tools,
		Feelings:      feelings,
		Advisers:      h.Plugins,
		Approved:      s.approved,
	})
}

// pronunciation returns how texts in the chats of an account are pronounced.
func (h *Host) pronunciation(account string) func(context.Context) text.Options {
	if h.Pronunciation == nil {
		return func(context.Context) text.Options { return text.Options{} }
	}
	return func(ctx context.Context) text.Options { return h.Pronunciation(ctx, account) }
}
