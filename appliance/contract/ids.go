package contract

import "github.com/google/uuid"

// NewID returns a new UUID of version 7. Its time comes first, so rows created
// after one another are neighbours in an index.
func NewID() string {
	return uuid.Must(uuid.NewV7()).String() // fails only without a random source, as nothing would work
}

// DerivedID returns the UUID of the continuation of the thing with an id. It is
// always the same, and next to the id in an index.
func DerivedID(id string) string {
	from, err := uuid.Parse(id)
	derived := uuid.NewSHA1(uuid.NameSpaceOID, []byte(id))
	if err == nil {
		copy(derived[:6], from[:6])         // the time of a version 7
		derived[6] = derived[6]&0x0f | 8<<4 // version 8: custom (RFC 9562)
	}
	return derived.String()
}

// ValidID reports whether s is a UUID of 36 characters.
func ValidID(s string) bool {
	return len(s) == 36 && uuid.Validate(s) == nil
}
