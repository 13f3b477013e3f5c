package contract

import "strings"

// FleetItemKind is the kind of what a hub rolls out.
type FleetItemKind string

// The kinds of items.
const (
	FleetConfig  FleetItemKind = "config" // with its prompt, tools and saved voice
	FleetPrompt  FleetItemKind = "prompt"
	FleetTool    FleetItemKind = "tool"
	FleetVoice   FleetItemKind = "voice"   // one that an account has saved
	FleetLexicon FleetItemKind = "lexicon" // all pronunciations of an account
	FleetPlugin  FleetItemKind = "plugin"
	FleetSetting FleetItemKind = "setting"
)

// FleetItemKinds lists every kind.
func FleetItemKinds() []FleetItemKind {
	return []FleetItemKind{FleetConfig, FleetPrompt, FleetTool, FleetVoice, FleetLexicon, FleetPlugin, FleetSetting}
}

// The states of roll-outs.
const (
	RolloutCanary  = "canary"  // only the canary boxes are to run it
	RolloutRolling = "rolling" // its whole target is to run it, and some boxes do not yet
	RolloutDone    = "done"    // its whole target runs it
	RolloutStopped = "stopped" // an operator took it back
	RolloutFailed  = "failed"  // a canary box could not run it, so the hub took it back
)

// FleetItem names what is rolled out: id or name of a config, prompt, tool or voice, the name of a plugin, the key of
// a setting.
type FleetItem struct {
	Kind FleetItemKind `json:"kind"`
	ID   string        `json:"id,omitempty"`
	// The name; for a plugin or a setting the only one it has.
	Name string `json:"name,omitempty"`
	// The name of the account that has it; absent for plugins and settings.
	Account string `json:"account,omitempty"`
}

// PostedRollout begins a roll-out.
type PostedRollout struct {
	Item FleetItem `json:"item"`
	// The version of a config, prompt or tool; absent: the newest.
	Version *int `json:"version"`
	// The value of a setting.
	Value string `json:"value"`
	// Remove takes the item off the target.
	Remove bool `json:"remove"`
	// Target is all, group:NAME or box:NAME.
	Target string `json:"target"`
	// Canary is how many boxes, chosen by the hub from those that are online, run it first; CanaryBoxes names them
	// instead.
	Canary      int      `json:"canary"`
	CanaryBoxes []string `json:"canary_boxes"`
	// SoakMinutes is how long the canaries must run it without a new problem; absent: 10.
	SoakMinutes *int `json:"soak_minutes"`
}

// Limits and default of a roll-out.
const (
	maxCanaries        = 1000
	maxSoakMinutes     = 7 * 24 * 60
	DefaultSoakMinutes = 10
)

func (PostedRollout) read(o object) PostedRollout {
	o.require("item", "target")
	p := PostedRollout{
		Value:       o.text("value", maxSettingChars),
		Remove:      o.boolean("remove"),
		Target:      o.fleetTarget("target"),
		Canary:      o.integer("canary", 0, maxCanaries),
		CanaryBoxes: stringList(o, "canary_boxes", maxCanaries),
	}
	if item := optional(o, "item", readFleetItem); item != nil {
		p.Item = *item
	}
	p.Version = integerOrNil(o, "version", 0, 1<<31-1)
	p.SoakMinutes = integerOrNil(o, "soak_minutes", 0, maxSoakMinutes)
	return p
}

func integerOrNil(o object, field string, low, high int) *int {
	n := o.integer(field, low, high)
	if _, given := o.get(field); !given {
		return nil
	}
	return &n
}

func readFleetItem(o object) FleetItem {
	o.require("kind")
	item := FleetItem{
		Kind:    choice(o, "kind", FleetItemKinds()...),
		ID:      o.text("id", MaxKeyNameChars),
		Name:    o.text("name", MaxKeyNameChars),
		Account: o.text("account", MaxKeyNameChars),
	}
	switch {
	case item.Kind == FleetLexicon:
	case item.ID == "" && item.Name == "":
		o.note("id", "missing", "give the id or the name of the "+string(item.Kind))
	}
	return item
}

