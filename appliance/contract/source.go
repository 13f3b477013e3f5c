package contract

import "embed"

// Source is the text of this package without its tests. Its comments are what
// the descriptions that the box serves say of its types.
//
//go:embed *[^t].go *[^s]t.go
var Source embed.FS
