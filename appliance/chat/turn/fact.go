package turn

import (
	"encoding/json"

	"parley/appliance/contract"
)

// A Fact is something that is so from now on: the history keeps it, the client
// is told of it, or both.
type Fact interface{ fact() }

type (
	// ChatBegan is the first fact of a chat.
	ChatBegan struct{ Metadata contract.ChatMetadata }
	// SettingsApplied says what the client asked for, which now holds.
	SettingsApplied struct{ Requested contract.SessionSettings }
	// PromptApplied is the system prompt that the chat begins with, its
	// variables filled in.
	PromptApplied struct{ Text string }
	// RecordingBegan says that the first audio of the user has come.
	RecordingBegan struct{}
	// UserSaid is what the user said or typed. Interim words may still change.
	UserSaid struct {
		Transcript
		Typed, Interim bool
	}
	// AssistantSaid is a sentence of the assistant, or the rest of one.
	AssistantSaid struct{ Sentence }
	// SoundSent is a piece of the sound of the sentence ID.
	SoundSent struct {
		ID    string
		Index int       // counts the pieces of the sentence from 0
		PCM   []float32 // mono at contract.OutputRateHz; nobody changes it any more
		Last  bool      // the sentence ends with it
	}
	// ProsodyMeasured says which feelings are in a sentence, of which all was sent.
	ProsodyMeasured struct {
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
	// FaultOccurred tells the client of a fault.
	FaultOccurred struct{ Fault contract.Fault }
	// MetadataSet is what the client wants to be kept with the chat.
	MetadataSet struct{ Metadata map[string]json.RawMessage }
)

func (ChatBegan) fact()        {}
func (SettingsApplied) fact()  {}
func (PromptApplied) fact()    {}
func (RecordingBegan) fact()   {}
func (UserSaid) fact()         {}
func (AssistantSaid) fact()    {}
func (SoundSent) fact()        {}
func (ProsodyMeasured) fact()  {}
func (AnswerEnded) fact()      {}
func (Interrupted) fact()      {}
func (CutShort) fact()         {}
func (AssistantPaused) fact()  {}
func (AssistantResumed) fact() {}
func (FaultOccurred) fact()    {}
func (MetadataSet) fact()      {}
