package contract

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// MaxKeyNameChars bounds the name of an account and the label of a key: enough to
// tell them apart in a table.
const MaxKeyNameChars = 64

// CheckAccountName returns an ErrInvalid about the field account unless name is a
// valid name of an account.
func CheckAccountName(name string) error {
	if name == "" {
		return ErrInvalid{Field: "account",
			Why: fmt.Sprintf("an account needs a name of 1 to %d characters", MaxKeyNameChars)}
	}
	return checkKeyName("account", name)
}

// CheckKeyLabel returns an ErrInvalid about the field label unless it is a valid
// label of a key. It may be empty.
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

// unprintable names the first character that cannot be printed; empty if there is
// none.
func unprintable(name string) string {
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Sprintf("%.80q has the character %U, which cannot be printed", name, r)
		}
	}
	return ""
}
