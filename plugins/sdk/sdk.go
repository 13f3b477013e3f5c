// Package sdk holds what authors of tools put beside their own code, one small
// library a language.
package sdk

import "embed"

// Files are the libraries, a folder each: go, rust, assemblyscript and c.
//
//go:embed go rust assemblyscript c
var Files embed.FS
