package record

import (
	"strings"
	"testing"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/store"
)

func TestSpeechIsARowAndAMessage(t *testing.T) {
	c := Chat{ID: "c", Begun: time.UnixMilli(1_700_000_000_000)}
	said := turn.UserSaid{Transcript: turn.Transcript{Text: "Hello.", Begin: time.Second, End: time.Second},
		Typed: true}
	o := c.outgoing(turn.Publish{At: time.Second, Fact: said}, nil)
	if r := o.record; r == nil || r.Type != store.UserMessage || r.Role != store.User || r.MessageText != "Hello." ||
		r.AtMS != 1_700_000_001_000 || r.Metadata != `{"from_text":true,"time":{"begin":1000,"end":1000}}` {
		t.Errorf("recorded %+v", r)
	}
	if m, ok := o.message.(contract.UserMessage); !ok || !m.FromText || m.Interim || m.Message.Content != "Hello." {
		t.Errorf("sent %+v", o.message)
	}
	said.Interim = true
	if o := c.outgoing(turn.Publish{Fact: said}, nil); o.record != nil || o.message == nil {
		t.Errorf("an interim transcript produces %+v", o)
	}
}

func TestSettingsAreRecordedAsSent(t *testing.T) {
	angles := strings.Repeat("<", 1000) // not as \u003c
	asked := contract.SessionSettings{SystemPrompt: &angles}
	o := Chat{}.outgoing(turn.Publish{Fact: turn.SettingsApplied{Requested: asked}},
		nil)
	if n := len(o.record.MessageText); n > 1100 {
		t.Errorf("1000 characters are recorded in %d bytes", n)
	}
	asked = contract.SessionSettings{VoiceID: "jenny"}
	o = Chat{}.outgoing(turn.Publish{Fact: turn.SettingsApplied{Requested: asked}}, nil)
	if o.message != nil || o.record == nil || o.record.MessageText != `{"type":"session_settings","voice_id":"jenny"}` {
		t.Errorf("%+v", o.record)
	}
}

// An error names the request, which identifies the chat in the box's log.
func TestFaultsNameTheirRequest(t *testing.T) {
	c := Chat{RequestID: "r"}
	o := c.outgoing(turn.Publish{Fact: turn.FaultOccurred{Fault: contract.Fault{Code: contract.NotSpoken,
		Detail: "Again."}}},
		nil)
	if m, ok := o.message.(contract.WebSocketError); !ok || m.RequestID != "r" || m.Code != contract.NotSpoken ||
		o.record != nil {
		t.Errorf("%+v", o)
	}
}

// The rest of a sentence is a message of its own, and extends the row of the beginning to the whole sentence.
// Its feelings belong to that row.
func TestTheRestOfASentenceExtendsItsRow(t *testing.T) {
	var c Chat
	var a playbackClock
	first := turn.Sentence{ID: "a", Text: "Sure,", GoesOn: true}
	rest := turn.Sentence{
		ID:     "b",
		Text:   "it is open.",
		First:  "a",
		Before: "Sure,",
	}
	tell := func(at time.Duration, f turn.Fact) outgoing {
		published := turn.Publish{At: at, Fact: f}
		return c.outgoing(published, a.startOf(published))
	}
	begun := tell(time.Second, turn.AssistantSaid{Sentence: first})
	o := tell(3*time.Second, turn.AssistantSaid{Sentence: rest})
	if m, ok := o.message.(contract.AssistantMessage); !ok || m.ID != "b" || m.Message.Content != "it is open." {
		t.Errorf("sent %+v", o.message)
	}
	if r := o.amended; r == nil || o.record != nil || r.ID != "a" || r.MessageText != "Sure, it is open." ||
		r.Metadata != begun.record.Metadata {
		t.Errorf("wrote %+v and %+v, before %+v", o.record, o.amended, begun.record)
	}
	o = tell(4*time.Second, turn.ProsodyMeasured{Sentence: rest})
	if o.record.RelatedEventID != "a" || o.message.(contract.AssistantProsody).ID != "b" {
		t.Errorf("of its feelings: %+v", o)
	}
}

func TestKeysOfACallerAreInTheHistoryAsTheyAre(t *testing.T) {
	words := "The caller pressed 4 2."
	o := Chat{}.outgoing(turn.Publish{Fact: turn.UserSaid{
		Transcript: turn.Transcript{Text: words},
		Typed:      true,
		Digits:     "42#",
	}}, nil)
	if o.record.MessageText != "42#" || o.message.(contract.UserMessage).Message.Content != words {
		t.Errorf("history %q, message %+v", o.record.MessageText, o.message)
	}
	if back := History([]store.Event{*o.record}); len(back) != 1 || back[0].Text != words {
		t.Errorf("a resumed chat reads %+v", back)
	}
}

func TestAChatByTelephoneNamesTheCaller(t *testing.T) {
	c := Chat{Notifications: Notifications{Call: &contract.Call{CallerNumber: "+491"}}}
	for _, f := range []turn.Fact{turn.ChatBegan{}, turn.MetadataSet{}} {
		o := c.outgoing(turn.Publish{Fact: f}, nil)
		got := o.metadata
		if o.record != nil {
			got = o.record.Metadata
		}
		if !strings.Contains(got, `"twilio":{"caller_number":"+491"}`) {
			t.Errorf("%T: %s", f, got)
		}
	}
}

// The history names the approved answer of a sentence, also where it was interrupted; the client's message does not.
func TestTheHistoryNamesTheApprovedAnswer(t *testing.T) {
	line := turn.Sentence{ID: "a", Text: "We open at ten.", AnswerID: "opening-hours", Fixed: true}
	said := Chat{}.outgoing(turn.Publish{Fact: turn.AssistantSaid{Sentence: line}}, nil)
	if want := `{"from_text":false,"answer_id":"opening-hours"}`; said.record.Metadata != want {
		t.Errorf("metadata %s, want %s", said.record.Metadata, want)
	}
	if sent := wireJSON(said.message); strings.Contains(sent, "opening-hours") {
		t.Errorf("sent %s", sent)
	}
	cut := Chat{}.outgoing(turn.Publish{Fact: turn.CutShort{Sentence: line}}, nil)
	if want := `{"from_text":false,"interrupted":true,"answer_id":"opening-hours"}`; cut.amended.Metadata != want {
		t.Errorf("metadata %s after an interruption, want %s", cut.amended.Metadata, want)
	}
}
