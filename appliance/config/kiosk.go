package config

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kiosk is the conversation at the box's own loudspeaker and microphone.
type Kiosk struct {
	Enabled bool
	// Input and Output are the microphone and the loudspeaker: an id, a name or a
	// part of either; empty: the system's default.
	Input, Output string
	Account       string   // by name, whose conversations they are
	Config        string   // id or name of the config that is talked by; empty: the box's own assistant
	Start         string   // one of the KioskOn… words
	Phrases       []string // of KioskOnPhrase
	// Keyboard is an input device of the kernel's, /dev/input/…: any of its keys
	// begins a conversation, or ends it.
	Keyboard string
	GPIO     GPIO
	SilenceS int    // seconds after which a conversation ends
	Cue      string // one of CueTones, CueWords and Off
	// Greeting and Farewell are what the assistant says of CueWords; empty: words of
	// its own.
	Greeting, Farewell string
}

// What begins a conversation at the kiosk.
const (
	KioskOnSpeech = "speech"
	KioskOnPhrase = "phrase"
	KioskOnKey    = "key"
	KioskOnButton = "button"
)

// How a person is told that a conversation begins and ends.
const (
	CueTones = "tones"
	CueWords = "words"
)

// GPIO is a line of a chip to which a button is wired; the zero value is none.
type GPIO struct {
	Chip string // a device of the kernel's, /dev/gpiochip0
	Line int    // its offset
	High bool   // the button lifts the line, else it pulls it down
}

// setDevices reads MICROPHONE|LOUDSPEAKER, or one name of both. An empty side stays as it is.
func setDevices(c *Config, g assignment) (err error) {
	input, output, two := strings.Cut(g.value, "|")
	if !two {
		output = input
	}
	if input != "" {
		c.Kiosk.Input, err = parseLine(input)
	}
	if output != "" && err == nil {
		c.Kiosk.Output, err = parseLine(output)
	}
	return err
}

// setButton reads what is pressed: a keyboard, a button at a GPIO line, or both.
func setButton(c *Config, g assignment) (err error) {
	for text := range splitList(g.value) {
		if g.value = text; strings.HasPrefix(text, "/dev/input") {
			c.Kiosk.Keyboard, err = inputDevice(text)
		} else {
			err = setGPIO(c, g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxPhraseLetters and minPhraseLetters bound the letters and digits of a phrase: who
// says a longer one is read at most as long as the ear looks back, and a shorter
// one is in what anybody says. Of maxPhrases, one for each language of a place with
// many guests, each is compared with all that is heard.
const minPhraseLetters, maxPhraseLetters, maxPhrases = 5, 60, 16

func setPhrases(c *Config, g assignment) error {
	var all []string
	for phrase := range strings.SplitSeq(g.value, ";") {
		phrase = strings.TrimSpace(phrase)
		if !isPhrase(phrase) {
			return fmt.Errorf("%.80q is not allowed: use %d to %d letters and digits that nobody says by chance, "+
				"such as Hey Parley, and ; between several", phrase, minPhraseLetters, maxPhraseLetters)
		}
		all = append(all, phrase)
	}
	if len(all) > maxPhrases {
		return fmt.Errorf("these are %d phrases; allowed are %d", len(all), maxPhrases)
	}
	c.Kiosk.Phrases = all
	return nil
}

// isPhrase reports whether a phrase is long enough to be known, and short enough. A
// character of some scripts is a syllable or a word.
func isPhrase(phrase string) bool {
	n := 0
	for _, r := range phrase {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			n += minPhraseLetters/2 + 1
		} else if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n >= minPhraseLetters && utf8.RuneCountInString(phrase) <= maxPhraseLetters
}

var gpioLine = regexp.MustCompile(`^(?:/dev/)?(gpiochip[0-9]{1,3}):([0-9]{1,4})(:high|:low)?$`)

func setGPIO(c *Config, g assignment) error {
	m := gpioLine.FindStringSubmatch(g.value)
	if m == nil {
		return fmt.Errorf("%.80q is not a line: use CHIP:LINE, such as gpiochip0:17, with :high behind it where the "+
			"button lifts the line (gpioinfo lists them), or a device under /dev/input", g.value)
	}
	line, err := strconv.Atoi(m[2])
	if err != nil {
		return err
	}
	c.Kiosk.GPIO = GPIO{Chip: "/dev/" + m[1], Line: line, High: m[3] == ":high"}
	return nil
}

// inputDevice reads a device of the kernel's with keys.
var inputDevice = matching(`^/dev/input/`, "is not an input device: use one of those in /dev/input/by-id that end in "+
	"-event-kbd")

// maxLineChars is how many characters the assistant says at the beginning or the
// end: longer ones keep people waiting.
const maxLineChars = 300

// lineKind is the kind of what people say, or call something: one line.
func lineKind(at func(*Config) *string) kind {
	return textKind(fmt.Sprintf("1 to %d characters", maxLineChars), at, parseLine)
}

func parseLine(text string) (string, error) {
	line := strings.TrimSpace(text)
	if line == "" || utf8.RuneCountInString(line) > maxLineChars || strings.ContainsFunc(line, unicode.IsControl) {
		return "", fmt.Errorf("%.80q is not allowed: use a line of 1 to %d characters, or leave it out", text,
			maxLineChars)
	}
	return line, nil
}

// check looks at the settings together.
func (k Kiosk) check() error {
	switch {
	case !k.Enabled:
		return nil
	case k.Start == KioskOnPhrase && len(k.Phrases) == 0:
		return errors.New("kiosk.start: it is phrase, but kiosk.phrase says none: set it, such as Hey Parley")
	case k.Start == KioskOnButton && k.GPIO == (GPIO{}):
		return errors.New("kiosk.start: it is button, but kiosk.button names no line: set it, such as gpiochip0:17")
	}
	return nil
}
