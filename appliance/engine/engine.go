// Package engine says what a model does, as small interfaces: hear voice in a
// frame, turn speech into text, continue a conversation, speak a sentence. Who
// does it is in the packages below this one; Gate shares the cores among them.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/appliance/text"
)

// SpeechRateHz is the sample rate at which every ear works: mono float32
// samples in [-1, 1].
const SpeechRateHz = 16000

// FrameSamples is the length of one voice-activity frame: 32 ms at SpeechRateHz.
const FrameSamples = 512

// FrameDuration is FrameSamples as time.
const FrameDuration = FrameSamples * time.Second / SpeechRateHz

// A VoiceDetector tells voice from everything else. It is shared; each
// stream of audio has a VoiceStream of its own.
type VoiceDetector interface {
	NewStream() VoiceStream
}

// A VoiceStream follows one stream of audio. It is used by one goroutine.
type VoiceStream interface {
	// Probability returns how likely it is, 0 to 1, that the frame of exactly
	// FrameSamples samples holds voice.
	Probability(frame []float32) (float32, error)
	// Reset forgets what was heard.
	Reset()
}

// A Transcriber turns speech into text. It may be called from many goroutines.
type Transcriber interface {
	// Transcribe returns the words in pcm (mono, SpeechRateHz). It may be
	// called with up to 30 s; Listen cuts longer audio at its pauses. A
	// cancelled ctx ends the call early with ctx's error.
	Transcribe(ctx context.Context, pcm []float32, o TranscribeOptions) (Transcript, error)
}

// TranscribeOptions are what a caller may ask of a Transcriber.
type TranscribeOptions struct {
	Urgency *Urgency
	// Language is a BCP 47 tag such as "en"; empty lets the engine find out,
	// where it can.
	Language string
	// Speed is how many times as fast as people do a voice speaks that was told to; 0
	// means 1.
	Speed float64
	// Draft is that of an earlier transcript of the beginning of the same sound;
	// nil is none. As far as it is right, the words in it need not be found again
	// one by one: the transcript is the same, and comes sooner.
	SpeculativeTokens TranscriptTokens
}

// Transcript is what a Transcriber heard. Text is empty when nobody spoke.
type Transcript struct {
	Text     string
	Language string           // BCP 47
	Tokens   TranscriptTokens // for the same sound when there is more of it; nil where the engine makes none
}

// Draft is a transcript in the tokens of the Transcriber that made it, which
// alone can read it. Nobody changes it.
type TranscriptTokens []int64

// A Synthesizer speaks with one voice. It may be called from many goroutines.
type Synthesizer interface {
	// Speak speaks text, normally one sentence, and gives emit its sound in
	// pieces, in order, as they are made; the last of them says so. Text without
	// anything to say gives none. It returns when all was given, ctx ends, or
	// emit returns an error. No cores are held while emit runs, and the urgency
	// may be changed in it for what follows.
	Speak(ctx context.Context, text string, o SpeakOptions, emit func(Sound) error) error
	// RateHz is the sample rate of the voice.
	RateHz() int
}

// A TextChecker is a Synthesizer that can tell what it cannot say before it says
// anything.
type TextChecker interface {
	// CanSay returns the ErrCannotSay with which Speak would refuse text; nil where
	// it would speak it.
	CanSay(text string, o SpeakOptions) error
}

// CanSay asks a voice whether it can say text; one that does not tell before it
// speaks can.
func CanSay(voice Synthesizer, text string, o SpeakOptions) error {
	if c, ok := voice.(TextChecker); ok {
		return c.CanSay(text, o)
	}
	return nil
}

// LanguageOf is the BCP 47 tag of the language that a voice speaks; empty where it
// does not say it.
func LanguageOf(voice Synthesizer) string {
	if l, ok := voice.(interface{ Language() string }); ok {
		return l.Language()
	}
	return ""
}

// SpeakOptions are what a caller may ask of a Synthesizer.
type SpeakOptions struct {
	// Urgency says how soon the sound is needed; nil is Batch.
	Urgency *Urgency
	// Speed is how many times as fast as without it text is said, 0.25 to 3; 0 means 1.
	Speed float64
	// ModelSpeed is how fast the voice is with which it is said, in its model's own measure,
	// 0.25 to 3; 0 means 1.
	ModelSpeed float64
	// Previous is what was said just before, where text goes on with the same
	// sentence: it is not spoken again, but text is said as what follows it.
	Previous string
	// Continues says that text is the beginning of a sentence whose rest follows,
	// so that the voice does not end.
	Continues bool
	// Temperature is how much is left to chance, 0 to 1: 0 is nothing, so that
	// the same text always gives the same samples. Above 0 they follow from Seed:
	// the same seed gives the same samples, bit for bit, another one others.
	Temperature float64
	Seed        int64
	// LongPieces says that nobody waits for the first of the sound, since what was said
	// before plays for a while yet: it may come in longer pieces then, which cost
	// less.
	LongPieces bool
	// Locale is the BCP 47 tag of where text was written, which says how dates,
	// times and money are read; empty: the voice's own language.
	Locale string
	// Lexicon says how words are pronounced that are read wrongly without it;
	// nil: none.
	Lexicon text.Lexicon
}

