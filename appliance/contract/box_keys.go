package contract

import "time"

// ReturnKey is an API key as an operator sees it: without the key itself, which
// the box does not store.
type ReturnKey struct {
	KeyID   string `json:"key_id"` // the id that revokes it
	Account string `json:"account"`
	Label   string `json:"label"`
	Role    string `json:"role"` // client or operator
	// The last characters of the API key.
	Hint string `json:"hint"`
	// Whether it is the key of a screen.
	Kiosk     bool  `json:"kiosk"`
	CreatedOn int64 `json:"created_on"`
	// When it was last used, up to five minutes late; absent if never.
	LastUsedOn int64 `json:"last_used_on,omitempty"`
	// Absent unless it was revoked.
	RevokedOn int64 `json:"revoked_on,omitempty"`
	// Absent if it does not expire.
	ExpiresOn int64 `json:"expires_on,omitempty"`
}

// ReturnPagedKeys is a page of keys.
type ReturnPagedKeys struct {
	Paging
	KeysPage []ReturnKey `json:"keys_page"`
}

// PostedKey creates a key.
type PostedKey struct {
	Account string `json:"account"` // created if it does not exist
	Label   string `json:"label"`   // what the key is for
	Role    string `json:"role"`    // client (the default) or operator
	// After how many seconds it expires and is deleted; absent if never.
	ExpiresIn int `json:"expires_in"`
}

// maxKeySeconds is ten years.
const maxKeySeconds = int(10 * 365 * 24 * time.Hour / time.Second)

func (PostedKey) read(o object) PostedKey {
	k := PostedKey{Account: o.nonBlank("account", MaxKeyNameChars), Label: o.text("label", MaxKeyNameChars),
		Role: choice(o, "role", "client", "operator")}
	o.require("account")
	o.printable("account", k.Account)
	o.printable("label", k.Label)
	k.ExpiresIn = o.integer("expires_in", 1, maxKeySeconds)
	if k.Role == "" {
		k.Role = "client"
	}
	return k
}

// printable notes a problem if the name of an account or a key has a character
// that cannot be printed.
func (o object) printable(field, name string) {
	if why := unprintable(name); why != "" {
		o.note(field, "wrong_value", why)
	}
}

// MadeKey is a key that was created or got new secrets. The secrets are not shown
// again.
type MadeKey struct {
	KeyID             string `json:"key_id"`
	Account           string `json:"account"`
	Role              string `json:"role"`
	APIKey            string `json:"api_key"`
	SecretKey         string `json:"secret_key"`
	WebhookSigningKey string `json:"webhook_signing_key"` // of the account, the same for all its keys
	ExpiresOn         int64  `json:"expires_on,omitempty"`
}

// ReturnSigningKey is the key that signs an account's webhooks.
type ReturnSigningKey struct {
	Account           string `json:"account"`
	WebhookSigningKey string `json:"webhook_signing_key"`
}
