package turn

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"parley/appliance/contract"
)

// world is everything around a conversation, behaving randomly within its rules: an ear, a mind, a mouth, a
// line and a client, each at any time.
type world struct {
	t     *rapid.T
	state State
	now   time.Duration
	laws  laws

	// The ear: its current utterance, and the transcriptions under way.
	utterance, revision int
	open, pausing       bool
	voice               time.Duration
	pauseEnd            time.Duration
	guesses             []pendingTranscript
	over                map[int]int // utterances that were closed, and at which revision; 0: too short
	closing             bool        // the ear has not yet received a CloseUtterance

	minds    map[int]int // turns that are being thought, and how many sentences are to come
	mouths   map[int][]pendingPieces
	sounds   []string        // IDs of sentences whose sound was sent
	calls    []string        // IDs of tool calls that were published
	runs     []string        // those that the box runs
	asked    []PluginAdvised // plugins that were asked, without their advice
	wordy    int             // a turn that may not call any more
	begun    Sentence        // the newest sentence of this turn
	begunFor int
	serial   int
}

// pendingTranscript is a transcription under way.
type pendingTranscript struct {
	utterance, revision int
	text                string
}

// longestPiece is how much sound comes at once.
const longestPiece = time.Second

// pendingPieces is a sentence at the mouth, and how many pieces of it are made.
type pendingPieces struct {
	sentence Sentence
	made     int
}

func newWorld(t *rapid.T) *world {
	s := DefaultSettings()
	s.Verbose = rapid.Bool().Draw(t, "verbose")
	s.Semantic = rapid.Bool().Draw(t, "semantic")
	s.Lead = time.Duration(rapid.IntRange(0, 20).Draw(t, "ahead")) * 100 * time.Millisecond
	if rapid.Bool().Draw(t, "tools") {
		s.Tools = []Tool{weather(), builtin(contract.WebSearch)}
		s.Filler = time.Duration(rapid.IntRange(0, 2).Draw(t, "filler")) * time.Second
	}
	if rapid.Bool().Draw(t, "plugins") {
		s.TurnHooks = []string{"a", "b"}
	}
	if rapid.Bool().Draw(t, "answers") {
		modes := rapid.SampledFrom([]contract.AnswersMode{contract.AnswersFirst, contract.AnswersOnly})
		s.Answers = &contract.Answers{Mode: modes.Draw(t, "mode"), Unknown: "Nobody knows."}
		s.OnNewChat.Enabled = rapid.Bool().Draw(t, "greets")
	}
	s.Plugins = []string{"p"}
	s.MaxDuration = 100 * time.Hour // the test is about chats that end by themselves
	s.Inactivity = 10 * time.Hour
	w := &world{
		t:      t,
		state:  NewState(s, time.UnixMilli(0), nil),
		over:   map[int]int{},
		minds:  map[int]int{},
		mouths: map[int][]pendingPieces{},
	}
	w.laws = newLaws(t)
	w.happen(Opened{Metadata: contract.ChatMetadata{ChatID: "c"}})
	return w
}

// pass lets time pass and meets the deadlines in it.
func (w *world) pass(d time.Duration) {
	until := w.now + d
	for {
		at, ok := w.state.Wake()
		if !ok || at > until {
			break
		}
		w.now = max(w.now, at)
		w.happen(Tick{})
		if next, ok := w.state.Wake(); ok && next <= w.now {
			w.t.Fatalf("wakes at %v again", next)
		}
	}
	w.now = until
}

// happen handles one event and carries out its effects.
func (w *world) happen(e Event) {
	old := w.state
	var effects []Effect
	w.state, effects = Next(old, stamped(e, w.now))
	w.laws.follow(e, effects, old, w.state)
	for _, f := range effects {
		switch f := f.(type) {
		case CloseUtterance:
			if _, again := w.over[f.Utterance]; again || f.Utterance != w.utterance || !w.open {
				w.t.Fatalf("utterance %d is closed, and the ear is at %d", f.Utterance, w.utterance)
			}
			w.over[f.Utterance] = w.revision
			if w.state.utterance.number == f.Utterance && old.utterance.pause.short {
				w.over[f.Utterance] = 0
			}
			w.closing = true
		case Think:
			if f.AfterTool && f.NoCall {
				w.wordy = f.Turn
			}
			if w.minds = map[int]int{f.Turn: rapid.IntRange(0, 3).Draw(w.t, "sentences")}; !f.AfterTool ||
				f.Turn != old.turn {
				w.mouths = map[int][]pendingPieces{}
			}
		case ConsultPlugins:
			w.minds, w.mouths = map[int]int{}, map[int][]pendingPieces{}
			for _, p := range f.Plugins {
				w.asked = append(w.asked, PluginAdvised{Turn: f.Turn, Advice: Advice{Plugin: p}})
			}
		case SayText:
			w.wordy = f.Turn
			w.minds = map[int]int{f.Turn: rapid.IntRange(0, 3).Draw(w.t, "sentences")}
		case RunTool:
			w.runs = append(w.runs, f.Call.ID)
		case Speak:
			if _, thought := w.minds[f.Turn]; !thought {
				w.minds = map[int]int{}
			}
			w.mouths = map[int][]pendingPieces{f.Turn: append(w.mouths[f.Turn], pendingPieces{sentence: f.Sentence})}
		case Cancel:
			delete(w.minds, f.Turn)
			delete(w.mouths, f.Turn)
		case Publish:
			switch f := f.Fact.(type) {
			case SoundSent:
				w.sounds = append(w.sounds, f.ID)
			case ToolCalled:
				w.calls = append(w.calls, f.ID)
			}
		}
	}
}

