package contract

import "time"

// ReturnKey is an API key as the box's operator sees it: without the key itself,
// which the box does not keep.
type ReturnKey struct {
	KeyID   string `json:"key_id"` // by which it is revoked
	Account string `json:"account"`
	Label   string `json:"label"`
	Role    string `json:"role"` // client or operator
	// Hint is the last characters of the API key.
	Hint string `json:"hint"`
	// Kiosk says that it is the key of a screen.
	Kiosk     bool  `json:"kiosk"`
	CreatedOn int64 `json:"created_on"`
	// LastUsedOn is when it last opened the box, five minutes behind at most; absent:
	// never.
	LastUsedOn int64 `json:"last_used_on,omitempty"`
	// RevokedOn is absent while it is good.
	RevokedOn int64 `json:"revoked_on,omitempty"`
	// ExpiresOn is absent where it has no end.
	ExpiresOn int64 `json:"expires_on,omitempty"`
}

// ReturnPagedKeys is a page of keys.
type ReturnPagedKeys struct {
	Paging
	KeysPage []ReturnKey `json:"keys_page"`
}

// PostedKey is the body that makes a key.
type PostedKey struct {
	Account string `json:"account"` // made where there is none
	Label   string `json:"label"`   // what it is for
	Role    string `json:"role"`    // client, which is the default, or operator
	// ExpiresIn is after how many seconds it is useless, and forgotten; absent:
	// never.
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

// printable notes a name of an account or a key that cannot be printed.
func (o object) printable(field, name string) {
	if why := unprintable(name); why != "" {
		o.note(field, "wrong_value", why)
	}
}

// MadeKey is a key that was made, or was given new secrets. They are told once.
type MadeKey struct {
	KeyID             string `json:"key_id"`
	Account           string `json:"account"`
	Role              string `json:"role"`
	APIKey            string `json:"api_key"`
	SecretKey         string `json:"secret_key"`
	WebhookSigningKey string `json:"webhook_signing_key"` // of the account, the same for all its keys
	ExpiresOn         int64  `json:"expires_on,omitempty"`
}

// ReturnSigningKey is the key that the webhooks of an account are signed with.
type ReturnSigningKey struct {
	Account           string `json:"account"`
	WebhookSigningKey string `json:"webhook_signing_key"`
}