// Sound is a piece of speech.
type Sound struct {
	// PCM are mono samples in [-1, 1] at the voice's RateHz, of the loudness that
	// all voices share. The pieces of a text follow one another without a gap.
	PCM []float32
	// Phonemes are the sounds that end in this piece, with their places in the
	// whole speech, in order; nil when the voice cannot tell.
	Phonemes []Phoneme
	// Words are the words as they are written that end in this piece, in order;
	// nil when the voice cannot tell.
	Words []Word
	// TotalSamples is how many samples all of the text has: an estimate, mostly a little
	// too much, until the last piece.
	TotalSamples int
	Last         bool
}

// Phoneme is one sound of a Speech, in samples of its PCM.
type Phoneme struct {
	Symbol     string // IPA
	Begin, End int
}

// Word is a word as it is written ("£3.50" is one), and when it is said.
type Word struct {
	Text       string // text[From:To] of the text that was given to be spoken
	From, To   int    // bytes of it
	Begin, End int    // samples of the whole speech
}

// Speech is a spoken text, all of it.
type Speech struct {
	PCM      []float32
	RateHz   int
	Phonemes []Phoneme // nil when the voice cannot tell
	Words    []Word    // likewise
}

// SpeakWhole has a voice speak and waits for all of it.
func SpeakWhole(ctx context.Context, voice Synthesizer, text string, o SpeakOptions) (Speech, error) {
	speech := Speech{RateHz: voice.RateHz()}
	err := voice.Speak(ctx, text, o, func(s Sound) error {
		speech.PCM = append(speech.PCM, s.PCM...)
		speech.Phonemes = append(speech.Phonemes, s.Phonemes...)
		speech.Words = append(speech.Words, s.Words...)
		return nil
	})
	return speech, err
}

// Role says who a Message is from.
type Role string

// The roles of a conversation with a language model.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // what a tool answered
)

// Message is one entry of a conversation as a language model sees it.
type Message struct {
	Role    Role
	Content string
	// VolatileBytes is how many bytes at the end of Content are of this conversation
	// alone, such as the time; other conversations begin with those before them.
	VolatileBytes int
	// NoteBytes is how many bytes at the end of Content are notes about what a User
	// said, or a tool answered, and nothing that they did say.
	NoteBytes int
	// Interrupted says of what the assistant said that the user interrupted it there, in the
	// middle of a sentence; its Content may have "…" at the end to say so.
	Interrupted bool
	// Calls are the tools that the assistant called in this message, beside
	// its Content, which may be empty then; of Assistant only.
	Calls []ToolCall
	// CallID is the ToolCall that a message of ToolRole answers.
	CallID string
	// Scores writes the feelings in what a User said, as a JSON object of names
	// and numbers, for models that take it beside the words; nil: there are none.
	Scores json.Marshaler
	// Begin and End are when a User said it, since the conversation began; both
	// are 0 where that is not known.
	Begin, End time.Duration
}

// ToolCall is the assistant's wish to have a tool run.
type ToolCall struct {
	ID        string // names the call within its conversation
	Name      string // of the Tool
	Arguments string // a JSON object, as the tool's Parameters ask for; a model on a server may write something else
}

// Tool is what the assistant may call in place of saying something.
type Tool struct {
	Name        string // letters, digits, '_' and '-', at most 64 of them
	Description string // when to call it and what it does, for the model to read
	// Parameters is the JSON Schema of the arguments, an object; nil: there
	// are none.
	Parameters json.RawMessage
}

// Prompt asks a LanguageModel to go on with a conversation.
type Prompt struct {
	// Conversation names the conversation, so that what was computed for its
	// earlier turns can be found again. Empty keeps nothing.
	Conversation string
	Messages     []Message
	// Tools are what the assistant may call; it calls one at most in a reply.
	Tools []Tool
	// NoToolCalls has the reply be in words, though there are Tools: the prompt stays
	// the same, and with it what is kept of it.
	NoToolCalls bool
	// NoClaims has a reply in words not claim that something was done which no Tool
	// has done, also where there are no Tools. It is a hint: engines that cannot
	// judge that leave it out.
	NoClaims bool
	// Grammar is what the reply has to follow, in GBNF with the rule "root";
	// empty: none. It excludes Tools.
	Grammar string
	// FirstWordBias makes a reply likelier, above 0, or less likely, below, to begin with
	// a word: so much is added to the natural logarithm of the probability of the
	// word's first token. It is a hint: engines that cannot leave it out.
	FirstWordBias map[string]float64
	MaxTokens     int     // 0 means the engine's default
	Temperature   float64 // 0 is greedy
	Urgency       *Urgency
	// Session is the name that the client has given the conversation, and Key the
	// key that it has brought: both are for models on somebody's server.
	Session, Key string
}

