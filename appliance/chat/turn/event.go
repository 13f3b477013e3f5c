package turn

import (
	"cmp"
	"strings"
	"time"

	"parley/appliance/contract"
)

// An Event is something that happened to a conversation. Every event carries the time since the conversation
// began; the state machine has no other clock.
type Event interface{ Time() time.Duration }

// At is the time of an event, counted from the beginning of the chat.
type At time.Duration

// Time returns the time as a duration.
func (a At) Time() time.Duration { return time.Duration(a) }

// Events from the line.
type (
	// Opened is the first event. Requested holds the settings that the client sent at connect; they are in
	// force already.
	Opened struct {
		At
		Metadata  contract.ChatMetadata
		Requested contract.SessionSettings
		Silent    bool // the assistant does not speak first
	}
	// Typed is text that the user typed, or the Digits that a caller pressed, in words.
	Typed struct {
		At
		Text   string
		Digits string
	}
	// KeyPressed reports that a caller pressed a key; what the keys say comes as Typed.
	KeyPressed struct{ At }
	// Dictated is text that the client wants the assistant to say.
	Dictated struct {
		At
		Sentences []Sentence
	}
	// PauseRequested and ResumeRequested pause and resume the assistant.
	PauseRequested  struct{ At }
	ResumeRequested struct{ At }
	// SettingsRequested holds settings that the client wants to be in force. They have been checked as far as
	// possible without the conversation's state.
	SettingsRequested struct {
		At
		Message contract.SessionSettings
	}
	// FaultReported reports a fault that the client has to know, such as a message that could not be used.
	FaultReported struct {
		At
		Fault contract.Fault
	}
	// Played reports how much of the sentence ID the client has played by now. Lines that know it post it;
	// for other lines the clock counts.
	Played struct {
		At
		ID   string
		UpTo time.Duration
	}
	// SendDelayed reports how much of the sent sound still waits for the network.
	SendDelayed struct {
		At
		Length time.Duration
	}
	// HungUp means that the client closed the line or vanished.
	HungUp struct{ At }
	// Aborted means that the client cannot be reached or the history cannot be written (Unwritten). In the
	// second case the client receives an error. Code and Why close the line; they are empty if no one is left to read
	// them.
	Aborted struct {
		At
		Unwritten bool
		Code      int
		Why       string
	}
	// Crashed means that a part of the chat panicked.
	Crashed struct{ At }
	// ShutDown means that the box stops.
	ShutDown struct{ At }
)

// Events from the ear. Utterances count from 1. Revision counts the transcripts of one utterance; each pause
// in it has its own.
type (
	// MicrophoneOpened reports that the first audio has come.
	MicrophoneOpened struct{ At }
	// VoiceHeard reports how much voice an utterance holds so far.
	VoiceHeard struct {
		At
		Utterance int
		Voice     time.Duration
	}
	// PartlyTranscribed holds the interim transcript of an utterance that goes on.
	PartlyTranscribed struct {
		At
		Utterance  int
		Transcript Transcript
	}
	// VoicePaused reports that the voice of an utterance stopped at End, for now. Revision is that of the
	// transcript to come. If Short, the utterance is too short to hold a word, and no transcript comes.
	VoicePaused struct {
		At
		Utterance, Revision int
		End                 time.Duration
		Short               bool
	}
	// SilenceContinued reports that only silence was heard from the pause up to Until. MayBeVoice means that
	// the newest part of it holds a sound that may become voice.
	SilenceContinued struct {
		At
		Utterance  int
		Until      time.Duration
		MayBeVoice bool
	}
	// Transcribed holds the transcript of an utterance up to a pause.
	Transcribed struct {
		At
		Utterance, Revision int
		Transcript          Transcript
	}
	// EndJudged reports the probability, 0 to 1, that the user has finished at the pause of that revision. It
	// comes only if the settings are Semantic.
	EndJudged struct {
		At
		Utterance, Revision int
		Probability         float64
	}
	// VoiceResumed reports that the pause of that revision is over: the voice came back at Begin.
	VoiceResumed struct {
		At
		Utterance, Revision int
		Begin               time.Duration
	}
)

