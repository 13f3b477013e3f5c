package manifest

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
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

var (
	methods     = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	hostPattern = regexp.MustCompile(
		`^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
)

func (r *reader) permissions(n ast.Node) Permissions {
	if n == nil {
		return Permissions{Memory: DefaultMemory}
	}
	const path = "permissions"
	o := r.object(n, path, "http", "files", "env", "storage", "conversation", "memory")
	p := Permissions{Memory: DefaultMemory}
	o.list("http", 64, func(n ast.Node, path string) { p.HTTP = append(p.HTTP, r.http(n, path)) })
	o.list("files", 32, func(n ast.Node, path string) {
		f := r.file(n, path)
		if slices.ContainsFunc(p.Files, func(other File) bool { return other.As == f.As }) {
			r.fail(n, path+".as", "%.80q is there twice", f.As)
		}
		p.Files = append(p.Files, f)
	})
	p.Env = o.texts("env", 64, func(n ast.Node, path, text string) {
		if !variablePattern.MatchString(text) || strings.HasPrefix(strings.ToUpper(text), "SETTING_") {
			r.fail(n, path, "%.80q is no name of a variable, or begins with SETTING_, which settings do", text)
		}
	})
	p.Storage = o.size("storage", 0, MaxStorage, 0)
	p.Memory = o.size("memory", minMemory, MaxMemory, DefaultMemory)
	switch text := o.text("conversation", 40); text {
	case "", "none":
	case string(Transcript), string(Expression):
		p.Conversation = Conversation(text)
	default:
		r.fail(o.values["conversation"], path+".conversation", "%.40q; none, transcript and expression are allowed",
			text)
	}
	return p
}

func (r *reader) http(n ast.Node, path string) HTTP {
	o := r.object(n, path, "host", "methods")
	o.required("host", "write a name, a name with a left-most *., or an address")
	h := HTTP{Host: o.text("host", 300)}
	if o.values["host"] != nil {
		if err := checkHost(h.Host); err != nil {
			r.fail(o.values["host"], path+".host", "%.80q %v", h.Host, err)
		}
	}
	h.Methods = o.texts("methods", len(methods), func(n ast.Node, path, text string) {
		if !slices.Contains(methods, text) {
			r.fail(n, path, "%.40q; %s are allowed", text, strings.Join(methods, ", "))
		}
	})
	if len(h.Methods) == 0 {
		h.Methods = []string{"GET"}
	}
	return h
}

var errNoHost = errors.New("is no host: write api.example.org, *.example.org or 192.168.1.20, in lower case, a name " +
	"of other letters in its xn-- form, with :8443 behind it for another port")

func checkHost(host string) error {
	name, port := SplitHost(host)
	if strings.ContainsAny(host, "/@?# ") {
		return errNoHost
	}
	if port != "" {
		if p, err := strconv.Atoi(port); err != nil || p < 1 || p > 65535 || port != strconv.Itoa(p) {
			return errors.New("has no port from 1 to 65535 behind its colon")
		}
	}
	if a, err := netip.ParseAddr(name); err == nil {
		switch {
		case a.Zone() != "" || a.Is4In6() || a.String() != name:
			return fmt.Errorf("is not how the address is written, which is %s", a.WithZone("").Unmap())
		case a.IsUnspecified() || a.IsMulticast():
			return errors.New("is nobody's address")
		}
		return nil
	}
	if len(name) > 253 || !hostPattern.MatchString(name) {
		return errNoHost
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; strings.Trim(last, "0123456789") == "" {
		return errors.New("looks like an address and is none")
	}
	if strings.HasPrefix(name, "*.") && !strings.Contains(name[2:], ".") {
		return errors.New("is everybody under a whole domain; name at least two parts, like *.example.org")
	}
	return nil
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

func (r *reader) file(n ast.Node, at string) File {
	o := r.object(n, at, "path", "as", "mode")
	o.required("path", "write the folder on the box, like /srv/menu")
	f := File{Path: o.text("path", 1024), As: o.text("as", 1024), Mode: Mode(o.text("mode", 40))}
	if f.As == "" {
		f.As = f.Path
	}
	for _, p := range []struct{ key, value string }{{"path", f.Path}, {"as", f.As}} {
		if o.values["path"] != nil && (!path.IsAbs(p.value) || path.Clean(p.value) != p.value) {
			r.fail(n, at+"."+p.key, "%.80q is not a whole path without .., like /srv/menu", p.value)
		}
	}
	switch f.Mode {
	case "":
		f.Mode = Read
	case Read, Write:
	default:
		r.fail(o.values["mode"], at+".mode", "%.40q; read and write are allowed", string(f.Mode))
	}
	return f
}

var sizePattern = regexp.MustCompile(`^([0-9]{1,12})\s*(|B|KiB|MiB|GiB)$`)

// size is the number of bytes at key, like 64MiB.
func (o object) size(key string, least, most, otherwise int64) int64 {
	text := o.text(key, 40)
	if text == "" {
		return otherwise
	}
	parts := sizePattern.FindStringSubmatch(text)
	if parts != nil {
		n, _ := strconv.ParseInt(parts[1], 10, 64)
		n <<= map[string]int{"": 0, "B": 0, "KiB": 10, "MiB": 20, "GiB": 30}[parts[2]]
		if n >= least && n <= most {
			return n
		}
	}
	o.fail(o.values[key], join(o.path, key), "%.40q; write it like 512KiB or 64MiB, from %s to %s", text, Size(least),
		Size(most))
	return otherwise
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
