package engine

import (
	"fmt"
	"slices"
	"time"
)

// Hysteresis of the detector: once speaking, a frame must fall this far below
// the threshold to count as silence (as Silero's own tools do it).
const releaseMargin = 0.15

// A pause is over, and an utterance begun, only after this many voiced frames
// in a row: a single one (32 ms) is a click or a breath.
const onsetFrames = 2

const (
	// partSamples is the length from which a part is closed at a pause of
	// partSilence, so that what was said before is not heard again at every later
	// pause. Of 938 words of long recordings 50 were wrong so, and 59 in parts of
	// 12 s and more.
	partSamples = 5 * SpeechRateHz
	partSilence = 200 * time.Millisecond
	// longPartSamples is where any short pause closes it: recognition costs
	// more than linearly and loses words past 15 s.
	longPartSamples = 12 * SpeechRateHz
	// maxPartSamples is where a part is cut without a pause, at the frame
	// least like voice in the last cutBackFrames.
	maxPartSamples = 20 * SpeechRateHz
	cutBackFrames  = 2 * SpeechRateHz / FrameSamples
)

// Segmenter cuts a stream of audio into utterances at its silences. It is
// used by one goroutine.
type Segmenter struct {
	voice        VoiceStream
	opt          SegmentOptions
	conditioning conditioning

	pos       int64     // samples taken
	prefix    []float32 // the newest audio while nobody speaks
	speaking  bool
	paused    bool    // Paused was told and voice has not come back
	run       int     // voiced frames in a row
	probable  float32 // that the newest frame is voice
	bursts    int     // frames behind the newest voice that were taken for its end
	still     bool    // the newest frames held no sound
	utterance int
	voiced    int // frames in the utterance
	silent    int // frames since the last voice
	resumed   resumption
	loudness  loudness
	faded     bool // the voice is quiet, though nobody was told of a pause
	fades     int  // how often it was told of the utterance

	part      []float32 // audio of the current part
	partBegin int64     // where its voice begins
	partVoice bool      // whether it holds voice
	begin     int64     // where the utterance's voice begins
	lastVoice int64     // where its voice ends so far
	probs     []float32 // of the current part's newest frames
}

// resumption is where voice came back after the newest pause that is over.
type resumption struct {
	at     int64 // sample; 0 is nowhere
	voiced int   // frames of voice before it
}

// NewSegmenter returns a Segmenter that listens with voice.
func NewSegmenter(voice VoiceStream, o SegmentOptions) *Segmenter {
	return &Segmenter{voice: voice, opt: o}
}

// Adjust changes the options from the next frame on.
func (s *Segmenter) Adjust(o SegmentOptions) { s.opt = o }

// Speaking reports whether an utterance is under way.
func (s *Segmenter) Speaking() bool { return s.speaking }

// Listening reports whether an utterance is under way, or may be beginning.
func (s *Segmenter) Listening() bool { return s.speaking || s.run > 0 }

// Voiced reports whether the newest frame of an utterance holds voice that has not
// faded: it broke off there, if nothing more comes.
func (s *Segmenter) Voiced() bool { return s.speaking && s.run > 0 && !s.faded }

// MayResume reports whether the newest frame of a pause holds a sound that may become
// voice: one that the detector takes for it, or one as loud as a consonant.
func (s *Segmenter) MayResume() bool {
	return s.paused && (s.run > 0 || s.probable >= mayResumeProbability || s.loudness.burst())
}

// mayResumeProbability is the probability of voice from which a frame may be the beginning of a word:
// a detector follows one over two or three frames, and has less in silence.
const mayResumeProbability = 0.1

// Position is how many samples were taken.
func (s *Segmenter) Position() int64 { return s.pos }

// Push takes one frame of FrameSamples samples and appends what follows from
// it to out.
func (s *Segmenter) Push(out []Segment, frame []float32) ([]Segment, error) {
	if len(frame) != FrameSamples {
		return out, fmt.Errorf("segmenter: a frame of %d samples, want %d", len(frame), FrameSamples)
	}
	came := frame
	frame = s.conditioning.removeOffset(came)
	p, err := s.probability(frame)
	if err != nil {
		return out, fmt.Errorf("voice detection: %w", err)
	}
	s.probable = p
	s.conditioning.observe(came, frame, float64(p) >= s.opt.Threshold)
	s.pos += FrameSamples
	s.loudness.add(frame, p >= noVoice)
	burst := s.burst(p)
	threshold := s.opt.Threshold
	if s.run > 0 || s.speaking && !s.paused {
		threshold = max(threshold-releaseMargin, 0.01)
	}
	if voiced := float64(p) >= threshold; voiced {
		s.run++
		s.bursts = 0
	} else {
		s.run = 0
	}
	if !s.speaking {
		return s.idleFrame(out, frame), nil
	}
	if burst {
		s.run = onsetFrames
	}
	return s.utteranceFrame(out, frame, p), nil
}

