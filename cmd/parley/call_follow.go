package main

import (
	"context"
	"fmt"
	"time"

	"parley/appliance/contract"
)

// callFollower prints what happens in a call.
type callFollower struct {
	console *console
	json    bool
	box     *phoneBox
	say     string // said when the chat begins
	begun   time.Time

	state    contract.PhoneCallState
	hold     bool
	chat     *chatConn // nil before the chat, and if nothing can be heard
	listened bool      // listening to the chat was tried
}

// callLine is a line of a call as --json prints it: an event of the call, or words.
type callLine struct {
	AtMS int64 `json:"at_ms"`
	// Event is a state of a call, or on_hold.
	Event string              `json:"event,omitempty"`
	Who   string              `json:"who,omitempty"` // person or assistant
	Text  string              `json:"text,omitempty"`
	Call  *contract.PhoneCall `json:"call,omitempty"` // with an event
}

// follow prints what happens until the call has ended, and returns its last state.
func (f *callFollower) follow(ctx context.Context, call contract.PhoneCall) (contract.PhoneCall, error) {
	messages := make(chan received, 64)
	look := time.NewTicker(callPoll)
	defer look.Stop()
	for {
		if err := f.show(ctx, call, messages); err != nil || call.State == contract.CallEnded {
			return call, err
		}
		select {
		case m := <-messages:
			if err := f.words(m); err != nil {
				return call, err
			}
		case <-look.C:
			now, err := f.box.call(ctx, call.CallID)
			if err != nil {
				return call, err
			}
			if call = now; call.State == contract.CallEnded {
				f.rest(messages)
			}
		case <-ctx.Done():
			return call, context.Cause(ctx)
		}
	}
}

// rest prints the words that came before the end of the call.
func (f *callFollower) rest(messages <-chan received) {
	for f.chat != nil {
		select {
		case m := <-messages:
			if f.words(m) != nil {
				return
			}
		case <-time.After(callPoll):
			return
		}
	}
}

// show prints what is new in the state of the call, and listens to its chat as soon as
// there is one.
func (f *callFollower) show(ctx context.Context, call contract.PhoneCall, messages chan<- received) error {
	if call.State != f.state {
		f.state = call.State
		if err := f.event(string(call.State), stateInWords(call), call); err != nil {
			return err
		}
	}
	if call.OnHold != f.hold {
		f.hold = call.OnHold
		event, words := "on_hold", "on hold"
		if !f.hold {
			event, words = "talking", "off hold"
		}
		if err := f.event(event, words, call); err != nil {
			return err
		}
	}
	if call.ChatID == "" || f.listened || call.State == contract.CallEnded {
		return nil
	}
	f.listened = true
	chat, err := f.box.listen(ctx, call.ChatID)
	if err != nil { // such as a key of another account; the call goes on
		fmt.Fprintf(f.console.err, "parley: the words are not shown: %v\n", err)
		return nil
	}
	f.chat = chat
	go chat.receive(ctx, messages)
	if f.say != "" {
		return chat.send(ctx, contract.AssistantInput{Text: f.say})
	}
	return nil
}

// words prints a message of the chat.
func (f *callFollower) words(a received) error {
	if a.err != nil { // the state of the call says how it ended
		f.chat = nil
		return nil
	}
	switch m := a.message.(type) {
	case contract.UserMessage:
		if !m.Interim {
			return f.line(callLine{Who: "person", Text: m.Message.Content})
		}
	case contract.AssistantMessage:
		return f.line(callLine{Who: "assistant", Text: m.Message.Content})
	case contract.UserInterruption:
		return f.line(callLine{Text: "(interrupted)"})
	case contract.ToolCallMessage:
		return f.line(callLine{Text: fmt.Sprintf("(tool %s %s)", m.Name, m.Parameters)})
	case contract.WebSocketError:
		fmt.Fprintf(f.console.err, "the box: %s %s: %s\n", m.Code, m.Slug, m.Message)
	}
	return nil
}

func (f *callFollower) event(event, words string, call contract.PhoneCall) error {
	l := callLine{Event: event, Call: &call}
	if !f.json {
		l.Text = words
	}
	return f.line(l)
}

func (f *callFollower) line(l callLine) error {
	at := time.Since(f.begun)
	if f.json {
		l.AtMS = at.Milliseconds()
		return f.console.json(l)
	}
	_, err := fmt.Fprintf(f.console.out, "%7.2f s  %-9s  %s\n", at.Seconds(), l.Who, l.Text)
	return err
}

// stateInWords says how far a call has come.
func stateInWords(call contract.PhoneCall) string {
	switch call.State {
	case contract.CallRinging:
		return "calling " + call.To + ", call " + call.CallID
	case contract.CallAnswered:
		return "answered"
	case contract.CallTalking:
		if call.AnsweredBy == contract.ByMailbox {
			return "a mailbox answered, chat " + call.ChatID
		}
		return "a person answered, chat " + call.ChatID
	case contract.CallTransferring:
		return "handing over"
	case contract.CallJoined:
		return "handed over: two people talk"
	}
	if call.AnsweredOn == 0 {
		return "ended: " + unanswered(call)
	}
	words := fmt.Sprintf("ended after %v", time.Duration(call.DurationSecs)*time.Second)
	if call.EndReason != "" {
		words += ": " + call.EndReason
	}
	return words
}

// hangUp ends the call after a signal, and waits for its end.
func (f *callFollower) hangUp(ctx context.Context, call contract.PhoneCall) (contract.PhoneCall, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangUpTimeout)
	defer cancel()
	if err := f.box.hangUp(ctx, call.CallID); err != nil {
		return call, err
	}
	for {
		now, err := f.box.call(ctx, call.CallID)
		if err != nil {
			return call, err
		}
		if call = now; call.State == contract.CallEnded {
			return call, f.show(ctx, call, nil)
		}
		select {
		case <-time.After(callPoll):
		case <-ctx.Done():
			return call, fmt.Errorf("the box did not end call %s within %v", call.CallID, hangUpTimeout)
		}
	}
}
