package contract

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// MaxKeyNameChars is how long the name of an account and the label of a key may
// be: enough for a person to tell them apart in a table.
const MaxKeyNameChars = 64

// CheckAccountName returns an ErrInvalid about the field account for a name that
// no account may have.
func CheckAccountName(name string) error {
	if name == "" {
		return ErrInvalid{Field: "account",
			Why: fmt.Sprintf("an account needs a name of 1 to %d characters", MaxKeyNameChars)}
	}
	return checkKeyName("account", name)
}

// CheckKeyLabel returns an ErrInvalid about the field label for one that no key
// may have. It may be empty.
func CheckKeyLabel(label string) error { return checkKeyName("label", label) }

func checkKeyName(field, name string) error {
	if !utf8.ValidString(name) {
		return ErrInvalid{Field: field, Why: "it is not UTF-8 text"}
	}
	if n := utf8.RuneCountInString(name); n > MaxKeyNameChars {
		return ErrInvalid{Field: field, Why: fmt.Sprintf("it has %d characters; %d are allowed", n, MaxKeyNameChars)}
	}
	if why := unprintable(name); why != "" {
		return ErrInvalid{Field: field, Why: why}
	}
	return nil
}

// unprintable says which character of a name cannot be printed; empty where all
// can.
func unprintable(name string) string {
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Sprintf("%.80q has the character %U, which cannot be printed", name, r)
		}
	}
	return ""
}
