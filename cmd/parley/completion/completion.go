// Package completion completes command lines: it looks at the words up to the
// cursor and says which ones may stand there. The shells ask it through the
// scripts that lie beside it.
package completion

import (
	"strings"

	"github.com/alecthomas/kong"
)

// A Candidate is a word that may stand at the cursor, and what it means.
type Candidate struct{ Word, About string }

// Files says which names of files may stand at the cursor, too.
type Files int

// The names that a shell adds itself.
const (
	None Files = iota
	AnyFile
	Folders
)

// Answer is what may stand at the cursor.
type Answer struct {
	Candidates []Candidate
	Files      Files
}

// Values tells what the value of a flag or argument may be. given holds the
// values of the flags before the cursor by their names.
type Values func(v *kong.Value, command *kong.Node, given map[string]string) Answer

// At completes the last of words, which is empty where a new one begins. The
// words are those behind the program's name.
func At(app *kong.Application, values Values, words ...string) Answer {
	l := line{node: app.Node, given: map[string]string{}, values: values}
	if len(words) == 0 {
		words = []string{""}
	}
	for _, word := range words[:len(words)-1] {
		l.read(word)
	}
	return l.complete(words[len(words)-1])
}

// line is a command line as far as it was read.
type line struct {
	node      *kong.Node
	waiting   *kong.Flag // a flag whose value is the next word
	arguments int        // how many of them were read
	ended     bool       // by --, behind which there are no flags
	given     map[string]string
	values    Values
}

func (l *line) read(word string) {
	switch {
	case l.waiting != nil:
		l.given[l.waiting.Name], l.waiting = word, nil
	case word == "--" && !l.ended:
		l.ended = true
	case strings.HasPrefix(word, "-") && word != "-" && !l.ended:
		name, value, joined := strings.Cut(word, "=")
		f := l.flag(name)
		if f == nil {
			return
		}
		l.given[f.Name] = value
		if !joined && !f.IsBool() {
			l.waiting = f
		}
	default:
		for _, sub := range l.node.Children {
			if sub.Name == word && !l.ended {
				l.node = sub
				return
			}
		}
		l.arguments++
	}
}

// flags are those that the command may have, its own first.
func (l *line) flags() []*kong.Flag {
	var all []*kong.Flag
	for n := l.node; n != nil; n = n.Parent {
		all = append(all, n.Flags...)
	}
	return all
}

// flag is the one that is written so: --data, or -o.
func (l *line) flag(written string) *kong.Flag {
	for _, f := range l.flags() {
		if written == "--"+f.Name || f.Short != 0 && written == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

func (l *line) complete(word string) Answer {
	if l.waiting != nil {
		return l.value(l.waiting.Value, word, "")
	}
	if !l.ended && strings.HasPrefix(word, "-") {
		if name, value, joined := strings.Cut(word, "="); joined {
			if f := l.flag(name); f != nil {
				return l.value(f.Value, value, name+"=")
			}
			return Answer{}
		}
		return l.flagNames(word)
	}
	if len(l.node.Children) > 0 {
		return l.commands(word)
	}
	arguments := l.node.Positional
	if len(arguments) == 0 {
		return Answer{}
	}
	i := min(l.arguments, len(arguments)-1)
	if i < l.arguments && !arguments[i].IsCumulative() {
		return Answer{}
	}
	return l.value(arguments[i], word, "")
}

func (l *line) commands(word string) (a Answer) {
	for _, sub := range l.node.Children {
		if !sub.Hidden && strings.HasPrefix(sub.Name, word) {
			a.Candidates = append(a.Candidates, Candidate{sub.Name, sub.Help})
		}
	}
	return a
}

func (l *line) flagNames(word string) (a Answer) {
	for _, f := range l.flags() {
		_, given := l.given[f.Name]
		if name := "--" + f.Name; !f.Hidden && !given && strings.HasPrefix(name, word) {
			a.Candidates = append(a.Candidates, Candidate{name, f.Help})
		}
	}
	return a
}

// value completes the value of a flag or argument, with before in front of it.
func (l *line) value(v *kong.Value, word, before string) Answer {
	found := l.values(v, l.node, l.given)
	a := Answer{Files: found.Files}
	for _, c := range found.Candidates {
		if strings.HasPrefix(c.Word, word) {
			a.Candidates = append(a.Candidates, Candidate{before + c.Word, c.About})
		}
	}
	return a
}

// String is the answer as the scripts read it: a line for each candidate, its
// meaning behind a tab, and :files or :folders last.
func (a Answer) String() string {
	var b strings.Builder
	for _, c := range a.Candidates {
		b.WriteString(c.Word)
		if c.About != "" {
			b.WriteString("\t" + strings.Join(strings.Fields(c.About), " "))
		}
		b.WriteString("\n")
	}
	switch a.Files {
	case AnyFile:
		b.WriteString(":files\n")
	case Folders:
		b.WriteString(":folders\n")
	}
	return b.String()
}