const (
	// burstWithin is how many frames behind a voice a sound still belongs to it
	// that the detector does not know as voice, 192 ms: the burst that ends a word
	// such as "locked" comes up to 150 ms after the vowel. maxBursts is how many
	// frames may, so that no music behind a voice is taken for it.
	burstWithin = 6
	maxBursts   = 3
)

// burst reports whether a frame without voice holds the end of the word before
// it.
func (s *Segmenter) burst(p float32) bool {
	if !s.paused || s.silent > burstWithin || s.bursts >= maxBursts || float64(p) >= s.opt.Threshold ||
		!s.loudness.burst() {
		return false
	}
	s.bursts++
	return true
}

// noVoice is the probability under which a frame tells how loud the place is.
const noVoice = 0.1

// stillness is the peak, -70 dBFS or ten steps of 16 bits, under which a frame
// holds nothing that anybody could hear: a muted microphone, not a quiet one.
const stillness = 0.0003

// probability asks the detector, unless nobody speaks and there is no sound at
// all: most open lines are silent most of the time.
func (s *Segmenter) probability(frame []float32) (float32, error) {
	if s.speaking || s.run > 0 || slices.ContainsFunc(frame, func(x float32) bool {
		return x > stillness || x < -stillness
	}) {
		s.still = false
		if e, ok := s.voice.(interface{ Echoes() bool }); !ok || !e.Echoes() { // what is left of an echo stays soft
			frame = s.conditioning.raise(frame)
		}
		return s.voice.Probability(frame)
	}
	if !s.still {
		s.still = true
		s.voice.Reset()
	}
	return 0, nil
}

// idleFrame keeps the prefix and waits for enough voice to begin an utterance.
func (s *Segmenter) idleFrame(out []Segment, frame []float32) []Segment {
	s.prefix = append(s.prefix, frame...)
	keep := samples(s.opt.PrefixPadding) + s.run*FrameSamples
	if extra := len(s.prefix) - keep; extra > 0 {
		s.prefix = append(s.prefix[:0], s.prefix[extra:]...)
	}
	if s.run < onsetFrames {
		return out
	}
	s.speaking, s.paused = true, false
	s.utterance++
	s.voiced, s.silent, s.resumed = s.run, 0, resumption{}
	s.faded, s.fades = false, 0
	s.part = append(make([]float32, 0, 8*SpeechRateHz), s.prefix...)
	s.prefix = s.prefix[:0]
	s.begin = s.pos - int64(s.run*FrameSamples)
	s.partBegin, s.lastVoice, s.partVoice = s.begin, s.pos, true
	s.probs = s.probs[:0]
	return append(out, s.segment(Voice))
}

// heard takes a frame inside an utterance.
func (s *Segmenter) utteranceFrame(out []Segment, frame []float32, p float32) []Segment {
	s.part = append(s.part, frame...)
	s.probs = append(s.probs, p)
	if s.run > 0 && (!s.paused || s.run >= onsetFrames) {
		return s.fade(s.voiceFrame(out), p)
	}
	s.silent++
	out = s.fade(out, p)
	silence := time.Duration(s.silent) * FrameDuration
	if !s.paused && s.partVoice && silence >= s.opt.ShortPause {
		s.paused = true
		out = append(out, s.pause())
	}
	if s.opt.EndSilence > 0 && silence >= s.opt.EndSilence {
		out = append(out, s.end())
	}
	return out
}

// fade tells when the voice falls silent before the detector is sure of that: at
// most once for each second of voice, since each costs a guess, and often it is
// only a soft sound.
func (s *Segmenter) fade(out []Segment, p float32) []Segment {
	if s.paused || !s.faded && p >= fadedBelow {
		return out
	}
	before := s.faded
	s.faded = s.loudness.faded()
	if before || !s.faded || !s.partVoice || !s.longEnough() ||
		s.fades > int(time.Duration(s.voiced)*FrameDuration/time.Second) {
		return out
	}
	s.fades++
	return append(out, s.withPCM(Faded))
}

// Fading reports whether the voice is as quiet as when Faded was told.
func (s *Segmenter) Fading() bool { return s.faded }

func (s *Segmenter) voiceFrame(out []Segment) []Segment {
	if !s.partVoice {
		s.partVoice, s.partBegin = true, s.pos-int64(s.run*FrameSamples)
	}
	if s.paused {
		silence := time.Duration(s.silent) * FrameDuration
		s.paused = false
		s.resumed = resumption{at: s.pos - int64(s.run*FrameSamples), voiced: s.voiced}
		s.voiced += s.run - 1
		went := s.segment(Resumed)
		went.Begin = s.resumed.at
		out = append(out, went)
		if n := len(s.part); n >= longPartSamples || n >= partSamples && silence >= partSilence {
			out = s.closePart(out, len(s.part)-s.run*FrameSamples)
		}
	}
	s.voiced++
	s.silent = 0
	s.lastVoice = s.pos
	out = append(out, s.segment(Voice))
	if len(s.part) >= maxPartSamples {
		out = s.closePart(out, s.quietest())
	}
	return out
}

