package manifest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

var integerPattern = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,17})$`)

// Check returns an error if value is not valid for the setting.
func (s Setting) Check(value string) error {
	const most = 16 << 10
	switch {
	case len(value) > most:
		return fmt.Errorf("%s: too long (%d bytes): at most %d are allowed", s.Name, len(value), most)
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return fmt.Errorf("%s: invalid text: it has a zero byte, or is not UTF-8", s.Name)
	}
	return s.Type.check(s.Name, value)
}

// check returns an error if value is not of the type.
func (t Type) check(name, value string) error {
	switch t {
	case Integer:
		if !integerPattern.MatchString(value) {
			return fmt.Errorf("%s: not a whole number (%.80q): write one like 12", name, value)
		}
	case Number:
		var n float64
		if json.Unmarshal([]byte(value), &n) != nil {
			return fmt.Errorf("%s: not a number (%.80q): write one like 1.5", name, value)
		}
	case Boolean:
		if value != "true" && value != "false" {
			return fmt.Errorf("%s: not a boolean (%.80q): write true or false", name, value)
		}
	}
	return nil
}
