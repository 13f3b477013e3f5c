package turn

import (
	"slices"
	"time"

	"parley/appliance/contract"
)

// State is everything a conversation knows. It is a value: Next returns a new State and leaves the old one
// unchanged. Slices that grow with the conversation are shared between the two, so only the newest State may
// be passed to Next.
type State struct {
	settings  Settings
	startedAt time.Time     // wall clock at the start of the chat, for {{now}}
	now       time.Duration // time of the last event
	ended     bool
	paused    bool

	prompt  string  // the system prompt with its variables filled in
	history []Entry // what was said, as far as it was heard

	turn  int   // number of the newest turn
	reply reply // the assistant's part of that turn

	// Sentences that were sent and may still be playing at the client.
	playing     []playingSentence
	playbackEnd time.Duration // when the client will have played everything that was sent

	utterance      utterance     // the newest utterance of the user
	pendingSpeech  pendingSpeech // earlier speech of the user that is not finished with
	answerOnResume bool          // answer the last user message when the assistant is resumed
	// Otherwise this is said when the assistant is resumed: the unheard rest of a complete answer.
	sayOnResume  []Sentence
	interruption interruption // what the newest interruption cut off
	chatEnd      chatEnd      // why the chat ends soon

	lastActive       time.Duration // when the user was last active
	promptedUntil    time.Duration // when the last answer to a user has been played
	nudges           int           // how many times the user was nudged in this silence
	inactivityWarned bool          // the user was warned that the chat will end
}

// phase is the progress of a reply.
type phase int

const (
	quiet     phase = iota // there is no reply
	preparing              // speculative: nothing is sent before the user has finished
	answering              // the reply is sent as it is made
)

// reply is the assistant's part of a turn.
type reply struct {
	phase        phase
	utterance    int    // number of the utterance that a speculative reply answers
	revision     int    // of the transcript that it answers
	stale        bool   // the user went on; the reply is usable only if the transcript stays the same
	answeredText string // the transcript that the reply answers

	unspoken      []Sentence     // sentences from the mind that the mouth has not been given
	atMouth       []Sentence     // sentences that the mouth is speaking or will speak next
	mouthBegun    bool           // the mouth was given a sentence
	thinkingEnded bool           // the mind has no more sentences
	finished      bool           // and all of them were given to the mouth
	unsentSound   []SoundMade    // sound held back until the user has finished, or until more may be sent
	joined        joinedSentence // a sentence that is spoken in parts and sent as one message
	dictated      [][]Sentence   // texts from the client that are said after this reply
	consultation  consultation   // plugins that are asked before the mind
	pluginContext []Entry        // what plugins added to a speculative transcript
	fault         *contract.Fault
	mindFailure   *MindFailed // the mind has failed, and the client does not know yet
	unprompted    bool        // the assistant speaks by itself: nobody asked
	call          openCall    // the tool call under way or about to start
	answeredCall  openCall    // the call whose result the model is reading
	calls         int         // how many tools this turn has called
	quick         bool        // a quick answer was given
	unanswered    string      // what the user said, if no approved answer fits and that is not published yet
	answerID      string      // the approved answer that was published last
}

// utterance is what is known of one utterance of the user.
type utterance struct {
	number        int
	open          bool // it goes on, or its transcript is still to come
	revision      int  // of the newest requested transcript
	transcript    Transcript
	transcribed   bool          // transcript is that of revision
	pause         pause         // the pause that the utterance is in
	ended         bool          // the turn is over, but the transcript is still to come
	voice         time.Duration // how much voice it holds so far
	ignoredVoice  time.Duration // how much of that does not count towards an interruption
	interrupted   bool          // it has interrupted the assistant
	voiceAtResume time.Duration // voice at the moment the user went on after a pause
	longestPause  time.Duration // the longest pause so far that could have been the end
}

// pause is a silence within an utterance or after it.
type pause struct {
	on          bool
	voiceEnd    time.Duration // when the voice before the pause ended
	silentUntil time.Duration // how far the ear has heard nothing but silence
	mayBeVoice  bool          // the newest part of the silence holds a sound that may become voice
	short       bool          // the utterance is too short to hold a word
	// judged says whether probability, the likelihood that the user has finished, is known.
	judged      bool
	probability float64
}

// interruption is what an utterance has cut off.
type interruption struct {
	utterance int // number of the utterance; 0: none
	rest      []Sentence
	spoken    string          // what the assistant had said last
	call      interruptedCall // also set by a pause of the assistant
}

// NewState returns the state of a conversation about to begin. history is what was said in earlier chats of
// its group.
func NewState(s Settings, begun time.Time, history []Entry) State {
	return State{
		settings:  s,
		startedAt: begun,
		prompt:    s.Prompt(begun),
		history:   slices.Clone(history),
	}
}

// Settings returns the settings in force.
func (s State) Settings() Settings { return s.settings }

// Now returns the time of the last event.
func (s State) Now() time.Duration { return s.now }

// Turn returns the number of the newest turn; turns count from 1.
func (s State) Turn() int { return s.turn }

// Conversation returns what the model continues from.
func (s State) Conversation() Conversation { return s.conversation() }

// busy reports whether the box is working on something that the user waits for: an answer or a transcript.
func (s State) busy() bool {
	return s.reply.phase != quiet || s.utterance.ended || len(s.pendingSpeech.expected) > 0
}

// talking reports whether the assistant holds the floor: it is answering, or its sound is still being played.
func (s State) talking() bool {
	return s.reply.phase == answering || s.now < s.playbackEnd
}
