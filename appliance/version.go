package appliance

import "runtime/debug"

// Version names this build: its tag, or the commit it was made from, as the
// Go tool stamps it; "devel" where there is neither.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
