package turn

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
)

// testChat is a conversation in a test: its state and its clock.
type testChat struct {
	t     *testing.T
	state State
	now   time.Duration
}

func begin(t *testing.T, change ...func(*Settings)) *testChat {
	s := DefaultSettings()
	for _, c := range change {
		c(&s)
	}
	b := &testChat{t: t, state: NewState(s, time.UnixMilli(1_700_000_000_000), nil)}
	b.after(Opened{Metadata: contract.ChatMetadata{ChatID: "c", ChatGroupID: "g"}})
	return b
}

// after handles events, a millisecond apart, and returns the effects of the last one in short form.
func (c *testChat) after(events ...Event) []string {
	c.t.Helper()
	var out []string
	for _, e := range events {
		c.now += time.Millisecond
		var effects []Effect
		c.state, effects = follow(c.state, stamped(e, c.now))
		out = short(effects)
	}
	return out
}

// TurnEnded stands for everything that ends a turn: a pause that has lasted long enough by now. Revision 0 is
// an utterance too short for a word.
type TurnEnded struct {
	At
	Utterance, Revision int
}

// follow handles one event.
func follow(s State, e Event) (State, []Effect) {
	ended, ok := e.(TurnEnded)
	if !ok {
		return Next(s, e)
	}
	now := ended.Time()
	s, _ = Next(s, VoicePaused{
		At:        ended.At,
		Utterance: ended.Utterance,
		Revision:  max(1, ended.Revision),
		End:       now - s.settings.EndOfTurnSilence,
		Short:     ended.Revision == 0,
	})
	s, _ = Next(s, SilenceContinued{At: ended.At, Utterance: ended.Utterance, Until: now})
	return Next(s, Tick{ended.At})
}

func (c *testChat) wait(d time.Duration) *testChat {
	c.now += d
	return c
}

// stamped returns the event with a time.
func stamped(e Event, at time.Duration) Event {
	v := reflect.New(reflect.TypeOf(e)).Elem()
	v.Set(reflect.ValueOf(e))
	v.FieldByName("At").Set(reflect.ValueOf(At(at)))
	return v.Interface().(Event)
}

// short returns effects in a readable form of one line each.
func short(effects []Effect) []string {
	out := []string{}
	for _, e := range effects {
		switch e := e.(type) {
		case Publish:
			out = append(out, shortFact(e.Fact))
		case Think:
			how := "think"
			switch {
			case e.Speculative:
				how = "prepare"
			case e.AfterTool && e.NoCall:
				how = "go on in words"
			case e.AfterTool:
				how = "go on"
			}
			out = append(out, fmt.Sprintf("%s %d: %s", how, e.Turn, lastEntry(e.Conversation)))
		case SayText:
			out = append(out, fmt.Sprintf("read %d: %s", e.Turn, e.Text))
		case RunTool:
			out = append(out, fmt.Sprintf("run %d: %s %s", e.Turn, e.Call.Name, e.Call.Arguments))
		case ConsultPlugins:
			how := "ask"
			if e.Speculative {
				how = "ask ahead"
			}
			out = append(out, fmt.Sprintf("%s %s %d: %s", how, strings.Join(e.Plugins, ","), e.Turn,
				lastEntry(e.Conversation)))
		case StopPlugins:
			out = append(out, fmt.Sprintf("stop advice %d", e.Turn))
		case StopTool:
			out = append(out, fmt.Sprintf("stop tool %d", e.Turn))
		case StopThinking:
			out = append(out, fmt.Sprintf("enough %d", e.Turn))
		case Speak:
			out = append(out, fmt.Sprintf("speak %d: %s", e.Turn, e.Sentence.Text))
		case Prefill, Cut, CloseUtterance: // these have tests of their own
		case FinishTurn:
			out = append(out, fmt.Sprintf("done %d", e.Turn))
		case Cancel:
			out = append(out, fmt.Sprintf("cancel %d", e.Turn))
		case End:
			out = append(out, fmt.Sprintf("end %s %d", e.Status, e.Code))
		}
	}
	return out
}

