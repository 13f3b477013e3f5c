package fleet

import (
	"fmt"
	"regexp"
)

// A name is part of subjects, files and permissions.
var name = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$`)

// CheckName returns an error unless the name of a box or a group is allowed.
func CheckName(text string) error {
	if !name.MatchString(text) {
		return fmt.Errorf("%.60q is not allowed: use 1 to 40 small letters, digits and hyphens, such as museum-3", text)
	}
	return nil
}
