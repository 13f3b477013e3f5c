package contract

// ReturnBoxHealth is the state of the box now. Times are Unix milliseconds,
// durations milliseconds, and sizes bytes.
type ReturnBoxHealth struct {
	Version   string `json:"version"`
	Now       int64  `json:"now"`
	StartedOn int64  `json:"started_on"`
	// Whether a chat could start.
	Ready   bool     `json:"ready"`
	Missing []string `json:"missing"` // the reasons why the box is not ready, in words
	// The engines in use, as the settings name them.
	Serves   BoxServes  `json:"serves"`
	Chats    BoxChats   `json:"chats"`
	Answers  BoxAnswers `json:"answers"`
	Cores    BoxCores   `json:"cores"`
	Memory   BoxMemory  `json:"memory"`
	Disk     BoxDisk    `json:"disk"`
	Webhooks BoxOutbox  `json:"webhooks"`
	// How many screens are paired.
	Kiosks int `json:"kiosks"`
	// The line of the box's loudspeaker and microphone; absent if there is none,
	// and until the models are loaded.
	Speaker *BoxKiosk `json:"speaker,omitempty"`
	// Absent if the box serves without TLS.
	Certificate *BoxCertificate `json:"certificate,omitempty"`
	// The newest backup made on this machine; absent if there is none.
	Backup *BoxBackup `json:"backup,omitempty"`
	// The fleet of the box; absent if it is in none.
	Fleet *BoxFleet `json:"fleet,omitempty"`
}

// BoxFleet is what a box knows of its fleet.
type BoxFleet struct {
	Box       string `json:"box"` // the name of this box
	Hub       string `json:"hub"` // the name of the hub
	Connected bool   `json:"connected"`
	// Why the box is not connected, and what to do; absent if it is.
	Reason string `json:"reason,omitempty"`
	// The revision of what the hub wants that the box runs, and the newest that it has seen.
	Running int64 `json:"running"`
	Wanted  int64 `json:"wanted"`
	// Why the box does not run the newest.
	Problem string `json:"problem,omitempty"`
	// What the settings of the hub wait for, such as the end of a chat.
	Waits string `json:"waits,omitempty"`
	// How many facts the hub does not have yet, and how many it will never get.
	FactsWaiting int   `json:"facts_waiting"`
	FactsDropped int64 `json:"facts_dropped"`
}

// BoxServes is which engines transcribe, think and speak.
type BoxServes struct {
	Transcriber    string   `json:"transcriber"`
	LanguageModels []string `json:"language_models"` // the first is the default
	Voice          string   `json:"voice"`           // the default

	Servers []BoxServer `json:"servers"` // that run engines for the box
}

// BoxServer is how a server is that runs engines for the box.
type BoxServer struct {
	Serves   string `json:"serves"` // language model, transcriber or voice
	Server   string `json:"server"` // its URL without a path
	Model    string `json:"model"`
	State    string `json:"state"`         // up, busy (it said that it is overloaded) or down
	Why      string `json:"why,omitempty"` // it is not up
	Calls    int    `json:"calls"`         // in flight
	Answers  int64  `json:"answers"`       // calls since the start of the box that it has begun to answer
	Failures int64  `json:"failures"`      // calls since then that it has failed
	// LatencyMS is how long it takes until its first output, lately; 0 before its first call.
	LatencyMS float64 `json:"latency_ms"`
}

// BoxChats is how many chats are live.
type BoxChats struct {
	Live     int `json:"live"`
	Accounts int `json:"accounts"` // accounts with a live chat
	Seats    int `json:"seats"`    // the most chats at once
}

