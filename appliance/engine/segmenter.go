package engine

import (
	"fmt"
	"slices"
	"time"
)

// releaseMargin is the hysteresis of the detector: while speaking, the probability must fall this
// far below the threshold for a frame to count as silence (as in Silero's own tools).
const releaseMargin = 0.15

// onsetFrames is how many consecutive voiced frames begin an utterance or end a pause; a single one
// (32 ms) is a click or a breath.
const onsetFrames = 2

const (
	// partSamples is the length from which a pause of partSilence closes a part, so that earlier
	// speech is not transcribed again at each later pause. Of 938 words of long recordings, 50 were
	// wrong this way, and 59 with parts of 12 s and more.
	partSamples = 5 * SpeechRateHz
	partSilence = 200 * time.Millisecond
	// longPartSamples is the length from which any short pause closes a part: recognition costs
	// grow more than linearly, and it loses words past 15 s.
	longPartSamples = 12 * SpeechRateHz
	// maxPartSamples is the length at which a part is cut without a pause, at the frame with the
	// lowest voice probability of the last cutBackFrames.
	maxPartSamples = 20 * SpeechRateHz
	cutBackFrames  = 2 * SpeechRateHz / FrameSamples
)

// Segmenter cuts an audio stream into utterances at its silences. One goroutine uses it.
type Segmenter struct {
	voice        VoiceStream
	options      SegmentOptions
	conditioning conditioning

	pos       int64     // samples processed
	prefix    []float32 // the newest audio outside an utterance
	speaking  bool
	paused    bool    // Paused was reported and voice has not returned
	run       int     // consecutive voiced frames
	probable  float32 // voice probability of the newest frame
	bursts    int     // unvoiced frames after the newest voice that were counted as its end
	still     bool    // the newest frames were digital silence
	utterance int
	voiced    int // voiced frames in the utterance
	silent    int // frames since the last voice
	resumed   resumption
	loudness  loudness
	faded     bool // the voice is quiet, though no pause was reported
	fades     int  // how often Faded was reported in this utterance

	part      []float32 // audio of the current part
	partBegin int64     // where the voice of the part begins
	partVoice bool      // whether the part holds voice
	begin     int64     // where the voice of the utterance begins
	lastVoice int64     // where the voice of the utterance ends so far
	probs     []float32 // voice probabilities of the newest frames of the part
}

// resumption is the position at which voice returned after the newest pause that is over.
type resumption struct {
	at     int64 // sample; 0 means none
	voiced int   // voiced frames before it
}

// NewSegmenter returns a Segmenter that detects voice with the given stream.
func NewSegmenter(voice VoiceStream, o SegmentOptions) *Segmenter {
	return &Segmenter{voice: voice, options: o}
}

// Adjust changes the options from the next frame on.
func (s *Segmenter) Adjust(o SegmentOptions) { s.options = o }

// Speaking reports whether an utterance is in progress.
func (s *Segmenter) Speaking() bool { return s.speaking }

// Listening reports whether an utterance is in progress or may be beginning.
func (s *Segmenter) Listening() bool { return s.speaking || s.run > 0 }

// Voiced reports whether the newest frame of an utterance holds voice that has not faded. If the
// stream stops then, the voice broke off.
func (s *Segmenter) Voiced() bool { return s.speaking && s.run > 0 && !s.faded }

// MayResume reports whether the newest frame of a pause may be the beginning of voice: its voice
// probability is raised, or it is as loud as a consonant.
func (s *Segmenter) MayResume() bool {
	return s.paused && (s.run > 0 || s.probable >= mayResumeProbability || s.loudness.burst())
}

// mayResumeProbability is the voice probability from which a frame may be the beginning of a word:
// the detector needs two or three frames to recognise one, and reports less in silence.
const mayResumeProbability = 0.1

// Position returns how many samples were processed.
func (s *Segmenter) Position() int64 { return s.pos }

// Push processes one frame of FrameSamples samples and appends the resulting segments to out.
func (s *Segmenter) Push(out []Segment, frame []float32) ([]Segment, error) {
	if len(frame) != FrameSamples {
		return out, fmt.Errorf("segmenter: frame has %d samples, want %d", len(frame), FrameSamples)
	}
	raw := frame
	frame = s.conditioning.removeOffset(raw)
	p, err := s.probability(frame)
	if err != nil {
		return out, fmt.Errorf("voice detection: %w", err)
	}
	s.probable = p
	s.conditioning.observe(raw, frame, float64(p) >= s.options.Threshold)
	s.pos += FrameSamples
	s.loudness.add(frame, p >= noVoice)
	burst := s.burst(p)
	threshold := s.options.Threshold
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
	// burstWithin is how many frames after a voice an unvoiced sound still belongs to it, 192 ms:
	// the burst at the end of a word such as "locked" comes up to 150 ms after the vowel. maxBursts
	// limits the number of such frames, so that music after a voice is not taken for it.
	burstWithin = 6
	maxBursts   = 3
)

// burst reports whether a frame without voice holds the end of the word before it.
func (s *Segmenter) burst(p float32) bool {
	if !s.paused || s.silent > burstWithin || s.bursts >= maxBursts || float64(p) >= s.options.Threshold ||
		!s.loudness.burst() {
		return false
	}
	s.bursts++
	return true
}

