package record

import (
	"cmp"
	"encoding/json"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/store"
)

// outgoing is what follows from a fact: a message for the client, a new or a changed row of the history,
// sound, and a webhook notification.
type outgoing struct {
	message       contract.ServerMessage
	listenersOnly bool // only listeners receive the message
	sound         *contract.Sound
	number        int64 // counts the sounds
	record        *store.Event
	amended       *store.Event
	question      *store.Question
	metadata      string // of the chat

	notice       *store.Notice // webhook notification
	newSessionID string        // a new custom session ID
}

// outgoing returns what is written and sent for a fact. begin is when the assistant's sentence begins, if the
// fact is about one.
func (c Chat) outgoing(t turn.Publish, begin *int64) outgoing {
	row := func(typ store.EventType, role store.Role, text string) *store.Event {
		return &store.Event{
			Type:        typ,
			Role:        role,
			AtMS:        c.Begun.Add(t.At).UnixMilli(),
			MessageText: text,
		}
	}
	switch f := t.Fact.(type) {
	case turn.ChatBegan:
		r := row(store.ChatStart, store.System, "")
		r.Metadata = c.Notifications.Call.Metadata(nil)
		return outgoing{message: f.Metadata, record: r}
	case turn.SettingsApplied:
		// its size was checked in this form
		return outgoing{record: row(store.SessionSettings, store.System, wireJSON(f.Requested))}
	case turn.PromptApplied:
		return outgoing{record: row(store.SystemPrompt, store.System, f.Text)}
	case turn.RecordingBegan:
		return outgoing{record: row(store.UserRecordingStart, store.User, "")}
	case turn.UserSaid:
		return userSaid(f, row(store.UserMessage, store.User, f.Text))
	case turn.AssistantSaid:
		return assistantSaid(f, row(store.AgentMessage, store.Agent, f.SoFar()), begin)
	case turn.SoundSent:
		return outgoing{sound: &contract.Sound{
			ID:    f.ID,
			Index: f.Index,
			PCM:   f.PCM,
			Last:  f.Last,
		}}
	case turn.ProsodyMeasured:
		r := row(store.AssistantProsody, store.Agent, "")
		r.RelatedEventID, r.EmotionFeatures = f.RowID(), asJSON(f.Scores)
		return outgoing{record: r, message: contract.AssistantProsody{ID: f.ID, Models: inference(&f.Scores)}}
	case turn.AnswerEnded:
		return outgoing{message: contract.AssistantEnd{}}
	case turn.Interrupted:
		r := row(store.UserInterruption, store.User, "")
		return outgoing{message: contract.UserInterruption{Time: r.AtMS}, record: r}
	case turn.CutShort:
		r := row(store.AgentMessage, store.Agent, f.Text)
		r.ID = f.ID
		r.Metadata = asJSON(contract.MessageMetadata{
			FromText:    f.Dictated,
			Begin:       begin,
			Interrupted: true,
			Quick:       f.Quick,
			AnswerID:    f.AnswerID,
		})
		return outgoing{amended: r}
	case turn.QuestionAsked:
		return outgoing{question: &store.Question{
			AtMS:     c.Begun.Add(t.At).UnixMilli(),
			AnswerID: f.AnswerID,
			Words:    f.Words,
		}}
	case turn.ToolCalled:
		return toolCalled(f, row(store.FunctionCall, store.Agent, f.Arguments))
	case turn.ToolReplied:
		return toolReplied(f, row(store.FunctionCallResponse, store.Tool, f.Content))
	case turn.AssistantPaused:
		return outgoing{record: row(store.PauseOnset, store.System, "")}
	case turn.AssistantResumed:
		return outgoing{record: row(store.ResumeOnset, store.System, "")}
	case turn.FaultOccurred:
		m := f.Fault.Code.Error(f.Fault.Detail)
		m.RequestID = c.RequestID
		return outgoing{message: m}
	case turn.MetadataSet:
		return outgoing{metadata: c.Notifications.Call.Metadata(f.Metadata)}
	}
	return outgoing{}
}

