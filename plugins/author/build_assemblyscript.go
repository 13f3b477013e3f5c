package author

import (
	"os"
	"path/filepath"
)

// findAssemblyScript looks for asc as Node does: in node_modules of the project and of the
// folders above it, then in PATH. If there is only npm, it installs the packages of the
// project's package.json.
func findAssemblyScript(p Project) (compiler, error) {
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return nil, err
	}
	missing := ErrNoTools{Language: "AssemblyScript", Why: "there is no node", Install: []string{
		"Node.js 20 or later with npm, from nodejs.org or from your distribution (Debian: apt-get install " +
			"nodejs npm)",
	}}
	if len(programs("node")) == 0 {
		return nil, missing
	}
	npm := programs("npm")
	if ascOf(dir) == "" && len(npm) == 0 {
		missing.Why = "there is neither asc, the compiler, nor npm, which installs it"
		return nil, missing
	}
	return func(s *session, p Project, out string) error {
		if ascOf(dir) == "" {
			command := "install"
			if p.has("package-lock.json") {
				command = "ci"
			}
			err := s.run(p.Dir, nil, nil, npm[0], command, "--ignore-scripts", "--no-audit", "--no-fund")
			if err != nil {
				return err
			}
		}
		asc := ascOf(dir)
		if asc == "" {
			missing.Why = "npm installed the project's packages, but asc is not among them"
			missing.Install = []string{"npm install --save-dev assemblyscript"}
			return missing
		}
		// asc finds the entry and the options in asconfig.json.
		return s.run(p.Dir, nil, nil, asc, "--outFile", out)
	}, nil
}

func ascOf(dir string) string {
	var beside []string
	for above := ""; dir != above; above, dir = dir, filepath.Dir(dir) {
		beside = append(beside, filepath.Join(dir, "node_modules", ".bin"))
	}
	if found := programsIn(append(beside, filepath.SplitList(os.Getenv("PATH"))...), "asc"); len(found) > 0 {
		return found[0]
	}
	return ""
}