// hear makes an event of the ear.
func (w *world) hear() {
	if w.closing { // it may report more before it learns of the end
		switch rapid.IntRange(0, 3).Draw(w.t, "the ear, late") {
		case 0:
			w.happen(SilenceContinued{Utterance: w.utterance, Until: w.now})
		case 1:
			w.happen(VoiceResumed{Utterance: w.utterance, Revision: w.revision, Begin: w.now})
		}
		w.closing, w.open = false, false
		return
	}
	switch what := rapid.IntRange(0, 5).Draw(w.t, "the ear"); {
	case !w.open || !w.pausing && what < 3:
		w.speak()
	case !w.pausing:
		w.rest()
	case what < 2:
		w.happen(SilenceContinued{Utterance: w.utterance, Until: w.now})
	case what < 3 && w.over[w.utterance] == 0:
		w.happen(EndJudged{Utterance: w.utterance, Revision: w.revision,
			Probability: rapid.Float64Range(0, 1).Draw(w.t, "finished")})
	case what < 4:
		w.goOn()
	}
}

func (w *world) speak() {
	if !w.open {
		w.utterance++
		w.open, w.pausing, w.revision, w.voice = true, false, 1, 0
	}
	w.voice += time.Duration(rapid.IntRange(32, 900).Draw(w.t, "voice")) * time.Millisecond
	w.happen(VoiceHeard{Utterance: w.utterance, Voice: w.voice})
	if rapid.Bool().Draw(w.t, "overheard") {
		w.happen(PartlyTranscribed{Utterance: w.utterance,
			Transcript: says(rapid.SampledFrom([]string{"", "Right.", "What is"}).Draw(w.t, "so far"))})
	}
}

func (w *world) rest() {
	w.pausing, w.pauseEnd = true, w.now
	short := w.voice < 250*time.Millisecond
	w.happen(VoicePaused{
		Utterance: w.utterance,
		Revision:  w.revision,
		End:       w.now,
		Short:     short,
	})
	if !short {
		text := rapid.SampledFrom([]string{"", "Mm-hm.", "Words", "Words"}).Draw(w.t, "text")
		if text == "Words" {
			text = fmt.Sprintf("Words %d.%d", w.utterance, w.revision)
		}
		w.guesses = append(w.guesses, pendingTranscript{w.utterance, w.revision, text})
	}
}

func (w *world) goOn() {
	back := w.now
	if rapid.Bool().Draw(w.t, "late") { // it was said before, and comes only now
		back = max(w.pauseEnd, w.now-time.Second)
	}
	w.happen(VoiceResumed{Utterance: w.utterance, Revision: w.revision, Begin: back})
	if w.closing {
		w.closing, w.open = false, false
		w.speak() // the voice belongs to the next utterance
		return
	}
	w.pausing = false
	w.guesses = slices.DeleteFunc(w.guesses, func(g pendingTranscript) bool { return g.utterance == w.utterance })
	w.revision++
	w.speak()
}

// transcribe returns the oldest transcript asked for.
func (w *world) transcribe() {
	if len(w.guesses) == 0 {
		return
	}
	g := w.guesses[0]
	w.guesses = w.guesses[1:]
	w.laws.transcribed(g)
	w.happen(Transcribed{Utterance: g.utterance, Revision: g.revision, Transcript: says(g.text)})
}

