// Command opening-hours is a tool for Parley boxes: it knows when the places of a building
// are open and where they are, from a folder with a YAML file for each place.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"example.com/opening-hours/parley"
)

const folder = "/building" // as in plugin.yaml

func main() {
	parley.Serve(parley.Tools{
		"opening_hours": parley.Take(openingHours),
		"find_place":    parley.Take(findPlace),
	})
}

type question struct {
	Place string `json:"place"`
	Day   string `json:"day"`
}

func openingHours(q question) (string, error) {
	places, err := load(os.DirFS(folder))
	if err != nil {
		return "", err
	}
	p, ok := find(places, q.Place)
	if !ok {
		return unknown(places, q.Place), nil
	}
	now := parley.Now()
	day, ok := dayOf(q.Day, now)
	if !ok {
		return fmt.Sprintf("%q is no day that I understand: ask for today, tomorrow, a day of the week, or a date.",
			q.Day), nil
	}
	return p.tell(day, now, parley.Setting("clock") == "24"), nil
}

func findPlace(q question) (string, error) {
	places, err := load(os.DirFS(folder))
	if err != nil {
		return "", err
	}
	p, ok := find(places, q.Place)
	if !ok {
		return unknown(places, q.Place), nil
	}
	text := fmt.Sprintf("The %s is on the %s", p.Name, p.Floor)
	if p.Way != "" {
		text += ": " + p.Way
	}
	return text + ".", nil
}

// unknown returns the answer for an unknown place. It lists the known ones, so that the
// assistant can ask back.
func unknown(places []place, asked string) string {
	var names []string
	for _, p := range places {
		names = append(names, "the "+p.Name)
	}
	return fmt.Sprintf("There is no %q here. There are %s.", asked, strings.Join(names, ", "))
}

// dayOf returns the day with a name, when today is now.
func dayOf(name string, now time.Time) (time.Time, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "", "today", "now", "tonight":
		return now, true
	case "tomorrow":
		return now.AddDate(0, 0, 1), true
	}
	for ahead := range 7 {
		day := now.AddDate(0, 0, ahead)
		if full := strings.ToLower(day.Weekday().String()); len(name) >= 3 && strings.HasPrefix(full, name) {
			return day, true
		}
	}
	day, err := time.ParseInLocation(time.DateOnly, name, now.Location())
	return day, err == nil
}
