package onnx

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// espeakName is the library that turns words into phonemes. It is GPL-3, so
// Parley does not link it: it is found on the machine at run time, or not.
const espeakName = "libespeak-ng.so.1"

// Figures of espeak-ng's speak_lib.h.
const (
	espeakRetrieval = 1      // AUDIO_OUTPUT_RETRIEVAL: opens no sound device
	espeakDontExit  = 0x8000 // espeakINITIALIZE_DONT_EXIT: without it, missing data ends the process
	espeakUTF8      = 1
	espeakIPA       = 2
)

// espeakVoice is the beginning of speak_lib.h's espeak_VOICE: a name, then the
// languages, of which the first is a priority byte and a tag.
type espeakVoice struct {
	_         *byte
	languages *byte
}

// espeak is the loaded library. It keeps its state in C globals, so there is
// one for the process, and one caller at a time.
type espeak struct {
	voice string // set now

	setVoice     func(name string) int32
	currentVoice func() *espeakVoice
	phonemes     func(text *unsafe.Pointer, encoding, alphabet int32) string
}

func openEspeak() (*espeak, error) {
	const mend = "install it with `apt-get install libespeak-ng1 espeak-ng-data`"
	lib, err := purego.Dlopen(espeakName, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("espeak: %s, which turns words into phonemes, does not load: %s: %w", espeakName, mend, err)
	}
	e := &espeak{}
	var initialize func(output, bufferMS int32, path *byte, options int32) int32
	for name, fn := range map[string]any{
		"espeak_Initialize":      &initialize,
		"espeak_SetVoiceByName":  &e.setVoice,
		"espeak_GetCurrentVoice": &e.currentVoice,
		"espeak_TextToPhonemes":  &e.phonemes,
	} {
		symbol, err := purego.Dlsym(lib, name)
		if err != nil {
			return nil, fmt.Errorf("espeak: %s is not espeak-ng 1.50 or later: %w", espeakName, err)
		}
		purego.RegisterFunc(fn, symbol)
	}
	if rate := initialize(espeakRetrieval, 0, nil, espeakDontExit); rate <= 0 {
		return nil, fmt.Errorf("espeak: %s finds no data (code %d): %s", espeakName, rate, mend)
	}
	return e, nil
}

// use makes voice the current one. The library says "not found" for some names
// that voices are trained with, and then keeps the last voice: so its answer
// is checked, and the language that is set then, too.
func (e *espeak) use(voice string) error {
	if voice != "" && voice == e.voice {
		return nil
	}
	e.voice = ""
	for _, name := range espeakNames(voice) {
		if e.setVoice(name) != 0 {
			continue
		}
		if set := e.language(); baseLanguage(set) != baseLanguage(name) {
			return fmt.Errorf("espeak: asked for %q, it set %q", name, set)
		}
		e.voice = voice
		return nil
	}
	return fmt.Errorf("espeak: no voice %q; `espeak-ng --voices` lists those there are", voice)
}

// language is the tag of the current voice's first language.
func (e *espeak) language() string {
	v := e.currentVoice()
	if v == nil || v.languages == nil {
		return ""
	}
	return tag(unsafe.Add(unsafe.Pointer(v.languages), 1))
}

// say returns the phonemes of words, which hold no NUL. Clauses that the
// library finds by itself are joined by spaces.
func (e *espeak) say(words string) (string, error) {
	text := append([]byte(words), 0)
	at := unsafe.Pointer(&text[0])
	var ipa string
	// Every call takes at least one byte, so more calls than bytes mean that
	// the library stands still.
	for range text {
		if part := e.phonemes(&at, espeakUTF8, espeakIPA); part != "" {
			if ipa != "" {
				ipa += " "
			}
			ipa += part
		}
		if at == nil {
			runtime.KeepAlive(text)
			return ipa, nil
		}
	}
	return "", errors.New("espeak: no end of the phonemes")
}

// tag copies a C string of at most 64 bytes, more than any language tag has.
func tag(p unsafe.Pointer) string {
	var b []byte
	for i := range 64 {
		c := *(*byte)(unsafe.Add(p, i))
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return string(b)
}
