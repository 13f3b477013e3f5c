package manifest

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"parley/internal/addresses"
)

// Words describes in plain words what is allowed, and which of the permissions that people
// worry about are not granted.
func (p Permissions) Words() []string {
	words := p.Allowed()
	if len(p.HTTP) == 0 {
		words = append(words, "may not use the network")
	}
	if len(p.Files) == 0 {
		words = append(words, "may not access files")
	}
	if p.Conversation == NoConversation {
		words = append(words, "may not read the conversation")
	}
	return words
}

// Allowed describes in plain words what is allowed.
func (p Permissions) Allowed() []string {
	var words []string
	for _, h := range p.HTTP {
		words = append(words, fmt.Sprintf("may send requests to %s (%s)", h.words(), strings.Join(h.Methods, ", ")))
	}
	for _, f := range p.Files {
		what := "read files in"
		if f.Mode == Write {
			what = "read, change and delete files in"
		}
		text := fmt.Sprintf("may %s %s", what, f.Path)
		if f.As != f.Path {
			text += " (as " + f.As + ")"
		}
		words = append(words, text)
	}
	for _, e := range p.Env {
		words = append(words, "may read the environment variable "+e)
	}
	if p.Storage > 0 {
		words = append(words, "may store up to "+Size(p.Storage)+" of data")
	}
	switch p.Conversation {
	case Transcript:
		words = append(words, "may read the conversation")
	case Expression:
		words = append(words, "may read the conversation and the emotions detected in it")
	}
	if p.Memory > DefaultMemory {
		words = append(words, "may use up to "+Size(p.Memory)+" of memory")
	}
	return words
}

func (h HTTP) words() string {
	name, port := SplitHost(h.Host)
	whom := h.Host
	if below, ok := strings.CutPrefix(name, "*."); ok {
		whom = "every host below " + below
		if port != "" {
			whom += " on port " + port
		}
	}
	if a, err := netip.ParseAddr(name); err == nil {
		switch addresses.NewTable(nil).At(netip.AddrPortFrom(a, 0)).Kind {
		case addresses.Box:
			whom += " (this box itself)"
		case addresses.Private, addresses.Special:
			whom += " (a machine in your network)"
		}
	}
	return whom
}

// Covers reports whether p allows all that q does.
func (p Permissions) Covers(q Permissions) bool {
	for _, h := range q.HTTP {
		for _, method := range h.Methods {
			if !slices.ContainsFunc(p.HTTP, func(has HTTP) bool { return has.covers(h.Host, method) }) {
				return false
			}
		}
	}
	for _, f := range q.Files {
		if !slices.ContainsFunc(p.Files, func(has File) bool { return has.covers(f) }) {
			return false
		}
	}
	for _, e := range q.Env {
		if !slices.Contains(p.Env, e) {
			return false
		}
	}
	return q.Storage <= p.Storage && p.Conversation.Sees(q.Conversation) &&
		q.Memory <= cmp.Or(p.Memory, DefaultMemory)
}

// covers reports whether the permission for h includes another permission's host, with
// method.
func (h HTTP) covers(host, method string) bool {
	if !slices.Contains(h.Methods, method) {
		return false
	}
	have, havePort := SplitHost(h.Host)
	want, wantPort := SplitHost(host)
	if havePort != wantPort {
		return false
	}
	if below, ok := strings.CutPrefix(have, "*"); ok {
		return have == want || strings.HasSuffix(want, below)
	}
	return have == want
}

// covers reports whether other shows no more than f does, wherever the plugin sees it.
func (f File) covers(other File) bool {
	beneath := f.Path == other.Path || f.Path == "/" || strings.HasPrefix(other.Path, f.Path+"/")
	return beneath && (f.Mode == Write || other.Mode == Read)
}
