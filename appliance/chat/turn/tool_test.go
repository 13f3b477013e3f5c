package turn

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"parley/appliance/contract"
)

func weather() Tool {
	return Tool{
		Name:        "weather",
		Description: "What the weather is.",
		Parameters:  `{"type":"object"}`,
		Fallback:    "The weather is not known.",
	}
}

func withTools(tools ...Tool) func(*Settings) {
	return func(s *Settings) { s.Tools = tools }
}

func calls(turn int, id, name string) ToolRequested {
	return ToolRequested{Turn: turn, Call: Call{ID: id, Name: name, Arguments: `{"day":"today"}`}}
}

const (
	calledWeather = `tool_call weather {"day":"today"}`
	answered      = "tool_response weather: Rain."
)

func TestAToolAnswersAndTheModelGoesOn(t *testing.T) {
	b := begin(t, withTools(weather()))
	b.after(Typed{Text: "Does it rain?"})
	want(t, b.after(calls(1, "a", "weather")), calledWeather)
	want(t, b.after(ThinkingEnded{Turn: 1})) // from the mind that called
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Rain."}), answered, "go on 1: Rain.")
	want(t, b.after(sentenceThought(1, "It rains.")), "speak 1: It rains.")
	want(t, b.after(ThinkingEnded{Turn: 1}), "done 1")
	want(t, b.after(clip(1, "It rains.", time.Second)), "assistant: It rains.", "audio id-It rains.", "assistant_end")
	got := b.state.Conversation().History
	called, answer := Entry{
		Role: ToolCall,
		ID:   "a",
		Name: "weather",
		Text: `{"day":"today"}`,
	}, Entry{Role: ToolResult, ID: "a", Text: "Rain."}
	if len(got) != 4 || !reflect.DeepEqual(got[1], called) || !reflect.DeepEqual(got[2], answer) {
		t.Errorf("the model will see %+v", got)
	}
}

// A tool that only does something often answers without text, which is not a failure.
func TestAToolAnswerWithoutTextIsNoFailure(t *testing.T) {
	for _, content := range []string{"", " \n"} {
		b := begin(t, withTools(weather()))
		b.after(Typed{Text: "Switch it on."}, calls(1, "a", "weather"))
		want(t, b.after(ToolAnswered{CallID: "a", Content: content}), "tool_response weather: "+content,
			"go on 1: "+EmptyResult)
	}
}

func TestASpeculativeReplyCallsNoTool(t *testing.T) {
	b := begin(t, withTools(weather()))
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, Transcribed{Utterance: 1, Revision: 1,
		Transcript: says("Does it rain?")})
	want(t, b.after(calls(1, "a", "weather")))
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Rain."}), "error E0731")
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}), "user: Does it rain?", calledWeather)
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Rain."}), answered, "go on 1: Rain.")

	b = begin(t, withTools(weather())) // and never if the user goes on
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, Transcribed{Utterance: 1, Revision: 1,
		Transcript: says("Does it")},
		calls(1, "a", "weather"),
		VoiceResumed{Utterance: 1, Revision: 1}, VoiceHeard{Utterance: 1, Voice: 2 * time.Second})
	want(t, b.after(Transcribed{Utterance: 1, Revision: 2, Transcript: says("Does it snow?")}), "cancel 1",
		"prepare 2: Does it snow?")
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 2}), "user: Does it snow?")
}

func TestAnUnexpectedToolAnswerIsAnError(t *testing.T) {
	b := begin(t, withTools(weather()))
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Rain."}), "error E0731")
	b.after(Typed{Text: "Does it rain?"}, calls(1, "a", "weather"))
	want(t, b.after(ToolAnswered{CallID: "b", Content: "Rain."}), "error E0731")
	b.after(ToolAnswered{CallID: "a", Content: "Rain."})
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Snow."}), "error E0731")
}

