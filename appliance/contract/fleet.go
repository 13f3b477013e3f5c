package contract

import "regexp"

// Limits of a fleet's names.
const (
	maxFleetGroups = 32
	maxFleetName   = 40
)

// A name of a box or group, as package fleet allows it.
var fleetName = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$`)

// ReturnFleet is the state of a hub and its boxes.
type ReturnFleet struct {
	Name string `json:"name"` // of the hub
	// Servers are the URLs of the NATS server as boxes reach it; Embedded is whether the hub itself is that server.
	Servers  []string `json:"servers"`
	Embedded bool     `json:"embedded"`
	// Connected is whether the hub reaches the server, and Why says why it does not.
	Connected bool   `json:"connected"`
	Why       string `json:"why,omitempty"`

	Boxes  int      `json:"boxes"`
	Online int      `json:"online"` // boxes that were seen in the last 25 seconds
	Groups []string `json:"groups"` // of all boxes, sorted
	Live   int      `json:"live"`   // chats on all boxes that are online
	Seats  int      `json:"seats"`
	// FactsPerSecond is how many chats, acts and other facts the hub stored per second, of the last minute.
	FactsPerSecond float64 `json:"facts_per_second"`
	// Waiting is how many messages the server holds that the hub has not stored.
	Waiting int64 `json:"waiting"`
	// Lost is how many messages the server deleted before the hub stored them, since it started: hub.keep is too small.
	Lost int64 `json:"lost"`
	// Problems is how many boxes are offline, not ready, do not run what they should, or report a problem.
	Problems int `json:"problems"`
}

// ReturnFleetBox is a box of a hub.
type ReturnFleetBox struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups"`
	// Online is whether the hub has heard of it in the last 25 seconds.
	Online  bool  `json:"online"`
	AddedOn int64 `json:"added_on"`
	// JoinedOn is when its credentials were made.
	JoinedOn int64 `json:"joined_on"`
	// SeenOn is when its newest state came; absent if none ever came.
	SeenOn int64 `json:"seen_on,omitempty"`
	// Wanted is the revision of what the hub wants it to run.
	Wanted int64 `json:"wanted"`
	// Chats is how many of its chats the hub stores.
	Chats int64 `json:"chats"`
	// State is the newest state; absent if none ever came.
	State *FleetState `json:"state,omitempty"`
}

// FleetState is what a box says of itself. Sizes are bytes.
type FleetState struct {
	On      int64  `json:"on"` // by the clock of the box
	Version string `json:"version"`
	// Address is the URL at which others reach the box.
	Address string   `json:"address,omitempty"`
	Ready   bool     `json:"ready"`
	Missing []string `json:"missing,omitempty"` // why no chat can start
	Live    int      `json:"live"`              // chats
	Seats   int      `json:"seats"`
	// AddedMS is the 95th percentile of how late the answers of the last hour came.
	AddedMS float64 `json:"added_ms"`
	// Running is the revision that the box runs, and Wanted the newest that it knows.
	Running int64 `json:"running"`
	Wanted  int64 `json:"wanted"`
	// Why says why Running is not Wanted.
	Why string `json:"why,omitempty"`
	// Waits says what the rest of the running revision waits for.
	Waits        string   `json:"waits,omitempty"`
	Cores        int      `json:"cores"`
	Load         float64  `json:"load"` // of the last minute, in cores
	CoreCelsius  *float64 `json:"core_celsius,omitempty"`
	DiskCelsius  *float64 `json:"disk_celsius,omitempty"`
	DiskFree     int64    `json:"disk_free"`
	DiskTotal    int64    `json:"disk_total"`
	MemoryFree   int64    `json:"memory_free"`
	MemoryTotal  int64    `json:"memory_total"`
	Problems     []string `json:"problems,omitempty"`
	FactsWaiting int      `json:"facts_waiting"` // that the hub does not have yet
	FactsDropped int64    `json:"facts_dropped"` // since the box joined
}

// ReturnFleetBoxes lists the boxes of a hub by name.
type ReturnFleetBoxes struct {
	Boxes []ReturnFleetBox `json:"boxes"`
}

// PostedFleetBox adds a box to a hub.
type PostedFleetBox struct {
	Name   string   `json:"name"` // 1 to 40 small letters, digits and hyphens
	Groups []string `json:"groups"`
}

func (PostedFleetBox) read(o object) PostedFleetBox {
	o.require("name")
	b := PostedFleetBox{Name: o.fleetName("name"), Groups: o.fleetGroups("groups")}
	return b
}

// PostedFleetGroups replaces the groups of a box.
type PostedFleetGroups struct {
	Groups []string `json:"groups"`
}

func (PostedFleetGroups) read(o object) PostedFleetGroups {
	o.require("groups")
	return PostedFleetGroups{Groups: o.fleetGroups("groups")}
}

// AddedFleetBox is a box with the text of the file with which it joins. The hub does not store that text.
type AddedFleetBox struct {
	Box  ReturnFleetBox `json:"box"`
	Join string         `json:"join"`
}

// ReturnFleetHealth is the history of a box's health, oldest first: a state a minute for a week, and a state an hour
// for 90 days.
type ReturnFleetHealth struct {
	Box    string       `json:"box"`
	States []FleetState `json:"states"`
}

// ReturnFleetAct is something that happened on a box: an administrative act, a webhook, or facts that the hub will
// never get.
type ReturnFleetAct struct {
	ID   int64  `json:"id"`
	Box  string `json:"box"`
	On   int64  `json:"on"`
	Kind string `json:"kind"` // act, webhook, dropped or rejected
	// Act is set for an act, as the audit log of the box has it.
	Act *ReturnAct `json:"act,omitempty"`
	// Text says what happened, for people.
	Text string `json:"text"`
}

// ReturnPagedFleetActs is a page of what happened on the boxes, newest first.
type ReturnPagedFleetActs struct {
	Paging
	ActsPage []ReturnFleetAct `json:"acts_page"`
}

// fleetName parses the name of a box or a group.
func (o object) fleetName(field string) string {
	name := o.text(field, maxFleetName)
	if name != "" && !fleetName.MatchString(name) {
		o.note(field, "wrong_value", "allowed are 1 to 40 small letters, digits and hyphens, such as museum-3; got "+
			Clip(name))
	}
	return name
}

func (o object) fleetGroups(field string) []string {
	groups := stringList(o, field, maxFleetGroups)
	for i, g := range groups {
		if !fleetName.MatchString(g) {
			o.in(field).note(i, "wrong_value", "allowed are 1 to 40 small letters, digits and hyphens, such as "+
				"lobby; got "+Clip(g))
		}
	}
	return groups
}