// lastEntry returns the entry that the model is asked to answer.
func lastEntry(c Conversation) string {
	n := len(c.History) - 1
	if e := c.History[n]; e.Role == Context {
		return c.History[n-1].Text + " {Context: " + e.Text + "}"
	}
	return c.History[n].Text
}

func shortFact(f Fact) string {
	switch f := f.(type) {
	case ChatBegan:
		return "chat_metadata"
	case SettingsApplied:
		return "record SESSION_SETTINGS"
	case PromptApplied:
		return "record SYSTEM_PROMPT"
	case RecordingBegan:
		return "record USER_RECORDING_START_MESSAGE"
	case UserSaid:
		if f.Interim {
			return "interim: " + f.Text
		}
		return "user: " + f.Text
	case AssistantSaid:
		return "assistant: " + f.Text
	case SoundSent:
		return "audio " + f.ID
	case AnswerEnded:
		return "assistant_end"
	case Interrupted:
		return "user_interruption"
	case CutShort:
		return fmt.Sprintf("amend %s: %s", f.ID, f.Text)
	case ToolCalled:
		return "tool_call " + f.Name + " " + f.Arguments
	case ToolReplied:
		if f.Failed {
			return "tool_error " + f.Tool.Name + ": " + f.Content
		}
		return "tool_response " + f.Tool.Name + ": " + f.Content
	case AssistantPaused:
		return "record PAUSE_ONSET"
	case AssistantResumed:
		return "record RESUME_ONSET"
	case FaultOccurred:
		return "error " + string(f.Fault.Code)
	case MetadataSet:
		noted, _ := json.Marshal(f.Metadata)
		return "note " + string(noted)
	}
	return fmt.Sprintf("%T", f)
}

func want(t *testing.T, got []string, wanted ...string) {
	t.Helper()
	if !slices.Equal(got, wanted) {
		t.Fatalf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(wanted, "\n  "))
	}
}

func says(text string) Transcript { return Transcript{Text: text, Language: "en"} }

func clip(turn int, text string, d time.Duration) SoundMade {
	return SoundMade{Turn: turn, Piece: whole(Sentence{ID: "id-" + text, Text: text}, d)}
}

// whole returns a sentence with this much sound in one piece.
func whole(s Sentence, d time.Duration) Piece {
	return Piece{
		Sentence:       s,
		PCM:            silence(d),
		SentenceLength: d,
		Last:           true,
	}
}

// silence returns this much silence; all share one read-only buffer.
func silence(d time.Duration) []float32 { return minute[:d*contract.OutputRateHz/time.Second] }

var minute = make([]float32, 60*contract.OutputRateHz)

func sentenceThought(turn int, text string) SentenceThought {
	return SentenceThought{Turn: turn, Sentence: Sentence{ID: "id-" + text, Text: text}}
}

// speaking returns a conversation in which the assistant says the sentences, one second each, after the user
// asked something.
func speaking(t *testing.T, sentences ...string) *testChat {
	b := begin(t)
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, Transcribed{Utterance: 1, Revision: 1,
		Transcript: says("Hello?")},
		TurnEnded{Utterance: 1, Revision: 1})
	for _, s := range sentences {
		b.after(sentenceThought(1, s))
	}
	for _, s := range sentences {
		b.after(clip(1, s, time.Second))
	}
	return b
}

func TestAnswerIsPreparedAtThePauseAndPlayedWhenTheTurnEnds(t *testing.T) {
	b := begin(t)
	want(t, b.after(VoiceHeard{Utterance: 1, Voice: time.Second}))
	want(t, b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: says("When do you open?")}),
		"prepare 1: When do you open?")
	want(t, b.after(sentenceThought(1, "At ten.")), "speak 1: At ten.")
	want(t, b.after(sentenceThought(1, "Not on Mondays.")))
	want(t, b.after(clip(1, "At ten.", time.Second)))
	want(t, b.after(ThinkingEnded{Turn: 1}))
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}),
		"user: When do you open?", "assistant: At ten.", "audio id-At ten.", "speak 1: Not on Mondays.", "done 1")
	want(t, b.after(clip(1, "Not on Mondays.", time.Second)),
		"assistant: Not on Mondays.", "audio id-Not on Mondays.", "assistant_end")
}

