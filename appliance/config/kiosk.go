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

// Kiosk configures chats at the box's own loudspeaker and microphone.
type Kiosk struct {
	Enabled bool
	// Input and Output are the microphone and the loudspeaker: an id, a name, or a part of
	// either; empty for the system's default.
	Input, Output string
	Account       string   // name of the account that owns the chats
	Config        string   // id or name of the config; empty for the box's default assistant
	Start         string   // one of the KioskOn… constants
	Phrases       []string // for KioskOnPhrase
	// Keyboard is an input device, /dev/input/…; each of its keys starts or ends a chat.
	Keyboard string
	GPIO     GPIO
	SilenceS int    // seconds without speech after which a chat ends
	Cue      string // one of CueTones, CueWords and Off
	// Greeting and Farewell are spoken with CueWords; empty for the default words.
	Greeting, Farewell string
}

// What starts a chat at the kiosk.
const (
	KioskOnSpeech = "speech"
	KioskOnPhrase = "phrase"
	KioskOnKey    = "key"
	KioskOnButton = "button"
)

// How a person hears that a chat starts and ends.
const (
	CueTones = "tones"
	CueWords = "words"
)

// GPIO is a line of a GPIO chip to which a button is wired; the zero value is none.
type GPIO struct {
	Chip string // a device such as /dev/gpiochip0
	Line int    // the offset of the line
	High bool   // the pressed button pulls the line up; otherwise it pulls the line down
}

// setDevices parses MICROPHONE|LOUDSPEAKER, or one name for both. An empty side is not
// changed.
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

// setButton parses what is pressed: a keyboard, a button at a GPIO line, or both.
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

// minPhraseLetters and maxPhraseLetters limit the letters and digits of a phrase: a shorter
// one occurs in everyday speech, and the ear does not look back far enough for a longer
// one. maxPhrases is enough for one phrase in each language of a place with many guests;
// each phrase is compared with all that is heard.
const minPhraseLetters, maxPhraseLetters, maxPhrases = 5, 60, 16

func setPhrases(c *Config, g assignment) error {
	var all []string
	for phrase := range strings.SplitSeq(g.value, ";") {
		phrase = strings.TrimSpace(phrase)
		if !isPhrase(phrase) {
			return fmt.Errorf("%.80q is not allowed: use %d to %d letters and digits that nobody says by chance, "+
				"such as Hey Parley, and ; between several phrases", phrase, minPhraseLetters, maxPhraseLetters)
		}
		all = append(all, phrase)
	}
	if len(all) > maxPhrases {
		return fmt.Errorf("there are %d phrases: use at most %d", len(all), maxPhrases)
	}
	c.Kiosk.Phrases = all
	return nil
}

// isPhrase reports whether a phrase has an allowed length. A character of some scripts is a
// syllable or a word, and counts more.
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
		return fmt.Errorf("%.80q is not a line: use CHIP:LINE, such as gpiochip0:17, followed by :high if the "+
			"button pulls the line up (gpioinfo lists them), or a device under /dev/input", g.value)
	}
	line, err := strconv.Atoi(m[2])
	if err != nil {
		return err
	}
	c.Kiosk.GPIO = GPIO{Chip: "/dev/" + m[1], Line: line, High: m[3] == ":high"}
	return nil
}

// inputDevice parses the path of a device with keys.
var inputDevice = matching(`^/dev/input/`, "is not an input device: use one from /dev/input/by-id whose name ends "+
	"in -event-kbd")

// maxLineChars limits what the assistant says at the start or the end of a chat: longer
// texts keep people waiting.
const maxLineChars = 300

// lineKind returns the kind of spoken texts and of names: one line.
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

// check checks the settings together.
func (k Kiosk) check() error {
	switch {
	case !k.Enabled:
		return nil
	case k.Start == KioskOnPhrase && len(k.Phrases) == 0:
		return errors.New("kiosk.start: it is phrase, but there is no kiosk.phrase: set one, such as Hey Parley")
	case k.Start == KioskOnButton && k.GPIO == (GPIO{}):
		return errors.New("kiosk.start: it is button, but kiosk.button names no line: set one, such as gpiochip0:17")
	}
	return nil
}
