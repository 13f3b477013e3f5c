// Package web is the pages of the box, as browsers get them. They are written in
// TypeScript, in the folders beside this file; go generate ./web makes dist of
// them, which is kept in the repository so that a build needs nothing else.
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

// Policy is the Content-Security-Policy of the pages: they are made of the box's
// own files and speak to the box alone. blob: is sound that they have recorded.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self' " +
	"blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// A File is one of the files of the pages.
type File struct {
	Type string // media type
	Text []byte
	Tag  string // changes with Text; an ETag
}

// types are the media types of what is there, by the end of the name.
var types = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8"}

// Open returns the file of that name, such as kiosk.html; fs.ErrNotExist where
// there is none.
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
