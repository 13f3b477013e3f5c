package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var (
	// inLine is a command in the midst of a sentence, or in a block of code, up to
	// what the shell takes for itself.
	inLine  = regexp.MustCompile("`(?:bin/)?parley ([^`]+)`")
	inBlock = regexp.MustCompile(`(?m)^(?:\$ |.*[|;] |[0-9 *]+)?(?:bin/)?parley ([^|&>#\n]+)`)
	fence   = regexp.MustCompile("(?s)```[a-z]*\n(.*?)```")
	flag    = regexp.MustCompile(`^--[a-z][a-z-]*`)
)

// Every command and flag in the documentation exists.
func TestTheCommandsOfTheDocumentationAreThere(t *testing.T) {
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	top := filepath.Join("..", "..")
	pages := []string{"README.md", "RATIONALE.md"} // CHANGELOG.md tells of commands that are no more, too
	err = fs.WalkDir(os.DirFS(top), "docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") && name != "docs/architecture.md" { // a map
			pages = append(pages, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(top, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, typed := range typedIn(string(text)) {
			tried++
			words, err := translateOldCommand(strings.Fields(typed))
			if history := page == "RATIONALE.md"; history && err != nil {
				continue // it is told what it is now
			} else if !history {
				words = strings.Fields(typed)
			}
			if wrong := unknownIn(parser.Model.Node, words); wrong != "" {
				t.Errorf("%s: parley %s: there is no %s", page, typed, wrong)
			}
		}
	}
	if tried < 150 {
		t.Errorf("%d commands were found in all pages", tried)
	}
}

// typedIn returns the commands of a page, without the name of the program.
func typedIn(page string) (all []string) {
	for _, block := range fence.FindAllStringSubmatch(page, -1) {
		for _, m := range inBlock.FindAllStringSubmatch(block[1], -1) {
			all = append(all, m[1])
		}
	}
	for _, m := range inLine.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		all = append(all, m[1])
	}
	return all
}

// unknownIn returns the first unknown word of a command line, or "".
func unknownIn(at *kong.Node, words []string) string {
	for _, word := range words {
		word = strings.Trim(word, `'",.()[]`)
		if name := flag.FindString(word); name != "" {
			if at.DefaultCmd != nil && name != "--help" {
				at = at.DefaultCmd
			}
			known := slices.ContainsFunc(slices.Concat(at.AllFlags(false)...), func(f *kong.Flag) bool {
				return "--"+f.Name == name
			})
			if !known && name != "--help" {
				return name
			}
			continue
		}
		if len(at.Children) == 0 || strings.HasPrefix(word, "-") {
			continue
		}
		i := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == word })
		switch {
		case i >= 0:
			at = at.Children[i]
		case at.DefaultCmd != nil: // the word is its argument
			at = at.DefaultCmd
		default:
			return "command " + word
		}
	}
	return ""
}
