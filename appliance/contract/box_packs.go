package contract

// ReturnPack is a pack of the box: a model or a library that it runs on, or could.
type ReturnPack struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"` // runtime, phonemes, transcriber, turn, voice or language-model
	Does    string `json:"does"`
	Version string `json:"version"`
	Licence string `json:"licence"` // SPDX expression
	Bytes   int64  `json:"bytes"`
	Status  string `json:"status"` // ready, missing or damaged
	// Why says what is missing or damaged.
	Why string `json:"why,omitempty"`
	// InUse: the settings have the box run on it.
	InUse bool `json:"in_use"`
	// Own: the operator added it, and nobody else can fetch it.
	Own bool `json:"own"`
	// System: the operating system provides it.
	System bool `json:"system"`
}

// ReturnPacks are the packs of the box.
type ReturnPacks struct {
	Folder string `json:"folder"`
	Free   int64  `json:"free"` // bytes on its disk
	// ReadOnly says in words why the box cannot change the folder; absent where it
	// can.
	ReadOnly string       `json:"read_only,omitempty"`
	Packs    []ReturnPack `json:"packs"`
	// Pull is the newest pull of a pack since the box was started; absent where
	// there was none.
	Pull *PackPull `json:"pull,omitempty"`
}

// PackPull is how far the pull of a pack is.
type PackPull struct {
	Name  string `json:"name"`
	State string `json:"state"` // going, done, failed or cancelled
	// Step is what is being done: downloading, unpacking, checking, or done.
	Step  string `json:"step"`
	Done  int64  `json:"done"`  // bytes that were downloaded
	Total int64  `json:"total"` // bytes to download
	// Error is why it failed.
	Error     string `json:"error,omitempty"`
	StartedOn int64  `json:"started_on"`
	EndedOn   int64  `json:"ended_on,omitempty"`
}
