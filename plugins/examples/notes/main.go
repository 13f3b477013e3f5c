// Command notes is a tool for Parley boxes: it stores notes and reminders for each caller.
package main

import (
	"fmt"
	"strings"

	"example.com/notes/parley"
)

func main() {
	parley.Serve(parley.Tools{
		"add_note":    parley.Take(add),
		"list_notes":  parley.Take(list),
		"remove_note": parley.Take(remove),
	})
}

const (
	mostNotes = 100 // of a caller; four megabytes hold the notes of a hundred callers
	mostText  = 400 // bytes of a note
	mostTold  = 5   // at once, since nobody remembers more by ear
)

func add(p struct{ Text, When string }) (string, error) {
	text := strings.Join(strings.Fields(p.Text), " ")
	switch {
	case text == "":
		return "There is nothing to write down: ask what the note should say.", nil
	case len(text) > mostText:
		return "That is too long for a note: ask for a shorter one.", nil
	}
	n := note{Text: text}
	now := parley.Now()
	if strings.TrimSpace(p.When) != "" {
		due, ok := moment(p.When, now)
		if !ok {
			return fmt.Sprintf("%q is no time that I understand: ask for one such as tomorrow at 9 am.", p.When), nil
		}
		n.Due = due
	}
	notes, err := load()
	if err != nil {
		return "", err
	}
	if len(notes) >= mostNotes {
		return fmt.Sprintf("The list is full: it has %d notes. Some have to be crossed out first.", mostNotes), nil
	}
	if err := save(append(notes, n)); err != nil {
		return "", err
	}
	if n.Due.IsZero() {
		return "Written down: " + text + ".", nil
	}
	return "Written down for " + spoken(n.Due, now) + ": " + text + ".", nil
}

func list(p struct{ About string }) (string, error) {
	notes, err := load()
	if err != nil {
		return "", err
	}
	now := parley.Now()
	found := matching(notes, p.About)
	switch {
	case len(notes) == 0:
		return "There are no notes.", nil
	case len(found) == 0:
		return fmt.Sprintf("None of the %s has %q.", count(len(notes)), p.About), nil
	}
	sortByDue(found)
	text := "There is one note: "
	if len(found) > 1 {
		text = fmt.Sprintf("There are %s: ", count(len(found)))
	}
	var told []string
	for _, n := range found[:min(len(found), mostTold)] {
		told = append(told, n.tell(now))
	}
	text += strings.Join(told, "; ") + "."
	if more := len(found) - len(told); more > 0 {
		text += fmt.Sprintf(" And %d more.", more)
	}
	return text, nil
}

func remove(p struct{ Text string }) (string, error) {
	notes, err := load()
	if err != nil {
		return "", err
	}
	about := p.Text
	all := strings.EqualFold(strings.TrimSpace(about), "all")
	if all {
		about = ""
	} else if strings.TrimSpace(about) == "" {
		return "Ask which note is meant.", nil
	}
	found := matching(notes, about)
	switch {
	case len(found) == 0:
		return "There is no such note.", nil
	case len(found) > 1 && !all:
		var texts []string
		for _, n := range found[:min(len(found), mostTold)] {
			texts = append(texts, n.Text)
		}
		return "Several notes are like that, ask which one is meant: " + strings.Join(texts, "; ") + ".", nil
	}
	if err := save(without(notes, found)); err != nil {
		return "", err
	}
	if all {
		return "All notes are crossed out.", nil
	}
	return "Crossed out: " + found[0].Text + ".", nil
}

func count(n int) string {
	if n == 1 {
		return "one note"
	}
	return fmt.Sprintf("%d notes", n)
}