// Part is a part of a reply as it comes: a piece of text, or a whole call.
type Part struct {
	Text string // valid UTF-8; empty where Call is set
	Call *ToolCall
	// Session is the name that the model gives the conversation; mostly empty.
	Session string
}

// Usage is what a reply cost.
type Usage struct {
	PromptTokens int // all of the prompt
	CachedTokens int // of these, taken from the kept cache
	ReplyTokens  int
	FirstToken   time.Duration // from the call to the first piece
	// RouterTokens are those of the choice of a tool, which were read beside the
	// prompt; without those that were known.
	RouterTokens int
	// Steps is how often the model computed until it had the first token, for
	// whomever; a step of a few tokens takes hardly longer than one of one. 0 where
	// that is not known.
	Steps int
}

// A LanguageModel continues conversations. It may be called from many
// goroutines; the calls share one loaded model.
type LanguageModel interface {
	// Generate streams the reply to p, part by part, and returns when it is
	// complete, ctx ends, or emit returns an error. What the model cannot do
	// energies p (tools, a grammar) is an ErrUnsupported.
	Generate(ctx context.Context, p Prompt, emit func(Part) error) (Usage, error)
	// Choose returns how likely the reply to p is to begin with each of the
	// choices: the natural logarithm of the probability of its first token. A
	// choice that is not among those that the model tells of gets negative
	// infinity. Choices that begin with the same token cannot be told apart,
	// which is an error. A model that does not tell probabilities returns
	// ErrCannot.
	Choose(ctx context.Context, p Prompt, choices []string) ([]float64, error)
	// Prefill computes p's messages ahead of time, so that a Generate with the
	// same beginning starts sooner. Where p names no conversation, what its
	// system messages have that is steady is kept for every conversation that
	// begins so, as long as there is room, and over restarts. It is a hint:
	// engines without a cache return nil at once.
	Prefill(ctx context.Context, p Prompt) error
	// Forget gives up what is kept for a conversation.
	Forget(conversation string)
}

// A ToolChecker is a LanguageModel that cannot call every tool.
type ToolChecker interface {
	// CheckTool says why it cannot call a tool of that name with these
	// parameters (a JSON Schema), in words for who made the tool, or is nil.
	CheckTool(name string, parameters []byte) error
}

// A PromptChecker is a LanguageModel that has room for so much of a prompt and no
// more.
type PromptChecker interface {
	// CheckPrompt says, as an ErrTooLong, that Generate would have no room for p. It
	// reads the text of p and computes nothing.
	CheckPrompt(ctx context.Context, p Prompt) error
}

// What may go wrong with an engine that is another server's.
var (
	ErrUnreachable = errors.New("the language model's server cannot be reached")
	ErrConnection  = errors.New("the connection to the language model's server failed")
	ErrTimedOut    = errors.New("the language model's server did not answer in time")
	ErrOverloaded  = errors.New("the language model's server is overloaded")
	ErrBroken      = errors.New("the language model's server failed")
)

// ErrCannotSay is what a voice says of a text with writing in a script that its
// language is not read in; nothing of the text is spoken then.
type ErrCannotSay struct {
	Writing  string // what cannot be said, or the beginning of it
	Script   string // its script as Unicode calls it, such as "Han"; several are joined by ", "
	Language string // of the voice, a BCP 47 tag
	Rest     string // the text without it, which can be said; may hold nothing to say
}

func (e ErrCannotSay) Error() string {
	return fmt.Sprintf("a voice that speaks %s cannot say %q (%s): choose a voice of that language, or leave it out",
		e.Language, e.Writing, e.Script)
}

// ErrTooLong is what a language model says of a prompt that it has no room for,
// even with nothing of the conversation but its system message and its newest one.
type ErrTooLong struct {
	Tokens int // of the two
	Limit  int // that there is for them, in tokens: the rest is the reply's
}

func (e ErrTooLong) Error() string {
	return fmt.Sprintf("the system message and the newest message are %d tokens; there is room for %d", e.Tokens,
		e.Limit)
}

// ErrUnsupported is what an engine says that is asked for what it has no way to do.
var ErrUnsupported = errors.New("this language model cannot do that")
