package schema

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The grammar of a day has those of the calendar, and no others.
func TestADayIsOneOfTheCalendar(t *testing.T) {
	rule := regexp.MustCompile("^(?:" + strings.NewReplacer(`"`, "", " ", "").Replace(basics["day"]) + ")$")
	for _, year := range []int{1900, 2000, 2023, 2024, 2100, 2400, 4096, 5502, 9996} {
		for month := range 14 {
			for day := range 33 {
				s := fmt.Sprintf("%04d-%02d-%02d", year, month, day)
				_, err := time.Parse(time.DateOnly, s)
				if rule.MatchString(s) != (err == nil) {
					t.Errorf("%s: of the grammar %v, of the calendar %v", s, rule.MatchString(s), err == nil)
				}
			}
		}
	}
}
