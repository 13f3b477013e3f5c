// Package ear listens to one conversation: it finds the voice in the user's sound, cuts it at its pauses, and
// has it transcribed.
package ear

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

const (
	// queueLength is how many chunks of sound may wait for the ear, more than a second at 20 ms each. When
	// the queue is full, the caller of Hear waits.
	queueLength = 64
	// starvedAfter is how long sound may stay away in the middle of an utterance before the ear assumes
	// silence, so that a client that stops sending when its user stops speaking still ends the turn. It is
	// longer than the chunks of most clients (100 ms) and a short hitch of the network. For a client with
	// longer chunks, the limit is the length of two chunks.
	starvedAfter = 400 * time.Millisecond
	// stalledAfter is the same if the sound stopped in the middle of a voice. A client stops after the last
	// word, but a network stops anywhere: after a stall of two seconds the rest of the sentence arrives at
	// once.
	stalledAfter = 2500 * time.Millisecond
	// transcribeTimeout bounds one transcription. 30 s of audio take less than 2 s on the slowest supported
	// engine. A box under load gets fifteen times that, because late words are better than lost ones.
	transcribeTimeout = 30 * time.Second
	// maxWaiting is how many transcriptions may wait for the one under way. In real time a user makes at most
	// two.
	maxWaiting = 4
)

// Parts are what an Ear needs.
type Parts struct {
	Detector    engine.VoiceDetector
	Transcriber engine.Transcriber
	Clock       func() time.Duration // since the chat began
	Post        func(turn.Event)     // takes the ear's events
	// PostAndWait posts an event and returns when its effects were carried out or ctx has ended.
	PostAndWait func(ctx context.Context, e turn.Event)
	// Record takes the sound, and owns it from then on; at is when it was made.
	Record func(at time.Duration, pcm []float32)
	// TurnEnd is asked at each pause if the settings are Semantic. It may be nil.
	TurnEnd TurnEnd
	// NewVoice returns an UtteranceScorer for an utterance; nil: feelings are not measured.
	NewVoice func() UtteranceScorer
	// TellFeelings tells the model feelings that stand out.
	TellFeelings bool
	// RealTime means that sound never comes faster than it is spoken.
	RealTime bool
	// Go runs a function on another goroutine.
	Go func(func())
	// OnFirstSound is called once, when the first sound comes. It has to start Run.
	OnFirstSound func()
}

// An Ear listens to one conversation. One goroutine owns it; only transcriptions run in parallel, one at a
// time. Until the first sound comes it runs nothing and needs next to no memory, because many conversations
// are typed.
type Ear struct {
	Parts

	startLock sync.Mutex
	started   bool // some sound has come or is about to

	queue       chan incoming      // nil until started
	closing     chan int           // utterances to close
	transcribed chan transcription // finished transcriptions

	segmenter   *engine.Segmenter
	pending     []float32 // less than a frame
	segments    []engine.Segment
	streamClock Clock
	chunk       time.Duration // length of the newest chunk
	filled      time.Duration // silence inserted since then, because nothing came
	opened      bool          // some sound has come

	settings turn.Settings // in force

	idle         atomic.Bool     // no one speaks
	utterance    *utterance      // the newest
	transcribing bool            // a transcription is under way
	waiting      []transcription // the next transcriptions, in order
	interim      interim
	endQuestion  endQuestion
	echo         echo
}

// incoming is sound or new settings, in the order of arrival.
type incoming struct {
	pcm      []float32
	settings *turn.Settings
}

// New returns an Ear with the given settings.
func New(p Parts, s turn.Settings) *Ear {
	e := &Ear{
		Parts:       p,
		utterance:   &utterance{},
		closing:     make(chan int, 1),
		transcribed: make(chan transcription, 1),
		settings:    s,
		streamClock: Clock{RealTime: p.RealTime},
	}
	return e
}

// start prepares the ear for the first sound.
func (e *Ear) start() {
	e.startLock.Lock()
	defer e.startLock.Unlock()
	if e.started {
		return
	}
	e.started = true
	e.queue = make(chan incoming, queueLength)
	e.segmenter = engine.NewSegmenter(echoFilter{e.Detector.NewStream(), &e.echo}, segmentOptions(e.settings))
	e.OnFirstSound()
}

