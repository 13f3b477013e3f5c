package contract

// ReturnWebhook is what one receiver is told of one event, and how far that has
// come. What it says is not in it.
type ReturnWebhook struct {
	ID      string `json:"id"`
	Account string `json:"account"`
	Event   string `json:"event"`
	ChatID  string `json:"chat_id"`
	URL     string `json:"url"`   // without a password
	State   string `json:"state"` // waiting, delivered, or dead: it was given up
	// CreatedOn is when that happened which it tells.
	CreatedOn int64 `json:"created_on"`
	Attempts  int   `json:"attempts"`
	// LastOn is the newest attempt; absent: there was none.
	LastOn int64 `json:"last_on,omitempty"`
	// LastError is why that failed; absent: it did not.
	LastError string `json:"last_error,omitempty"`
	// DueOn is the next attempt; absent where it is over, or waits for the one
	// before it in its chat.
	DueOn int64 `json:"due_on,omitempty"`
	// UntilOn is from when on one that waits is not tried again.
	UntilOn int64 `json:"until_on,omitempty"`
}

// ReturnPagedWebhooks is a page of webhooks.
type ReturnPagedWebhooks struct {
	Paging
	Waiting      int             `json:"waiting"` // on the whole box
	Dead         int             `json:"dead"`    // on the whole box, in the last seven days
	WebhooksPage []ReturnWebhook `json:"webhooks_page"`
}

// PostedWebhookChoice says which webhooks are meant.
type PostedWebhookChoice struct {
	IDs []string `json:"ids"`
	All bool     `json:"all"` // all of them, in place of ids
	// Account, with all, is the name of the one whose they are; absent: all.
	Account string `json:"account"`
}

// maxWebhookIDs are as many as a page has, ten times over.
const maxWebhookIDs = 1000

func (PostedWebhookChoice) read(o object) PostedWebhookChoice {
	c := PostedWebhookChoice{IDs: stringList(o, "ids", maxWebhookIDs), All: o.boolean("all"),
		Account: o.text("account", MaxKeyNameChars)}
	if o.shape == nil && c.All == (len(c.IDs) > 0) {
		o.note("ids", "wrong_value", "name some, or send all: true; one of the two")
	}
	return c
}

// WebhooksChanged is how many webhooks are tried again, or were forgotten.
type WebhooksChanged struct {
	Changed int `json:"changed"`
}

// PostedWebhookTest is the body that tries a receiver.
type PostedWebhookTest struct {
	URL     string `json:"url"`
	Account string `json:"account"` // whose signing key is used
}

func (PostedWebhookTest) read(o object) PostedWebhookTest {
	o.require("url", "account")
	t := PostedWebhookTest{URL: o.text("url", MaxURLChars), Account: o.nonBlank("account", MaxKeyNameChars)}
	if _, there := o.get("url"); there {
		if problem := webhookProblem(t.URL); problem != "" {
			o.note("url", "wrong_value", problem)
		}
	}
	return t
}

// WebhookTested is what came of a try.
type WebhookTested struct {
	Delivered    bool    `json:"delivered"`
	Milliseconds float64 `json:"milliseconds"`
	// Error says why it was not delivered.
	Error string `json:"error,omitempty"`
}
