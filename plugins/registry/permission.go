package registry

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parley/plugins/manifest"
)

// A Permission is one thing that a plugin may do. Its name grants and revokes it:
// http:HOST, files:FOLDER (as the plugin sees it), env:NAME, storage, conversation or
// memory.
type Permission struct {
	Name        string
	Words       string // such as "may send requests to api.example.org (GET)"
	permissions manifest.Permissions
}

// The kinds of permissions, which begin their names.
const (
	kindHTTP         = "http"
	kindFiles        = "files"
	kindEnv          = "env"
	kindStorage      = "storage"
	kindConversation = "conversation"
	kindMemory       = "memory"
)

// PermissionsOf splits permissions into single ones.
func PermissionsOf(p manifest.Permissions) (all []Permission) {
	add := func(name string, is manifest.Permissions) {
		if words := is.Allowed(); len(words) > 0 {
			all = append(all, Permission{name, words[0], is})
		}
	}
	for _, h := range p.HTTP {
		add(kindHTTP+":"+h.Host, manifest.Permissions{HTTP: []manifest.HTTP{h}})
	}
	for _, f := range p.Files {
		add(kindFiles+":"+f.As, manifest.Permissions{Files: []manifest.File{f}})
	}
	for _, e := range p.Env {
		add(kindEnv+":"+e, manifest.Permissions{Env: []string{e}})
	}
	add(kindStorage, manifest.Permissions{Storage: p.Storage})
	add(kindConversation, manifest.Permissions{Conversation: p.Conversation})
	add(kindMemory, manifest.Permissions{Memory: p.Memory})
	return all
}

func names(all []Permission) (names []string) {
	for _, p := range all {
		names = append(names, p.Name)
	}
	return names
}

// join combines single permissions; a later one replaces an earlier one of the same name.
func join(all []Permission) (p manifest.Permissions) {
	for i, one := range all {
		if slices.ContainsFunc(all[i+1:], func(later Permission) bool { return later.Name == one.Name }) {
			continue
		}
		p.HTTP = append(p.HTTP, one.permissions.HTTP...)
		p.Files = append(p.Files, one.permissions.Files...)
		p.Env = append(p.Env, one.permissions.Env...)
		p.Storage = max(p.Storage, one.permissions.Storage)
		p.Memory = max(p.Memory, one.permissions.Memory)
		if one.permissions.Conversation != manifest.NoConversation {
			p.Conversation = one.permissions.Conversation
		}
	}
	return p
}

// matches reports whether a word names a permission: "all", its kind, or its name.
func matches(word string, p Permission) bool {
	kind, _, _ := strings.Cut(p.Name, ":")
	return word == "all" || word == kind || word == p.Name
}

// grant returns the permissions of a plugin after the words have granted it some of those
// that it requests. A word may have a value: the methods of a host (http:HOST=GET+POST), a
// folder on the box (files:/menu=/srv/menu), a smaller amount. A host that the manifest
// does not request can be granted too, because no author knows the address of a server in
// the operator's network.
func grant(asks, now manifest.Permissions, words []string) (manifest.Permissions, error) {
	all := PermissionsOf(now)
	for _, word := range words {
		more, err := granted(asks, word)
		if err != nil {
			return now, err
		}
		all = append(all, more...)
	}
	return join(all), nil
}

// granted returns the permissions that one word grants.
func granted(asks manifest.Permissions, word string) ([]Permission, error) {
	name, value, valued := strings.Cut(word, "=")
	if name == "none" && !valued {
		return nil, nil
	}
	var all []Permission
	for _, p := range PermissionsOf(asks) {
		if matches(name, p) {
			all = append(all, p)
		}
	}
	kind, rest, _ := strings.Cut(name, ":")
	switch {
	case len(all) == 0 && kind == kindHTTP && rest != "": // a host that the manifest does not request
		all, value = []Permission{{Name: name}}, cmp.Or(value, "GET")
	case len(all) == 0:
		return nil, ErrUnknown{word,
			fmt.Sprintf("the plugin does not request this permission: it requests %s",
				listed(names(PermissionsOf(asks))))}
	case !valued:
		return all, nil
	case len(all) > 1 || all[0].Name != name:
		return nil, ErrUnknown{word, fmt.Sprintf("a value needs one permission: name one of %s", listed(names(all)))}
	}
	one, err := withValue(all[0], value)
	if err != nil {
		return nil, ErrUnknown{word, err.Error()}
	}
	return []Permission{one}, nil
}