// think brings the next sentence of a reply.
func (w *world) think() {
	for turn, left := range w.minds {
		if w.begunFor != turn {
			w.begun, w.begunFor = Sentence{}, turn
		}
		switch {
		case left > 0:
			w.minds[turn]--
			w.serial++
			next := Sentence{ID: fmt.Sprint("s", w.serial), Text: fmt.Sprintf("Sentence number %d of them.", w.serial)}
			next.Quick = rapid.IntRange(0, 5).Draw(w.t, "quick") == 0
			if w.begun.GoesOn {
				next.First, next.Before, next.Quick = w.begun.RowID(), w.begun.SoFar(), false
			}
			next.GoesOn = !next.Quick && rapid.IntRange(0, 2).Draw(w.t, "goes on") == 0
			thought := SentenceThought{Turn: turn, Sentence: next}
			if w.state.settings.Answers != nil && next.First == "" && !next.Quick {
				w.approve(&thought)
			}
			w.begun = thought.Sentence
			w.happen(thought)
			return
		case rapid.IntRange(0, 4).Draw(w.t, "fails") == 0:
			delete(w.minds, turn)
			w.serial++
			w.happen(MindFailed{Turn: turn, ID: fmt.Sprint("b", w.serial),
				Fault: contract.Fault{Code: contract.ProviderFailed}})
		case w.wordy != turn && len(w.state.settings.Tools) > 0 && rapid.Bool().Draw(w.t, "calls"):
			delete(w.minds, turn)
			w.serial++
			c := Call{ID: fmt.Sprint("c", w.serial),
				Name: rapid.SampledFrom([]string{"weather", "web_search", "train"}).Draw(w.t, "tool"), Arguments: "{}"}
			if rapid.IntRange(0, 9).Draw(w.t, "misfit") == 0 {
				c.Misfit = "no"
			}
			w.happen(ToolRequested{Turn: turn, Call: c})
		default:
			delete(w.minds, turn)
			w.happen(ThinkingEnded{Turn: turn})
		}
		w.begun = Sentence{} // the next thought begins a sentence
		return
	}
}

// approve makes a sentence one of an approved answer, or one that is said because none fits.
func (w *world) approve(e *SentenceThought) {
	switch s := &e.Sentence; rapid.IntRange(0, 3).Draw(w.t, "approved") {
	case 0, 1:
		s.GoesOn, s.Fixed = false, rapid.Bool().Draw(w.t, "fixed")
		if s.AnswerID = w.begun.AnswerID; s.AnswerID == "" || rapid.Bool().Draw(w.t, "another answer") {
			s.AnswerID = fmt.Sprint("answer-", w.serial)
		}
	case 2:
		e.Unanswered = fmt.Sprint("Question ", w.serial)
	}
}

// sound brings the next piece of a sentence.
func (w *world) sound() {
	for turn, queue := range w.mouths {
		if len(queue) == 0 {
			continue
		}
		if rapid.IntRange(0, 20).Draw(w.t, "voice fails") == 0 {
			delete(w.mouths, turn)
			w.happen(TurnFailed{Turn: turn, Fault: contract.Fault{Code: contract.NotSpoken}})
			return
		}
		p := Piece{Sentence: queue[0].sentence, Index: queue[0].made, SentenceLength: time.Second}
		p.PCM = silence(time.Duration(rapid.IntRange(0, 10).Draw(w.t, "length")) * longestPiece / 10)
		p.Last = queue[0].made == 3 || rapid.Bool().Draw(w.t, "last")
		queue = slices.Clone(queue)
		queue[0].made++
		if p.Last {
			queue = queue[1:]
		}
		w.mouths[turn] = queue
		w.happen(SoundMade{Turn: turn, Piece: p})
		return
	}
}

