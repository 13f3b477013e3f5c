package contract

import (
	"cmp"
	"errors"
	"strings"
	"unicode"
)

// Phone is the state of the box's telephone.
type Phone struct {
	// The addresses for SIP; none: calls come as media streams only.
	Listeners []PhoneListener `json:"listeners"`
	Trunks    []PhoneTrunk    `json:"trunks"`
	// The numbers that the box answers.
	Extensions []PhoneExtension `json:"extensions"`
	// The live calls, the oldest first.
	Calls []PhoneCall `json:"calls"`
	// The newest calls that have ended, the newest first.
	EndedCalls []PhoneCall `json:"ended_calls"`
}

// MaxEndedPhoneCalls is how many ended calls Phone lists: a client that looks every
// second learns how its call ended, also on a box that answers fifty at once.
const MaxEndedPhoneCalls = 50

// PhoneListener is an address on which the box waits for SIP.
type PhoneListener struct {
	Address string `json:"address"`         // such as udp://0.0.0.0:5060
	Open    bool   `json:"open"`            // false: the box could not open it
	Error   string `json:"error,omitempty"` // why it is not open
}

// PhoneTrunk is a peer that may call the box, and over which the box calls out.
type PhoneTrunk struct {
	Name     string `json:"name"`
	Address  string `json:"address,omitempty"` // as the settings name it; absent if callers show a password
	Register bool   `json:"register"`          // whether the box registers there
	// Ready where the box does not register, and otherwise registering, registered or
	// failed.
	State PhoneTrunkState `json:"state"`
	// The host that has accepted the registration.
	RegisteredAt string `json:"registered_at,omitempty"`
	// When the registration ends unless it is refreshed, Unix milliseconds.
	ExpiresOn int64 `json:"expires_on,omitempty"`
	// The newest failure of a registration or of a call out. It stays after a success.
	LastError string `json:"last_error,omitempty"`
	// When that was, Unix milliseconds.
	LastErrorOn int64 `json:"last_error_on,omitempty"`
}

// PhoneTrunkState is whether a trunk can be used.
type PhoneTrunkState string

// The states of trunks.
const (
	TrunkReady       PhoneTrunkState = "ready"
	TrunkRegistering PhoneTrunkState = "registering"
	TrunkRegistered  PhoneTrunkState = "registered"
	TrunkFailed      PhoneTrunkState = "failed"
)

// PhoneExtension is a number that the box answers.
type PhoneExtension struct {
	Number  string `json:"number"`            // * stands for all others
	Config  string `json:"config,omitempty"`  // id or name; absent: the settings of the box
	Account string `json:"account,omitempty"` // the name of the account; absent: the box's first
}

// PhoneCallState is how far a call has come.
type PhoneCallState string

// The states of calls.
const (
	CallRinging      PhoneCallState = "ringing"      // not answered yet
	CallAnswered     PhoneCallState = "answered"     // answered; the chat has not begun
	CallTalking      PhoneCallState = "talking"      // in a chat
	CallTransferring PhoneCallState = "transferring" // the box calls the person who takes over
	CallJoined       PhoneCallState = "joined"       // two people talk; the chat is over
	CallEnded        PhoneCallState = "ended"
)

// PhoneCall is a call by telephone.
type PhoneCall struct {
	CallID    string         `json:"call_id"`
	ChatID    string         `json:"chat_id,omitempty"` // once it has a chat
	Direction CallDirection  `json:"direction"`
	State     PhoneCallState `json:"state"`
	Trunk     string         `json:"trunk,omitempty"` // absent: it is a media stream
	From      string         `json:"from,omitempty"`  // absent: withheld
	To        string         `json:"to"`
	Account   string         `json:"account"`             // the name of the account of its chat
	ConfigID  string         `json:"config_id,omitempty"` // of its chat; absent: the settings of the box
	// Who answered a call out, or why nobody did.
	AnsweredBy AnsweredBy `json:"answered_by,omitempty"`
	StartedOn  int64      `json:"started_on"`            // Unix milliseconds
	AnsweredOn int64      `json:"answered_on,omitempty"` // Unix milliseconds; absent: not answered
	EndedOn    int64      `json:"ended_on,omitempty"`    // Unix milliseconds; absent: it is live
	EndReason  string     `json:"end_reason,omitempty"`  // a sentence; absent: it is live
	// From the answer to the end of the call, or until now.
	DurationSecs int `json:"duration_secs"`
	// Whether the far end has put the box on hold.
	OnHold bool `json:"on_hold"`

	PhoneMedia
}