// withValue returns a permission with the value that the installer gave it.
func withValue(p Permission, value string) (Permission, error) {
	kind, rest, _ := strings.Cut(p.Name, ":")
	var written any
	switch kind {
	case kindHTTP:
		written = []any{map[string]any{"host": rest, "methods": strings.Split(value, "+")}}
	case kindFiles:
		written = []any{map[string]any{"path": value, "as": rest, "mode": p.permissions.Files[0].Mode}}
	case kindStorage, kindMemory, kindConversation:
		written = value
	default:
		return p, fmt.Errorf("this permission takes no value")
	}
	is, err := parsePermissions(map[string]any{kind: written})
	if err != nil {
		return p, err
	}
	switch {
	case is.Storage > p.permissions.Storage, kind == kindMemory && is.Memory > p.permissions.Memory,
		!p.permissions.Conversation.Sees(is.Conversation):
		return p, fmt.Errorf("the plugin requests less: %s", p.Words)
	}
	single := PermissionsOf(is)
	single = slices.DeleteFunc(single, func(other Permission) bool { return other.Name != p.Name })
	if len(single) == 0 { // nothing, or no more than the default
		return Permission{Name: p.Name}, nil
	}
	return single[0], nil
}

// parsePermissions parses permissions by the rules of manifests.
func parsePermissions(written map[string]any) (manifest.Permissions, error) {
	text, err := json.Marshal(map[string]any{
		"name": "x", "version": "1", "description": "x", "hooks": []string{manifest.OnTurn}, "permissions": written,
	})
	if err != nil {
		return manifest.Permissions{}, err
	}
	m, err := manifest.Parse(text) // JSON is YAML
	if err != nil {
		why := err.Error()
		if i := strings.Index(why, ": "); i > 0 { // the line number means nothing here
			why = why[i+2:]
		}
		return m.Permissions, fmt.Errorf("%s", strings.TrimPrefix(why, "permissions."))
	}
	if _, asks := written[kindMemory]; !asks {
		m.Permissions.Memory = 0
	}
	return m.Permissions, nil
}

// revoke returns the permissions of a plugin without those that the words name.
func revoke(now manifest.Permissions, words []string) (manifest.Permissions, error) {
	all := PermissionsOf(now)
	for _, word := range words {
		left := slices.DeleteFunc(slices.Clone(all), func(p Permission) bool { return matches(word, p) })
		if len(left) == len(all) && word != "all" {
			return now, ErrUnknown{word, fmt.Sprintf("the plugin does not have this permission: it has %s",
				listed(names(all)))}
		}
		all = left
	}
	return join(all), nil
}

// carriedOver returns the permissions that a plugin keeps in an upgrade: those that the new
// version still requests, and those that were granted beyond the requests of the old
// version.
func carriedOver(before, after, has manifest.Permissions) manifest.Permissions {
	var kept []Permission
	asked, asks := PermissionsOf(before), PermissionsOf(after)
	in := func(all []Permission, name string) bool {
		return slices.ContainsFunc(all, func(p Permission) bool { return p.Name == name })
	}
	for _, p := range PermissionsOf(has) {
		if in(asks, p.Name) || !in(asked, p.Name) {
			kept = append(kept, restrict(p, asks))
		}
	}
	return join(kept)
}

// restrict limits a permission to what is requested: a version that requests less gets
// less.
func restrict(p Permission, asks []Permission) Permission {
	for _, a := range asks {
		if a.Name != p.Name {
			continue
		}
		is := p.permissions
		is.Storage, is.Memory = min(is.Storage, a.permissions.Storage), min(is.Memory, a.permissions.Memory)
		if !a.permissions.Conversation.Sees(is.Conversation) {
			is.Conversation = a.permissions.Conversation
		}
		if len(is.HTTP) > 0 {
			methods := slices.DeleteFunc(slices.Clone(is.HTTP[0].Methods), func(m string) bool {
				return !slices.Contains(a.permissions.HTTP[0].Methods, m)
			})
			if is.HTTP = nil; len(methods) > 0 {
				is.HTTP = []manifest.HTTP{{Host: p.permissions.HTTP[0].Host, Methods: methods}}
			}
		}
		if len(is.Files) > 0 && a.permissions.Files[0].Mode == manifest.Read {
			is.Files = []manifest.File{{Path: is.Files[0].Path, As: is.Files[0].As, Mode: manifest.Read}}
		}
		p.permissions = is
	}
	return p
}

// newRequests returns the permissions that the new version requests and the old one did
// not. A host that is requested with one more method is listed with all its methods,
// because all of them are granted.
func newRequests(before, after manifest.Permissions) []Permission {
	return slices.DeleteFunc(PermissionsOf(after), func(p Permission) bool { return before.Covers(p.permissions) })
}
