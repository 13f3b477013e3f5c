// Package ear listens to one conversation: it finds the voice in the sound that
// the user's line brings, and has what was said transcribed.
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
	// queueLength is how many chunks of sound may wait for the ear: at 20 ms each
	// more than a second; then whoever brings them waits.
	queueLength = 64
	// starvedAfter is how long no audio may come in the middle of an utterance
	// before the ear takes it for silence: a client that stops sending when
	// its user stops speaking ends the turn all the same. It is longer than
	// the chunks that most clients send (100 ms) and a short hitch of the
	// network; a client with longer chunks is given the time of two.
	starvedAfter = 400 * time.Millisecond
	// stalledAfter is the same where the sound broke off in the middle of a voice: a
	// client stops behind the last word, and a network anywhere. One that stood for
	// two seconds brings the rest of the sentence at once.
	stalledAfter = 2500 * time.Millisecond
	// transcribeTimeout bounds one transcription: 30 s of audio take under 2 s on
	// the slowest ear here; a box under load gets fifteen times that, for words
	// that come late are better than words that are lost.
	transcribeTimeout = 30 * time.Second
	// maxWaiting is how many transcriptions may wait for the one under way. In
	// real time a user makes no more than two.
	maxWaiting = 4
)

// Parts are what an Ear needs.
type Parts struct {
	Detector    engine.VoiceDetector
	Transcriber engine.Transcriber
	Clock       func() time.Duration // since the chat began
	Post        func(turn.Event)     // takes what was heard
	// PostAndWait posts an event and returns when all that follows from it was done,
	// or ctx has ended.
	PostAndWait func(ctx context.Context, e turn.Event)
	// Record takes the sound itself, which it owns from then on; at is when it
	// was made.
	Record func(at time.Duration, pcm []float32)
	// TurnEnd is asked at each pause where the settings are Semantic; nil where
	// there is none: then nobody asks.
	TurnEnd TurnEnd
	// NewVoice returns what measures the feelings in an utterance; nil where
	// nobody is to.
	NewVoice func() UtteranceScorer
	// TellFeelings has the model told of feelings that stand out.
	TellFeelings bool
	// RealTime is whether the sound comes as it is said, and never faster.
	RealTime bool
	// Go runs a function beside the ear.
	Go func(func())
	// Listen is called once, when the first sound comes: somebody is to call Run.
	Listen func()
}

// An Ear listens to one conversation: it cuts what the line brings at its
// silences, and has each piece transcribed. One goroutine owns it; only
// the transcriptions run beside it, one at a time. Until the first sound comes
// nothing of it runs, and it takes next to no memory: many conversations are
// typed.
type Ear struct {
	Parts

	startLock sync.Mutex
	started   bool // some sound has come, or is about to

	queue       chan incoming      // once it has begun
	closing     chan int           // the utterance that is over
	transcribed chan transcription // finished

	segmenter   *engine.Segmenter
	pending     []float32 // less than a frame
	segments    []engine.Segment
	streamClock Clock
	chunk       time.Duration // how much audio the newest chunk held
	filled      time.Duration // silence put in since, because nothing came
	opened      bool          // some sound has come

	settings turn.Settings // those in force

	idle         atomic.Bool     // nobody speaks
	utterance    *utterance      // the newest
	transcribing bool            // a transcription is under way
	waiting      []transcription // those after it, in order
	interim      interim
	endQuestion  endQuestion
	echo         echo
}

// incoming is what comes to the ear, in order: sound, or new settings.
type incoming struct {
	pcm      []float32
	settings *turn.Settings
}

// New returns an Ear that listens as the settings say, once it runs.
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

// start makes it ready for the first sound.
func (e *Ear) start() {
	e.startLock.Lock()
	defer e.startLock.Unlock()
	if e.started {
		return
	}
	e.started = true
	e.queue = make(chan incoming, queueLength)
	e.segmenter = engine.NewSegmenter(echoFilter{e.Detector.NewStream(), &e.echo}, segmentOptions(e.settings))
	e.Listen()
}

// setUp puts settings in force before it has begun; false: it has.
func (e *Ear) setUp(s turn.Settings) bool {
	e.startLock.Lock()
	defer e.startLock.Unlock()
	if !e.started {
		e.settings = s
	}
	return !e.started
}

// segmentOptions are what the segmenter needs of settings.
func segmentOptions(s turn.Settings) engine.SegmentOptions {
	o := engine.DefaultSegmentOptions()
	o.Threshold = s.Threshold
	o.PrefixPadding = s.PrefixPadding
	o.EndSilence = 0 // the conversation says when a turn is over
	return o
}

// Hear takes sound, mono at engine.SpeechRateHz, which the ear owns from then
// on. No samples say that the line lives, and some will follow. It waits while
// the ear has more than a second to catch up on; false means that over was
// closed before.
func (e *Ear) Hear(over <-chan struct{}, pcm []float32) bool {
	e.start()
	return e.put(over, incoming{pcm: pcm})
}

// Adjust puts settings in force for the sound that comes after them.
func (e *Ear) Adjust(over <-chan struct{}, s turn.Settings) bool {
	if e.setUp(s) {
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

// Close ends an utterance at the pause it is in: what is said after that is
// another one. It does not wait, for there is one utterance at a time to close.
func (e *Ear) Close(utterance int) {
	select {
	case e.closing <- utterance:
	default:
	}
}

// Idle reports whether nobody speaks. Any goroutine may ask.
func (e *Ear) Idle() bool { return e.idle.Load() }

// Run listens until ctx ends. It is called after the first sound has come.
func (e *Ear) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer e.stop()
	defer cancel() // also where it panics: then nobody else ends what stop waits for
	e.judgeEnds(ctx, e.settings.Semantic)
	starved := time.NewTimer(starvedAfter)
	defer starved.Stop()
	for {
		queue, silence := e.queue, starved.C
		if len(e.waiting) >= maxWaiting {
			queue, silence = nil, nil // who sends faster than this can be heard waits
		}
		select {
		case next := <-queue:
			if next.settings != nil {
				e.adjust(ctx, *next.settings)
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

// patience is how long no sound may come before that is taken for silence.
func (e *Ear) patience() time.Duration {
	if e.segmenter.Voiced() {
		return stalledAfter
	}
	return starvedAfter
}

func (e *Ear) adjust(ctx context.Context, s turn.Settings) {
	e.settings = s
	e.segmenter.Adjust(segmentOptions(s))
	e.judgeEnds(ctx, s.Semantic)
}

// stop waits for the transcription under way, which ctx has ended.
func (e *Ear) stop() {
	e.cancelUnneeded()
	if e.transcribing {
		<-e.transcribed
	}
}

// hear takes what the line brought.
func (e *Ear) hear(ctx context.Context, pcm []float32) {
	if len(pcm) > 0 && !e.opened {
		e.opened = true
		e.Post(turn.MicrophoneOpened{At: turn.At(e.Clock())})
	}
	e.keepTime(pcm)
	e.frames(ctx, pcm)
}

func (e *Ear) fault(f contract.Fault) { e.Post(turn.FaultReported{At: turn.At(e.Clock()), Fault: f}) }

// keepTime notes when sound has come, and has it recorded there.
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

// frames gives the segmenter whole frames and keeps the rest.
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

// follow passes on what the segmenter says. When voice comes back after a pause
// it may have come too late: then the utterance is over, and the voice the
// beginning of another.
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
	if u.urgency != nil { // somebody waits for the words now
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
