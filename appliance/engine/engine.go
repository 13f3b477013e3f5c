// Package engine declares what speech and language models do, as small interfaces: detect voice in
// a frame of audio, transcribe speech, continue a conversation, and synthesize a sentence. The
// packages below it implement them. Gate shares the processor cores among them.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/appliance/text"
)

// SpeechRateHz is the sample rate of all speech input: mono float32 samples in [-1, 1].
const SpeechRateHz = 16000

// FrameSamples is the length of one voice-activity frame: 32 ms at SpeechRateHz.
const FrameSamples = 512

// FrameDuration is the duration of FrameSamples samples.
const FrameDuration = FrameSamples * time.Second / SpeechRateHz

// A VoiceDetector detects voice activity. Streams share one detector; each audio stream has its own
// VoiceStream.
type VoiceDetector interface {
	NewStream() VoiceStream
}

// A VoiceStream holds the detector's state for one audio stream. One goroutine uses it.
type VoiceStream interface {
	// Probability returns the probability, 0 to 1, that a frame of exactly FrameSamples samples
	// contains voice.
	Probability(frame []float32) (float32, error)
	// Reset discards the state of the stream.
	Reset()
}

// A Transcriber turns speech into text. It is safe for concurrent use.
type Transcriber interface {
	// Transcribe returns the words in pcm (mono, SpeechRateHz), which may be up to 30 s long.
	// TranscribeRecording cuts longer audio at its pauses. Cancelling ctx ends the call early with the error of
	// ctx.
	Transcribe(ctx context.Context, pcm []float32, o TranscribeOptions) (Transcript, error)
}

// LanguagesOf returns the languages that t transcribes as BCP 47 tags. Nil means that it knows many and detects which.
func LanguagesOf(t Transcriber) []string {
	if l, ok := t.(interface{ Languages() []string }); ok {
		return l.Languages()
	}
	return nil
}

// TranscribeOptions are the optional settings of one transcription.
type TranscribeOptions struct {
	Urgency *Urgency
	// Language is a BCP 47 tag such as "en". If it is empty, the engine detects the language where
	// it can.
	Language string
	// Speed is the speaking rate relative to a person's, for synthesized speech that was made
	// faster; 0 means 1.
	Speed float64
	// SpeculativeTokens are the tokens of an earlier transcript of the beginning of the same audio;
	// nil if there is none. The engine verifies them in one step instead of decoding them one by
	// one. The transcript is the same and arrives sooner.
	SpeculativeTokens TranscriptTokens
	// Words asks for Transcript.Confidence and Transcript.Words, which take about a tenth longer.
	Words bool
}

// Transcript is the result of a transcription. Text is empty when the audio contains no speech.
type Transcript struct {
	Text     string
	Language string           // BCP 47
	Tokens   TranscriptTokens // for a later call with more of the same audio; nil if the engine does not support it
	// Confidence is the mean probability, 0 to 1, that the engine gave to the tokens that it chose (the geometric
	// mean). It and Words are only set if TranscribeOptions.Words asks for them.
	Confidence float64
	// Words are the words of Text, in order: what white space separates, and each letter of a script that is
	// written without it.
	Words []TranscriptWord
}

// TranscriptWord is a word of a Transcript.
type TranscriptWord struct {
	From, To   int     // bytes of Text
	Confidence float64 // as Transcript.Confidence, for the tokens of the word
	// Begin is the sample at which the word begins, and End that at which the next one does or the audio ends. Both
	// are 0 if the engine does not measure times.
	Begin, End int
}

// TranscriptTokens is a transcript in the tokens of the Transcriber that produced it; no other
// engine can use it. It is read-only.
type TranscriptTokens []int64

// A Synthesizer speaks with one voice. It is safe for concurrent use.
type Synthesizer interface {
	// Speak synthesizes text, normally one sentence, and passes the sound to emit in pieces, in
	// order, as they are made. The last piece has Last set. Text without speakable content gives no
	// pieces. Speak returns when all sound was emitted, ctx ends, or emit returns an error. Speak
	// holds no cores while emit runs, and emit may change the urgency of the remaining work.
	Speak(ctx context.Context, text string, o SpeakOptions, emit func(Sound) error) error
	// RateHz returns the sample rate of the voice.
	RateHz() int
}

