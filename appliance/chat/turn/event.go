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
		Metadata contract.ChatMetadata
		Asked    contract.SessionSettings
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
	// PauseAsked and ResumeAsked hold the assistant back and let it go on.
	PauseAsked  struct{ At }
	ResumeAsked struct{ At }
	// SettingsAsked are settings that the client wants to be in force; they are
	// checked as far as that needs no knowledge of the conversation.
	SettingsAsked struct {
		At
		Message contract.SessionSettings
	}
	// Faulty says that something went wrong of which the client is told, as a
	// message that could not be used.
	Faulty struct {
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
	// Unsent says how much of the sound that was sent still waits for the network.
	Unsent struct {
		At
		Length time.Duration
	}
	// HungUp means that the client closed the line or vanished.
	HungUp struct{ At }
	// Lost means that the client cannot be reached or the history not written;
	// of the latter the client is told. Code and Why are how the line is closed;
	// empty where nobody is there to read it.
	Lost struct {
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
	// Voiced says how much voice an utterance holds so far.
	Voiced struct {
		At
		Utterance int
		Voice     time.Duration
	}
	// Overheard is what was said so far, in the middle of it.
	Overheard struct {
		At
		Utterance int
		Words     Words
	}
	// Paused says that the voice of an utterance ended at End, for now. Revision
	// is that of the guess which is to come, unless the utterance is too Short
	// to hold a word: then none is.
	Paused struct {
		At
		Utterance, Revision int
		End                 time.Duration
		Short               bool
	}
	// Silent says that nothing but silence has come since the pause, up to what
	// was to be heard at Until. Stirs says that the newest of it holds a sound that
	// may become voice.
	Silent struct {
		At
		Utterance int
		Until     time.Duration
		Stirs     bool
	}
	// Guessed is what was said up to a pause.
	Guessed struct {
		At
		Utterance, Revision int
		Words               Words
	}
	// Finished says how likely it is, 0 to 1, that what was said up to the pause
	// of that revision is all that the user wants to say. It is asked where the
	// settings are Semantic.
	Finished struct {
		At
		Utterance, Revision int
		Probability         float64
	}
	// WentOn says that the pause of that revision is over: the voice came back
	// at Begin.
	WentOn struct {
		At
		Utterance, Revision int
		Begin               time.Duration
	}
)

// What mind and mouth bring. Each names the turn that it belongs to; that of
// an old turn is dropped.
type (
	// Thought is the next sentence of a reply.
	Thought struct {
		At
		Turn     int
		Sentence Sentence
		Began    time.Duration // when the model's first word of the reply came; 0: no model wrote it
	}
	// ThoughtEnded says that the reply has no more sentences.
	ThoughtEnded struct {
		At
		Turn int
	}
	// Spoken is a sentence as sound, or a piece of it.
	Spoken struct {
		At
		Turn  int
		Piece Piece
	}
	// Broke says that the mind has failed. What it had thought is said, and then
	// the assistant apologises; ID is that of the apology.
	Broke struct {
		At
		Turn  int
		ID    string
		Fault contract.Fault
	}
	// Named is the name that the language model's server gives the session.
	Named struct {
		At
		Session string
	}
	// Failed says that mind or mouth could not do their part; the turn is
	// over, as far as it came.
	Failed struct {
		At
		Turn  int
		Fault contract.Fault
	}
)

// Tick says that the time State.Wake asked for has come.
type Tick struct{ At }

// Words is what the ear made of an utterance. Begin and End are where its
// voice lies, counted from the beginning of the chat.
type Words struct {
	Text       string
	Language   string // BCP 47, empty when unknown
	Begin, End time.Duration
	// Scores are the feelings in the words and in the voice, nil where nobody
	// measured them. Nobody changes them.
	Scores *contract.EmotionScores
	// Sounds names those that are clearly above their usual level, the strongest
	// first, for the model: "tired, sad". It is empty where none is.
	Sounds string
}

// Sentence is one sentence of the assistant. ID names it on the wire.
type Sentence struct {
	ID   string
	Text string
	// GoesOn says that it was cut before its end: its rest is the next one.
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
