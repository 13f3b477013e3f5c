package turn

import (
	"cmp"
	"strings"
	"time"

	"parley/appliance/contract"
)

// An Event is something that happened to a conversation. Every event carries
// the time since the conversation began: time comes in with events and in no
// other way.
type Event interface{ Time() time.Duration }

// At is when an event happened, counted from the beginning of the chat.
type At time.Duration

// Time is when it happened.
func (a At) Time() time.Duration { return time.Duration(a) }

// What the line brings.
type (
	// Opened is the first event. Asked is what the client asked for at connect,
	// which holds already.
	Opened struct {
		At
		Metadata  contract.ChatMetadata
		Requested contract.SessionSettings
	}
	// Typed is text that the user wrote instead of saying it.
	Typed struct {
		At
		Text string
	}
	// Dictated is text that the client wants the assistant to say.
	Dictated struct {
		At
		Sentences []Sentence
	}
	// PauseRequested and ResumeRequested hold the assistant back and let it go on.
	PauseRequested  struct{ At }
	ResumeRequested struct{ At }
	// SettingsRequested are settings that the client wants to be in force; they are
	// checked as far as that needs no knowledge of the conversation.
	SettingsRequested struct {
		At
		Message contract.SessionSettings
	}
	// FaultReported says that something went wrong of which the client is told, as a
	// message that could not be used.
	FaultReported struct {
		At
		Fault contract.Fault
	}
	// Played says how much of the sentence ID the client has played by now. It
	// comes from lines that know; for others the clock counts.
	Played struct {
		At
		ID   string
		UpTo time.Duration
	}
	// SendDelayed says how much of the sound that was sent still waits for the network.
	SendDelayed struct {
		At
		Length time.Duration
	}
	// HungUp means that the client closed the line or vanished.
	HungUp struct{ At }
	// Aborted means that the client cannot be reached or the history not written;
	// of the latter the client is told. Code and Why are how the line is closed;
	// empty where nobody is there to read it.
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

// What the ear brings. Utterances count from 1; Revision counts the guesses at
// one utterance, each made at a pause in it.
type (
	// MicrophoneOpened says that the first audio has come.
	MicrophoneOpened struct{ At }
	// VoiceHeard says how much voice an utterance holds so far.
	VoiceHeard struct {
		At
		Utterance int
		Voice     time.Duration
	}
	// PartlyTranscribed is what was said so far, in the middle of it.
	PartlyTranscribed struct {
		At
		Utterance  int
		Transcript Transcript
	}
	// VoicePaused says that the voice of an utterance ended at End, for now. Revision
	// is that of the guess which is to come, unless the utterance is too Short
	// to hold a word: then none is.
	VoicePaused struct {
		At
		Utterance, Revision int
		End                 time.Duration
		Short               bool
	}
	// SilenceContinued says that nothing but silence has come since the pause, up to what
	// was to be heard at Until. Stirs says that the newest of it holds a sound that
	// may become voice.
	SilenceContinued struct {
		At
		Utterance  int
		Until      time.Duration
		MayBeVoice bool
	}
	// Transcribed is what was said up to a pause.
	Transcribed struct {
		At
		Utterance, Revision int
		Transcript          Transcript
	}
	// EndJudged says how likely it is, 0 to 1, that what was said up to the pause
	// of that revision is all that the user wants to say. It is asked where the
	// settings are Semantic.
	EndJudged struct {
		At
		Utterance, Revision int
		Probability         float64
	}
	// VoiceResumed says that the pause of that revision is over: the voice came back
	// at Begin.
	VoiceResumed struct {
		At
		Utterance, Revision int
		Begin               time.Duration
	}
)

// What mind and mouth bring. Each names the turn that it belongs to; that of
// an old turn is dropped.
type (
	// SentenceThought is the next sentence of a reply.
	SentenceThought struct {
		At
		Turn     int
		Sentence Sentence
		Began    time.Duration // when the model's first word of the reply came; 0: no model wrote it
	}
	// ThinkingEnded says that the reply has no more sentences.
	ThinkingEnded struct {
		At
		Turn int
	}
	// SoundMade is a sentence as sound, or a piece of it.
	SoundMade struct {
		At
		Turn  int
		Piece Piece
	}
	// MindFailed says that the mind has failed. What it had thought is said, and then
	// the assistant apologises; ID is that of the apology.
	MindFailed struct {
		At
		Turn  int
		ID    string
		Fault contract.Fault
	}
	// SessionNamed is the name that the language model's server gives the session.
	SessionNamed struct {
		At
		Session string
	}
	// TurnFailed says that mind or mouth could not do their part; the turn is
	// over, as far as it came.
	TurnFailed struct {
		At
		Turn  int
		Fault contract.Fault
	}
)

// Tick says that the time State.Wake asked for has come.
type Tick struct{ At }

// Transcript is what the ear made of an utterance. Begin and End are where its
// voice lies, counted from the beginning of the chat.
type Transcript struct {
	Text       string
	Language   string // BCP 47, empty when unknown
	Begin, End time.Duration
	// Scores are the feelings in the words and in the voice, nil where nobody
	// measured them. Nobody changes them.
	Scores *contract.EmotionScores
	// Feelings names those that are clearly above their usual level, the strongest
	// first, for the model: "tired, sad". It is empty where none is.
	Feelings string
}

// Sentence is one sentence of the assistant. ID names it on the wire.
type Sentence struct {
	ID   string
	Text string
	// AfterTool says that it was cut before its end: its rest is the next one.
	GoesOn bool
	// First is the ID of the beginning of a sentence of which this is the rest; the
	// history has all of the sentence under that. Before is what was said of it
	// until here. Both are empty where a sentence begins.
	First, Before string
	// Dictated says that the client wrote it.
	Dictated bool
	// Quick says that it only fills the time until the answer comes: it is no part
	// of the answer, nor of what the model remembers.
	Quick bool
}

// Row is the ID under which the history has the sentence.
func (s Sentence) Row() string { return cmp.Or(s.First, s.ID) }

// SoFar is all of the sentence up to the end of this part.
func (s Sentence) SoFar() string { return strings.TrimSpace(s.Before + " " + s.Text) }

// Piece is a piece of the sound of a Sentence. The pieces of one follow one
// another, and nothing else comes between them.
type Piece struct {
	Sentence Sentence
	Index    int           // counts the pieces of the sentence from 0
	PCM      []float32     // mono at contract.OutputRateHz; nobody changes it any more
	Whole    time.Duration // how long all of the sentence plays, as far as that is known
	Last     bool          // the sentence ends with it
	// Scores are the feelings in the sentence; the Last piece has them, where
	// they are measured.
	Scores *contract.EmotionScores
}

// Length is how long the piece plays.
func (p Piece) Length() time.Duration {
	return time.Duration(len(p.PCM)) * time.Second / contract.OutputRateHz
}