func TestTheModelSeesTheContentOrTheFallbackOfAToolError(t *testing.T) {
	for content, want1 := range map[string]string{"Ask tomorrow.": "go on 1: Ask tomorrow.",
		"": "go on 1: The weather is not known."} {
		b := begin(t, withTools(weather()))
		b.after(Typed{Text: "Does it rain?"}, calls(1, "a", "weather"))
		want(t, b.after(ToolAnswered{
			CallID:  "a",
			Failed:  true,
			Error:   "server down",
			Content: content,
		}), "tool_error weather: "+want1[len("go on 1: "):], want1)
	}
}

func TestAToolThatFailsWithoutAFallbackIsApologisedFor(t *testing.T) {
	bare := weather()
	bare.Fallback = ""
	b := begin(t, withTools(bare))
	b.after(Typed{Text: "Does it rain?"}, calls(1, "a", "weather"))
	want(t, b.after(ToolAnswered{CallID: "a", Failed: true}), "tool_error weather: ",
		"speak 1: I'm sorry, that did not work.", "done 1")
	want(t, b.after(clip(1, "I'm sorry, that did not work.", time.Second))[2:], "assistant_end")
}

// A server's model that keeps calling although it was asked for words has failed.
func TestAModelThatOnlyCallsIsStopped(t *testing.T) {
	b := begin(t, withTools(weather()))
	b.after(Typed{Text: "Does it rain?"})
	for n := 1; n <= MaxCalls; n++ {
		id := string(rune('a' + n))
		want(t, b.after(calls(1, id, "weather")), calledWeather)
		b.after(ToolAnswered{CallID: id, Content: "Rain."})
	}
	want(t, b.after(calls(1, "z", "weather")), "error E0719", "speak 1: "+sorry, "done 1")
	want(t, b.after(ToolAnswered{CallID: "z", Content: "Rain."}), "error E0731")
	b.after(clip(1, sorry, time.Second), Typed{Text: "And now?"})
	want(t, b.after(calls(2, "y", "weather")), calledWeather) // another turn may call again
}

func TestAToolThatTakesTooLongIsGivenUp(t *testing.T) {
	b := begin(t, withTools(weather()), func(s *Settings) { s.Filler = 0 })
	b.after(Typed{Text: "Does it rain?"}, calls(1, "a", "weather"))
	at, _ := b.state.Wake()
	if late := at - b.now; late != DefaultToolLimit {
		t.Fatalf("the tool's time limit is %v", late)
	}
	b.now = at
	want(t, b.after(Tick{}), "tool_error weather: The weather is not known.", "go on 1: The weather is not known.")
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Rain."}), "error E0731")
}

func TestTheAssistantSaysThatAToolTakesLong(t *testing.T) {
	b := begin(t, withTools(weather()))
	b.after(Typed{Text: "Does it rain?"}, calls(1, "a", "weather"))
	b.now = b.wake()
	if b.now > 2*time.Second {
		t.Fatalf("only after %v", b.now)
	}
	want(t, b.after(Tick{}), "speak 1: One moment, please.")
	b.after(clip(1, "One moment, please.", time.Second))
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Rain."}), answered, "go on 1: Rain.")
	if at := b.wake(); at < 60*time.Second {
		t.Errorf("the chat wakes again at %v", at)
	}
}

// After the tool the user waits for the model, which reads the tool's answer: many entries take a slow
// machine seconds.
func TestTheAssistantSaysThatReadingAnAnswerTakesLong(t *testing.T) {
	asked := func() *testChat {
		b := begin(t, withTools(weather()))
		b.after(Typed{Text: "Does it rain?"}, calls(1, "a", "weather"))
		b.wait(time.Second).after(ToolAnswered{CallID: "a", Content: "Rain."})
		return b
	}
	b := asked()
	if more := b.wake() - b.now; more > DefaultFiller-time.Second {
		t.Fatalf("the filler is due after %v more", more)
	}
	b.now = b.wake()
	want(t, b.after(Tick{}), "speak 1: One moment, please.")
	b.after(clip(1, "One moment, please.", time.Second))
	if at := b.wake(); at < 60*time.Second {
		t.Errorf("a second filler is due at %v", at)
	}
	want(t, b.after(sentenceThought(1, "It rains.")), "speak 1: It rains.")

	for name, words := range map[string]Event{
		"an answer":  sentenceThought(1, "It rains."),
		"no words":   ThinkingEnded{Turn: 1},
		"a failure":  MindFailed{Turn: 1, ID: "x"},
		"a new call": calls(1, "b", "weather"),
	} {
		b := asked()
		got := b.wait(100 * time.Millisecond).after(words)
		got = append(got, b.wait(DefaultFiller-200*time.Millisecond).after(Tick{})...)
		if slices.Contains(got, "speak 1: One moment, please.") {
			t.Errorf("after %s at once the filler is still spoken", name)
		}
	}
}