// closePart ends the current part at sample at and begins the next with the
// rest.
func (s *Segmenter) closePart(out []Segment, at int) []Segment {
	rest := s.part[at:]
	done := s.withPCM(PartEnded)
	done.PCM = raiseSoft(s.part[:at:at])
	out = append(out, done)
	s.part = append(make([]float32, 0, 8*SpeechRateHz), rest...)
	s.probs = s.probs[:0]
	s.partBegin = s.pos - int64(len(rest))
	return out
}

// quietest returns where the frame least like voice among the newest begins.
func (s *Segmenter) quietest() int {
	newest := s.probs[max(0, len(s.probs)-cutBackFrames):]
	least := len(newest) - 1
	for i, p := range newest {
		if p < newest[least] {
			least = i
		}
	}
	return len(s.part) - (len(newest)-least)*FrameSamples
}

func (s *Segmenter) end() Segment {
	kind := Ended
	if !s.longEnough() {
		kind = Dropped
	}
	e := s.segment(kind)
	s.speaking, s.paused, s.run = false, false, 0
	// The silence just heard is the prefix of what comes next.
	s.prefix = append(s.prefix[:0], s.part[max(0, len(s.part)-samples(s.opt.PrefixPadding)):]...)
	s.part = nil
	return e
}

// Close ends the utterance under way at its newest pause, of which it was told
// already. Voice that came back after that pause is an utterance of its own:
// out tells that it has begun. Without a pause nothing is closed.
func (s *Segmenter) Close(out []Segment) []Segment {
	switch {
	case !s.speaking || !s.paused && s.resumed.at == 0:
		return out
	case s.paused:
		s.end()
		return out
	}
	back := s.resumed
	s.resumed = resumption{}
	s.utterance++
	s.voiced -= back.voiced
	// The part may have begun there, where long speech was cut.
	from := max(0, len(s.part)-int(s.pos-back.at)-samples(s.opt.PrefixPadding))
	s.part = s.part[from:]
	s.probs = s.probs[max(0, len(s.probs)-len(s.part)/FrameSamples):]
	s.begin, s.partBegin = back.at, max(s.partBegin, back.at)
	return append(out, s.segment(Voice))
}

// Finish ends the stream: an utterance under way is over now.
func (s *Segmenter) Finish(out []Segment) []Segment {
	if !s.speaking {
		return out
	}
	if !s.paused && s.partVoice {
		out = append(out, s.pause())
	}
	return append(out, s.end())
}

// pause tells of the short pause, and puts the end of the voice where it is.
func (s *Segmenter) pause() Segment {
	began := s.pos - int64(len(s.part))
	s.lastVoice = max(s.partBegin, began+int64(voiceEnd(s.part, int(s.lastVoice-began))))
	if !s.longEnough() {
		return s.segment(Paused)
	}
	return s.withPCM(Paused)
}

func (s *Segmenter) longEnough() bool {
	return time.Duration(s.voiced)*FrameDuration >= s.opt.MinVoiced
}

func (s *Segmenter) segment(k SegmentKind) Segment {
	return Segment{
		Kind:      k,
		Utterance: s.utterance,
		Voiced:    time.Duration(s.voiced) * FrameDuration,
		Short:     !s.longEnough(),
		Begin:     s.begin,
		End:       s.lastVoice,
	}
}

func (s *Segmenter) withPCM(k SegmentKind) Segment {
	e := s.segment(k)
	e.Begin = s.partBegin
	e.PCM = raiseSoft(s.part[:len(s.part):len(s.part)])
	return e
}

// Part is the current part so far, in the middle of what is said: Voice, with
// PCM. False while nobody speaks, or too little was said to hold a word.
func (s *Segmenter) Part() (Segment, bool) {
	if !s.speaking || !s.partVoice || !s.longEnough() {
		return Segment{}, false
	}
	return s.withPCM(Voice), true
}

// Since is the sound of the utterance under way from a sample of the stream on,
// as far as the current part holds it, with its prefix padding. Nobody changes it.
func (s *Segmenter) Since(sample int64) []float32 {
	from := int(max(0, sample-(s.pos-int64(len(s.part)))))
	return s.part[min(from, len(s.part)):]
}

func samples(d time.Duration) int {
	return int(d * SpeechRateHz / time.Second)
}
