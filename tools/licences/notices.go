package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"parley/firmware/licences"
)

var (
	// copyrightLine matches a copyright notice with a year or the sign.
	copyrightLine = regexp.MustCompile(`(?i)copyright\W*(\(c\)|©|\d{4})|^\W*(\(c\)|©) ?\d{4}`)
	// placeholder matches the notices that a licence's text asks others to write, and that of the text itself.
	placeholder = regexp.MustCompile(`(?i)[[{<](yyyy|year)|copyright (holder|owner|notice)|year name of author|` +
		`free software foundation`)
	// notName matches what a copyright notice has besides the name of the holder.
	notName = regexp.MustCompile(
		`(?i)copyright[:\s]*(\(c\)|©)?|\(c\)|©|\d+|all rights reserved|` +
			`(, released|use of this source) .*|<.*|\b(by|present)\b|\W+`)
	// permission matches a notice that says what others may do, so that it must be passed on with the program.
	permission = regexp.MustCompile(`(?i)permission|permitted|freely granted`)
	// tag matches the name of a source's licence.
	tag = regexp.MustCompile(`SPDX-License-Identifier: *(.+)`)
)

// holders returns the copyright notices in a text, each holder once, without the known holders.
func holders(text string, known ...string) []string {
	var found []string
	seen := map[string]bool{}
	for _, line := range known {
		seen[holder(line)] = true
	}
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		name := holder(line)
		if !copyrightLine.MatchString(line) || placeholder.MatchString(line) || name == "" || seen[name] {
			continue
		}
		seen[name] = true
		found = append(found, line)
	}
	return found
}

// holder returns the name in a copyright notice in a form that can be compared.
func holder(line string) string {
	return strings.ToLower(notName.ReplaceAllString(line, ""))
}

// tidy returns a text without what differs between copies of a licence: ends of lines and empty lines.
func tidy(text string) string {
	var b strings.Builder
	empty := 0
	for line := range strings.Lines(strings.ReplaceAll(text, "\f", "\n")) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" {
			empty++
			continue
		}
		if empty > 0 && b.Len() > 0 {
			b.WriteByte('\n')
		}
		empty = 0
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// addNotices adds to a part the copyright notices in the sources of m that name other holders than its texts do, and
// the texts of those that give permissions or have other licences. It adds their licences to found.
func (m *module) addNotices(p *licences.Part, found map[string]bool) error {
	for _, file := range slices.Sorted(maps.Keys(m.sources)) {
		if isInC(file) {
			continue // a part of its own
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(m.folder, file)
		if err != nil {
			return err
		}
		for _, comment := range comments(string(source)) {
			if t := tag.FindStringSubmatch(comment); t != nil {
				found[t[1]] = true
			}
			if len(holders(comment)) == 0 {
				continue
			}
			ids, err := identified(below, []byte(comment))
			if err != nil {
				return err
			}
			others := holders(comment, p.Copyright...)
			p.Copyright = append(p.Copyright, others...)
			known := !slices.ContainsFunc(ids, func(one string) bool { return !found[one] })
			reference := slices.Equal(ids, []string{"Apache-2.0"}) && known
			if reference || known && (len(others) == 0 || !permission.MatchString(comment)) {
				continue
			}
			for _, one := range ids {
				found[one] = true
			}
			p.Texts = append(p.Texts, licences.Text{File: below, Text: comment})
		}
	}
	return nil
}

// comments returns the comments of a source in Go, C or assembler without their marks. Comments that follow each other
// are one.
func comments(source string) []string {
	var all []string
	var b strings.Builder
	end := func() {
		if text := tidy(b.String()); text != "" {
			all = append(all, text)
		}
		b.Reset()
	}
	inside := false // of a comment that ends with */
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		switch {
		case inside:
			line, _, ended := strings.Cut(line, "*/")
			inside = !ended
			b.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "**"), "*") + "\n")
		case strings.HasPrefix(line, "//"):
			b.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "//"), " ") + "\n")
		case strings.HasPrefix(line, "/*"):
			line, _, ended := strings.Cut(strings.TrimPrefix(line, "/*"), "*/")
			inside = !ended
			b.WriteString(strings.TrimPrefix(line, "*") + "\n")
		default:
			end()
		}
	}
	end()
	return all
}
