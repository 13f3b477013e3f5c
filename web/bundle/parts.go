package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// parts is the file in web that lists the packages in the scripts. The list of licences of the box is made from it.
const parts = "parts.json"

// A part is an npm package that is inside the scripts.
type part struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Licence string `json:"licence"` // SPDX expression
	Text    string `json:"text"`    // of the licence
}

// notice returns the package's licence as a comment.
func (p part) notice() string {
	return fmt.Sprintf("\n/*! This file contains %s %s:\n\n%s*/\n", p.Name, p.Version, p.Text)
}

// packagesOf returns the npm packages among the inputs of each file of a bundle, by the file's name and sorted by their
// own. meta is esbuild's description of the bundle.
func packagesOf(web, meta string) (map[string][]part, error) {
	var d struct {
		Outputs map[string]struct {
			Inputs map[string]struct {
				Bytes int `json:"bytesInOutput"`
			} `json:"inputs"`
		} `json:"outputs"`
	}
	if err := json.Unmarshal([]byte(meta), &d); err != nil {
		return nil, fmt.Errorf("esbuild's metafile: %w", err)
	}
	all := map[string][]part{}
	for file, out := range d.Outputs {
		names := map[string]bool{}
		for input, used := range out.Inputs {
			if name := packageName(input); name != "" && used.Bytes > 0 {
				names[name] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			p, err := packageOf(filepath.Join(web, "node_modules", name))
			if err != nil {
				return nil, err
			}
			all[filepath.Base(file)] = append(all[filepath.Base(file)], p)
		}
	}
	return all, nil
}

// packageName returns the name of the npm package that a source file belongs to, or "" for a file of ours.
func packageName(file string) string {
	const folder = "node_modules/"
	at := strings.LastIndex(file, folder)
	if at < 0 {
		return ""
	}
	name, rest, _ := strings.Cut(file[at+len(folder):], "/")
	if strings.HasPrefix(name, "@") {
		second, _, _ := strings.Cut(rest, "/")
		name += "/" + second
	}
	return name
}

// packageOf returns the package in a folder.
func packageOf(folder string) (part, error) {
	text, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return part{}, err
	}
	var d struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		License string `json:"license"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return part{}, fmt.Errorf("%s: %w", folder, err)
	}
	licence, err := os.ReadFile(filepath.Join(folder, "LICENSE"))
	if err != nil {
		return part{}, err
	}
	if d.License == "" || strings.Contains(string(licence), "*/") {
		return part{}, fmt.Errorf("%s: package.json names no licence, or LICENSE contains */", folder)
	}
	return part{
		Name:    d.Name,
		Version: d.Version,
		Licence: d.License,
		Text:    strings.TrimRight(string(licence), "\n") + "\n",
	}, nil
}

// listed returns the list of packages as JSON, by name.
func listed(inside map[string]part) ([]byte, error) {
	all := slices.SortedFunc(maps.Values(inside), func(a, b part) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.MarshalIndent(all, "", "  ")
	return append(text, '\n'), err
}