// wake returns when the state needs a Tick.
func (c *testChat) wake() time.Duration {
	at, _ := c.state.Wake()
	return at
}

func TestATurnCallsFiveToolsAtMost(t *testing.T) {
	b := begin(t, withTools(weather()))
	b.after(Typed{Text: "Does it rain?"})
	for n := 1; n <= MaxCalls; n++ {
		id := string(rune('a' + n))
		want(t, b.after(calls(1, id, "weather")), calledWeather)
		how := "go on 1: Rain."
		if n == MaxCalls {
			how = "go on in words 1: Rain."
		}
		want(t, b.after(ToolAnswered{CallID: id, Content: "Rain."}), answered, how)
	}
}

func TestACallThatFitsNoToolIsNotMade(t *testing.T) {
	b := begin(t, withTools(weather()))
	b.after(Typed{Text: "Does it rain?"})
	want(t, b.after(ToolRequested{Turn: 1, Call: Call{
		ID:        "a",
		Name:      "weather",
		Arguments: "{",
		Misfit:    "no JSON",
	}}), "go on in words 1: The weather is not known.")
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Rain."}), "error E0731")
}

// Real words end the call; a cough does not, in any order.
func TestACallOutlivesACough(t *testing.T) {
	interrupted := func() *testChat {
		b := begin(t, withTools(weather()))
		b.after(Typed{Text: "Does it rain?"}, calls(1, "a", "weather"))
		want(t, b.after(VoiceHeard{Utterance: 1, Voice: time.Second}), "cancel 1", "user_interruption")
		return b
	}
	b := interrupted()
	b.after(Transcribed{Utterance: 1, Revision: 1})
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}))
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Rain."}), answered, "go on 2: Rain.")

	b = interrupted()
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Rain."}), answered)
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Rain."}), "error E0731")
	b.after(Transcribed{Utterance: 1, Revision: 1})
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}), "go on 2: Rain.")

	b = interrupted()
	b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: says("No, tomorrow.")})
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}), "user: No, tomorrow.")
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Rain."}), "error E0731")
}

// The history holds what the model reads of a failed call, whenever it failed.
func TestAFallbackSurvivesAFalseInterruption(t *testing.T) {
	b := begin(t, withTools(weather()))
	b.after(Typed{Text: "Does it rain?"}, calls(1, "a", "weather"), VoiceHeard{Utterance: 1, Voice: time.Second})
	want(t, b.after(ToolAnswered{CallID: "a", Failed: true, Error: "server down"}),
		"tool_error weather: The weather is not known.")
	b.after(Transcribed{Utterance: 1, Revision: 1})
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}), "go on 2: The weather is not known.")
}

func TestACallOutlivesAPause(t *testing.T) {
	b := begin(t, withTools(weather()))
	b.after(Typed{Text: "Does it rain?"}, calls(1, "a", "weather"))
	want(t, b.after(PauseRequested{}), "record PAUSE_ONSET", "cancel 1", "assistant_end")
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Rain."}), answered)
	want(t, b.after(ResumeRequested{}), "record RESUME_ONSET", "go on 2: Rain.")

	b.after(calls(2, "b", "weather"), PauseRequested{}, Typed{Text: "And snow?"})
	want(t, b.after(ResumeRequested{}), "record RESUME_ONSET", "think 3: And snow?")
}

