package llama

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/appliance/engine"
)

// Small models calculate dates badly: the date of Friday follows from today's. So the days that the
// conversation names are calculated here, for English.

// today returns the date that the prompt states, else the date of now.
func today(messages []engine.Message, now time.Time) time.Time {
	for _, m := range messages {
		if match := todayPattern.FindStringSubmatch(m.Content); m.Role == engine.System && match != nil {
			date := strings.ReplaceAll(match[1], ",", "")
			for _, layout := range []string{time.DateOnly, "2 January 2006", "2 Jan 2006", "January 2 2006",
				"Jan 2 2006"} {
				if d, err := time.Parse(layout, date); err == nil {
					return d
				}
			}
		}
	}
	return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
}

// todayPattern matches how prompts state the date: "Today is Wednesday, 4 March 2026."
var todayPattern = regexp.MustCompile(`(?i)\b(?:today|date|now)\b[^\n]{0,40}?` +
	`\b([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2} [a-z]{3,9},? [0-9]{4}|[a-z]{3,9} [0-9]{1,2},? [0-9]{4})(?:T|\b)`)

// newestDays returns the days named in the newest of the texts that names any.
func newestDays(texts []string, today time.Time) []time.Time {
	for _, text := range slices.Backward(texts) {
		if days := daysOf(wordsOf(text), today); len(days) > 0 {
			return days
		}
	}
	return nil
}

// daysOf returns the days that words name, in order: "tomorrow", "on Friday", "March the tenth". A
// weekday, and a date without a year, is the next one.
func daysOf(words []string, today time.Time) (out []time.Time) {
	for i, w := range words {
		before := strings.Join(words[max(i-3, 0):i], " ")
		switch {
		case w == "today", w == "tonight":
			out = append(out, today)
		case w == "tomorrow" && strings.HasSuffix(before, "day after"):
			out = append(out, today.AddDate(0, 0, 2))
		case w == "tomorrow":
			out = append(out, today.AddDate(0, 0, 1))
		case w == "yesterday":
			out = append(out, today.AddDate(0, 0, -1))
		case weekdays[w] && !strings.HasSuffix(before, "last"):
			for d := today.AddDate(0, 0, 1); ; d = d.AddDate(0, 0, 1) {
				if strings.EqualFold(d.Weekday().String(), w) {
					out = append(out, d)
					break
				}
			}
		}
		if d, ok := dateAt(words, i, today); ok {
			out = append(out, d)
		}
	}
	return out
}

// dateAt returns the date whose month is words[at]; the day of the month follows or precedes it.
func dateAt(words []string, at int, today time.Time) (time.Time, bool) {
	month := slices.IndexFunc(months, func(m string) bool {
		return m == words[at] || len(words[at]) == 3 && strings.HasPrefix(m, words[at])
	})
	if month < 0 {
		return time.Time{}, false
	}
	if n := dayNumber(words[at+1:]); n > 0 {
		return nextDate(today, month, n), true
	}
	before := words[:at]
	if at > 0 && before[at-1] == "of" {
		before = before[:at-1]
	}
	for from := max(len(before)-2, 0); from < len(before); from++ {
		if n := dayNumber(before[from:]); n > 0 && dayNumber(before[len(before)-1:]) > 0 {
			return nextDate(today, month, n), true
		}
	}
	return time.Time{}, false
}

var months = strings.Fields("january february march april may june july august september october november december")

// dayNumber returns the day of the month at the beginning of words, or 0.
func dayNumber(words []string) int {
	if len(words) > 0 && words[0] == "the" {
		words = words[1:]
	}
	n := 0
	for _, w := range words[:min(len(words), 2)] {
		d, err := strconv.Atoi(w)
		if err == nil && n == 0 && d <= 31 {
			return d
		}
		if m, ok := numerals[w]; ok && (n == 0 || n >= 20 && m < 10) {
			n += m
			continue
		}
		break
	}
	if n > 31 {
		return 0
	}
	return n
}

// nextDate returns the next date with this month and day.
func nextDate(today time.Time, month, day int) time.Time {
	d := time.Date(today.Year(), time.Month(month+1), day, 0, 0, 0, 0, time.UTC)
	if d.Before(today) {
		d = d.AddDate(1, 0, 0)
	}
	return d
}

// correctDate replaces a date that the conversation does not name with the first date that it
// names. A date with a year that the user said is kept.
func (s source) correctDate(raw json.RawMessage) json.RawMessage {
	var text string
	if len(s.days) == 0 || json.Unmarshal(raw, &text) != nil {
		return raw
	}
	d, err := time.Parse(time.DateOnly, day.FindString(text))
	if err != nil || s.years[strconv.Itoa(d.Year())] || slices.ContainsFunc(s.days, d.Equal) {
		return raw
	}
	out, _ := json.Marshal(s.days[0].Format(time.DateOnly) + text[len(time.DateOnly):])
	return out
}
