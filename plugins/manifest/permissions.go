package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Permissions are the permissions that a plugin requests or has. The zero value allows
// nothing.
type Permissions struct {
	HTTP         []HTTP       `json:"http,omitempty"`
	Files        []File       `json:"files,omitempty"`
	Env          []string     `json:"env,omitempty"`     // variables of the box's environment
	Storage      int64        `json:"storage,omitempty"` // bytes of key-value space
	Conversation Conversation `json:"conversation,omitempty"`
	Memory       int64        `json:"memory,omitempty"` // bytes per instance; 0 is DefaultMemory
}

// HTTP is a host that the plugin may connect to.
type HTTP struct {
	// Host is a name, a name with a leading *. for all names below it, or an address; with
	// a port, or else for 443 (https) and 80 (http). Machines in the local network can only
	// be reached by address.
	Host    string   `json:"host"`
	Methods []string `json:"methods"`
}

// File is a folder that the plugin sees.
type File struct {
	Path string `json:"path"` // on the box
	As   string `json:"as"`   // in the plugin
	Mode Mode   `json:"mode"`
}

// Mode is the access to a folder.
type Mode string

const (
	Read  Mode = "read"
	Write Mode = "write" // includes reading
)

// Conversation is how much a plugin sees of the conversation in which it is called.
type Conversation string

const (
	NoConversation Conversation = ""           // "none" in a manifest
	Transcript     Conversation = "transcript" // the messages
	Expression     Conversation = "expression" // the messages and expression scores
)

// Sees reports whether c includes what.
func (c Conversation) Sees(what Conversation) bool { return c.rank() >= what.rank() }

func (c Conversation) rank() int {
	return slices.Index([]Conversation{NoConversation, Transcript, Expression}, c)
}

// SplitHost splits the host of a permission into its name or address, and its port, which
// may be empty. IPv6 addresses with a port are in brackets.
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

// Size formats a number of bytes in the notation of a manifest.
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
