package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Permissions are what a plugin asks for, or was granted. The zero value allows
// nothing.
type Permissions struct {
	HTTP         []HTTP       `json:"http,omitempty"`
	Files        []File       `json:"files,omitempty"`
	Env          []string     `json:"env,omitempty"`     // variables of the box's environment
	Storage      int64        `json:"storage,omitempty"` // bytes of key-value space
	Conversation Conversation `json:"conversation,omitempty"`
	Memory       int64        `json:"memory,omitempty"` // bytes an instance may have; 0 is DefaultMemory
}

// HTTP is a host that may be talked to.
type HTTP struct {
	// Host is a name, one with a left-most *. for what lies below it, or an
	// address; with a port, or for 443 (https) and 80 (http). Only an address
	// opens a way to a machine in the own network.
	Host    string   `json:"host"`
	Methods []string `json:"methods"`
}

// File is a folder that the plugin sees.
type File struct {
	Path string `json:"path"` // on the box
	As   string `json:"as"`   // in the plugin
	Mode Mode   `json:"mode"`
}

// Mode is what may be done with a folder.
type Mode string

const (
	Read  Mode = "read"
	Write Mode = "write" // and read
)

// Conversation is what a plugin sees of the conversation that calls it.
type Conversation string

const (
	NoConversation Conversation = ""           // "none" in a manifest
	Transcript     Conversation = "transcript" // what was said
	Expression     Conversation = "expression" // and how it sounded
)

// Sees tells whether c includes what.
func (c Conversation) Sees(what Conversation) bool { return c.rank() >= what.rank() }

func (c Conversation) rank() int {
	return slices.Index([]Conversation{NoConversation, Transcript, Expression}, c)
}

// SplitHost parts a host of a permission into its name or address, and its port,
// which may be empty. Addresses of IPv6 with a port stand in brackets.
func SplitHost(host string) (name, port string) {
	if strings.HasPrefix(host, "[") {
		if name, port, ok := strings.Cut(host[1:], "]"); ok && (port == "" || strings.HasPrefix(port, ":")) {
			return name, strings.TrimPrefix(port, ":")
		}
		return host, ""
	}
	if strings.Count(host, ":") != 1 {
		return host, ""
	}
	name, port, _ = strings.Cut(host, ":")
	return name, port
}

// Size is a number of bytes in the notation of a manifest.
func Size(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%dGiB", n>>30)
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%dMiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%dKiB", n>>10)
	}
	return strconv.FormatInt(n, 10)
}
