package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"parley/firmware/licences"
)

// ofPages returns the npm packages in the scripts of the pages, which web/bundle lists in web/parts.json.
func ofPages(top string) ([]licences.Part, error) {
	text, err := os.ReadFile(filepath.Join(top, "web/parts.json"))
	if err != nil {
		return nil, err
	}
	var listed []struct{ Name, Version, Licence, Text string }
	if err := json.Unmarshal(text, &listed); err != nil {
		return nil, fmt.Errorf("web/parts.json: %w", err)
	}
	var parts []licences.Part
	for _, l := range listed {
		ids, err := identified("LICENSE", []byte(l.Text))
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", l.Name, l.Version, err)
		}
		if !slices.Equal(ids, []string{l.Licence}) {
			return nil, fmt.Errorf("%s %s says it is under %s; its licence is %v", l.Name, l.Version, l.Licence, ids)
		}
		parts = append(parts, licences.Part{
			Kind:      licences.Page,
			Name:      l.Name,
			Version:   l.Version,
			Licence:   l.Licence,
			Copyright: holders(l.Text),
			Texts:     []licences.Text{{File: "LICENSE", Text: tidy(l.Text)}},
		})
	}
	return parts, nil
}