func userSaid(f turn.UserSaid, row *store.Event) outgoing {
	when := contract.MillisecondInterval{Begin: f.Begin.Milliseconds(), End: f.End.Milliseconds()}
	scores := f.Scores
	if f.Typed || f.Interim {
		scores = nil // typed text has no sound, and interim text no final score
	}
	o := outgoing{message: contract.UserMessage{
		FromText: f.Typed,
		Interim:  f.Interim,
		Language: f.Language,
		Message:  contract.ChatMessage{Role: contract.RoleUser, Content: f.Text},
		Models:   inference(scores),
		Time:     when,
	}}
	if !f.Interim {
		if scores != nil {
			row.EmotionFeatures = asJSON(scores)
		}
		meta := contract.MessageMetadata{FromText: f.Typed, Language: f.Language, Time: &when}
		if f.Digits != "" {
			row.MessageText, meta.Words = f.Digits, f.Text
		}
		row.Metadata = asJSON(meta)
		o.record = row
	}
	return o
}

// inference returns scores in their form on the wire.
func inference(scores *contract.EmotionScores) contract.Inference {
	if scores == nil {
		return contract.Inference{}
	}
	return contract.Inference{Prosody: &contract.ProsodyInference{Scores: *scores}}
}

// assistantSaid returns a message and a row. The rest of a sentence is a message of its own, and its row
// replaces that of the beginning by the whole sentence.
func assistantSaid(f turn.AssistantSaid, row *store.Event, begin *int64) outgoing {
	row.ID = f.RowID()
	row.Metadata = asJSON(contract.MessageMetadata{
		FromText: f.Dictated,
		Begin:    begin,
		Quick:    f.Quick,
		AnswerID: f.AnswerID,
	})
	o := outgoing{message: contract.AssistantMessage{
		ID:              f.ID,
		FromText:        f.Dictated,
		IsQuickResponse: f.Quick,
		Message:         contract.ChatMessage{Role: contract.RoleAssistant, Content: f.Text},
	}}
	if f.First != "" {
		o.amended = row
	} else {
		o.record = row
	}
	return o
}

func toolType(t turn.Tool) contract.ToolType {
	if t.Builtin {
		return contract.ToolBuiltin
	}
	return contract.ToolFunction
}

func toolCalled(f turn.ToolCalled, row *store.Event) outgoing {
	m := contract.ToolCallMessage{
		ToolCallID:       f.ID,
		Name:             f.Name,
		Parameters:       f.Arguments,
		ResponseRequired: !f.Tool.OnBox,
		ToolType:         toolType(f.Tool),
	}
	required := m.ResponseRequired
	row.Metadata = asJSON(contract.ToolMetadata{
		ToolCallID:       m.ToolCallID,
		Name:             m.Name,
		ToolType:         m.ToolType,
		ResponseRequired: &required,
	})
	return outgoing{message: m, record: row}
}

// toolReplied tells the client how a call ended, unless the client itself answered it. Listeners receive the
// message in either case.
func toolReplied(f turn.ToolReplied, row *store.Event) outgoing {
	meta := contract.ToolMetadata{
		ToolCallID: f.CallID,
		Name:       f.Tool.Name,
		ToolType:   toolType(f.Tool),
		Error:      f.Error,
	}
	if f.Failed { // so that a resumed conversation can tell a failure from an empty answer
		meta.Error = cmp.Or(f.Error, "It failed.")
	}
	row.Metadata = asJSON(meta)
	o := outgoing{record: row, listenersOnly: !f.OnBox}
	if f.Failed {
		o.message = contract.ToolErrorMessage{
			ToolCallID: f.CallID,
			Error:      f.Error,
			Content:    f.Content,
			Level:      contract.LevelWarn,
			ToolType:   toolType(f.Tool),
		}
		return o
	}
	o.message = contract.ToolResponseMessage{
		ToolCallID: f.CallID,
		Content:    f.Content,
		ToolName:   f.Tool.Name,
		ToolType:   toolType(f.Tool),
	}
	return o
}

// asJSON encodes a value of texts, numbers and JSON, which cannot fail.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}