// Events from mind and mouth. Each names its turn; events of an old turn are dropped.
type (
	// SentenceThought holds the next sentence of a reply.
	SentenceThought struct {
		At
		Turn     int
		Sentence Sentence
		Began    time.Duration // when the model's first word of the reply came; 0: no model wrote it
		// Unanswered is what the user said if no approved answer of the config fits. The first sentence of the
		// reply has it.
		Unanswered string
	}
	// ThinkingEnded reports that the reply has no more sentences.
	ThinkingEnded struct {
		At
		Turn int
	}
	// SoundMade holds a piece of a sentence's sound.
	SoundMade struct {
		At
		Turn  int
		Piece Piece
	}
	// MindFailed reports that the mind has failed. The sentences it had thought are said, then the assistant
	// apologises; ID is that of the apology.
	MindFailed struct {
		At
		Turn  int
		ID    string
		Fault contract.Fault
	}
	// SessionNamed holds the name that the language model's server gives the session.
	SessionNamed struct {
		At
		Session string
	}
	// TurnFailed reports that the mind or the mouth failed. The turn ends with the sentences so far.
	TurnFailed struct {
		At
		Turn  int
		Fault contract.Fault
	}
)

// Tick reports that the time returned by State.Wake has come.
type Tick struct{ At }

// Transcript is what the ear understood of an utterance. Begin and End are the limits of its voice, counted
// from the beginning of the chat.
type Transcript struct {
	Text       string
	Language   string // BCP 47; empty if unknown
	Begin, End time.Duration
	// Scores are the feelings in the words and the voice; nil if they were not measured. They are read-only.
	Scores *contract.EmotionScores
	// Feelings names the feelings that are clearly above their usual level, strongest first, for the model:
	// "tired, sad". It is empty if there are none.
	Feelings string
}

// Sentence is one sentence of the assistant. ID names it on the wire.
type Sentence struct {
	ID   string
	Text string
	// GoesOn means that the sentence was cut before its end; its rest is the next Sentence.
	GoesOn bool
	// First is set if this is the rest of a sentence: the ID of the sentence's beginning, under which the
	// history stores the whole. Before is the text of the sentence up to here. Both are empty where a
	// sentence begins.
	First, Before string
	// Dictated means that the client wrote the sentence.
	Dictated bool
	// Quick means that the sentence only fills the time until the answer comes. It is not part of the answer,
	// nor of the history.
	Quick bool
	// AnswerID names the approved answer that the sentence is part of; empty: it is part of none. Fixed means
	// that the sentence is a whole one of an approved answer, or of what is said if none fits, and holds no
	// value of a variable, so that its sound can be made ahead and kept.
	AnswerID string
	Fixed    bool
}

// Approved reports whether the sentence is to be spoken word for word, because it is one of an approved answer.
func (s Sentence) Approved() bool { return s.AnswerID != "" || s.Fixed }

// RowID returns the ID under which the history stores the sentence.
func (s Sentence) RowID() string { return cmp.Or(s.First, s.ID) }

// SoFar returns the sentence from its beginning to the end of this part.
func (s Sentence) SoFar() string { return strings.TrimSpace(s.Before + " " + s.Text) }

// Piece is a piece of the sound of a Sentence. The pieces of a sentence follow one another without anything
// between them.
type Piece struct {
	Sentence       Sentence
	Index          int           // counts the pieces of the sentence from 0
	PCM            []float32     // mono at contract.OutputRateHz; read-only
	SentenceLength time.Duration // length of the whole sentence's sound, as far as it is known
	Last           bool          // it is the sentence's last piece
	// Scores are the feelings in the sentence. The last piece has them, if they are measured.
	Scores *contract.EmotionScores
}

// Length returns how long the piece plays.
func (p Piece) Length() time.Duration {
	return time.Duration(len(p.PCM)) * time.Second / contract.OutputRateHz
}
