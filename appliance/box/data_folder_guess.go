package box

import (
	"os"
	"path/filepath"

	"parley/appliance/config"
	"parley/internal/layout"
	"parley/store"
)

// GuessDataFolder returns the data folder that was probably meant by data, which holds no
// box: the box in the same parent folder with the most similar name, or else a box
// at one of the usual places. It returns "" if there is none.
func GuessDataFolder(data string) string {
	parent := filepath.Dir(data)
	entries, _ := os.ReadDir(parent)
	var siblings []string
	for _, e := range entries {
		if store.Exists(filepath.Join(parent, e.Name())) {
			siblings = append(siblings, e.Name())
		}
	}
	if near := config.Nearest(filepath.Base(data), siblings); near != "" {
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
