package main

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	inPattern    = regexp.MustCompile(`^in (\d{1,4}|an?|one|two|three) (minute|hour|day|week)s?$`)
	clockPattern = regexp.MustCompile(`(?:^| )(?:at )?(\d{1,2})(?::(\d{2}))? ?(am|pm|a\.m\.?|p\.m\.?|o'clock)?$`)
	numbers      = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}
	units        = map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour,
		"week": 7 * 24 * time.Hour}
)

// morning is the hour of a day without a time.
const morning = 9

// moment parses a time as people say it, such as "tomorrow at 9 am", "in 2 hours", "friday"
// and "2026-03-02 18:30".
func moment(text string, now time.Time) (time.Time, bool) {
	text = strings.ToLower(strings.Join(strings.Fields(strings.Trim(text, " .!")), " "))
	if m := inPattern.FindStringSubmatch(text); m != nil {
		n, ok := numbers[m[1]]
		if !ok {
			n, _ = strconv.Atoi(m[1])
		}
		return now.Add(time.Duration(n) * units[m[2]]).Truncate(time.Minute), true
	}
	for _, layout := range []string{"2006-01-02t15:04", "2006-01-02t15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			if len(layout) == len("2006-01-02") {
				t = t.Add(morning * time.Hour)
			}
			return t, true
		}
	}
	hour, minute, said := morning, 0, false
	if m := clockPattern.FindStringSubmatch(text); m != nil {
		hour, _ = strconv.Atoi(m[1])
		minute, _ = strconv.Atoi(m[2])
		if strings.HasPrefix(m[3], "p") && hour < 12 {
			hour += 12
		} else if strings.HasPrefix(m[3], "a") && hour == 12 {
			hour = 0
		}
		if hour > 23 || minute > 59 {
			return time.Time{}, false
		}
		said = true
		text = strings.TrimSpace(strings.TrimSuffix(text, m[0]))
	}
	ahead, ok := days(text, now)
	if !ok || text == "" && !said {
		return time.Time{}, false
	}
	t := time.Date(now.Year(), now.Month(), now.Day()+ahead, hour, minute, 0, 0, now.Location())
	if text == "" && !t.After(now) { // "at 8", said at 9, means tomorrow
		t = t.AddDate(0, 0, 1)
	}
	return t, true
}

// days returns how many days from now a day is.
func days(name string, now time.Time) (int, bool) {
	name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "on "), "next "), ",")
	switch name {
	case "", "today", "tonight", "this evening":
		return 0, true
	case "tomorrow", "tomorrow morning":
		return 1, true
	}
	for ahead := 1; ahead <= 7; ahead++ {
		if strings.ToLower(now.AddDate(0, 0, ahead).Weekday().String()) == name {
			return ahead, true
		}
	}
	return 0, false
}

// spoken formats a time as people say it at now.
func spoken(t, now time.Time) string {
	t = t.In(now.Location())
	clock := t.Format("3:04 pm")
	if t.Minute() == 0 {
		clock = t.Format("3 pm")
	}
	midnight := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	switch ahead := int(midnight(t).Sub(midnight(now)) / (24 * time.Hour)); {
	case ahead == -1:
		return "yesterday at " + clock
	case ahead == 0:
		return "today at " + clock
	case ahead == 1:
		return "tomorrow at " + clock
	case ahead > 1 && ahead < 7:
		return t.Format("Monday") + " at " + clock
	}
	return t.Format("Monday, January 2") + " at " + clock
}