// noVoice is the probability below which a frame counts as background noise.
const noVoice = 0.1

// stillness is the peak, -70 dBFS or ten steps of 16 bits, below which a frame is inaudible: a
// muted microphone, not a quiet one.
const stillness = 0.0003

// probability runs the detector. Outside utterances it skips digital silence, because most open
// lines are silent most of the time.
func (s *Segmenter) probability(frame []float32) (float32, error) {
	if s.speaking || s.run > 0 || slices.ContainsFunc(frame, func(x float32) bool {
		return x > stillness || x < -stillness
	}) {
		s.still = false
		if e, ok := s.voice.(interface{ Echoes() bool }); !ok || !e.Echoes() { // residual echo is not amplified
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

// idleFrame handles a frame outside an utterance: it keeps the prefix and begins an utterance once
// there is enough voice.
func (s *Segmenter) idleFrame(out []Segment, frame []float32) []Segment {
	s.prefix = append(s.prefix, frame...)
	keep := samples(s.options.PrefixPadding) + s.run*FrameSamples
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

// utteranceFrame handles a frame within an utterance.
func (s *Segmenter) utteranceFrame(out []Segment, frame []float32, p float32) []Segment {
	s.part = append(s.part, frame...)
	s.probs = append(s.probs, p)
	if s.run > 0 && (!s.paused || s.run >= onsetFrames) {
		return s.fade(s.voiceFrame(out), p)
	}
	s.silent++
	out = s.fade(out, p)
	silence := time.Duration(s.silent) * FrameDuration
	if !s.paused && s.partVoice && silence >= s.options.ShortPause {
		s.paused = true
		out = append(out, s.pause())
	}
	if s.options.EndSilence > 0 && silence >= s.options.EndSilence {
		out = append(out, s.end())
	}
	return out
}

// fade reports Faded when the voice falls silent before the detector is sure. It does so at most
// once for each second of voice, since each report costs a transcription and often it is only a
// soft sound.
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

// Fading reports whether the voice is still as quiet as when Faded was reported.
func (s *Segmenter) Fading() bool { return s.faded }

// voiceFrame handles a voiced frame within an utterance.
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

// closePart ends the current part at sample at and begins the next part with the rest.
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

// quietest returns the position of the frame with the lowest voice probability among the newest
// frames.
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

// end ends the utterance.
func (s *Segmenter) end() Segment {
	kind := Ended
	if !s.longEnough() {
		kind = Dropped
	}
	e := s.segment(kind)
	s.speaking, s.paused, s.run = false, false, 0
	// The silence at the end is the prefix of the next utterance.
	s.prefix = append(s.prefix[:0], s.part[max(0, len(s.part)-samples(s.options.PrefixPadding)):]...)
	s.part = nil
	return e
}

// Close ends the utterance in progress at its newest pause, which was reported already. Voice that
// returned after that pause becomes a new utterance, which is reported in out. Without a pause
// Close does nothing.
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
	// The part may begin at back.at, if long speech was cut.
	from := max(0, len(s.part)-int(s.pos-back.at)-samples(s.options.PrefixPadding))
	s.part = s.part[from:]
	s.probs = s.probs[max(0, len(s.probs)-len(s.part)/FrameSamples):]
	s.begin, s.partBegin = back.at, max(s.partBegin, back.at)
	return append(out, s.segment(Voice))
}

// Finish ends the stream and any utterance in progress.
func (s *Segmenter) Finish(out []Segment) []Segment {
	if !s.speaking {
		return out
	}
	if !s.paused && s.partVoice {
		out = append(out, s.pause())
	}
	return append(out, s.end())
}

// pause returns the Paused segment and moves the end of the voice to its exact position.
func (s *Segmenter) pause() Segment {
	began := s.pos - int64(len(s.part))
	s.lastVoice = max(s.partBegin, began+int64(voiceEnd(s.part, int(s.lastVoice-began))))
	if !s.longEnough() {
		return s.segment(Paused)
	}
	return s.withPCM(Paused)
}

// longEnough reports whether the utterance holds enough voice for a word.
func (s *Segmenter) longEnough() bool {
	return time.Duration(s.voiced)*FrameDuration >= s.options.MinVoiced
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
	e.PCMBegin = s.pos - int64(len(s.part))
	e.PCM = raiseSoft(s.part[:len(s.part):len(s.part)])
	return e
}

// Part returns the current part so far, as a Voice segment with PCM, while the utterance is in
// progress. It returns false outside an utterance or if the utterance is too short for a word.
func (s *Segmenter) Part() (Segment, bool) {
	if !s.speaking || !s.partVoice || !s.longEnough() {
		return Segment{}, false
	}
	return s.withPCM(Voice), true
}

// Since returns the audio of the utterance in progress from the given sample of the stream on, as
// far as the current part holds it, with its prefix padding. The caller must not modify it.
func (s *Segmenter) Since(sample int64) []float32 {
	from := int(max(0, sample-(s.pos-int64(len(s.part)))))
	return s.part[min(from, len(s.part)):]
}

func samples(d time.Duration) int {
	return int(d * SpeechRateHz / time.Second)
}
