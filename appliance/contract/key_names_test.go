package contract

import (
	"errors"
	"strings"
	"testing"
)

func TestUnprintableNamesAreRejected(t *testing.T) {
	for _, c := range []struct {
		check       func(string) error
		name, field string
	}{
		{CheckAccountName, "", "account"},
		{CheckAccountName, strings.Repeat("é", MaxKeyNameChars+1), "account"},
		{CheckAccountName, "a\x00b", "account"},
		{CheckKeyLabel, "line\nbreak", "label"},
		{CheckKeyLabel, "\xff", "label"},
	} {
		if invalid, ok := errors.AsType[ErrInvalid](c.check(c.name)); !ok || invalid.Field != c.field {
			t.Errorf("%q: error is %v, want one about %s", c.name, c.check(c.name), c.field)
		}
	}
	if err := errors.Join(CheckAccountName(strings.Repeat("é", MaxKeyNameChars)), CheckKeyLabel("Küche, 1. Stock"),
		CheckKeyLabel("")); err != nil {
		t.Error(err)
	}
}