// PostedPhoneCall calls a number.
type PostedPhoneCall struct {
	// The name of the trunk; absent: the box's only one.
	Trunk string `json:"trunk"`
	// The number, or a SIP address. Separators within a number are ignored.
	To string `json:"to"`
	// The id or the name of the config of the chat.
	ConfigID string `json:"config_id"`
	// They apply from the start of the chat.
	SessionSettings PhoneSettings `json:"session_settings"`
	// The name of the account of the chat; absent: that of the key.
	Account string `json:"account"`
}

// PhoneSettings are the session settings of a call, without the type of a message.
type PhoneSettings SessionSettings

func (PostedPhoneCall) read(o object) PostedPhoneCall {
	o.require("to", "config_id")
	c := PostedPhoneCall{
		Trunk:    o.text("trunk", MaxTrunkNameChars),
		To:       o.phoneNumber("to"),
		ConfigID: o.nonBlank("config_id", MaxModelResourceChars),
		Account:  o.text("account", MaxKeyNameChars),
	}
	if s, ok := o.object("session_settings"); ok {
		c.SessionSettings = PhoneSettings(readSettings(s))
	}
	return c
}

// PostedPhoneTransfer hands a live call over to a person.
type PostedPhoneTransfer struct {
	// The number of the person, or a SIP address.
	To string `json:"to"`
	// Whether the box calls the person, says who calls, and joins the two when the person
	// agrees. Otherwise it only asks the trunk to redirect the call.
	Attended bool `json:"attended"`
	// What the box says to the person; absent: it says who calls.
	Brief string `json:"brief"`
	// How long the person's phone rings; absent: 30.
	RingSecs int `json:"ring_secs"`
}

// maxBriefChars bounds what the box says to a person who takes a call over: half a
// minute of speech, while the caller waits.
const maxBriefChars = 500

func (PostedPhoneTransfer) read(o object) PostedPhoneTransfer {
	o.require("to")
	t := PostedPhoneTransfer{
		To:       o.phoneNumber("to"),
		Attended: o.boolean("attended"),
		Brief:    strings.TrimSpace(o.text("brief", maxBriefChars)),
		RingSecs: o.integer("ring_secs", MinRingSecs, MaxRingSecs),
	}
	o.noteFirst("brief", t.Brief, "has the control character %U", unicode.IsControl)
	if !t.Attended && t.Brief != "" {
		o.note("brief", "wrong_value", "it is only said in an attended transfer; set attended to true, or leave it out")
	}
	t.RingSecs = cmp.Or(t.RingSecs, DefaultRingSecs)
	return t
}

// MaxTrunkNameChars bounds the name of a trunk.
const MaxTrunkNameChars = 64

// separators are what people write between the digits of a number.
var separators = strings.NewReplacer(" ", "", "\u00a0", "", "-", "", ".", "", "/", "", "(", "", ")", "")

// ParsePhoneNumber returns a number as it is dialled: without the separators that
// people write, and without the (0) behind a country code. A name or a SIP address
// stays as it is. The error says what is allowed.
func ParsePhoneNumber(text string) (string, error) {
	number := strings.TrimSpace(text)
	if strings.HasPrefix(number, "+") {
		number = strings.Replace(number, "(0)", "", 1)
	}
	if plain := separators.Replace(number); strings.Trim(plain, "+0123456789*#") == "" {
		number = plain
	}
	if why := BadDialString(number); why != "" {
		return "", errors.New(why)
	}
	return number, nil
}

// phoneNumber parses a number that is called.
func (o object) phoneNumber(name string) string {
	text := o.textOrNil(name, MaxDialChars)
	if text == nil {
		return ""
	}
	number, err := ParsePhoneNumber(*text)
	if err != nil {
		o.note(name, "wrong_value", err.Error())
	}
	return number
}
