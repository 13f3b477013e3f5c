// Package phone holds live chats by telephone, whatever carries a call: it takes calls, makes
// calls, and hands callers over to people. A Leg carries the sound of one call.
package phone

import (
	"context"
	"log/slog"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line"
)

// Kind is the kind of the line in lists of live chats.
const Kind = "phone"

// A Leg is one call: signalling and sound, to one far end. Any goroutine may call its
// methods, except for Play and HeldBack, which one goroutine at a time calls.
type Leg interface {
	// Listen starts to deliver what the far end sends. It is called once. hear gets mono sound
	// at engine.SpeechRateHz without gaps, owns it, and may block. press gets each key once:
	// 0 to 9, *, #, A to D.
	Listen(hear func(pcm []float32), press func(key rune))
	// Play queues sound as connection.Line does. Sound without an ID belongs to no chat.
	Play(s contract.Sound) error
	// HeldBack is the number of samples, the newest that Play was given, that wait for more.
	HeldBack() int
	// Unsent is the length of the sound that has not left yet.
	Unsent() time.Duration
	// Cut drops the sound that has not left.
	Cut()
	// Drained returns a channel that is closed when all that was played has been heard at the
	// far end, as far as that is known.
	Drained() <-chan struct{}
	// OnPlayed sets what is told how much of a chat's message was played. It is called before
	// the first Play.
	OnPlayed(func(id string, upTo time.Duration))
	// Relay sends live sound at engine.SpeechRateHz at once, instead of what Play queues.
	Relay(pcm []float32)
	// Press sends keys to the far end.
	Press(ctx context.Context, digits string) error
	// Transfer asks the far end to call another number instead (REFER), and returns when it is
	// known how that went. The error says, for people, why it did not.
	Transfer(ctx context.Context, to string) error
	// OnHold sets what is told that the far end holds the box, and that it does no longer. It
	// is called before Listen.
	OnHold(func(held bool))
	// HangUp ends the call. It returns at once, and may be called again.
	HangUp()
	// Done is closed when the call is over. Err then says why, in words for people; nil: the far
	// end hung up.
	Done() <-chan struct{}
	Err() error
	Stats() contract.PhoneMedia
}

// An Invitation is a call to the box that was not answered yet.
type Invitation interface {
	// Ring tells the caller that the telephone rings.
	Ring() error
	// Reject refuses the call with a status of SIP. retryAfter is 0 if trying again is useless.
	Reject(status int, retryAfter time.Duration) error
	// Answer takes the call. It fails if the caller has given up.
	Answer(ctx context.Context) (Leg, error)
}

// Caller describes a call to the box.
type Caller struct {
	From  string // number or name of the caller; empty if it is withheld
	To    string // what was called
	Trunk string
}

// Dialled is a number to call.
type Dialled struct {
	Trunk string
	To    string
	Ring  time.Duration
}

// DialError says why nobody answered a call.
type DialError struct {
	By     contract.AnsweredBy
	Reason string
}

func (e DialError) Error() string { return e.Reason }

// Assistant is who talks to a person on the telephone.
type Assistant struct {
	Account  string // its id
	Name     string // of the account
	Settings contract.ConnectSettings
	// Greets means that the assistant speaks first.
	Greets bool
	// Mailbox is what a mailbox that answers gets to hear; empty: nothing.
	Mailbox string
	// Recorded means that the box stores the sound of its chats.
	Recorded bool
	Voice    Voice
}

// A Voice says sentences outside of a chat.
type Voice interface {
	// Language returns the BCP 47 tag of what the voice speaks.
	Language() string
	// Speak passes the sound of text, mono at contract.OutputRateHz, to play as it is made.
	Speak(ctx context.Context, text string, play func(pcm []float32) error) error
}

// Parts are what a Server needs.
type Parts struct {
	Host line.Host
	// Answers returns who answers a called number. The error is a contract.ErrNotFound if nobody
	// does.
	Answers func(ctx context.Context, number string) (Assistant, error)
	// Assistant returns the assistant of an account's config, given its id or name. The errors
	// are those of the API.
	Assistant func(ctx context.Context, account string, s contract.ConnectSettings) (Assistant, error)
	// Trunks are the names of those over which the box can call out. CanDial returns why a trunk cannot
	// call a number, and Dial calls a number until ctx ends. Its error is a DialError if nobody answered.
	Trunks      []string
	CanDial     func(trunk, to string) error
	Dial        func(ctx context.Context, d Dialled) (Leg, error)
	Detector    engine.VoiceDetector
	Transcriber engine.Transcriber
	Log         *slog.Logger
}

// Consent is how the box handles the consent of callers to a recording.
type Consent string

// The values of Consent.
const (
	ConsentNone     Consent = "none"
	ConsentAnnounce Consent = "announce" // it is said
	ConsentAsk      Consent = "ask"      // it is asked
)

// Options say how calls are held.
type Options struct {
	Consent Consent
	// Hold is what callers hear who wait for a person, mono at contract.OutputRateHz. It is
	// repeated; empty means silence.
	Hold []float32
}

// maxCalls bounds the calls at once, besides those in chats: calls that ring, and calls
// that were handed over and cost only the relay of their sound.
const maxCalls = 50

// Stream is a call over a media stream, and what its token carried.
type Stream struct {
	Leg           Leg
	Account       string
	Settings      contract.ConnectSettings
	Authorization connection.Authorization
	RequestID     string
	Client        string // network address
	From, To      string
	Twilio        map[string]string
}
