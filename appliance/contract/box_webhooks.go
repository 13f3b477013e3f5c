package contract

// ReturnWebhook is the delivery of one event to one receiver, without its body.
type ReturnWebhook struct {
	ID      string `json:"id"`
	Account string `json:"account"`
	Event   string `json:"event"`
	// The chat; of the event batch_job, the job.
	ChatID string `json:"chat_id"`
	URL    string `json:"url"`   // without a password
	State  string `json:"state"` // waiting, delivered, or dead: the box gave up
	// When the event happened.
	CreatedOn int64 `json:"created_on"`
	Attempts  int   `json:"attempts"`
	// The newest attempt; absent if there was none.
	LastOn int64 `json:"last_on,omitempty"`
	// Why the newest attempt failed; absent if it did not.
	LastError string `json:"last_error,omitempty"`
	// The next attempt; absent if there is none, or if it waits for an earlier
	// webhook of its chat.
	DueOn int64 `json:"due_on,omitempty"`
	// When the box gives up.
	UntilOn int64 `json:"until_on,omitempty"`
}

// ReturnPagedWebhooks is a page of webhooks.
type ReturnPagedWebhooks struct {
	Paging
	Waiting      int             `json:"waiting"` // on the whole box
	Dead         int             `json:"dead"`    // on the whole box, in the last seven days
	WebhooksPage []ReturnWebhook `json:"webhooks_page"`
}

// PostedWebhookChoice selects webhooks.
type PostedWebhookChoice struct {
	IDs []string `json:"ids"`
	All bool     `json:"all"` // all of them, instead of ids
	// With all, the name of the account whose webhooks are selected; absent: all
	// accounts.
	Account string `json:"account"`
}

// maxWebhookIDs is ten times the webhooks of the largest page.
const maxWebhookIDs = 1000

func (PostedWebhookChoice) read(o object) PostedWebhookChoice {
	c := PostedWebhookChoice{IDs: stringList(o, "ids", maxWebhookIDs), All: o.boolean("all"),
		Account: o.text("account", MaxKeyNameChars)}
	if o.shape == nil && c.All == (len(c.IDs) > 0) {
		o.note("ids", "wrong_value", "name some, or send all: true; one of the two")
	}
	return c
}

// WebhooksChanged is how many webhooks are retried or were deleted.
type WebhooksChanged struct {
	Changed int `json:"changed"`
}

// PostedWebhookTest sends an example to a receiver.
type PostedWebhookTest struct {
	URL     string `json:"url"`
	Account string `json:"account"` // the account whose signing key is used
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

// WebhookTested is the result of an example.
type WebhookTested struct {
	Delivered    bool    `json:"delivered"`
	Milliseconds float64 `json:"milliseconds"`
	// Why it was not delivered.
	Error string `json:"error,omitempty"`
}