// applyBeforeStart puts settings in force before the ear has started. It returns false if it has.
func (e *Ear) applyBeforeStart(s turn.Settings) bool {
	e.startLock.Lock()
	defer e.startLock.Unlock()
	if !e.started {
		e.settings = s
	}
	return !e.started
}

// segmentOptions returns the segmenter's options for the settings.
func segmentOptions(s turn.Settings) engine.SegmentOptions {
	o := engine.DefaultSegmentOptions()
	o.Threshold = s.Threshold
	o.PrefixPadding = s.PrefixPadding
	o.EndSilence = 0 // the state machine decides when a turn is over
	return o
}

// Hear takes sound, mono at engine.SpeechRateHz, and owns it from then on. An empty slice means that the line
// is alive and more will follow. Hear waits while the ear is more than a second behind. It returns false if
// over is closed first.
func (e *Ear) Hear(over <-chan struct{}, pcm []float32) bool {
	e.start()
	return e.put(over, incoming{pcm: pcm})
}

// ApplySettings puts settings in force for the sound after them.
func (e *Ear) ApplySettings(over <-chan struct{}, s turn.Settings) bool {
	if e.applyBeforeStart(s) {
		return true
	}
	return e.put(over, incoming{settings: &s})
}

func (e *Ear) put(over <-chan struct{}, h incoming) bool {
	select {
	case e.queue <- h:
		return true
	case <-over:
		return false
	}
}

// Close ends an utterance at its current pause: speech after it belongs to the next one. It does not block,
// because only one utterance at a time can be closed.
func (e *Ear) Close(utterance int) {
	select {
	case e.closing <- utterance:
	default:
	}
}

// Idle reports whether no one speaks. Any goroutine may call it.
func (e *Ear) Idle() bool { return e.idle.Load() }

// Run listens until ctx ends. It is started by Listen.
func (e *Ear) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer e.stop()
	defer cancel() // also after a panic, because stop waits for a transcription that only ctx ends
	e.judgeEnds(ctx, e.settings.Semantic)
	starved := time.NewTimer(starvedAfter)
	defer starved.Stop()
	for {
		queue, silence := e.queue, starved.C
		if len(e.waiting) >= maxWaiting {
			queue, silence = nil, nil // callers that send faster than this can be transcribed wait
		}
		select {
		case next := <-queue:
			if next.settings != nil {
				e.applySettings(ctx, *next.settings)
				continue
			}
			e.hear(ctx, next.pcm)
			starved.Reset(max(e.patience(), 2*e.chunk))
		case n := <-e.closing:
			e.close(ctx, n)
		case g := <-e.transcribed:
			e.takeTranscription(ctx, g)
		case <-silence:
			if e.segmenter.Speaking() {
				e.hearSilence(ctx)
				starved.Reset(engine.FrameDuration)
			}
		case <-ctx.Done():
			return
		}
	}
}

// patience returns how long sound may stay away before the ear assumes silence.
func (e *Ear) patience() time.Duration {
	if e.segmenter.Voiced() {
		return stalledAfter
	}
	return starvedAfter
}

func (e *Ear) applySettings(ctx context.Context, s turn.Settings) {
	e.settings = s
	e.segmenter.Adjust(segmentOptions(s))
	e.judgeEnds(ctx, s.Semantic)
}

// stop waits for the transcription under way, whose ctx has ended.
func (e *Ear) stop() {
	e.cancelUnneeded()
	if e.transcribing {
		<-e.transcribed
	}
}

// hear takes sound from the line.
func (e *Ear) hear(ctx context.Context, pcm []float32) {
	if len(pcm) > 0 && !e.opened {
		e.opened = true
		e.Post(turn.MicrophoneOpened{At: turn.At(e.Clock())})
	}
	e.keepTime(pcm)
	e.frames(ctx, pcm)
}

func (e *Ear) fault(f contract.Fault) { e.Post(turn.FaultReported{At: turn.At(e.Clock()), Fault: f}) }

// keepTime notes when sound came, and records it at that time.
func (e *Ear) keepTime(pcm []float32) {
	if len(pcm) == 0 {
		return
	}
	from := e.segmenter.Position() + int64(len(e.pending))
	e.streamClock.Arrived(e.Clock(), from, len(pcm), e.filled, e.segmenter.Listening())
	e.chunk, e.filled = streamTime(int64(len(pcm))), 0
	e.Record(e.streamClock.At(from), pcm)
}

