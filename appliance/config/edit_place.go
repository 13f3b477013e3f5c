package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// setInText returns the text of a settings file with a change.
func setInText(text string, c Change) (string, error) {
	s, ok := findSetting(c.Key)
	if !ok || s.PartOf != "" || s.FileOnly() || s.isMap {
		return "", fmt.Errorf("%s is not a setting with one value or a list", c.Key)
	}
	line := yamlValue(s, c.Value)
	// Each pass puts one map into the form that the next one needs: braces within braces are
	// two levels at most, and a map with old names is one more.
	for range 5 {
		t, err := parseText(text)
		if err != nil {
			return "", err
		}
		group, _, nested := strings.Cut(c.Key, ".")
		e, g := t.find(c.Key), t.find(group)
		switch {
		case t.flow != nil:
			text = t.expandAll()
		case e != nil && e.flow:
			text = t.expand(e.outermostFlow())
		case e != nil && len(e.children) > 0:
			text = t.hoist(e)
		case e != nil:
			return t.replaceValue(e, line), nil
		case nested && g != nil && isFlow(g.value):
			text = t.expand(g)
		default:
			return t.add(c.Key, line, g), nil
		}
	}
	return "", errors.New("the maps are nested too deeply")
}

func isFlow(n ast.Node) bool {
	m, ok := n.(*ast.MappingNode)
	return ok && m.IsFlowStyle
}

func (e *fileEntry) outermostFlow() *fileEntry {
	for e.flow {
		e = e.parent
	}
	return e
}

// expandAll writes a file in braces as lines.
func (t *fileText) expandAll() string {
	first, last := t.end, 0
	for i := range t.end {
		if t.hasContent(i, i+1) && strings.TrimSpace(t.lines[i]) != "---" {
			first, last = min(first, i), i
		}
	}
	return t.replace(first, last, append(t.commentsIn(first, last, 0), members(t.flow, 0)...)...)
}

// expand writes the map in braces of an entry as lines.
func (t *fileText) expand(e *fileEntry) string {
	m, _ := e.value.(*ast.MappingNode)
	lines := append([]string{cut(t.lines[e.line], 0, e.colon)}, t.commentsIn(e.line, e.last, e.column+2)...)
	return t.replace(e.line, e.last, append(lines, members(m, e.column+2)...)...)
}

func members(m *ast.MappingNode, indent int) (lines []string) {
	for each := m.MapRange(); each.Next(); {
		line := spaces(indent) + each.Key().String() + ":"
		if v := each.Value(); v != nil && v.Type() != ast.NullType {
			line += " " + v.String()
		}
		lines = append(lines, line)
	}
	return lines
}

// hoist takes the value from a key that has old names below it, as tls has cert and key: they
// become comments. What else is below it moves up one level, as tls.names does.
func (t *fileText) hoist(e *fileEntry) string {
	lines := []string{t.lines[e.line]}
	inner := e.children[0].column
	for i := e.line + 1; i <= e.last; i++ {
		line, old := t.lines[i], false
		for _, c := range e.children {
			old = old || i >= c.line && i <= c.last && isPartOf(c.key, e.key)
		}
		if lead := min(inner-e.column, len(line)-len(strings.TrimLeft(line, " "))); lead > 0 {
			line = line[lead:]
		}
		at := slices.IndexFunc(e.children, func(c *fileEntry) bool { return c.line == i })
		switch {
		case old && !t.isComment(i):
			line = spaces(e.column) + "# " + strings.TrimLeft(line, " ")
		case at >= 0:
			line = spaces(e.column) + e.key[strings.LastIndex(e.key, ".")+1:] + "." + line[e.column:]
		}
		lines = append(lines, line)
	}
	return t.replace(e.line, e.last, lines...)
}

// replaceValue writes another value behind a key, and keeps the comments of the old one.
func (t *fileText) replaceValue(e *fileEntry, value string) string {
	line := t.lines[e.line]
	changed := cut(line, 0, e.colon) + " " + value
	if column, ok := t.comments[e.line]; ok {
		head := cut(line, 0, column)
		gap := len(head) - len(strings.TrimRight(head, " \t"))
		changed += spaces(max(1, gap)) + cut(line, column, -1)
	}
	return t.replace(e.line, e.last, append([]string{changed}, t.commentsIn(e.line+1, e.last, e.column)...)...)
}