func TestPreparedAnswerIsThrownAwayWhenTheUserGoesOn(t *testing.T) {
	b := begin(t)
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, Transcribed{Utterance: 1, Revision: 1,
		Transcript: says("When do you")})
	want(t, b.after(VoiceResumed{Utterance: 1, Revision: 1}))
	want(t, b.after(VoiceHeard{Utterance: 1, Voice: 1064 * time.Millisecond}))
	want(t, b.after(VoiceHeard{Utterance: 1, Voice: 1300 * time.Millisecond}), "cancel 1")
	want(t, b.after(sentenceThought(1, "What?")))
	want(t, b.after(Transcribed{Utterance: 1, Revision: 2, Transcript: says("When do you open?")}),
		"prepare 2: When do you open?")
}

func TestPreparedAnswerOutlivesABreath(t *testing.T) {
	b := begin(t)
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, Transcribed{Utterance: 1, Revision: 1,
		Transcript: says("Hello?")},
		VoiceResumed{Utterance: 1, Revision: 1}, VoiceHeard{Utterance: 1, Voice: 1064 * time.Millisecond})
	want(t, b.after(Transcribed{Utterance: 1, Revision: 2, Transcript: says("Hello?")}))
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 2}), "user: Hello?")
	want(t, b.after(sentenceThought(1, "Hi.")), "speak 1: Hi.")
}

func TestTurnThatEndsBeforeItsWordsAreKnownWaitsForThem(t *testing.T) {
	b := begin(t)
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second})
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}))
	want(t, b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: says("Hello?")}), "user: Hello?",
		"think 1: Hello?")
}

func TestSpeechWithoutWordsIsNoTurn(t *testing.T) {
	b := begin(t)
	b.after(VoiceHeard{Utterance: 1, Voice: 300 * time.Millisecond})
	want(t, b.after(Transcribed{Utterance: 1, Revision: 1}))
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}))
	b.after(VoiceHeard{Utterance: 2, Voice: 100 * time.Millisecond})
	want(t, b.after(TurnEnded{Utterance: 2}))
}

func TestInterruptedReplySaysNothingMore(t *testing.T) {
	b := speaking(t, "The museum opens at", "ten.")
	want(t, b.after(VoiceHeard{Utterance: 2, Voice: 700 * time.Millisecond}))
	want(t, b.after(VoiceHeard{Utterance: 2, Voice: 800 * time.Millisecond}), "cancel 1",
		"amend id-The museum opens at: …", "amend id-ten.: …", "user_interruption")
	want(t, b.after(clip(1, "More.", time.Second)))
	want(t, b.after(sentenceThought(1, "More.")))
	want(t, b.after(ThinkingEnded{Turn: 1}))
	want(t, b.after(VoiceHeard{Utterance: 2, Voice: 1600 * time.Millisecond}))
}

func TestSpeechOverThePlaybackInterruptsAfterAssistantEnd(t *testing.T) {
	b := speaking(t, "One.", "Two.")
	want(t, b.after(ThinkingEnded{Turn: 1}), "done 1", "assistant_end")
	want(t, b.wait(500*time.Millisecond).after(VoiceHeard{Utterance: 2, Voice: time.Second}), "amend id-One.: …",
		"amend id-Two.: …", "user_interruption")
}

func TestAfterThePlaybackSpeechIsATurnAndNoInterruption(t *testing.T) {
	b := speaking(t, "One.")
	b.after(ThinkingEnded{Turn: 1})
	want(t, b.wait(1100*time.Millisecond).after(VoiceHeard{Utterance: 2, Voice: time.Second}))
}

func TestHistoryHoldsOnlyWhatWasPlayed(t *testing.T) {
	b := speaking(t, "The museum opens at ten.", "It closes at six.")
	out := b.wait(500 * time.Millisecond).after(VoiceHeard{Utterance: 2, Voice: 900 * time.Millisecond})
	want(t, out, "cancel 1", "amend id-The museum opens at ten.: The museum…", "amend id-It closes at six.: …",
		"user_interruption")
	last := b.state.history[len(b.state.history)-1]
	if last.Role != Assistant || last.Text != "The museum…" {
		t.Fatalf("the history ends with %+v", last)
	}
}