// SpeakOptions are the optional settings of one synthesis.
type SpeakOptions struct {
	// Urgency says how soon the sound is needed; nil means Batch.
	Urgency *Urgency
	// Speed is the ratio to the voice's normal speed, 0.25 to 3; 0 means 1.
	Speed float64
	// ModelSpeed is the speed that is passed to the model as it is, without the correction that
	// makes Speed exact; 0.25 to 3; 0 means 1.
	ModelSpeed float64
	// Previous is the preceding text of the same sentence, if text continues one. It is not spoken
	// again; it gives the voice the context for text.
	Previous string
	// Continues says that the sentence goes on after text, so that the voice does not lower its
	// pitch as at a sentence end.
	Continues bool
	// Temperature is the amount of random variation, 0 to 1. At 0 the same text always gives the
	// same samples. Above 0 the samples depend on Seed: the same seed gives the same samples, bit
	// for bit.
	Temperature float64
	Seed        int64
	// LongPieces says that earlier speech still plays for a while, so the first sound is not urgent
	// and may come in longer pieces, which cost less.
	LongPieces bool
	// Locale is the BCP 47 tag of the region of the text. It decides how dates, times and money are
	// pronounced. Empty means the language of the voice.
	Locale string
	// Lexicon holds pronunciations for words that would be mispronounced otherwise; nil means none.
	Lexicon text.Lexicon
}

// Sound is a piece of synthesized speech.
type Sound struct {
	// PCM are mono samples in [-1, 1] at the voice's RateHz, at the loudness that all voices share.
	// The pieces of a text follow each other without a gap.
	PCM []float32
	// Phonemes are the phonemes that end in this piece, in order, with positions relative to the
	// whole speech; nil if the voice does not report them.
	Phonemes []Phoneme
	// Words are the written words that end in this piece, in order; nil if the voice does not
	// report them.
	Words []Word
	// TotalSamples is the length of the whole speech in samples. It is an estimate, usually a
	// little too high, until the last piece.
	TotalSamples int
	Last         bool
}

// Phoneme is one phoneme of a speech; Begin and End are sample positions.
type Phoneme struct {
	Symbol     string // IPA
	Begin, End int
}

// Word is a word as it is written ("£3.50" is one word), with the time at which it is spoken.
type Word struct {
	Text       string // text[From:To] of the input text
	From, To   int    // byte offsets
	Begin, End int    // sample positions in the whole speech
}

// Speech is a complete synthesized text.
type Speech struct {
	PCM      []float32
	RateHz   int
	Phonemes []Phoneme // nil if the voice does not report them
	Words    []Word    // nil if the voice does not report them
}

// SpeakWhole synthesizes text and returns all of the speech at once.
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

// Role names the author of a Message.
type Role string

// The roles of a conversation with a language model.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // the result of a tool
)

// Message is one entry of a conversation as a language model sees it.
type Message struct {
	Role    Role
	Content string
	// VolatileBytes is the number of bytes at the end of Content that are specific to this
	// conversation, such as the time. Other conversations share the bytes before them.
	VolatileBytes int
	// NoteBytes is the number of bytes at the end of Content that are notes about a user's message
	// or a tool result, not part of it.
	NoteBytes int
	// Interrupted says that the user interrupted this assistant message in the middle of a
	// sentence. Its Content may end with "…" to mark that.
	Interrupted bool
	// Calls are the tools that the assistant called in this message, besides its Content, which may
	// be empty then; only for Assistant.
	Calls []ToolCall
	// CallID is the ID of the ToolCall that a message of ToolRole answers.
	CallID string
	// Scores encodes the emotion scores of a User message as a JSON object of names and numbers,
	// for models that accept them; nil if there are none.
	Scores json.Marshaler
	// Begin and End are the times of a User message since the start of the conversation; both are 0
	// if unknown.
	Begin, End time.Duration
}

// ToolCall is the assistant's request to run a tool.
type ToolCall struct {
	ID        string // unique within its conversation
	Name      string // of the Tool
	Arguments string // a JSON object that matches the tool's Parameters; a remote model may write something else
}

// Tool is a function that the assistant may call instead of replying in words.
type Tool struct {
	Name        string // letters, digits, '_' and '-', at most 64 of them
	Description string // when to call the tool and what it does, for the model
	// Parameters is the JSON Schema of the arguments, an object; nil means that the tool takes
	// none.
	Parameters json.RawMessage
}

// Prompt is a request to a LanguageModel to continue a conversation.
type Prompt struct {
	// Conversation names the conversation, so that a model can reuse what it computed for earlier
	// turns. If it is empty, nothing is cached.
	Conversation string
	Messages     []Message
	// Tools are the tools that the assistant may call, at most one in a reply.
	Tools []Tool
	// NoToolCalls requires a reply in words although Tools are set. The prompt text stays the same,
	// so its cache stays valid.
	NoToolCalls bool
	// NoClaims forbids a reply to claim that an action was done which no Tool has done, also when
	// there are no Tools. It is a hint; engines that cannot check it ignore it.
	NoClaims bool
	// Grammar constrains the reply, in GBNF with the rule "root"; empty means none. It excludes
	// Tools.
	Grammar string
	// FirstWordBias changes how likely a reply is to begin with a word: the value is added to the
	// natural logarithm of the probability of the word's first token. It is a hint; engines that
	// cannot apply it ignore it.
	FirstWordBias map[string]float64
	MaxTokens     int     // 0 means the engine's default
	Temperature   float64 // 0 is greedy
	Urgency       *Urgency
	// Session is the client's name for the conversation and Key is the key that the client
	// supplied. Both are for remote models.
	Session, Key string
}

