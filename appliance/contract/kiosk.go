package contract

// MaxCodeChars of a code that pairs a screen, with what people type between.
const MaxCodeChars = 20

// PostedPairing is the body that pairs a screen.
type PostedPairing struct {
	Code string `json:"code"` // that the box shows; case and what stands between do not matter
}

// ParsePostedPairing reads the code of a screen that is to be paired.
func ParsePostedPairing(data []byte) (PostedPairing, error) {
	return parseBody(data, readPostedPairing)
}

func readPostedPairing(o object) PostedPairing {
	o.require("code")
	return PostedPairing{Code: o.text("code", MaxCodeChars)}
}

// PairedKiosk is a screen that was paired: the key is told once.
type PairedKiosk struct {
	APIKey string `json:"api_key"` // opens conversations with the screen's config, and nothing else
	KeyID  string `json:"key_id"`  // by which it is revoked
	Name   string `json:"name"`    // of the screen
}
