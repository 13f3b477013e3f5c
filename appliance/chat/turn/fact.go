package turn

import (
	"encoding/json"

	"parley/appliance/contract"
)

// A Fact is something that is so from now on: the history keeps it, the client
// is told of it, or both.
type Fact interface{ fact() }

type (
	// Began is the first fact of a chat.
	Began struct{ Metadata contract.ChatMetadata }
	// SettingsApplied says what the client asked for, which now holds.
	SettingsApplied struct{ Asked contract.SessionSettings }
	// PromptApplied is the system prompt that the chat begins with, its
	// variables filled in.
	PromptApplied struct{ Text string }
	// RecordingBegan says that the first audio of the user has come.
	RecordingBegan struct{}
	// UserSaid is what the user said or typed. Interim words may still change.
	UserSaid struct {
		Words
		Typed, Interim bool
	}
	// AssistantSaid is a sentence of the assistant, or the rest of one.
	AssistantSaid struct{ Sentence }
	// Sounded is a piece of the sound of the sentence ID.
	Sounded struct {
		ID    string
		Index int       // counts the pieces of the sentence from 0
		PCM   []float32 // mono at contract.OutputRateHz; nobody changes it any more
		Last  bool      // the sentence ends with it
	}
	// AssistantSounded says which feelings are in a sentence, of which all was sent.
	AssistantSounded struct {
		Sentence
		Scores contract.EmotionScores
	}
	// AnswerEnded says that the assistant's turn is over: all of it was sent.
	AnswerEnded struct{}
	// Interrupted says that the user began to speak over the assistant.
	Interrupted struct{}
	// CutShort puts what was heard of a sentence in place of the whole.
	CutShort struct{ Sentence }
	// AssistantPaused and AssistantResumed say whether the assistant may
	// answer.
	AssistantPaused  struct{}
	AssistantResumed struct{}
	// WentWrong tells the client of a fault.
	WentWrong struct{ Fault contract.Fault }
	// Noted is what the client wants to be kept with the chat.
	Noted struct{ Metadata map[string]json.RawMessage }
)

func (Began) fact()            {}
func (SettingsApplied) fact()  {}
func (PromptApplied) fact()    {}
func (RecordingBegan) fact()   {}
func (UserSaid) fact()         {}
func (AssistantSaid) fact()    {}
func (Sounded) fact()          {}
func (AssistantSounded) fact() {}
func (AnswerEnded) fact()      {}
func (Interrupted) fact()      {}
func (CutShort) fact()         {}
func (AssistantPaused) fact()  {}
func (AssistantResumed) fact() {}
func (WentWrong) fact()        {}
func (Noted) fact()            {}