// Part is one piece of a streamed reply: text or a complete tool call.
type Part struct {
	Text string // valid UTF-8; empty where Call is set
	Call *ToolCall
	// Session is the name that the model gives the conversation; usually empty.
	Session string
}

// Usage is what a reply cost.
type Usage struct {
	PromptTokens int // the whole prompt
	CachedTokens int // how many of PromptTokens came from the cache
	ReplyTokens  int
	FirstToken   time.Duration // from the call to the first part
	// RouterTokens is the number of uncached tokens that were prefilled, in parallel with the
	// prompt, to choose a tool.
	RouterTokens int
	// Steps is the number of decode steps, for all requests together, until the first token; 0 if
	// unknown. A step of a few tokens takes hardly longer than a step of one.
	Steps int
}

// A LanguageModel continues conversations. It is safe for concurrent use; all calls share one
// loaded model.
type LanguageModel interface {
	// Generate streams the reply to p, part by part, and returns when the reply is complete, ctx
	// ends, or emit returns an error. It returns ErrUnsupported if the model cannot handle p
	// (tools, a grammar).
	Generate(ctx context.Context, p Prompt, emit func(Part) error) (Usage, error)
	// Choose returns how likely the reply to p is to begin with each of the choices: the natural
	// logarithm of the probability of the choice's first token. A choice for which the model
	// reports no probability gets negative infinity. Choices that begin with the same token cannot
	// be distinguished, which is an error. A model that reports no probabilities returns
	// ErrUnsupported.
	Choose(ctx context.Context, p Prompt, choices []string) ([]float64, error)
	// Prefill computes the messages of p in advance, so that a Generate with the same beginning
	// starts sooner. If p names no conversation, the constant part of its system messages is cached
	// for all conversations that begin with it, as far as there is capacity, and across restarts.
	// It is a hint; engines without a cache return nil at once.
	Prefill(ctx context.Context, p Prompt) error
	// Forget discards what is cached for a conversation.
	Forget(conversation string)
}

// SentenceDimensions is the length of the vector of a sentence.
const SentenceDimensions = 384

// A SentenceEmbedder turns texts into vectors of length 1, whose dot product is 1 for texts of the same meaning and
// near 0 for unrelated ones. It is safe for concurrent use.
type SentenceEmbedder interface {
	// Embed returns a vector of SentenceDimensions for each text. The same text always has the same vector, whatever
	// it is embedded together with. The end of a text of more than about a hundred words is ignored. A nil Urgency is
	// Batch.
	Embed(ctx context.Context, texts []string, u *Urgency) ([][]float32, error)
	// Model names the model and its version. Vectors of different models cannot be compared.
	Model() string
}

// A ToolChecker is a LanguageModel that cannot call every tool.
type ToolChecker interface {
	// CheckTool returns why the model cannot call a tool with this name and these parameters (a
	// JSON Schema), worded for the author of the tool, or nil.
	CheckTool(name string, parameters []byte) error
}

// A PromptChecker is a LanguageModel with a limited prompt length.
type PromptChecker interface {
	// CheckPrompt returns an ErrTooLong if p does not fit. It tokenizes p but does not run the
	// model.
	CheckPrompt(ctx context.Context, p Prompt) error
}

// Errors of engines that run on another server.
var (
	ErrUnreachable = errors.New("the language model's server cannot be reached")
	ErrConnection  = errors.New("the connection to the language model's server failed")
	ErrTimedOut    = errors.New("the language model's server did not answer in time")
	ErrOverloaded  = errors.New("the language model's server is overloaded")
	ErrBroken      = errors.New("the language model's server failed")
)

// ErrCannotSay reports text in a script that a voice cannot pronounce. None of the text is spoken
// then.
type ErrCannotSay struct {
	Writing  string // the unpronounceable writing, or its beginning
	Script   string // the Unicode names of its scripts, such as "Han", joined by ", "
	Language string // BCP 47 tag of the voice
	Rest     string // the text without Writing, which the voice can speak; may contain nothing to speak
}

func (e ErrCannotSay) Error() string {
	return fmt.Sprintf("a voice that speaks %s cannot say %q (%s): choose a voice of that language, or leave it out",
		e.Language, e.Writing, e.Script)
}

// ErrTooLong reports a prompt that does not fit into the context of a language model, even if
// everything but its system message and its newest message is left out.
type ErrTooLong struct {
	Tokens int // of the two messages
	Limit  int // available tokens; the others are reserved for the reply
}

func (e ErrTooLong) Error() string {
	return fmt.Sprintf("the system message and the newest message are %d tokens; there is room for %d", e.Tokens,
		e.Limit)
}

// ErrUnsupported reports a request for something that an engine has no way to do.
var ErrUnsupported = errors.New("this language model cannot do that")
