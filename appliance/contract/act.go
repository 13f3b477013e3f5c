package contract

// ReturnAct is a row of the audit log: an administrative act, or several equal ones.
type ReturnAct struct {
	ID        int64       `json:"id"` // the order in the log, from 1
	CreatedOn int64       `json:"created_on"`
	Who       ReturnActor `json:"who"`
	// The network address or the terminal of the caller; absent if there is none.
	From string `json:"from,omitempty"`
	// A stable name, such as key.create.
	What   string      `json:"what"`
	Object ReturnThing `json:"object"`
	// A sentence without a subject.
	Text    string `json:"text"`
	Outcome string `json:"outcome"` // done, refused or failed
	// Why it was refused or failed.
	Reason string `json:"reason,omitempty"`
	Times  int    `json:"times"` // how many equal acts it stands for
}

// ReturnActor is who acted.
type ReturnActor struct {
	Kind string `json:"kind"` // key, session, screen, user, box or unknown
	ID   string `json:"id,omitempty"`
	// The label of a key or screen; the name of a user.
	Name string `json:"name,omitempty"`
	// The role of a key; the name under which a user's command ran.
	Role string `json:"role,omitempty"`
}

// ReturnThing is what was acted on.
type ReturnThing struct {
	Kind string `json:"kind,omitempty"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// ReturnPagedActs is a page of the audit log.
type ReturnPagedActs struct {
	Paging
	ActsPage []ReturnAct `json:"acts_page"`
	// The names of all acts in the log.
	Whats []string `json:"whats"`
}
