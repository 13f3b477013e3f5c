package main

import (
	"fmt"
	"strings"
	"time"
)

// span is a time of a day in which a place is open, in minutes after midnight.
type span struct{ from, to int }

var weekdayNames = map[string]time.Weekday{"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}

// weekdays parses days such as "tue", "tue-fri", "sat-mon" and "mon, wed".
func weekdays(text string) ([]time.Weekday, error) {
	var days []time.Weekday
	for _, part := range strings.Split(text, ",") {
		first, last, ranged := strings.Cut(strings.TrimSpace(part), "-")
		if !ranged {
			last = first
		}
		from, ok := weekdayNames[strings.TrimSpace(first)]
		to, okToo := weekdayNames[strings.TrimSpace(last)]
		if !ok || !okToo {
			return nil, fmt.Errorf("hours: not days (%q): write mon, tue-fri or sat, sun", text)
		}
		for d := from; ; d = (d + 1) % 7 {
			days = append(days, d)
			if d == to {
				break
			}
		}
	}
	return days, nil
}

// spans parses hours such as "10:00-18:00", "9-12, 14-18:30" and "closed".
func spans(text string) ([]span, error) {
	open := []span{}
	if text == "closed" {
		return open, nil
	}
	for _, part := range strings.Split(text, ",") {
		first, last, _ := strings.Cut(part, "-")
		s := span{minutes(first), minutes(last)}
		if s.from < 0 || s.to <= s.from || s.to > 24*60 {
			return nil, fmt.Errorf("not hours (%q): write 10:00-18:00, or several with a comma, or closed", text)
		}
		open = append(open, s)
	}
	return open, nil
}

// minutes parses a time such as 9 or 18:30; it is negative if text is not a time.
func minutes(text string) int {
	var h, m int
	text = strings.TrimSpace(text)
	if !strings.Contains(text, ":") {
		text += ":00"
	}
	if n, err := fmt.Sscanf(text, "%2d:%2d", &h, &m); n != 2 || err != nil || h < 0 || h > 24 || m < 0 || m > 59 {
		return -1
	}
	return h*60 + m
}

// spoken formats a time as people say it.
func spoken(minute int, clock24 bool) string {
	h, m := minute/60, minute%60
	switch {
	case clock24:
		return fmt.Sprintf("%d:%02d", h, m)
	case minute == 12*60:
		return "noon"
	case minute == 24*60:
		return "midnight"
	}
	half := "am"
	if h >= 12 {
		half = "pm"
	}
	if h = h % 12; h == 0 {
		h = 12
	}
	if m == 0 {
		return fmt.Sprintf("%d %s", h, half)
	}
	return fmt.Sprintf("%d:%02d %s", h, m, half)
}

// tell says in a sentence or two when the place is open on a day.
func (p place) tell(day, now time.Time, clock24 bool) string {
	today := day.Format(time.DateOnly) == now.Format(time.DateOnly)
	when := "on " + day.Format("Monday, January 2")
	if today {
		when = "today"
	}
	if why, closed := p.Closed[day.Format(time.DateOnly)]; closed {
		return fmt.Sprintf("The %s is closed %s: %s.", p.Name, when, why)
	}
	open := p.week[day.Weekday()]
	if len(open) == 0 {
		return fmt.Sprintf("The %s is closed %s.", p.Name, when)
	}
	var times []string
	for _, s := range open {
		times = append(times, fmt.Sprintf("from %s to %s", spoken(s.from, clock24), spoken(s.to, clock24)))
	}
	text := fmt.Sprintf("The %s is open %s %s.", p.Name, when, strings.Join(times, " and "))
	if today {
		text += " " + state(open, now.Hour()*60+now.Minute(), clock24)
	}
	return text
}

// state says whether the place is open at a minute of the day.
func state(open []span, minute int, clock24 bool) string {
	for _, s := range open {
		if minute < s.from {
			return "It is closed now and opens at " + spoken(s.from, clock24) + "."
		}
		if minute < s.to {
			return "It is open now."
		}
	}
	return "It is closed now."
}
