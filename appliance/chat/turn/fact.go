package turn

import (
	"encoding/json"

	"parley/appliance/contract"
)

// A Fact is something that holds from now on. The history stores it, the client receives it, or both.
type Fact interface{ fact() }

type (
	// ChatBegan is the first fact of a chat.
	ChatBegan struct{ Metadata contract.ChatMetadata }
	// SettingsApplied holds the settings that the client asked for and that are now in force.
	SettingsApplied struct{ Requested contract.SessionSettings }
	// PromptApplied holds the system prompt that the chat begins with, its variables filled in.
	PromptApplied struct{ Text string }
	// RecordingBegan reports that the first audio of the user has come.
	RecordingBegan struct{}
	// UserSaid holds what the user said or typed. Interim words may still change.
	UserSaid struct {
		Transcript
		Typed, Interim bool
		Digits         string // that the caller pressed; the transcript says them in words
	}
	// AssistantSaid holds a sentence of the assistant, or the rest of one.
	AssistantSaid struct{ Sentence }
	// SoundSent holds a piece of the sound of the sentence ID.
	SoundSent struct {
		ID    string
		Index int       // counts the pieces of the sentence from 0
		PCM   []float32 // mono at contract.OutputRateHz; read-only
		Last  bool      // it is the sentence's last piece
	}
	// ProsodyMeasured holds the feelings in a sentence whose sound has been sent.
	ProsodyMeasured struct {
		Sentence
		Scores contract.EmotionScores
	}
	// AnswerEnded reports that everything of the assistant's turn has been sent.
	AnswerEnded struct{}
	// Interrupted reports that the user began to speak over the assistant.
	Interrupted struct{}
	// QuestionAsked reports that the assistant gives an approved answer of the config. If none fits, AnswerID
	// is empty and Words are what the user said.
	QuestionAsked struct{ AnswerID, Words string }
	// CutShort replaces a sentence by the part of it that was heard.
	CutShort struct{ Sentence }
	// AssistantPaused and AssistantResumed report whether the assistant may answer.
	AssistantPaused  struct{}
	AssistantResumed struct{}
	// FaultOccurred reports a fault to the client.
	FaultOccurred struct{ Fault contract.Fault }
	// MetadataSet holds metadata that the client wants to be stored with the chat.
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
func (QuestionAsked) fact()    {}
func (CutShort) fact()         {}
func (AssistantPaused) fact()  {}
func (AssistantResumed) fact() {}
func (FaultOccurred) fact()    {}
func (MetadataSet) fact()      {}