func TestDictatedTextEndsNoCall(t *testing.T) {
	b := begin(t, withTools(weather()))
	b.after(Typed{Text: "Does it rain?"}, calls(1, "a", "weather"))
	want(t, b.after(Dictated{Sentences: []Sentence{{ID: "d", Text: "Let me see."}}}), "speak 1: Let me see.")
	want(t, b.after(clip(1, "Let me see.", time.Second)), "assistant: Let me see.", "audio id-Let me see.")
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Rain."}), answered, "go on 1: Rain.")
}

func builtin(name contract.BuiltInTool) Tool { return Builtin(contract.BuiltinToolConfig{Name: name}) }

func TestTheBoxRunsItsOwnTools(t *testing.T) {
	b := begin(t, withTools(builtin(contract.WebSearch)), func(s *Settings) { s.Filler = 0 })
	b.after(Typed{Text: "Any news?"})
	want(t, b.after(calls(1, "a", "web_search")), `tool_call web_search {"day":"today"}`,
		`run 1: web_search {"day":"today"}`)
	// the client cannot answer for the box
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Forged."}), "error E0731")
	want(t, b.after(ToolAnswered{CallID: "a", Content: "None.", OnBox: true}), "tool_response web_search: None.",
		"go on 1: None.")
	b.after(calls(1, "b", "web_search"))
	b.now = b.now + DefaultToolLimit
	want(t, b.after(Tick{})[:2], "tool_error web_search: ", "stop tool 1")
	want(t, b.after(ToolAnswered{CallID: "b", Content: "Late.", OnBox: true}))
}

func TestHangingUpComesAfterTheGoodbye(t *testing.T) {
	b := begin(t, withTools(builtin(contract.HangUp)))
	b.after(Typed{Text: "Goodbye."})
	got := b.after(calls(1, "a", "hang_up"))
	want(t, got[:1], `tool_call hang_up {"day":"today"}`)
	want(t, got[2:], "speak 1: Goodbye.", "done 1")
	b.after(clip(1, "Goodbye.", time.Second))
	if at := b.wake(); at != b.state.playbackEnd {
		t.Fatalf("the chat wakes at %v, the goodbye ends at %v", at, b.state.playbackEnd)
	}
	b.now = b.state.playbackEnd
	want(t, b.after(Tick{}), "end USER_ENDED 1000")
}

func TestAUserWhoSaysMoreIsNotHungUpOn(t *testing.T) {
	b := begin(t, withTools(builtin(contract.HangUp)))
	b.after(Typed{Text: "Goodbye."}, sentenceThought(1, "Bye!"), calls(1, "a", "hang_up"), clip(1, "Bye!", time.Second))
	want(t, b.after(Typed{Text: "Wait."}), "amend id-Bye!: …", "user_interruption", "user: Wait.", "think 2: Wait.")
	b.after(sentenceThought(2, "Yes?"), ThinkingEnded{Turn: 2}, clip(2, "Yes?", time.Second))
	b.now = b.state.playbackEnd + time.Minute
	want(t, b.after(Tick{}))
}

func TestACallerWhoIsConnectedElsewhereHearsNothingMore(t *testing.T) {
	transfer := Builtin(contract.BuiltinToolConfig{
		Name:         contract.Transfer,
		Destinations: []contract.TransferDestination{{Name: "desk", To: "100", Attended: true, RingSecs: 45}},
	})
	b := begin(t, withTools(transfer))
	b.after(Typed{Text: "A person, please."}, calls(1, "a", "transfer"))
	b.now += 104 * time.Second // it rings and somebody is asked: no filler, and no other limit
	want(t, b.after(Tick{}))
	want(t, b.after(ToolAnswered{CallID: "a", Content: "Connected.", OnBox: true, Over: true}),
		"tool_response transfer: Connected.", "cancel 1", "end USER_ENDED 1000")
}

func TestATransferHasItsOwnLimit(t *testing.T) {
	transfer := Builtin(contract.BuiltinToolConfig{
		Name:         contract.Transfer,
		Destinations: []contract.TransferDestination{{Name: "desk", To: "100", RingSecs: 45}},
	})
	b := begin(t, withTools(transfer))
	b.after(Typed{Text: "A person, please."}, calls(1, "a", "transfer"))
	b.now += 105 * time.Second
	want(t, b.after(Tick{})[:2], "tool_error transfer: ", "stop tool 1")
}

