package fleet

// State is what a box says of itself: at once when its load, its readiness or what it runs changes, and every ten
// seconds. The hub holds the newest.
type State struct {
	Box     string `json:"box"`
	AtMS    int64  `json:"at_ms"`   // by the box's clock, Unix milliseconds
	Version string `json:"version"` // of the program
	// Address is the base URL at which others reach the box; empty: nobody does. Authority is the certificate (PEM)
	// that signed the box's, if the box made its own authority.
	Address   string `json:"address,omitempty"`
	Authority string `json:"authority,omitempty"`

	Ready   bool     `json:"ready"`
	Missing []string `json:"missing,omitempty"` // why no chat can start
	Live    int      `json:"live"`              // chats
	Seats   int      `json:"seats"`             // chats that may be live at once
	// AddedMS is the 95th percentile of how late the answers of the last hour came after the silence before them.
	AddedMS float64 `json:"added_ms"`

	Wanted  int64 `json:"wanted"`  // the newest revision of Want that the box has seen
	Running int64 `json:"running"` // the revision that it runs
	// Why says why Running is not Wanted; empty while it is being applied.
	Why string `json:"why,omitempty"`
	// Waits says what the rest of the running revision waits for, such as the end of the live chats before a restart.
	Waits string `json:"waits,omitempty"`

	Cores        int      `json:"cores"`
	Load         float64  `json:"load"`               // of the last minute, in cores
	CoreCelsius  *float64 `json:"core_celsius"`       // the hottest; nil: not known
	DiskCelsius  *float64 `json:"disk_celsius"`       // the hottest
	DiskFree     int64    `json:"disk_free"`          // bytes
	DiskTotal    int64    `json:"disk_total"`         // bytes
	MemoryFree   int64    `json:"memory_free"`        // bytes
	MemoryTotal  int64    `json:"memory_total"`       // bytes
	Problems     []string `json:"problems,omitempty"` // for people: what the operator should look at
	FactsWaiting int      `json:"facts_waiting"`      // that the hub does not have yet
	FactsDropped int64    `json:"facts_dropped"`      // since the box joined: see Dropped
}

// Room returns how many more chats the box can take.
func (s State) Room() int {
	if !s.Ready {
		return 0
	}
	return max(s.Seats-s.Live, 0)
}
