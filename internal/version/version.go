// Package version names this build of the program.
package version

import (
	"runtime/debug"
	"time"
)

// String returns the tag of this build, or the commit it was made from, as the
// Go tool stamps it. It returns "devel" when there is neither.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// Time returns when the commit of this build was made, and the zero time when
// that is not known.
func Time() (made time.Time) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return made
	}
	for _, s := range info.Settings {
		if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
			made = t
		}
	}
	return made
}
