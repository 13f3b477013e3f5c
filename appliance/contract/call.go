package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
)

// Call is what a telephone line knows of a call before the chat begins.
type Call struct {
	// CallerNumber is the number of the person, E.164 where that is known; empty if it is withheld.
	CallerNumber string
	// Twilio are the further facts of a call over a media stream, such as its CallSid.
	Twilio map[string]string
	CallInfo
}

// CallInfo describes a telephone call in webhooks and in the metadata of its chat.
type CallInfo struct {
	CallID    string        `json:"call_id,omitempty"` // of the requests about calls
	Direction CallDirection `json:"direction"`
	// AnsweredBy is who or what answered a call of the box; empty for a call to the box.
	AnsweredBy AnsweredBy `json:"answered_by,omitempty"`
	To         string     `json:"to,omitempty"`    // the number that was called
	Trunk      string     `json:"trunk,omitempty"` // by which the call came or went; empty for a media stream
}

// CallDirection is who called whom.
type CallDirection string

// The directions of calls.
const (
	Inbound  CallDirection = "inbound"  // a person called the box
	Outbound CallDirection = "outbound" // the box called a person
)

// AnsweredBy is how a call of the box was answered.
type AnsweredBy string

// Who or what answers calls, and why nobody does.
const (
	ByPerson         AnsweredBy = "person"
	ByMailbox        AnsweredBy = "mailbox"
	ByBusy           AnsweredBy = "busy"
	ByNobody         AnsweredBy = "no_answer"
	ByRejected       AnsweredBy = "rejected"
	ByWrongNumber    AnsweredBy = "wrong_number"
	ByFailedNetworks AnsweredBy = "failed"
)

// Describe sets the fields of a webhook that describe the call. A nil call sets none.
func (c *Call) Describe(w *WebhookBase) {
	if c == nil {
		return
	}
	if c.CallerNumber != "" {
		w.CallerNumber = &c.CallerNumber
	}
	if len(c.Twilio) > 0 {
		w.TwilioMetadata = map[string]*string{}
		for name, value := range c.Twilio {
			w.TwilioMetadata[name] = &value
		}
	}
	w.Call = &c.CallInfo
}

// Metadata returns the metadata of the call's chat as JSON: those that the client gave, and below
// "twilio" and "call" those of the call. For a nil call and no given ones it is empty.
func (c *Call) Metadata(given map[string]json.RawMessage) string {
	if c == nil && given == nil {
		return ""
	}
	all := map[string]any{}
	if c != nil {
		twilio := map[string]*string{"caller_number": nil}
		for name, value := range c.Twilio {
			twilio[name] = &value
		}
		if c.CallerNumber != "" {
			twilio["caller_number"] = &c.CallerNumber
		}
		all["twilio"], all["call"] = twilio, c.CallInfo
	}
	for name, value := range maps.All(given) {
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil { // given was parsed before
		return ""
	}
	return string(text)
}

const (
	// MaxDestinations is how many destinations a tool transfer may have: more than a small language
	// model can tell apart.
	MaxDestinations = 32
	// MaxDialChars bounds a number or SIP address to call.
	MaxDialChars = 255
	// PhoneKeys are the keys of a telephone, in the order of their numbers in RFC 4733.
	PhoneKeys = "0123456789*#ABCD"
	// MaxSentKeys bounds what a tool presses at once: 64 keys take 13 s.
	MaxSentKeys = 64
	// The seconds that a transfer rings: a person needs some time to get to the telephone, and a caller
	// does not wait for minutes.
	MinRingSecs, DefaultRingSecs, MaxRingSecs = 5, 30, 120
)

// BadDialString says why text can be neither a telephone number nor a SIP address to call; "" if it can.
func BadDialString(text string) string {
	switch {
	case dialString.MatchString(text):
		return ""
	case len(text) > MaxDialChars:
		return fmt.Sprintf("%d characters; at most %d are allowed", len(text), MaxDialChars)
	}
	return fmt.Sprintf("%q is neither a number nor a SIP address; expected something like +4930123456, 100 or "+
		"sip:desk@pbx.local", Clip(text))
}

// dialString matches numbers with the usual separators, names of extensions, and SIP addresses.
var dialString = regexp.MustCompile(`^(\+?[0-9*#][0-9*#() ./-]{0,39}|[A-Za-z0-9_.+-]{1,64}|` +
	`sips?:[A-Za-z0-9_.!~*'()&=+$,;?/%-]{1,64}@[A-Za-z0-9.:\[\]-]{1,128})$`)
