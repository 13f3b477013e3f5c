package contract

// ReturnPack is a pack: a model or a library that the box can use.
type ReturnPack struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"` // runtime, phonemes, transcriber, turn, voice, language-model or faces
	Does    string `json:"does"`
	Version string `json:"version"`
	Licence string `json:"licence"` // SPDX expression
	Bytes   int64  `json:"bytes"`
	Status  string `json:"status"` // ready, missing or damaged
	// The files that are missing or damaged.
	Why string `json:"why,omitempty"`
	// Whether the settings use it.
	InUse bool `json:"in_use"`
	// Whether the operator added it, so that it cannot be downloaded.
	Own bool `json:"own"`
	// Whether the operating system provides it.
	System bool `json:"system"`
}

// ReturnPacks lists the packs of the box.
type ReturnPacks struct {
	Folder string `json:"folder"`
	Free   int64  `json:"free"` // free bytes on its disk
	// Why the box cannot change the folder, in words; absent if it can.
	ReadOnly string       `json:"read_only,omitempty"`
	Packs    []ReturnPack `json:"packs"`
	// The newest download since the box started; absent if there was none.
	Pull *PackPull `json:"pull,omitempty"`
}

// PackPull is the progress of a pack's download.
type PackPull struct {
	Name  string `json:"name"`
	State string `json:"state"` // going, done, failed or cancelled
	// What the box is doing: downloading, unpacking, checking, or done.
	Step  string `json:"step"`
	Done  int64  `json:"done"`  // bytes downloaded
	Total int64  `json:"total"` // bytes to download
	// Why it failed.
	Error     string `json:"error,omitempty"`
	StartedOn int64  `json:"started_on"`
	EndedOn   int64  `json:"ended_on,omitempty"`
}