func (e *Ear) hearSilence(ctx context.Context) {
	e.filled += engine.FrameDuration
	e.frames(ctx, make([]float32, engine.FrameSamples))
}

// frames gives the segmenter whole frames and keeps the rest in pending.
func (e *Ear) frames(ctx context.Context, pcm []float32) {
	e.pending = append(e.pending, pcm...)
	n := 0
	for ; len(e.pending)-n >= engine.FrameSamples; n += engine.FrameSamples {
		frame := e.pending[n : n+engine.FrameSamples]
		e.echo.hear(e.streamClock.At(e.segmenter.Position()+engine.FrameSamples), frame)
		var err error
		e.segments, err = e.segmenter.Push(e.segments[:0], frame)
		if err != nil {
			e.fault(contract.Fault{Code: contract.Internal, Cause: err})
		}
		e.follow(ctx, e.segments)
		e.measureVoice()
	}
	e.pending = append(e.pending[:0], e.pending[n:]...)
	e.idle.Store(!e.segmenter.Listening())
	if u := e.utterance; u.pausing {
		e.Post(turn.SilenceContinued{
			At:         turn.At(e.Clock()),
			Utterance:  u.number,
			Until:      e.streamClock.At(e.segmenter.Position()),
			MayBeVoice: e.segmenter.MayResume(),
		})
	}
}

// follow handles what the segmenter reports. If voice returns after a pause that was long enough, the
// utterance is over, and the voice begins the next one.
func (e *Ear) follow(ctx context.Context, said []engine.Segment) {
	for i, s := range said {
		if s.Kind != engine.Resumed {
			e.segment(ctx, s)
			continue
		}
		e.PostAndWait(ctx, turn.VoiceResumed{
			At:        turn.At(e.Clock()),
			Utterance: s.Utterance,
			Revision:  e.utterance.revision,
			Begin:     e.streamClock.At(s.Begin),
		})
		select {
		case n := <-e.closing:
			e.close(ctx, n)
			return
		default:
		}
		e.utterance.pausing = false
		if i+1 < len(said) && said[i+1].Kind == engine.PartEnded {
			e.keepPauseTranscript()
		}
		e.utterance.revision++
		e.cancelUnneeded()
	}
}

// close ends an utterance at its newest pause.
func (e *Ear) close(ctx context.Context, utterance int) {
	u := e.utterance
	if utterance != u.number || u.over {
		return
	}
	e.dropEarly()
	u.over, u.pausing = true, false
	if u.urgency != nil { // the user waits for the transcript now
		u.urgency.Set(engine.Live, time.Now())
	}
	for _, s := range e.segmenter.Close(nil) {
		e.segment(ctx, s)
	}
	e.idle.Store(!e.segmenter.Listening())
}

func (e *Ear) segment(ctx context.Context, s engine.Segment) {
	if s.Utterance != e.utterance.number {
		e.cancelUnneeded()
		e.utterance = &utterance{number: s.Utterance, begin: s.Begin, revision: 1}
	}
	u := e.utterance
	now := turn.At(e.Clock())
	switch s.Kind {
	case engine.Voice:
		u.paused = nil
		e.Post(turn.VoiceHeard{At: now, Utterance: u.number, Voice: s.Voiced})
		if !e.segmenter.Fading() {
			e.dropEarly()
		}
		e.transcribeInterim(ctx)
	case engine.Faded:
		e.transcribeEarly(ctx, s)
		e.judgeVoice()
	case engine.Paused:
		known := e.hasEarly(s)
		u.pausing, u.end = true, s.End
		e.Post(turn.VoicePaused{
			At:        now,
			Utterance: u.number,
			Revision:  u.revision,
			End:       e.streamClock.At(s.End),
			Short:     s.Short,
		})
		if !s.Short {
			if !known {
				e.ask(ctx, transcription{utterance: u, revision: u.revision, segment: s})
				e.judgeVoice()
			}
			e.postEarly()
			e.askEnd(ctx, u, s)
		}
	case engine.PartEnded:
		e.partEnded(ctx, s)
	}
}
