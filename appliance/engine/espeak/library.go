package espeak

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"parley/internal/clib"
)

// libraryName is the library that converts words to phonemes. It is GPL-3, so Parley does not link
// it but looks for it on the machine at run time.
const libraryName = "libespeak-ng.so.1"

// Constants of espeak-ng's speak_lib.h.
const (
	outputRetrieval    = 1      // AUDIO_OUTPUT_RETRIEVAL: opens no sound device
	initializeDontExit = 0x8000 // espeakINITIALIZE_DONT_EXIT: without it, missing data ends the process
	charsUTF8          = 1
	phonemesIPA        = 2
)

// libraryVoice is the beginning of speak_lib.h's espeak_VOICE: a name, then the languages, each a
// priority byte and a tag.
type libraryVoice struct {
	_         *byte
	languages *byte
}

// maxTag is longer than any language tag.
const maxTag = 64

// library is libespeak-ng, loaded. Its state is in C globals, so there is one per process, with one
// caller at a time.
type library struct {
	version string
	voice   string // current voice
	dataDir string // folder of its languages; empty if it does not report one

	setVoice     func(name string) int32
	currentVoice func() *libraryVoice
	phonemes     func(text *unsafe.Pointer, encoding, alphabet int32) string
}

func openLibrary(dataDir string) (*library, error) {
	const mend = "install it with `apt-get install libespeak-ng1 espeak-ng-data`"
	lib, err := clib.Open(libraryName)
	if err != nil {
		return nil, fmt.Errorf("espeak: %s, which converts words to phonemes, does not load: %s: %w", libraryName, mend,
			err)
	}
	e := &library{}
	var initialize func(output, bufferMS int32, path *byte, options int32) int32
	var info func(dataDir **byte) string
	err = lib.Bind(map[string]any{
		"espeak_Initialize":      &initialize,
		"espeak_Info":            &info,
		"espeak_SetVoiceByName":  &e.setVoice,
		"espeak_GetCurrentVoice": &e.currentVoice,
		"espeak_TextToPhonemes":  &e.phonemes,
	})
	if err != nil {
		return nil, fmt.Errorf("espeak: %s is not espeak-ng 1.50 or later: %w", libraryName, err)
	}
	var path *byte // nil: its built-in path
	if dataDir != "" {
		path = &append([]byte(dataDir), 0)[0]
	}
	if rate := initialize(outputRetrieval, 0, path, initializeDontExit); rate <= 0 {
		return nil, fmt.Errorf("espeak: %s finds no data (code %d): %s", libraryName, rate, mend)
	}
	var data *byte
	e.version = info(&data)
	if data != nil {
		e.dataDir = text(unsafe.Pointer(data), 4096)
	}
	return e, nil
}

// use selects a voice. For some names that voices are trained with, the library reports "not found"
// and keeps the last voice, so its result and the resulting language are checked.
func (l *library) use(voice string) error {
	if voice != "" && voice == l.voice {
		return nil
	}
	l.voice = ""
	for _, name := range libraryNames(voice) {
		if l.setVoice(name) != 0 {
			continue
		}
		if set := l.language(); baseLanguage(set) != baseLanguage(name) {
			return fmt.Errorf("espeak: selecting voice %q has set the language %q", name, set)
		}
		l.voice = voice
		return nil
	}
	return fmt.Errorf("espeak: no voice %q; `espeak-ng --voices` lists the available ones", voice)
}

// language returns the tag of the current voice's first language.
func (l *library) language() string {
	v := l.currentVoice()
	if v == nil || v.languages == nil {
		return ""
	}
	return text(unsafe.Add(unsafe.Pointer(v.languages), 1), maxTag)
}

// phonemize returns the phonemes of words, which contain no NUL. Clauses that the library finds by
// itself are joined by spaces.
func (l *library) phonemize(words string) (string, error) {
	left := append([]byte(words), 0)
	at := unsafe.Pointer(&left[0])
	var ipa string
	// Every call consumes at least one byte, so more calls than bytes mean that the library is
	// stuck.
	for range left {
		if part := l.phonemes(&at, charsUTF8, phonemesIPA); part != "" {
			if ipa != "" {
				ipa += " "
			}
			ipa += part
		}
		if at == nil {
			runtime.KeepAlive(left)
			return ipa, nil
		}
	}
	return "", errors.New("espeak: the library does not finish the text")
}

// text copies a C string of at most most bytes.
func text(p unsafe.Pointer, most int) string {
	var b []byte
	for i := range most {
		c := *(*byte)(unsafe.Add(p, i))
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return string(b)
}

// libraryNames returns the names to try for a voice, the best first, since the library does not
// know some names that voices are trained with.
func libraryNames(voice string) []string {
	tag := strings.ToLower(strings.ReplaceAll(voice, "_", "-"))
	switch tag {
	case "en-gb":
		return []string{"en-gb-x-rp", "en"}
	case "zh", "zh-cn":
		return []string{"cmn"}
	case "no", "no-no":
		return []string{"nb"}
	}
	if base := baseLanguage(tag); base != tag {
		return []string{tag, base} // the library calls "fr-fr" "fr"
	}
	return []string{tag}
}

func baseLanguage(tag string) string {
	base, _, _ := strings.Cut(tag, "-")
	return base
}
