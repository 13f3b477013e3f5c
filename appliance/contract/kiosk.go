package contract

// MaxCodeChars of a code that pairs a screen, with what people type between.
const MaxCodeChars = 20

// PostedPairing is the body that pairs a screen.
type PostedPairing struct {
	Code string `json:"code"` // that the box shows; case and what stands between do not matter
}

func (PostedPairing) read(o object) PostedPairing {
	o.require("code")
	return PostedPairing{Code: o.text("code", MaxCodeChars)}
}

// PairedKiosk is a screen that was paired: the key is told once.
type PairedKiosk struct {
	APIKey string `json:"api_key"` // opens conversations with the screen's config, and nothing else
	KeyID  string `json:"key_id"`  // by which it is revoked
	Name   string `json:"name"`    // of the screen
}

// PostedKiosk is the body that makes a code with which a screen is paired.
type PostedKiosk struct {
	Name    string `json:"name"`    // what the screen is called, which it shows
	Account string `json:"account"` // whose config it talks by
	// ConfigID is the config that it talks by; absent: the box's own assistant.
	ConfigID string `json:"config_id"`
}

func (PostedKiosk) read(o object) PostedKiosk {
	o.require("name", "account")
	k := PostedKiosk{Name: o.nonBlank("name", MaxKeyNameChars), Account: o.nonBlank("account", MaxKeyNameChars),
		ConfigID: o.text("config_id", MaxKeyNameChars)}
	o.printable("name", k.Name)
	o.printable("account", k.Account)
	return k
}

// KioskCode is a code with which one screen is paired, once.
type KioskCode struct {
	Code      string `json:"code"`
	Name      string `json:"name"`
	ConfigID  string `json:"config_id,omitempty"`
	ExpiresOn int64  `json:"expires_on"`
}

// ReturnKiosk is a screen that was paired.
type ReturnKiosk struct {
	KeyID   string `json:"key_id"` // by which it is revoked
	Name    string `json:"name"`
	Account string `json:"account"`
	// ConfigID is the config that it talks by; absent: the box's own assistant.
	ConfigID   string `json:"config_id,omitempty"`
	ConfigName string `json:"config_name,omitempty"`
	PairedOn   int64  `json:"paired_on"`
	// RevokedOn is absent while it is good.
	RevokedOn int64 `json:"revoked_on,omitempty"`
}

// ReturnPagedKiosks is a page of screens.
type ReturnPagedKiosks struct {
	Paging
	KiosksPage []ReturnKiosk `json:"kiosks_page"`
}

// BoxKiosk is how the line of the box's own loudspeaker and microphone is.
type BoxKiosk struct {
	State  string    `json:"state"`             // waiting for somebody, or talking
	ChatID string    `json:"chat_id,omitempty"` // of the conversation, as soon as it has one
	Input  BoxDevice `json:"input"`
	Output BoxDevice `json:"output"`
}

// BoxDevice is a microphone or a loudspeaker that the box uses.
type BoxDevice struct {
	Name    string `json:"name,omitempty"` // while it is open
	Open    bool   `json:"open"`
	Trouble string `json:"trouble,omitempty"` // why it is not
}
