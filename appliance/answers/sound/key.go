package sound

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"parley/appliance/engine"
	"parley/appliance/text"
)

// key names the sound of a sentence: a hash of all that decides it. A change of any of that is another key,
// so that sound which is out of date is never found.
type key [16]byte

func (k key) String() string { return hex.EncodeToString(k[:]) }

// keyOf returns the key of a text that voice speaks with o, and false if its sound cannot be stored: the voice
// does not say what it is, or o asks for variation.
func keyOf(voice engine.Synthesizer, s string, o engine.SpeakOptions) (key, bool) {
	identity := engine.IdentityOf(voice)
	if identity == "" || o.Temperature != 0 || o.ModelSpeed != 0 || o.LongPieces {
		return key{}, false
	}
	if o.Speed == 0 {
		o.Speed = 1
	}
	encoded, err := json.Marshal(struct {
		Format         int
		Voice          string
		Text, Previous string
		Continues      bool
		Speed          float64
		Locale         string
		Lexicon        []text.Entry
	}{
		Format:    fileFormat,
		Voice:     identity,
		Text:      s,
		Previous:  o.Previous,
		Continues: o.Continues,
		Speed:     o.Speed,
		Locale:    o.Locale,
		Lexicon:   o.Lexicon.Entries(o.Previous, s),
	})
	if err != nil {
		return key{}, false
	}
	sum := sha256.Sum256(encoded)
	return key(sum[:len(key{})]), true
}
