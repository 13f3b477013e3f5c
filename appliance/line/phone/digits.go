package phone

import (
	"strings"
	"time"

	"parley/appliance/contract"
)

const (
	// digitPause is the silence after a key that ends what a caller enters: people who read a number from
	// a paper pause for a second.
	digitPause = 1500 * time.Millisecond
	// maxDigits bounds what a caller enters at once: an IBAN has 34 characters.
	maxDigits = 40
)

// digits gathers the keys that a caller presses. One goroutine uses it.
type digits struct {
	pressed []rune
	timer   *time.Timer
}

func newDigits() *digits {
	d := &digits{timer: time.NewTimer(time.Hour)}
	d.timer.Stop()
	return d
}

// press adds a key, and reports whether it completes the entry.
func (d *digits) press(key rune) (complete bool) {
	d.pressed = append(d.pressed, key)
	if key == '#' || len(d.pressed) >= maxDigits {
		d.timer.Stop()
		return true
	}
	d.timer.Reset(digitPause)
	return false
}

// take returns the entry as a message of the user, and begins the next one.
func (d *digits) take() contract.UserInput {
	pressed := string(d.pressed)
	d.pressed = nil
	return contract.UserInput{Text: inWords(pressed), Digits: pressed}
}

// inWords says which keys were pressed, for a language model. The # that ends an entry is not said.
func inWords(pressed string) string {
	if rest := strings.TrimSuffix(pressed, "#"); rest != "" {
		pressed = rest
	}
	var words []string
	for _, key := range pressed {
		switch key {
		case '*':
			words = append(words, "star")
		case '#':
			words = append(words, "pound")
		default:
			words = append(words, string(key))
		}
	}
	return "The caller pressed " + strings.Join(words, " ") + "."
}
