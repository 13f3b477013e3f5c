package contract

const (
	// MaxLinkChars bounds the secret of a sign-in link, far above the length of
	// the box's links.
	MaxLinkChars = 200
	// MaxBrowserChars bounds the name of a browser; the rest is cut off.
	MaxBrowserChars = 300
)

// PostedSignIn signs a browser in to the console.
type PostedSignIn struct {
	Link     string `json:"link"`     // the part of the link after #signin=
	Password string `json:"password"` // instead of a link
}

func (PostedSignIn) read(o object) PostedSignIn {
	return PostedSignIn{Link: o.text("link", MaxLinkChars), Password: o.text("password", maxPasswordBytes)}
}

// PostedSessionAccount makes the console act for another account.
type PostedSessionAccount struct {
	Account string `json:"account"` // the name of an existing account
}

func (PostedSessionAccount) read(o object) PostedSessionAccount {
	o.require("account")
	return PostedSessionAccount{Account: o.nonBlank("account", MaxKeyNameChars)}
}

// ReturnSession is a browser that is signed in to the console.
type ReturnSession struct {
	ID        string `json:"id"`
	Account   string `json:"account"`    // the name of the account that it acts for
	Browser   string `json:"browser"`    // its User-Agent
	Address   string `json:"address"`    // the address that it signed in from
	CreatedOn int64  `json:"created_on"` // Unix milliseconds
	UsedOn    int64  `json:"used_on"`    // Unix milliseconds, up to five minutes late
	ExpiresOn int64  `json:"expires_on"` // Unix milliseconds; extended with each use
	Current   bool   `json:"current"`    // it is the caller's session
}

// ReturnOperator is who the caller is, and which box answers.
type ReturnOperator struct {
	Account  string         `json:"account"`           // the name of the account that the caller acts for
	Accounts []string       `json:"accounts"`          // the names of all accounts, oldest first
	Session  *ReturnSession `json:"session,omitempty"` // absent if the caller has a key
	Version  string         `json:"version"`           // of the box
	Hub      bool           `json:"hub,omitempty"`     // whether it is the hub of other boxes
	Managed  *ReturnManaged `json:"managed,omitempty"` // absent if the box is in no fleet
}

// ReturnManaged is what the hub of a fleet manages on the box, so that it cannot be changed there.
type ReturnManaged struct {
	Hub string `json:"hub"` // its name
	// The ids of configs, prompts, tools, voices and keys, and the names of plugins.
	IDs []string `json:"ids"`
}
