// Package version names this build of the program.
package version

import (
	_ "embed"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// The Makefile and the scripts that build packages read this file too.
//
//go:embed number.txt
var number string

// String returns the version of the program, such as 0.1.0, by the rules of Semantic
// Versioning 2.0.0.
func String() string { return strings.TrimSpace(number) }

// Commit returns the first eight digits of the commit that the program was built from,
// with "+changes" if files differed from that commit. It returns "" if the Go tool stamped
// no commit.
func Commit() string {
	commit := setting("vcs.revision")
	commit = commit[:min(len(commit), 8)]
	if commit != "" && setting("vcs.modified") == "true" {
		commit += "+changes"
	}
	return commit
}

// Time returns when the commit of this build was made, and the zero time if that is not
// known.
func Time() time.Time {
	made, err := time.Parse(time.RFC3339, setting("vcs.time"))
	if err != nil {
		return time.Time{}
	}
	return made
}

// Valid reports whether v is a version as String returns it.
func Valid(v string) bool {
	return semver.IsValid("v"+v) && semver.Canonical("v"+v)+semver.Build("v"+v) == "v"+v
}

// Compare returns -1, 0 or +1 as version a is older than, the same as, or newer than b. An
// invalid version is older than each valid one.
func Compare(a, b string) int { return semver.Compare("v"+a, "v"+b) }

// setting returns a setting of the build, or "".
func setting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
