package contract

const (
	// MaxLinkChars of what a link to the console holds, far above those that the
	// box makes.
	MaxLinkChars = 200
	// MaxBrowserChars of what a browser says of itself; the rest is cut off.
	MaxBrowserChars = 300
)

// PostedSignIn is the body that signs a browser in to the console.
type PostedSignIn struct {
	Link string `json:"link"` // what stands behind #signin= in the link
}

func (PostedSignIn) read(o object) PostedSignIn {
	o.require("link")
	return PostedSignIn{Link: o.text("link", MaxLinkChars)}
}

// PostedSessionAccount is the body that has the console act for another account.
type PostedSessionAccount struct {
	Account string `json:"account"` // the name of one that there is
}

func (PostedSessionAccount) read(o object) PostedSessionAccount {
	o.require("account")
	return PostedSessionAccount{Account: o.nonBlank("account", MaxKeyNameChars)}
}

// ReturnSession is a browser that is signed in to the console.
type ReturnSession struct {
	ID        string `json:"id"`
	Account   string `json:"account"`    // the name of the one that it acts for
	Browser   string `json:"browser"`    // what it says of itself
	Address   string `json:"address"`    // from where it signed in
	CreatedOn int64  `json:"created_on"` // Unix milliseconds
	UsedOn    int64  `json:"used_on"`    // Unix milliseconds, five minutes behind at most
	ExpiresOn int64  `json:"expires_on"` // Unix milliseconds; later where it is used before
	Current   bool   `json:"current"`    // it is the one that asks
}

// ReturnOperator is who asks, and which box answers.
type ReturnOperator struct {
	Account  string         `json:"account"`           // the name of the one that the key or the session acts for
	Accounts []string       `json:"accounts"`          // the names of all, the oldest first
	Session  *ReturnSession `json:"session,omitempty"` // missing where a key asks
	Version  string         `json:"version"`           // of the box
}
