// Package sdk contains the libraries for plugin authors, one small library per language.
package sdk

import "embed"

// Files contains the libraries, each in a folder: go, rust, assemblyscript and c.
//
//go:embed go rust assemblyscript c
var Files embed.FS