func TestShortSpeechOverTheAssistantIsHeldBackUntilThePlaybackIsOver(t *testing.T) {
	b := speaking(t, "The museum opens at ten.")
	b.after(ThinkingEnded{Turn: 1}, VoiceHeard{Utterance: 2, Voice: 400 * time.Millisecond})
	want(t, b.after(Transcribed{Utterance: 2, Revision: 1, Transcript: says("And Mondays?")}))
	want(t, b.after(TurnEnded{Utterance: 2, Revision: 1}))
	at, ok := b.state.Wake()
	if !ok || at != b.state.playbackEnd {
		t.Fatalf("wakes at %v, the playback ends at %v", at, b.state.playbackEnd)
	}
	b.now = at
	want(t, b.after(Tick{}), "user: And Mondays?", "think 2: And Mondays?")
}

func TestBackchannelIsRecordedWithoutAnAnswer(t *testing.T) {
	b := speaking(t, "The museum opens at ten.")
	b.after(ThinkingEnded{Turn: 1}, VoiceHeard{Utterance: 2, Voice: 400 * time.Millisecond},
		Transcribed{Utterance: 2, Revision: 1, Transcript: says("Mm-hm, right.")}, TurnEnded{Utterance: 2, Revision: 1})
	want(t, b.wait(time.Second).after(Tick{}), "user: Mm-hm, right.")
}

func TestYesToAQuestionIsAnAnswer(t *testing.T) {
	b := speaking(t, "Shall I go on?")
	b.after(ThinkingEnded{Turn: 1}, VoiceHeard{Utterance: 2, Voice: 400 * time.Millisecond},
		Transcribed{Utterance: 2, Revision: 1, Transcript: says("Yes.")}, TurnEnded{Utterance: 2, Revision: 1})
	want(t, b.wait(time.Second).after(Tick{}), "user: Yes.", "think 2: Yes.")
}

func TestTypedTextInterruptsAndIsAnswered(t *testing.T) {
	b := speaking(t, "The museum", "opens at ten.")
	want(t, b.after(Typed{Text: "Stop."}), "cancel 1", "amend id-The museum: …", "amend id-opens at ten.: …",
		"user_interruption", "user: Stop.", "think 2: Stop.")
}

func TestPausedAssistantSaysNothingAndAnswersTheLastMessageWhenResumed(t *testing.T) {
	b := speaking(t, "One.")
	want(t, b.after(PauseRequested{}), "record PAUSE_ONSET", "cancel 1", "amend id-One.: …", "assistant_end")
	want(t, b.after(PauseRequested{}))
	want(t, b.after(Typed{Text: "First."}), "user: First.")
	want(t, b.after(Typed{Text: "Second."}), "user: Second.")
	want(t, b.after(ResumeRequested{}), "record RESUME_ONSET", "think 2: Second.")
	want(t, b.after(ResumeRequested{}))
}

func TestDictatedTextIsSpokenEvenWhilePaused(t *testing.T) {
	b := begin(t)
	b.after(PauseRequested{})
	want(t, b.after(Dictated{Sentences: []Sentence{{ID: "a", Text: "One."}, {ID: "b", Text: "Two."}}}), "speak 1: One.",
		"speak 1: Two.", "done 1")
	want(t, b.after(clip(1, "One.", time.Second)), "assistant: One.", "audio id-One.")
	want(t, b.after(clip(1, "Two.", time.Second)), "assistant: Two.", "audio id-Two.", "assistant_end")
}

func TestFailedReplyIsReportedAndEndsTheTurn(t *testing.T) {
	b := begin(t)
	b.after(Typed{Text: "Hello."})
	want(t, b.after(TurnFailed{Turn: 1, Fault: contract.Fault{Code: contract.ProviderFailed}}),
		"cancel 1", "error E0719", "assistant_end")
	want(t, b.after(Typed{Text: "Again."}), "user: Again.", "think 2: Again.")
}

