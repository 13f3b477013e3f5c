package source

import (
	"mime"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
)

const (
	// maxName bounds a file name in bytes: file systems allow 255.
	maxName = 200
	// maxPath bounds the path of a member of an archive in bytes. Data sets need 100 to 200.
	maxPath = 1024
)

// Name returns the name of the file at a URL for a job's results: the last element of its
// path, or its host if the path has none.
func Name(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "url"
	}
	if name := cleanName(path.Base(u.Path)); name != "" {
		return name
	}
	if name := cleanName(u.Hostname()); name != "" {
		return name
	}
	return "url"
}

// responseName returns the name of a fetched file. A response may name the file, as
// servers do whose URLs have only a number.
func responseName(text, disposition string) string {
	name := Name(text)
	if path.Ext(name) != "" {
		return name
	}
	if _, values, err := mime.ParseMediaType(disposition); err == nil {
		if given := cleanName(path.Base(strings.ReplaceAll(values["filename"], `\`, "/"))); given != "" {
			return given
		}
	}
	return name
}

// cleanName returns a name that is safe to show and to use as a file name, or "" if
// nothing is left of it. It keeps the extension of a name that it shortens.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if strings.Trim(name, " ._") == "" {
		return ""
	}
	if len(name) > maxName {
		ext := path.Ext(name)
		if len(ext) > 10 {
			ext = ""
		}
		name = strings.ToValidUTF8(name[:maxName-len(ext)], "") + ext
	}
	return name
}

// memberName returns the clean path of an entry of an archive: "" if the entry is a folder,
// a dotfile or in __MACOSX, and a fault with what can be shown of the path if it is not
// allowed.
func memberName(name string) (string, *Error) {
	name = strings.ToValidUTF8(strings.ReplaceAll(name, `\`, "/"), "�") // Windows programs write \
	shown := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '�'
		}
		return r
	}, name)
	parts := strings.Split(shown, "/")
	switch {
	case len(name) > maxPath:
		return strings.ToValidUTF8(shown[:min(maxName, len(shown))], "") + "…",
			fault("the path of the entry has %d bytes; at most %d are allowed", len(name), maxPath)
	case path.IsAbs(name):
		return shown, fault("the path of the entry begins with /")
	case slices.Contains(parts, ".."):
		return shown, fault("the path of the entry contains ..")
	}
	if strings.HasSuffix(name, "/") {
		return "", nil
	}
	clean := path.Clean(shown)
	left := func(part string) bool { return part == "__MACOSX" || strings.HasPrefix(part, ".") }
	if clean == "." || slices.ContainsFunc(strings.Split(clean, "/"), left) {
		return "", nil
	}
	return clean, nil
}