// fleetTarget parses all, group:NAME or box:NAME.
func (o object) fleetTarget(field string) string {
	target := o.text(field, maxFleetName+len("group:"))
	if target == "" || target == "all" {
		return target
	}
	kind, name, _ := strings.Cut(target, ":")
	if kind != "group" && kind != "box" || !fleetName.MatchString(name) {
		o.note(field, "wrong_value", "allowed are all, group:NAME and box:NAME, such as group:lobby; got "+Clip(target))
	}
	return target
}

// ReturnRollout is a roll-out.
type ReturnRollout struct {
	ID      int64     `json:"id"`
	Item    FleetItem `json:"item"`
	Version *int      `json:"version,omitempty"` // of a config, prompt or tool
	// What is rolled out, for people: a plugin's version, a setting's value.
	Content string `json:"content,omitempty"`
	Remove  bool   `json:"remove,omitempty"` // it takes the item off the target
	Target  string `json:"target"`
	// Canary are the boxes that run it first.
	Canary      []string `json:"canary"`
	SoakMinutes int      `json:"soak_minutes"`
	State       string   `json:"state"` // canary, rolling, done, stopped or failed
	// Why it failed, or what it waits for.
	Why       string `json:"why,omitempty"`
	CreatedOn int64  `json:"created_on"`
	ChangedOn int64  `json:"changed_on"`
	// SoakedFrom is since when all canaries run it; absent while one does not.
	SoakedFrom int64 `json:"soaked_from,omitempty"`
	// How many boxes of the target run it, wait for it, and cannot run it.
	Running int `json:"running"`
	Waiting int `json:"waiting"`
	Failed  int `json:"failed"`
	// Boxes has the state of each box; absent in lists.
	Boxes []RolloutBox `json:"boxes,omitempty"`
}

// RolloutBox is how far a roll-out is on a box.
type RolloutBox struct {
	Box    string `json:"box"`
	Online bool   `json:"online"`
	Canary bool   `json:"canary"`
	// waiting, running, failed, or replaced (by a later or narrower roll-out of the item)
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
}

// ReturnPagedRollouts is a page of roll-outs, newest first.
type ReturnPagedRollouts struct {
	Paging
	RolloutsPage []ReturnRollout `json:"rollouts_page"`
}

// ReturnFleetItem is an item with what the targets are to run of it.
type ReturnFleetItem struct {
	Item FleetItem `json:"item"`
	// Targets has the newest roll-out for each target, that of the widest target first.
	Targets []FleetItemTarget `json:"targets"`
	// Newest is the newest version on the hub of a config, prompt or tool; absent for other items and if it was
	// deleted.
	Newest *int `json:"newest,omitempty"`
}

// FleetItemTarget is what a target is to run of an item.
type FleetItemTarget struct {
	Target  string `json:"target"`
	Rollout int64  `json:"rollout"`
	Version *int   `json:"version,omitempty"`
	Content string `json:"content,omitempty"`
	State   string `json:"state"` // of the roll-out
	Boxes   int    `json:"boxes"` // that are to run this
	Running int    `json:"running"`
}

// ReturnFleetBoxItems lists what a box is to run, besides the keys of clients.
type ReturnFleetBoxItems struct {
	Items []FleetBoxItem `json:"items"`
}

// FleetBoxItem is something that a box is to run, and the roll-out that brings it.
type FleetBoxItem struct {
	Item    FleetItem `json:"item"`
	Version *int      `json:"version,omitempty"` // of a config, prompt or tool
	Content string    `json:"content,omitempty"` // a plugin's version, a setting's value
	Remove  bool      `json:"remove,omitempty"`  // the box is to run it no more, and still does
	Target  string    `json:"target"`
	Rollout int64     `json:"rollout"`
	State   string    `json:"state"` // waiting, running or failed
	Why     string    `json:"why,omitempty"`
}

// ReturnFleetItems lists what is rolled out.
type ReturnFleetItems struct {
	Items []ReturnFleetItem `json:"items"`
}