// BoxAnswers is how soon the newest answers came, in the last hour and at most
// 512.
type BoxAnswers struct {
	Count int `json:"count"`
	// MedianMS and P95MS are the times from the end of the user's voice to the
	// first sound of the answer; 0 if there was none.
	MedianMS float64 `json:"median_ms"`
	P95MS    float64 `json:"p95_ms"`
	// AddedMedianMS and AddedP95MS are the delays after the silence that ended
	// the turn. They exclude answers that waited for a tool.
	AddedMedianMS float64 `json:"added_median_ms"`
	AddedP95MS    float64 `json:"added_p95_ms"`
	// The share of answers, from 0 to 1, whose delay was more than LateFromMS.
	LateShare  float64 `json:"late_share"`
	LateFromMS int64   `json:"late_from_ms"`
	// The answers, oldest first; in a stream, those since the previous event.
	Recent []BoxAnswer `json:"recent"`
}

// BoxAnswer is one answer of the assistant.
type BoxAnswer struct {
	On     int64   `json:"on"`
	TookMS float64 `json:"took_ms"`
}

// BoxCores is how busy the machine's cores are.
type BoxCores struct {
	Engines int `json:"engines"` // cores that the engines share
	Busy    int `json:"busy"`    // cores that engines use now
	// How many calls of engines wait for cores, by urgency.
	Waiting []BoxWaiting `json:"waiting"`
	// The CPU time of the process since its start.
	ProcessSeconds float64 `json:"process_seconds"`
	Machine        int     `json:"machine"` // cores of the machine
}

// BoxWaiting is how many calls of engines with one urgency wait.
type BoxWaiting struct {
	Priority string `json:"priority"` // live, speculative, ahead … batch
	Calls    int    `json:"calls"`
}

// BoxMemory is the memory of the box and its machine.
type BoxMemory struct {
	Resident  int64 `json:"resident"` // used by the box
	Available int64 `json:"available"`
	Total     int64 `json:"total"`
}

// BoxDisk is the disk of the data folder.
type BoxDisk struct {
	Free  int64 `json:"free"`
	Total int64 `json:"total"`
}

// BoxOutbox is how many webhooks wait, and how many the box gave up on in the
// last seven days.
type BoxOutbox struct {
	Waiting int `json:"waiting"`
	Dead    int `json:"dead"`
}

// BoxCertificate is the TLS certificate of the box.
type BoxCertificate struct {
	Source  string   `json:"source"` // own, files or acme
	EndsOn  int64    `json:"ends_on"`
	Names   []string `json:"names"`
	Renewed bool     `json:"renewed"` // the box renews it itself
}

// BoxBackup is a backup.
type BoxBackup struct {
	MadeOn int64 `json:"made_on"`
	Bytes  int64 `json:"bytes"` // before compression
}

// BoxFinding is the result of one check, and what to do about it.
type BoxFinding struct {
	Part   string `json:"part"`
	Health string `json:"health"` // ok, warning or problem
	What   string `json:"what"`
	Mend   string `json:"mend,omitempty"` // absent when all is well
}

// ReturnDiagnosis is what parley doctor found.
type ReturnDiagnosis struct {
	Healthy  bool         `json:"healthy"` // no finding is a problem
	Findings []BoxFinding `json:"findings"`
}

// ReturnSetting is a setting as read when the box started.
type ReturnSetting struct {
	Key     string `json:"key"`   // in parley.yaml
	Group   string `json:"group"` // the heading of its group
	Help    string `json:"help"`
	Allowed string `json:"allowed"` // the allowed values, in words
	// The value, without passwords; absent if it is not set and has no fixed
	// default.
	Value string `json:"value,omitempty"`
	// What applies without a value, in words.
	Otherwise string `json:"otherwise,omitempty"`
	Default   string `json:"default,omitempty"`
	// Where the value comes from: default, a place in a file, a variable or a
	// flag; absent without a value.
	From string `json:"from,omitempty"`
	// Flag and Variable are absent if only the file can hold the setting.
	Flag     string `json:"flag,omitempty"`
	Variable string `json:"variable,omitempty"`
	// Remote is whether the hub of a fleet may make it.
	Remote bool `json:"remote,omitempty"`
}

// ReturnSettings lists all settings.
type ReturnSettings struct {
	File     string          `json:"file,omitempty"` // the settings file
	Settings []ReturnSetting `json:"settings"`
}
