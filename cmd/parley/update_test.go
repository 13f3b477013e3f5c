package main

import (
	"slices"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

func TestUpdateNeedsAFileAndASensibleWait(t *testing.T) {
	for _, cmd := range []updateCmd{
		{},
		{File: "f", Wait: -time.Second},
		{File: "f", Wait: 25 * time.Hour},
	} {
		if cmd.Validate() == nil {
			t.Errorf("%+v is allowed", cmd)
		}
	}
	for _, cmd := range []updateCmd{{File: "f"}, {Stage: resumeStage}} {
		if err := cmd.Validate(); err != nil {
			t.Errorf("%+v: %v", cmd, err)
		}
	}
}

// An answer that ends before the question was heard, such as a greeting, is none.
func TestTurnCountsWhenWordsWereHeardAndTheAnswerEnded(t *testing.T) {
	user := func(text string, interim bool) contract.UserMessage {
		return contract.UserMessage{Interim: interim, Message: contract.ChatMessage{Content: text}}
	}
	tone := slices.Repeat([]float32{0.5, -0.5}, chatRateHz/10)
	var turn turnCheck
	for _, step := range []struct {
		message      contract.ServerMessage
		heard, ended bool
	}{
		{contract.AssistantEnd{}, false, false},
		{user("what is", true), false, false},
		{user(" … ", false), false, false},
		{user("What is the capital of France?", false), true, false},
		{contract.AudioOutput{Data: audio.EncodeWAV(tone, chatRateHz)}, true, false},
		{contract.AssistantEnd{}, true, true},
	} {
		if err := turn.receive(received{message: step.message}); err != nil {
			t.Fatal(err)
		}
		if turn.heard != step.heard || turn.ended != step.ended {
			t.Errorf("after %T: heard %v, ended %v", step.message, turn.heard, turn.ended)
		}
	}
	if !slices.ContainsFunc(turn.answer, audible) {
		t.Errorf("the sound of the answer has %d samples, none audible", len(turn.answer))
	}
	if turn.receive(received{message: contract.WebSocketError{Code: "E0100"}}) == nil {
		t.Error("an error of the box does not end the check")
	}
}
