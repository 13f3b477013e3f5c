package record

import (
	"cmp"
	"encoding/json"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/store"
)

// outgoing is what a fact brings: a message for the client, a row for the
// history, or both; sound; a change to what the history has; a notice for webhooks.
type outgoing struct {
	message       contract.ServerMessage
	listenersOnly bool // the message is only for who listens along
	sound         *contract.Sound
	number        int64 // of sounds: they count up
	record        *store.Event
	amended       *store.Event
	metadata      string // of the chat

	notice  *store.Notice // for those who are told of the chat elsewhere
	session string        // the client's id of it, where that is a new one
}

// outgoing says what is written of a fact, and what is sent. begin is when the
// sentence begins that it is of, where it is of one of the assistant's.
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
		return outgoing{message: f.Metadata, record: row(store.ChatStart, store.System, "")}
	case turn.SettingsApplied:
		// its size was checked so
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
		r.RelatedEventID, r.EmotionFeatures = f.Row(), asJSON(f.Scores)
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
		})
		return outgoing{amended: r}
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
		return outgoing{metadata: asJSON(f.Metadata)}
	}
	return outgoing{}
}

func userSaid(f turn.UserSaid, row *store.Event) outgoing {
	when := contract.MillisecondInterval{Begin: f.Begin.Milliseconds(), End: f.End.Milliseconds()}
	scores := f.Scores
	if f.Typed || f.Interim {
		scores = nil // what is written has no sound, and what may still change no score
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
		row.Metadata = asJSON(contract.MessageMetadata{FromText: f.Typed, Language: f.Language, Time: &when})
		o.record = row
	}
	return o
}

// inference is what was measured, on the wire.
func inference(scores *contract.EmotionScores) contract.Inference {
	if scores == nil {
		return contract.Inference{}
	}
	return contract.Inference{Prosody: &contract.ProsodyInference{Scores: *scores}}
}

// assistantSaid is a message and a row. The rest of a sentence is a message of its
// own, and makes the row of the beginning that of the whole.
func assistantSaid(f turn.AssistantSaid, row *store.Event, begin *int64) outgoing {
	row.ID = f.Row()
	row.Metadata = asJSON(contract.MessageMetadata{FromText: f.Dictated, Begin: begin, Quick: f.Quick})
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

// toolReplied tells the client how a call ended if it was not the client that
// answered it; who listens along is told in any case.
func toolReplied(f turn.ToolReplied, row *store.Event) outgoing {
	meta := contract.ToolMetadata{
		ToolCallID: f.CallID,
		Name:       f.Tool.Name,
		ToolType:   toolType(f.Tool),
		Error:      f.Error,
	}
	if f.Failed { // by this a resumed conversation knows it from an answer without words
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

// asJSON writes what is made of texts, numbers and JSON, which never fails.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}
