package completion

import (
	"embed"
	"fmt"
)

//go:embed parley.bash parley.zsh parley.fish
var scripts embed.FS

// Shells are those that there is a script for.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Script is what a shell reads to complete command lines.
func Script(shell string) (string, error) {
	text, err := scripts.ReadFile("parley." + shell)
	if err != nil {
		return "", fmt.Errorf("no completion for %s: %w", shell, err)
	}
	return string(text), nil
}
