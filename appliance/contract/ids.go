package contract

import "github.com/google/uuid"

// NewID returns a new UUID of version 7: its time comes first, so that rows
// made after one another lie side by side in an index.
func NewID() string {
	return uuid.Must(uuid.NewV7()).String() // fails only without a random source, as nothing would work
}

// DerivedID returns the UUID of what goes on where the thing of that id was
// broken off: always the same one, which lies beside the id in an index.
func DerivedID(id string) string {
	from, err := uuid.Parse(id)
	derived := uuid.NewSHA1(uuid.NameSpaceOID, []byte(id))
	if err == nil {
		copy(derived[:6], from[:6])         // the time of a version 7
		derived[6] = derived[6]&0x0f | 8<<4 // version 8: of one's own making (RFC 9562)
	}
	return derived.String()
}

// ValidID says whether s is a UUID as the wire writes it: 36 characters.
func ValidID(s string) bool {
	return len(s) == 36 && uuid.Validate(s) == nil
}
