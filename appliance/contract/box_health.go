package contract

// ReturnBoxHealth is how the box does now. Times are Unix milliseconds, durations
// milliseconds, sizes bytes.
type ReturnBoxHealth struct {
	Version   string `json:"version"`
	Now       int64  `json:"now"`
	StartedOn int64  `json:"started_on"`
	// Ready says whether a conversation could start.
	Ready   bool     `json:"ready"`
	Missing []string `json:"missing"` // what keeps it from being ready, in words
	// Serves is what does the work, as the settings name it.
	Serves   BoxServes  `json:"serves"`
	Chats    BoxChats   `json:"chats"`
	Answers  BoxAnswers `json:"answers"`
	Cores    BoxCores   `json:"cores"`
	Memory   BoxMemory  `json:"memory"`
	Disk     BoxDisk    `json:"disk"`
	Webhooks BoxOutbox  `json:"webhooks"`
	// Kiosks are the screens that are paired.
	Kiosks int `json:"kiosks"`
	// Speaker is the line of the box's own loudspeaker and microphone; absent where
	// there is none, and until the models are loaded.
	Speaker *BoxKiosk `json:"speaker,omitempty"`
	// Certificate is absent where the box serves without TLS.
	Certificate *BoxCertificate `json:"certificate,omitempty"`
	// Backup is the newest that was made on this machine; absent where none was.
	Backup *BoxBackup `json:"backup,omitempty"`
}

// BoxServes is what hears, thinks and speaks.
type BoxServes struct {
	Transcriber    string   `json:"transcriber"`
	LanguageModels []string `json:"language_models"` // the first answers where a config names none
	Voice          string   `json:"voice"`           // where nobody names one
}

// BoxChats are the conversations that are live.
type BoxChats struct {
	Live     int `json:"live"`
	Accounts int `json:"accounts"` // that have one
	Seats    int `json:"seats"`    // that there are
}

// BoxAnswers are how soon the newest answers came, of the last hour and 512 at most.
type BoxAnswers struct {
	Count int `json:"count"`
	// MedianMS and P95MS are from the end of the user's voice to the first sound of
	// the answer; 0 where there was none.
	MedianMS float64 `json:"median_ms"`
	P95MS    float64 `json:"p95_ms"`
	// AddedMedianMS and AddedP95MS are by how much they came later than the silence
	// that ended the turn. What waited for a tool is not in it.
	AddedMedianMS float64 `json:"added_median_ms"`
	AddedP95MS    float64 `json:"added_p95_ms"`
	// LateShare is which share of them, from 0 to 1, came later than that silence
	// by more than LateFromMS.
	LateShare  float64 `json:"late_share"`
	LateFromMS int64   `json:"late_from_ms"`
	// Recent are they, the oldest first; in a stream, those since the event before.
	Recent []BoxAnswer `json:"recent"`
}

// BoxAnswer is one answer of the assistant.
type BoxAnswer struct {
	On     int64   `json:"on"`
	TookMS float64 `json:"took_ms"`
}

// BoxCores are the machine's cores.
type BoxCores struct {
	Engines int `json:"engines"` // that the engines share
	Busy    int `json:"busy"`    // that an engine has now
	// Waiting is how many calls of engines wait for cores, by how urgent they are.
	Waiting []BoxWaiting `json:"waiting"`
	// ProcessSeconds is how long the box has computed since its start.
	ProcessSeconds float64 `json:"process_seconds"`
	Machine        int     `json:"machine"` // that the machine has
}

// BoxWaiting is how many calls of engines of one urgency wait.
type BoxWaiting struct {
	Priority string `json:"priority"` // live, speculative, ahead … batch
	Calls    int    `json:"calls"`
}

// BoxMemory is what the box and its machine have of memory.
type BoxMemory struct {
	Resident  int64 `json:"resident"` // of the box
	Available int64 `json:"available"`
	Total     int64 `json:"total"`
}

// BoxDisk is the disk of the data folder.
type BoxDisk struct {
	Free  int64 `json:"free"`
	Total int64 `json:"total"`
}

// BoxOutbox is how many webhooks wait, and how many were given up in the last
// seven days.
type BoxOutbox struct {
	Waiting int `json:"waiting"`
	Dead    int `json:"dead"`
}

// BoxCertificate is what the box proves with who it is.
type BoxCertificate struct {
	Source  string   `json:"source"` // own, files or acme
	EndsOn  int64    `json:"ends_on"`
	Names   []string `json:"names"`
	Renewed bool     `json:"renewed"` // the box sees to it by itself
}

// BoxBackup is a backup that was made.
type BoxBackup struct {
	MadeOn int64 `json:"made_on"`
	Bytes  int64 `json:"bytes"` // before compression
}

// BoxFinding is what was seen of one part of the box, and what to do about it.
type BoxFinding struct {
	Part   string `json:"part"`
	Health string `json:"health"` // ok, warning or problem
	What   string `json:"what"`
	Mend   string `json:"mend,omitempty"` // absent when all is well
}

// ReturnDiagnosis is what parley doctor finds.
type ReturnDiagnosis struct {
	Healthy  bool         `json:"healthy"` // no finding is a problem
	Findings []BoxFinding `json:"findings"`
}

// ReturnSetting is a setting as it holds since the box was started.
type ReturnSetting struct {
	Key     string `json:"key"`   // in parley.yaml
	Group   string `json:"group"` // the heading under which it is listed
	Help    string `json:"help"`
	Allowed string `json:"allowed"` // what it may be, in words
	// Value is what it was set to, without passwords; absent where nobody set it
	// and it has no fixed default.
	Value string `json:"value,omitempty"`
	// Otherwise says in words what holds where it has no value.
	Otherwise string `json:"otherwise,omitempty"`
	Default   string `json:"default,omitempty"`
	// From is where the value comes from: default, a place in a file, a variable or
	// a flag; absent where there is none.
	From     string `json:"from,omitempty"`
	Flag     string `json:"flag"`
	Variable string `json:"variable"`
}

// ReturnSettings are all settings.
type ReturnSettings struct {
	File     string          `json:"file,omitempty"` // that was read
	Settings []ReturnSetting `json:"settings"`
}