// add writes a key that the file does not have: in place of a comment with a sample, else at
// the end of its group, else at the end of the file. g is the entry of its group, or nil.
func (t *fileText) add(key, value string, g *fileEntry) string {
	top := 0
	if len(t.entries) > 0 {
		top = t.entries[0].column
	}
	group, name, nested := strings.Cut(key, ".")
	_, ownValue := findSetting(group)
	inGroup := nested && g != nil && (len(g.children) > 0 || isNull(g.value))
	if inGroup && !(ownValue && isNull(g.value)) {
		if i, indent := t.sample(key, name, g); i >= 0 {
			return t.replace(i, i, t.written(i, indent, name, value))
		}
		if len(g.children) > 0 {
			line := spaces(g.children[0].column) + name + ": " + value
			return t.replace(g.last+1, g.last, line)
		}
		return t.replace(g.line+1, g.line, spaces(g.column+2)+name+": "+value)
	}
	if i, _ := t.sample(key, key, nil); i >= 0 {
		return t.replace(i, i, t.written(i, top, key, value))
	}
	lines := []string{spaces(top) + key + ": " + value}
	if nested && g == nil && !ownValue {
		lines = []string{spaces(top) + group + ":", spaces(top+2) + name + ": " + value}
	}
	end := t.end
	if nested && g != nil {
		end = g.last + 1
	}
	for end > 0 && strings.TrimSpace(t.lines[end-1]) == "" {
		end--
	}
	return t.replace(end, end-1, lines...)
}

func isNull(n ast.Node) bool { return n == nil || n.Type() == ast.NullType }

// sampleLine matches a comment that may be a setting with its value.
var sampleLine = regexp.MustCompile(`^ *# ?([a-z_.]+):(?: +(.*))?$`)

// sample returns the line of the comment that is a sample of a setting, and the indent that the
// setting has there; -1 if there is none. g is the group that the comment must be in, or nil.
func (t *fileText) sample(key, name string, g *fileEntry) (line, indent int) {
	for i := range t.end {
		m := sampleLine.FindStringSubmatch(t.lines[i])
		if m == nil || m[1] != name || !t.isComment(i) || !isSample(key, m[2]) || !t.isBetween(i, g) {
			continue
		}
		if g == nil && t.comments[i] > 0 && (len(t.entries) == 0 || t.comments[i] != t.entries[0].column) {
			continue
		}
		if g == nil {
			return i, 0
		}
		if len(g.children) > 0 {
			return i, g.children[0].column
		}
		if t.comments[i] > g.column {
			return i, t.comments[i]
		}
	}
	return -1, 0
}

// isBetween reports whether a new entry of a group can stand in a line: no other entry goes on
// around it, and it lies behind the group's key and before the next key outside the group.
func (t *fileText) isBetween(line int, g *fileEntry) bool {
	for _, e := range t.entries {
		if e != g && line > e.line && line < e.last {
			return false
		}
	}
	if g == nil {
		return true
	}
	for _, e := range t.entries {
		if e.line > g.line && e.line < line && !e.within(g) {
			return false
		}
	}
	return line > g.line
}

// isSample reports whether the text behind a key in a comment is a value of the setting, and not
// prose.
func isSample(key, text string) bool {
	s, _ := findSetting(key)
	tree, err := parser.ParseBytes([]byte("v: "+text+"\n"), 0)
	if err != nil || len(tree.Docs) != 1 {
		return false
	}
	m, ok := tree.Docs[0].Body.(ast.MapNode)
	if !ok {
		return false
	}
	each := m.MapRange()
	each.Next()
	if isNull(each.Value()) {
		return true
	}
	value, err := (&fileReader{}).scalar(key, each.Value())
	return err == nil && s.set(&Config{}, assignment{Setting: s, value: value, dir: "/", home: "/"}) == nil
}

// written returns the line of a setting that replaces the sample in a line; a comment behind
// the sample's value stays.
func (t *fileText) written(line, indent int, name, value string) string {
	text := spaces(indent) + name + ": " + value
	if _, note, ok := strings.Cut(strings.TrimLeft(t.lines[line], " #"), " #"); ok {
		text += "  #" + note
	}
	return text
}

// lostComment returns a comment of the old text that the new one does not have, and "" if there
// is none. Samples of the changed settings may go.
func lostComment(before, after string, changes []Change) string {
	old, err := parseText(strings.ReplaceAll(before, "\r\n", "\n"))
	if err != nil {
		return err.Error()
	}
	for i, column := range old.comments {
		comment := strings.TrimSpace(cut(old.lines[i], column, -1))
		m := sampleLine.FindStringSubmatch(comment)
		isChanged := m != nil && slices.ContainsFunc(changes, func(c Change) bool {
			return c.Key == m[1] || strings.HasSuffix(c.Key, "."+m[1])
		})
		if !isChanged && strings.Count(after, comment) < strings.Count(before, comment) {
			return comment
		}
	}
	return ""
}