func TestAKeyInterruptsBeforeItsMeaningIsKnown(t *testing.T) {
	b := begin(t)
	b.after(Typed{Text: "Hello."}, sentenceThought(1, "Press a key."), clip(1, "Press a key.", time.Second))
	want(t, b.after(KeyPressed{}), "cancel 1", "amend id-Press a key.: …", "user_interruption")
	want(t, b.after(KeyPressed{}))
	want(t, b.after(Typed{Text: "The caller pressed 1.", Digits: "1"}), "user: The caller pressed 1.",
		"think 2: The caller pressed 1.")
}

func TestASilentAssistantDoesNotSpeakFirst(t *testing.T) {
	s := DefaultSettings()
	s.OnNewChat = contract.EventMessage{Enabled: true, Text: "Hello."}
	for _, silent := range []bool{false, true} {
		_, effects := Next(NewState(s, time.Time{}, nil), Opened{Silent: silent})
		says := slices.ContainsFunc(effects, func(e Effect) bool { _, ok := e.(SayText); return ok })
		if says == silent {
			t.Errorf("silent %v: %v", silent, short(effects))
		}
	}
}

func TestToolsOfSettingsAreCheckedAsAWhole(t *testing.T) {
	tool := func(name string) contract.Tool {
		return contract.Tool{Type: contract.ToolFunction, Name: name, Parameters: "{}"}
	}
	for name, x := range map[string]struct {
		sent contract.SessionSettings
		want string
	}{
		"twice":    {contract.SessionSettings{Tools: []contract.Tool{tool("a"), tool("a")}}, "error E0716"},
		"built in": {contract.SessionSettings{Tools: []contract.Tool{tool("hang_up")}}, "error E0716"},
		"removed":  {contract.SessionSettings{Tools: []contract.Tool{tool("a")}}, "error E0716"},
		"emptied":  {contract.SessionSettings{Tools: []contract.Tool{}}, "error E0716"},
		"one more": {contract.SessionSettings{Tools: []contract.Tool{tool("a"), tool("weather")}},
			"record SESSION_SETTINGS"},
		"one built in": {contract.SessionSettings{BuiltinTools: []contract.BuiltinToolConfig{{Name: contract.HangUp}}},
			"record SESSION_SETTINGS"},
	} {
		b := begin(t, withTools(weather()))
		if x.want == "error E0716" {
			x.sent.CustomSessionID = "half"
		}
		got := b.after(SettingsRequested{Message: x.sent})
		if len(got) != 1 || got[0] != x.want || b.state.settings.CustomSessionID != "" {
			t.Errorf("%s: %q, session %q", name, got, b.state.settings.CustomSessionID)
		}
	}
	b := begin(t, withTools(weather()))
	b.after(SettingsRequested{Message: contract.SessionSettings{Tools: []contract.Tool{tool("weather"), tool("b")},
		BuiltinTools: []contract.BuiltinToolConfig{{Name: contract.HangUp}}}})
	want(t, b.after(SettingsRequested{Message: contract.SessionSettings{BuiltinTools: []contract.BuiltinToolConfig{}}}),
		"error E0716")
	if n := len(b.state.settings.Tools); n != 3 {
		t.Errorf("%d tools", n)
	}
}

// The prompt contains the tools, so it is prefilled again when they change.
func TestToolsArePrefilled(t *testing.T) {
	b := begin(t)
	for _, x := range []struct {
		sent contract.SessionSettings
		want bool
	}{
		{contract.SessionSettings{Tools: []contract.Tool{{Name: "a", Parameters: "{}"}}}, true},
		{contract.SessionSettings{CustomSessionID: "x"}, false},
	} {
		_, effects := Next(b.state, SettingsRequested{At: At(b.now), Message: x.sent})
		reads := slices.ContainsFunc(effects, func(e Effect) bool { _, ok := e.(Prefill); return ok })
		if reads != x.want {
			t.Errorf("%+v: prefill %v", x.sent, reads)
		}
	}
}
