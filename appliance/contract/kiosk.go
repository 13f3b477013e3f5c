package contract

// MaxCodeChars bounds a pairing code, with the separators that people type.
const MaxCodeChars = 20

// PostedPairing is the body that pairs a screen.
type PostedPairing struct {
	Code string `json:"code"` // as the box shows it; case and separators are ignored
}

func (PostedPairing) read(o object) PostedPairing {
	o.require("code")
	return PostedPairing{Code: o.text("code", MaxCodeChars)}
}

// PairedKiosk is a screen that was paired. The key is not shown again.
type PairedKiosk struct {
	APIKey string `json:"api_key"` // opens chats with the screen's config, and nothing else
	KeyID  string `json:"key_id"`  // the id that revokes it
	Name   string `json:"name"`    // of the screen
}

// PostedKiosk creates a code that pairs a screen.
type PostedKiosk struct {
	Name    string `json:"name"`    // the name that the screen shows
	Account string `json:"account"` // the account of its chats
	// The config of its chats; absent: the settings of the box.
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

// KioskCode is a code that pairs one screen, once.
type KioskCode struct {
	Code      string `json:"code"`
	Name      string `json:"name"`
	ConfigID  string `json:"config_id,omitempty"`
	ExpiresOn int64  `json:"expires_on"`
}

// ReturnKiosk is a paired screen.
type ReturnKiosk struct {
	KeyID   string `json:"key_id"` // the id that revokes it
	Name    string `json:"name"`
	Account string `json:"account"`
	// The config of its chats; absent: the settings of the box.
	ConfigID   string `json:"config_id,omitempty"`
	ConfigName string `json:"config_name,omitempty"`
	PairedOn   int64  `json:"paired_on"`
	// Absent unless it was revoked.
	RevokedOn int64 `json:"revoked_on,omitempty"`
}

// ReturnPagedKiosks is a page of screens.
type ReturnPagedKiosks struct {
	Paging
	KiosksPage []ReturnKiosk `json:"kiosks_page"`
}

// BoxKiosk is the state of the line of the box's loudspeaker and microphone.
type BoxKiosk struct {
	State  string    `json:"state"`             // waiting or talking
	ChatID string    `json:"chat_id,omitempty"` // the id of the chat, once it has one
	Input  BoxDevice `json:"input"`
	Output BoxDevice `json:"output"`
}

// BoxDevice is a microphone or a loudspeaker that the box uses.
type BoxDevice struct {
	Name    string `json:"name,omitempty"` // while it is open
	Open    bool   `json:"open"`
	Trouble string `json:"trouble,omitempty"` // why it is not open
}
