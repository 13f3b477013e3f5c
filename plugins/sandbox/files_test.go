package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"parley/plugins/manifest"
)

const pathsManifest = `
name: paths
version: 1.0.0
description: Tries paths.
tools:
  - {name: paths, description: Tries them., timeout: 20s}
  - {name: files, description: Uses files., timeout: 20s}
  - {name: http, description: Asks a host., timeout: 5s}
  - {name: kv, description: Keeps things., timeout: 5s}
  - {name: conversation, description: Listens., timeout: 5s}
`

func answerOf(t *testing.T, m *Module, tool string, parameters any, granted manifest.Permissions,
	change ...func(*Call)) string {
	t.Helper()
	text, err := json.Marshal(parameters)
	if err != nil {
		t.Fatal(err)
	}
	c := Call{
		Tool:       tool,
		Parameters: text,
		Account:    "a",
		Granted:    granted,
	}
	for _, f := range change {
		f(&c)
	}
	r, err := m.Call(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r.Content
}

// outside makes a folder that no plugin may reach, with a secret in it.
func outside(t *testing.T) (folder, inside string) {
	t.Helper()
	top := t.TempDir()
	inside = filepath.Join(top, "granted")
	for _, dir := range []string{inside, filepath.Join(inside, "menu")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"secret": "the secret", "granted/menu/soup": "pumpkin"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"root": "/", "absolute": filepath.Join(top, "secret"), "relative": "../secret", "up": "..", "chain": "relative",
		"here":      "menu/soup",
		"menu/deep": "../../secret", "loop": "loop",
	} {
		if err := os.Symlink(to, filepath.Join(inside, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(inside, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	return top, inside
}

func TestPathsDoNotLeaveTheirFolder(t *testing.T) {
	m := load(t, host(t, Options{}), pathsManifest, goModule(t, "hostile", false))
	top, inside := outside(t)
	out := []string{
		"/etc/passwd", "etc/passwd", "../../../../../../etc/passwd", "./../../../../../../etc/passwd",
		"menu/../../secret", "root/etc/passwd", "absolute", "relative", "up/secret",
		"chain", "menu/deep", "loop", "..", "/", "../granted/menu/soup", "up/granted/menu/soup", "root", "\x00",
		"menu/soup/../../../secret", filepath.Join(top, "secret"),
	}
	t.Run("without a folder", func(t *testing.T) {
		if got := answerOf(t, m, "paths", map[string]any{"Paths": append(out, ".", "menu/soup")},
			manifest.Permissions{}); got != "" {
			t.Errorf("calls without a folder succeeded:\n%s", got)
		}
	})
	for _, mode := range []manifest.Mode{manifest.Read, manifest.Write} {
		t.Run("with one to "+string(mode), func(t *testing.T) {
			granted := manifest.Permissions{Files: []manifest.File{{Path: inside, As: "/menu", Mode: mode}}}
			got := answerOf(t, m, "paths", map[string]any{"Paths": out}, granted)
			// A plugin with write permission may remove the links and put files in their
			// place. One with read permission learns a link's target and no more.
			for line := range strings.Lines(got) {
				if mode == manifest.Read && !strings.HasPrefix(line, "path_readlink") {
					t.Errorf("a call outside of the folder succeeded: %s", line)
				}
			}
			if strings.Contains(got, "the secret") || strings.Contains(got, "root:x") {
				t.Errorf("a file outside was read:\n%s", got)
			}
			if text, err := os.ReadFile(filepath.Join(top, "secret")); err != nil || string(text) != "the secret" {
				t.Errorf("the secret is %q now, %v", text, err)
			}
			entries, err := os.ReadDir(top)
			if err != nil || len(entries) != 2 {
				t.Errorf("the folder outside has %v, %v", entries, err)
			}
		})
	}
}

func TestFilesAreAccessedByModeOnly(t *testing.T) {
	m := load(t, host(t, Options{}), pathsManifest, goModule(t, "hostile", false))
	_, inside := outside(t)
	do := [][]string{
		{"read", "/menu/menu/soup"}, {"read", "/menu/here"}, {"read", "/menu/relative"}, {"read", "/menu/pipe"},
		{"list", "/menu/menu"},
		{"write", "/menu/new", "fresh"}, {"append", "/menu/new", "er"}, {"read", "/menu/new"},
		{"mkdir", "/menu/folder"}, {"rename", "/menu/new", "/menu/folder/newer"},
		{"truncate", "/menu/folder/newer"}, {"read", "/menu/folder/newer"}, {"remove", "/menu/folder"},
		{"remove", "/menu/folder/newer"}, {"remove", "/menu/folder"},
		{"open", "/menu/menu/soup"}, // and close none of them
	}
	for mode, want := range map[manifest.Mode][]string{
		manifest.Read: {
			`read /menu/menu/soup: "pumpkin" <nil>`, `read /menu/here: "pumpkin" <nil>`, `read /menu/relative: "" `,
			`read /menu/pipe: "" `, `list /menu/menu: "/menu/menu /menu/menu/deep /menu/menu/soup" <nil>`,
			`open /menu/menu/soup: "63" open /menu/menu/soup: Try again`,
			`write /menu/new: "" open /menu/new: Read-only file system`,
			`read /menu/new: "" open /menu/new: No such file`,
			`mkdir /menu/folder: "" mkdir /menu/folder: Read-only file system`,
		},
		manifest.Write: {
			`read /menu/menu/soup: "pumpkin" <nil>`, `write /menu/new: "" <nil>`, `append /menu/new: "" <nil>`,
			`read /menu/new: "fresher" <nil>`, `mkdir /menu/folder: "" <nil>`, `rename /menu/new: "" <nil>`,
			`truncate /menu/folder/newer: "" `, `read /menu/folder/newer: "fresher" <nil>`,
			`remove /menu/folder: "" remove /menu/folder: Directory not empty`, `remove /menu/folder/newer: "" <nil>`,
			`remove /menu/folder: "" <nil>`,
		},
	} {
		got := answerOf(t, m, "files", map[string]any{"Do": do},
			manifest.Permissions{Files: []manifest.File{{Path: inside, As: "/menu", Mode: mode}}})
		for _, line := range want {
			if !strings.Contains(got, line) {
				t.Errorf("%s: no %s in\n%s", mode, line, got)
			}
		}
		if strings.Contains(got, "the secret") {
			t.Errorf("%s: the secret in\n%s", mode, got)
		}
	}
	_, err := m.Call(t.Context(),
		Call{Tool: "files",
			Granted: manifest.Permissions{
				Files: []manifest.File{{Path: inside + "/none", As: "/menu", Mode: manifest.Read}}}})
	if f := AsFault(err); err == nil || f.Kind != Unready || strings.Contains(f.Message, inside) {
		t.Errorf("a missing folder: %v", err)
	}
}
