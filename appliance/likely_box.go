package appliance

import (
	"os"
	"path/filepath"

	"parley/appliance/config"
	"parley/internal/layout"
	"parley/store"
)

// LikelyBox is the data folder of a box that somebody meant who named data:
// the folder beside it whose name is nearest, else one at the usual places;
// empty where there is none.
func LikelyBox(data string) string {
	parent := filepath.Dir(data)
	entries, _ := os.ReadDir(parent)
	var beside []string
	for _, e := range entries {
		if store.Exists(filepath.Join(parent, e.Name())) {
			beside = append(beside, e.Name())
		}
	}
	if near := config.Nearest(filepath.Base(data), beside); near != "" {
		return filepath.Join(parent, near)
	}
	usual := []string{layout.SystemData}
	if home, err := os.UserHomeDir(); err == nil {
		usual = append(usual, layout.InHome(home, layout.DefaultData))
	}
	for _, folder := range usual {
		if folder != data && store.Exists(folder) {
			return folder
		}
	}
	return ""
}
