package contract

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The limits of a request for speech.
const (
	// MaxUtteranceChars bounds one text: five minutes of speech.
	MaxUtteranceChars = 5000
	// MaxDescriptionChars bounds a description.
	MaxDescriptionChars = 1000
	// MaxUtterances bounds the utterances of a request: a dialogue of a hundred
	// turns.
	MaxUtterances = 100
	// MaxSpokenChars bounds the text of a request, counting each generation: five
	// of the longest text, half an hour of sound, which a box makes in two or
	// three minutes.
	MaxSpokenChars = 5 * MaxUtteranceChars
	MaxGenerations = 5
	// MaxTrailingSilence is in seconds.
	MaxTrailingSilence = 5

	MinSpeed, MaxSpeed = 0.5, 2
	// The socket that speaks text as it arrives allows the speeds at which a
	// voice can be understood at all.
	MinSocketSpeed, MaxSocketSpeed = 0.25, 3
)

// ParsePostedTTS parses a request for speech. Instant mode is the default for
// streams, and not allowed otherwise. It does not check whether the voices exist.
func ParsePostedTTS(data []byte, stream bool) (PostedTTS, error) {
	return parseBody(data, func(o object) PostedTTS { return readPostedTTS(o, stream) })
}

func readPostedTTS(o object, stream bool) PostedTTS {
	o.require("utterances")
	p := PostedTTS{
		Utterances: readUtterances(o),
		Context:    optional(o, "context", readTTSContext),
		Format:     readFormat(o),

		IncludeTimestampTypes: choices(o, "include_timestamp_types", TimestampWord, TimestampPhoneme),
		NumGenerations:        max(o.integer("num_generations", 1, MaxGenerations), 1),
		SplitUtterances:       o.booleanOrNil("split_utterances"),
		StripHeaders:          o.boolean("strip_headers"),
		Version:               readOctave(o),
		InstantMode:           o.booleanOrNil("instant_mode"),
		Temperature:           o.numberOrNil("temperature", 0, 1),
	}
	p.check(o, stream)
	return p
}

// check notes fields that do not go together.
func (p *PostedTTS) check(o object, stream bool) {
	all := 0
	for _, u := range p.Utterances {
		all += utf8.RuneCountInString(u.Text)
	}
	if all *= p.NumGenerations; all > MaxSpokenChars {
		o.note("utterances", "wrong_value",
			fmt.Sprintf("%d characters in all, each generation counted; at most %d are allowed", all, MaxSpokenChars))
	}
	instant := stream
	if p.InstantMode != nil {
		instant = *p.InstantMode
		if instant && !stream {
			o.note("instant_mode", "wrong_value",
				"true is for streams only: leave it out, or use /v0/tts/stream/json or /v0/tts/stream/file")
			return
		}
	}
	wrong := o.problems != nil && len(*o.problems) > 0 // possibly the voice
	voiced := wrong || len(p.Utterances) == 0 || p.Utterances[0].Voice != nil || p.Context.mayHaveVoice()
	switch {
	case instant && p.NumGenerations > 1:
		o.note("num_generations", "wrong_value",
			fmt.Sprintf("%d with instant mode, which makes one generation; set instant_mode to false",
				p.NumGenerations))
	case instant && !voiced:
		o.note("utterances", "wrong_value", "the first names no voice, which instant mode requires: name one, or set "+
			"instant_mode to false to design a voice from its description")
	case p.Version == Octave2 && !voiced:
		o.note("version", "wrong_value", "2 requires a voice: name one in the first utterance, or leave version out")
	}
	p.InstantMode = &instant
}

// mayHaveVoice reports whether a context may have a voice: an earlier generation
// has one, and utterances may name one.
func (c *PostedTTSContext) mayHaveVoice() bool {
	if c == nil {
		return false
	}
	for _, u := range c.Utterances {
		if u.Voice != nil {
			return true
		}
	}
	return c.GenerationID != ""
}

func readUtterances(o object) []PostedUtterance {
	all := each(o, "utterances", MaxUtterances, func(u object) PostedUtterance {
		u.require("text")
		return PostedUtterance{
			Speed:           *orDefault(u.numberOrNil("speed", MinSpeed, MaxSpeed), 1),
			Text:            u.spoken("text"),
			Description:     u.multiline("description", MaxDescriptionChars),
			TrailingSilence: deref(u.numberOrNil("trailing_silence", 0, MaxTrailingSilence)),
			Voice:           optional(u, "voice", readVoiceRef),
		}
	})
	if all != nil && len(all) == 0 {
		o.note("utterances", "wrong_value", "empty; expected at least one utterance")
	}
	return all
}

// spoken parses a text to speak.
func (o object) spoken(name string) string {
	s := o.multiline(name, MaxUtteranceChars)
	o.expect(name, Shape{Low: bound(1)})
	if raw, ok := o.get(name); ok && kindOf(raw) == "string" && strings.TrimSpace(s) == "" {
		o.note(name, "wrong_value", "empty; expected something to say")
	}
	return s
}

func readTTSContext(c object) PostedTTSContext {
	read := PostedTTSContext{GenerationID: c.text("generation_id", MaxModelResourceChars),
		Utterances: readUtterances(c)}
	id, byID := c.get("generation_id")
	_, byText := c.get("utterances")
	switch {
	case byID == byText:
		c.note("", "missing", "give either generation_id or utterances")
	case byID && kindOf(id) == "string" && !ValidID(read.GenerationID):
		c.note("generation_id", "wrong_value",
			fmt.Sprintf("%q is not a UUID; expected the generation_id of an answer", Clip(read.GenerationID)))
	}
	return read
}

func readFormat(o object) *Format {
	f, ok := o.object("format")
	if !ok {
		return &Format{FormatMP3}
	}
	f.require("type")
	return &Format{choice(f, "type", FormatMP3, FormatPCM, FormatWAV)}
}

// readOctave parses a version, which some clients send as a number.
func readOctave(o object) OctaveVersion {
	if raw, ok := o.get("version"); ok && kindOf(raw) == "number" {
		o.fields["version"] = []byte(`"` + string(raw) + `"`)
	}
	return choice(o, "version", Octave1, Octave2)
}
