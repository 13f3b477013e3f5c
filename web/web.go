// Package web holds the pages of the box as the browser gets them. Their sources are TypeScript, in the folders next to
// this file. go generate ./web builds dist from them; dist is in the repository, so that building the box needs no npm.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
)

//go:generate ../tools/web/install
//go:generate go run ./bundle

//go:embed dist
var dist embed.FS

// Policy is the Content-Security-Policy of the pages: they load files from the box only and connect to the box only.
// blob: allows sound that a page has recorded.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self' " +
	"blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// A File is a file of the pages.
type File struct {
	Type string // media type
	Text []byte
	Tag  string // changes with Text; an ETag
}

// types maps file extensions to media types.
var types = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8"}

// Open returns the file with the given name, such as kiosk.html. It returns fs.ErrNotExist for an unknown name.
func Open(name string) (File, error) {
	text, err := dist.ReadFile(path.Join("dist", name))
	if err != nil {
		return File{}, fmt.Errorf("a page's file %s: %w", name, err)
	}
	kind, known := types[path.Ext(name)]
	if !known {
		return File{}, fmt.Errorf("a page's file %s: of no known type: %w", name, fs.ErrNotExist)
	}
	sum := sha256.Sum256(text)
	return File{kind, text, `"` + hex.EncodeToString(sum[:8]) + `"`}, nil
}