func TestFailureOfAPreparedReplyIsReportedInItsTurn(t *testing.T) {
	b := begin(t)
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, Transcribed{Utterance: 1, Revision: 1,
		Transcript: says("Hello?")})
	want(t, b.after(TurnFailed{Turn: 1, Fault: contract.Fault{Code: contract.ProviderFailed}}), "cancel 1")
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}), "user: Hello?", "error E0719", "assistant_end")
}

func TestFatalFaultEndsTheChat(t *testing.T) {
	b := begin(t)
	want(t, b.after(FaultReported{Fault: contract.Fault{Code: contract.BrokenJSON}}), "error E0100")
	want(t, b.after(FaultReported{Fault: contract.Fault{Code: contract.ConfigNotFound}}), "error E0709",
		"end ERROR 1008")
	want(t, b.after(Typed{Text: "Anyone?"}))
}

func TestSilenceEndsTheChat(t *testing.T) {
	b := speaking(t, "One.")
	b.after(ThinkingEnded{Turn: 1})
	at, _ := b.state.Wake()
	if idle := at - b.state.playbackEnd; idle != 600*time.Second {
		t.Fatalf("the chat times out %v after the last sound", idle)
	}
	b.now = at
	want(t, b.after(Tick{}), "error E0714", "end INACTIVITY_TIMEOUT 1000")
}

func TestMaximumDurationEndsTheChat(t *testing.T) {
	b := begin(t)
	for range 6 {
		b.wait(299 * time.Second).after(VoiceHeard{Utterance: 1, Voice: time.Second})
	}
	b.wait(6 * time.Second)
	want(t, b.after(Tick{}), "error E0715", "end MAX_DURATION_TIMEOUT 1000")
}

func TestHangingUpEndsTheChatAndItsWork(t *testing.T) {
	b := speaking(t, "One.")
	want(t, b.after(HungUp{}), "cancel 1", "end USER_ENDED 1000")
	if _, ok := b.state.Wake(); ok {
		t.Fatal("an ended chat has a wake time")
	}
}

func TestInterimMessagesOnlyWhenAskedForAndNotOverTheAssistant(t *testing.T) {
	b := begin(t, func(s *Settings) { s.Verbose = true })
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second})
	want(t, b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: says("Hello?")}), "interim: Hello?",
		"prepare 1: Hello?")
	b.after(TurnEnded{Utterance: 1, Revision: 1}, sentenceThought(1, "Hi."), clip(1, "Hi.", time.Second),
		ThinkingEnded{Turn: 1})
	b.after(VoiceHeard{Utterance: 2, Voice: 400 * time.Millisecond})
	want(t, b.after(Transcribed{Utterance: 2, Revision: 1, Transcript: says("Um.")}))
}

func TestTemporaryContextGoesWithOneMessageAndIsNotTranscribed(t *testing.T) {
	b := begin(t)
	b.after(SettingsRequested{Message: contract.SessionSettings{Context: &contract.Context{Text: "He is in room 12."}}})
	want(t, b.after(Typed{Text: "Where am I?"}), "user: Where am I?",
		"think 1: Where am I? {Context: He is in room 12.}")
	want(t, b.after(Typed{Text: "And now?"}), "cancel 1", "user_interruption", "user: And now?", "think 2: And now?")
}

func TestPreparedAnswerSeesTheContextToo(t *testing.T) {
	b := begin(t, func(s *Settings) {
		s.Context = &contract.Context{Text: "Room 12.", Type: contract.ContextPersistent}
	})
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second})
	want(t, b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: says("Where?")}),
		"prepare 1: Where? {Context: Room 12.}")
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}), "user: Where?")
}

func TestInvalidSettingsChangeNothing(t *testing.T) {
	b := begin(t)
	empty := " "
	want(t, b.after(SettingsRequested{Message: contract.SessionSettings{SystemPrompt: &empty, CustomSessionID: "x"}}),
		"error E0716")
	if b.state.Settings().CustomSessionID != "" {
		t.Fatal("half of the settings were applied")
	}
}

func TestNextLeavesTheOldStateAsItWas(t *testing.T) {
	b := speaking(t, "One.", "Two.")
	before := b.state
	kept := slices.Clone(before.history)
	b.wait(300*time.Millisecond).after(VoiceHeard{Utterance: 2, Voice: time.Second}, Typed{Text: "And?"})
	if !reflect.DeepEqual(before.history, kept) {
		t.Fatalf("the old state's history became %v", before.history)
	}
}