// ask makes a request of the client.
func (w *world) ask() {
	w.serial++
	switch rapid.IntRange(0, 9).Draw(w.t, "the client") {
	case 9:
		w.happen(SendDelayed{Length: time.Duration(rapid.IntRange(0, 3000).Draw(w.t, "unsent")) * time.Millisecond})
	case 6:
		prompt := fmt.Sprint("Be brief. ", w.serial)
		w.happen(SettingsRequested{Message: contract.SessionSettings{SystemPrompt: &prompt}})
	case 7:
		w.happen(SettingsRequested{Message: contract.SessionSettings{Tools: []contract.Tool{
			{
				Type:        "function",
				Name:        "weather",
				Description: fmt.Sprint("Tells the weather, as of ", w.serial),
				Parameters:  `{"type":"object"}`,
			},
			{Type: "function", Name: fmt.Sprint("tool_", w.serial), Parameters: `{"type":"object"}`},
		}}})
	case 8:
		var tools []Tool
		if rapid.Bool().Draw(w.t, "installed") {
			tools = []Tool{{
				Name:       "train",
				Parameters: `{"type":"object"}`,
				OnBox:      true,
				Plugin:     "p",
				FromPlugin: true,
			}}
		}
		w.happen(PluginsChanged{Plugins: []Plugin{{Name: "p", Tools: tools}}})
	case 0:
		if rapid.Bool().Draw(w.t, "key") {
			w.happen(KeyPressed{})
		}
		w.happen(Typed{Text: fmt.Sprint("Typed ", w.serial)})
	case 1:
		lines := make([]Sentence, rapid.IntRange(1, 9).Draw(w.t, "lines"))
		for i := range lines {
			lines[i] = Sentence{ID: fmt.Sprintf("d%d.%d", w.serial, i), Text: "This is dictated."}
		}
		w.happen(Dictated{Sentences: lines})
	case 2:
		w.happen(PauseRequested{})
	case 3:
		w.happen(ResumeRequested{})
	case 4:
		w.happen(SettingsRequested{Message: contract.SessionSettings{
			Context: &contract.Context{Text: fmt.Sprint("Room ", w.serial)}}})
	case 5:
		if n := len(w.sounds); n > 0 {
			w.happen(Played{ID: w.sounds[rapid.IntRange(0, n-1).Draw(w.t, "sentence")],
				UpTo: time.Duration(rapid.IntRange(0, 1500).Draw(w.t, "played")) * time.Millisecond})
		}
	}
}

// answer brings the answer of a tool, which may be unexpected.
func (w *world) answer() {
	if n := len(w.runs); n > 0 {
		id := w.runs[n-1]
		w.runs = w.runs[:n-1]
		w.happen(ToolAnswered{
			CallID:  id,
			Content: "Found.",
			OnBox:   true,
			Failed:  rapid.Bool().Draw(w.t, "failed"),
		})
		return
	}
	id := "nobody's"
	if n := len(w.calls); n > 0 {
		id = w.calls[rapid.IntRange(max(0, n-2), n-1).Draw(w.t, "call")]
	}
	w.happen(ToolAnswered{CallID: id, Content: rapid.SampledFrom([]string{"", "Rain."}).Draw(w.t, "content"),
		Failed: rapid.Bool().Draw(w.t, "failed")})
}

// advise brings a plugin's advice, perhaps for a turn that is over.
func (w *world) advise() {
	if len(w.asked) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.asked)-1).Draw(w.t, "plugin")
	a := w.asked[i]
	w.asked = slices.Delete(w.asked, i, i+1)
	a.Advice.Context = rapid.SampledFrom([]string{"", "It is raining."}).Draw(w.t, "context")
	a.Advice.Answer = rapid.SampledFrom([]string{"", "", "I know that myself."}).Draw(w.t, "answer")
	w.happen(a)
}

// stale brings an event of a turn that is over.
func (w *world) stale() {
	turn := max(0, w.state.turn-rapid.IntRange(1, 3).Draw(w.t, "turns ago"))
	line := Sentence{ID: "old", Text: "Old."}
	w.happen(rapid.SampledFrom([]Event{
		SentenceThought{Turn: turn, Sentence: line}, ThinkingEnded{Turn: turn},
		SoundMade{Turn: turn, Piece: Piece{Sentence: line, PCM: silence(time.Second), Last: true}},
		TurnFailed{Turn: turn, Fault: contract.Fault{Code: contract.NotSpoken}}, MindFailed{Turn: turn, ID: "old"},
	}).Draw(w.t, "stale"))
}

// step makes one random event.
func (w *world) step() {
	w.pass(time.Duration(rapid.IntRange(0, 900).Draw(w.t, "ms")) * time.Millisecond)
	switch rapid.IntRange(0, 14).Draw(w.t, "who") {
	case 14:
		w.advise()
	case 0, 1, 2, 3, 4:
		w.hear()
	case 5:
		w.transcribe()
	case 6, 7:
		w.think()
	case 8, 9, 10:
		w.sound()
	case 11:
		w.ask()
	case 12:
		w.stale()
	case 13:
		w.answer()
	}
}

// settle lets everything finish: the user is silent, and all work is done.
func (w *world) settle() {
	defer w.happen(Tick{})
	for range 400 {
		w.pass(500 * time.Millisecond)
		switch {
		case w.closing:
			w.closing, w.open = false, false
		case w.open && !w.pausing:
			w.rest()
		case w.open:
			w.happen(SilenceContinued{Utterance: w.utterance, Until: w.now})
		}
		w.transcribe()
		w.think()
		w.sound()
	}
}
