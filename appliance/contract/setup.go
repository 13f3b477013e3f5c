package contract

// Limits of what sets a box up.
const (
	maxListenChars = 300
	maxTLSChars    = 8192 // two paths, or a URL
	// maxPasswordBytes is far more than people type.
	maxPasswordBytes = 512
)

// ReturnSignIn says how a browser can sign in.
type ReturnSignIn struct {
	Password bool `json:"password"` // the console has a password; links always work
	SetUp    bool `json:"set_up"`   // this client may set the box up: GET /v0/box/setup
}

// PostedPassword sets the password of the console.
type PostedPassword struct {
	Password string `json:"password"`
	Current  string `json:"current"` // the present password; a session must show it, if there is one
}

func (PostedPassword) read(o object) PostedPassword {
	o.require("password")
	return PostedPassword{
		Password: o.text("password", maxPasswordBytes),
		Current:  o.text("current", maxPasswordBytes),
	}
}

// ReturnPassword is the answer to a new password.
type ReturnPassword struct {
	SignedOut int64 `json:"signed_out"` // how many other browsers
}

// PostedSetUp sets a box up. The fields but the password are values of settings.
type PostedSetUp struct {
	Listen   string `json:"listen"`    // HOST:PORT
	Profile  string `json:"profile"`   // of the models
	TLS      string `json:"tls"`       // auto, own, acme, off, or CERT,KEY
	TLSNames string `json:"tls_names"` // names of the certificate, with commas
	Kiosk    bool   `json:"kiosk"`     // talk over the box's own loudspeaker and microphone
	Password string `json:"password"`  // of the console; needed for a client without a session
}

func (PostedSetUp) read(o object) PostedSetUp {
	o.require("listen", "profile", "tls")
	return PostedSetUp{
		Listen:   o.text("listen", maxListenChars),
		Profile:  o.text("profile", MaxKeyNameChars),
		TLS:      o.text("tls", maxTLSChars),
		TLSNames: o.text("tls_names", maxTLSChars),
		Kiosk:    o.boolean("kiosk"),
		Password: o.text("password", maxPasswordBytes),
	}
}

// ReturnSetUp is what a page needs that sets a box up: the present values, and what the machine
// allows.
type ReturnSetUp struct {
	Listen      string               `json:"listen"`
	Profile     string               `json:"profile"`
	TLS         string               `json:"tls"`
	TLSNames    string               `json:"tls_names"`
	Kiosk       bool                 `json:"kiosk"`
	Password    bool                 `json:"password"`     // the console has one
	File        string               `json:"file"`         // the settings file that is written
	Addresses   []string             `json:"addresses"`    // IP addresses of the machine
	Memory      int64                `json:"memory"`       // of the machine, in bytes
	MinPassword int                  `json:"min_password"` // characters
	Profiles    []ReturnSetUpProfile `json:"profiles"`
	// Fixed are the settings that a flag or the environment decides, by field.
	Fixed []ReturnSetUpProblem `json:"fixed"`
}

// ReturnSetUpProfile is a profile of models.
type ReturnSetUpProfile struct {
	Name        string `json:"name"`
	Bytes       int64  `json:"bytes"`  // of its packs
	Memory      int64  `json:"memory"` // that it needs, about
	Fits        bool   `json:"fits"`   // into the memory of the machine
	Recommended bool   `json:"recommended"`
}

// ReturnSetUpCheck is what is wrong with answers; empty if they can be written.
type ReturnSetUpCheck struct {
	Problems []ReturnSetUpProblem `json:"problems"`
	Warning  string               `json:"warning"` // allowed, but probably not meant
}

// ReturnSetUpProblem is a sentence about a field.
type ReturnSetUpProblem struct {
	Field string `json:"field"` // as in PostedSetUp; empty for several
	Why   string `json:"why"`
}

// ReturnSetUpDone says what is left to do after the settings are written: fetch the packs, and then
// restart the box.
type ReturnSetUpDone struct {
	Packs []ReturnSetUpPack `json:"packs"` // that are missing
}

// ReturnSetUpPack is a pack to fetch.
type ReturnSetUpPack struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// ReturnRestart says where the box is found after its restart.
type ReturnRestart struct {
	URL         string   `json:"url"`         // for the caller, as far as known; it signs the browser in, once
	Others      []string `json:"others"`      // at other addresses
	Probe       string   `json:"probe"`       // an http URL that answers anything when the box listens again
	Fingerprint string   `json:"fingerprint"` // SHA-256 of the box's own authority; empty without one
}