func TestSettingsOfTheConnectAreRecordedWithoutKeys(t *testing.T) {
	s := NewState(DefaultSettings(), time.UnixMilli(1_700_000_000_000), nil)
	_, effects := Next(s, Opened{Requested: contract.SessionSettings{VoiceID: "jenny", LanguageModelAPIKey: "secret"}})
	want(t, short(effects), "chat_metadata", "record SESSION_SETTINGS", "record SYSTEM_PROMPT")
	if asked := effects[1].(Publish).Fact.(SettingsApplied).Requested; asked.VoiceID != "jenny" ||
		asked.LanguageModelAPIKey != "" {
		t.Errorf("recorded %+v", asked)
	}
	_, effects = Next(s, Opened{Requested: contract.SessionSettings{LanguageModelAPIKey: "secret"}})
	want(t, short(effects), "chat_metadata", "record SYSTEM_PROMPT")
}

func TestMetadataIsStoredWithTheChat(t *testing.T) {
	b := begin(t)
	noted := contract.SessionSettings{Metadata: map[string]json.RawMessage{"order": json.RawMessage("7")}}
	want(t, b.after(SettingsRequested{Message: noted}), "record SESSION_SETTINGS", `note {"order":7}`)
	want(t, b.after(SettingsRequested{Message: contract.SessionSettings{CustomSessionID: "s"}}),
		"record SESSION_SETTINGS")
}

// A sentence may come in pieces. Its text is published once, before the first, and the heard part depends on
// the length of the whole.
func TestASentenceInPieces(t *testing.T) {
	b := begin(t)
	b.after(Typed{Text: "Hello?"}, sentenceThought(1, "Two words."))
	line := Sentence{ID: "id-Two words.", Text: "Two words."}
	piece := func(index int, last bool) SoundMade {
		return SoundMade{Turn: 1, Piece: Piece{
			Sentence:       line,
			Index:          index,
			PCM:            silence(time.Second),
			SentenceLength: 3 * time.Second,
			Last:           last,
		}}
	}
	want(t, b.after(piece(0, false)), "assistant: Two words.", "audio id-Two words.")
	want(t, b.after(ThinkingEnded{Turn: 1}), "done 1")
	b.wait(1500 * time.Millisecond) // the client had nothing to play for 502 ms
	want(t, b.after(piece(1, false)), "audio id-Two words.")
	b.wait(499 * time.Millisecond).after(Tick{})
	if p := b.state.playing[0]; len(b.state.playing) != 1 || p.length != 3*time.Second ||
		b.state.playedLengths()[0] != 1500*time.Millisecond {
		t.Errorf("playing %+v, heard %v", b.state.playing, b.state.playedLengths())
	}
	want(t, b.after(piece(2, true)), "audio id-Two words.", "assistant_end")
	if p := b.state.playing[0]; !p.complete || p.sent != 3*time.Second ||
		b.state.playbackEnd-b.now != 1499*time.Millisecond {
		t.Errorf("playing %+v, silent at %s", p, b.state.playbackEnd)
	}
}

// A line that reports what was played is trusted more than the clock.
func TestTheLineReportsWhatWasPlayed(t *testing.T) {
	b := speaking(t, "First one.", "Second one.")
	until := b.state.playbackEnd
	b.wait(until - 2*time.Second + 699*time.Millisecond - b.now)
	b.after(Played{ID: "id-First one.", UpTo: 300 * time.Millisecond}) // it began 400 ms late
	if late := b.state.playbackEnd - until; late != 400*time.Millisecond {
		t.Errorf("silent %s later", late)
	}
	b.after(Played{ID: "id-First one.", UpTo: -time.Hour}, Played{ID: "nobody's", UpTo: time.Second},
		Played{ID: "id-Second one.", UpTo: time.Hour})
	if b.state.playbackEnd != b.now {
		t.Errorf("all was played; silent at %s, now %s", b.state.playbackEnd, b.now)
	}
}
