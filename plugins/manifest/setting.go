package manifest

import (
	"encoding/json"
	"fmt"
	"regexp"
)

var integerPattern = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,17})$`)

// check says what is wrong with a value of the type.
func (t Type) check(name, value string) error {
	switch t {
	case Integer:
		if !integerPattern.MatchString(value) {
			return fmt.Errorf("%s: %.80q is no whole number, like 12", name, value)
		}
	case Number:
		var n float64
		if json.Unmarshal([]byte(value), &n) != nil {
			return fmt.Errorf("%s: %.80q is no number, like 1.5", name, value)
		}
	case Boolean:
		if value != "true" && value != "false" {
			return fmt.Errorf("%s: %.80q is neither true nor false", name, value)
		}
	}
	return nil
}
