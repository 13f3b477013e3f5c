package turn

import (
	"slices"
	"time"

	"parley/appliance/contract"
)

// State is all that is so in a conversation. It is a value: Next returns
// another one and leaves the old as it was. What grows with the conversation is
// shared by both, so only the newest State has a future.
type State struct {
	settings  Settings
	startedAt time.Time     // wall clock at the beginning, for {{now}}
	now       time.Duration // when the last event happened
	ended     bool
	paused    bool

	prompt  string  // the system prompt, its variables filled in
	history []Entry // what was said, as far as it was heard

	turn  int   // number of the newest turn
	reply reply // the assistant's part of it

	// What was sent and may still be playing at the client.
	playing     []playingSentence
	playbackEnd time.Duration // when the client will have played everything

	utterance      utterance    // the newest utterance
	waiting        waiting      // what was said before it
	answerOnResume bool         // the last user message is answered when the assistant may go on
	sayOnResume    []Sentence   // else this: what a pause kept from being heard of an answer that was all made
	interruption   interruption // what the assistant was at when it was interrupted
	leaving        leaving      // why the chat ends soon

	lastActive       time.Duration // when somebody last did something
	promptedUntil    time.Duration // when what the assistant was asked for is played
	nudges           int           // times that somebody was asked to go on
	inactivityWarned bool          // that the chat will end
}

// phase is how far a reply is.
type phase int

const (
	quiet     phase = iota // no reply under way
	preparing              // speculative: nothing is sent until the user has finished
	answering              // under way, in the open
)

// reply is the assistant's part of a turn.
type reply struct {
	phase        phase
	utterance    int // that a speculative reply answers, with the revision of its guess
	revision     int
	stale        bool   // the user went on; kept only in case the words stay the same
	answeredText string // these words

	unspoken      []Sentence     // thought, not asked of the mouth yet
	atMouth       []Sentence     // of the mouth, not spoken yet
	mouthBegun    bool           // some sentence was asked of the mouth
	thinkingEnded bool           // no more sentences will come
	finished      bool           // and all were asked of the mouth
	unsentSound   []SoundMade    // spoken, held back until the user has finished, or more may be sent
	joined        joinedSentence // a sentence that is sent as one and spoken in parts
	dictated      [][]Sentence   // texts that the client has sent meanwhile
	consultation  consultation   // plugins are asked before the mind is
	pluginContext []Entry        // what they have said to a guess, beside the words
	fault         *contract.Fault
	mindFailure   *MindFailed // the mind has failed, and nobody was told yet
	unprompted    bool        // it is of the assistant's own accord: nobody was there for it
	call          openCall    // the tool that is at work, or is to be
	answeredCall  openCall    // the one that has answered, until the model has words for it
	calls         int         // tools that were called
	quick         bool        // a quick answer was given
}

// utterance is what is known of the newest utterance.
type utterance struct {
	number        int
	open          bool // it goes on, or its words are still to come
	revision      int  // of the newest guess asked for
	transcript    Transcript
	transcribed   bool          // words are those of revision
	pause         pause         // that it is in
	ended         bool          // the turn ended, the guess is still awaited
	voice         time.Duration // of it so far
	ignoredVoice  time.Duration // of it before the assistant began
	interrupted   bool          // it has interrupted the assistant
	voiceAtResume time.Duration // voice at the moment the user went on after a pause
	longestPause  time.Duration // the longest pause so far that might have been the end
}

// pauseAssistant is a silence within an utterance, or after it.
type pause struct {
	on          bool
	voiceEnd    time.Duration // of the voice before it
	silentUntil time.Duration // how far the ear has heard nothing but silence
	mayBeVoice  bool          // the newest of that holds a sound that may become voice
	short       bool          // the utterance holds no word
	// atMouth says that it is known how likely the user has finished.
	judged      bool
	probability float64
}

// interruption is what an utterance has kept the assistant from.
type interruption struct {
	utterance int // 0: none
	rest      []Sentence
	spoken    string          // of it, last
	call      interruptedCall // also where a pause has done it
}

// NewState is a conversation about to begin, with what was said before.
func NewState(s Settings, begun time.Time, history []Entry) State {
	return State{
		settings:  s,
		startedAt: begun,
		prompt:    s.Prompt(begun),
		history:   slices.Clone(history),
	}
}

// Settings are what holds now.
func (s State) Settings() Settings { return s.settings }

// Now is when the last event happened.
func (s State) Now() time.Duration { return s.now }

// Turn is the number of the newest turn; they count from 1.
func (s State) Turn() int { return s.turn }

// Conversation is what the model goes on with.
func (s State) Conversation() Conversation { return s.conversation() }

// busy reports whether something is being made that somebody waits for: an
// answer, or the words of what was said.
func (s State) busy() bool {
	return s.reply.phase != quiet || s.utterance.ended || len(s.waiting.transcripts) > 0
}

// talking reports whether the assistant holds the floor: it prepares an answer
// in the open, or what it said is still being played.
func (s State) talking() bool {
	return s.reply.phase == answering || s.now < s.playbackEnd
}
