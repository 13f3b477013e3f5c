package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// A style has kokoroStyle numbers for each length of a text in phonemes, from 0 to
	// kokoroLengths - 1; longer texts use the last ones.
	kokoroStyle   = 256
	kokoroLengths = 510

	styleSuffix = ".bin"
)

// A kokoroLanguage is the language that the first letter of a style's name denotes.
type kokoroLanguage struct {
	tag    string // BCP 47
	espeak string // name of the voice in eSpeak NG
	// replacements are pairs of phonemes: as eSpeak NG writes them, and as the model was trained.
	replacements []string
}

// kokoroLanguageOf returns the language of a style by the first letter of its name.
//
// Japanese (j) and Chinese (z) are not supported. The model was trained on Chinese with arrows for
// tones, which eSpeak NG writes as digits with another meaning, and on Japanese with a dictionary
// of its own; eSpeak NG cannot read the Chinese characters of most Japanese.
func kokoroLanguageOf(style string) (kokoroLanguage, bool) {
	// In English, x is not a sound of its own (loch), and r is always ɹ.
	english := []string{"ʲ", "j", "r", "ɹ", "x", "k", "ɬ", "l"}
	// Affricates are one sound each.
	others := []string{"tʃ", "ʧ", "dʒ", "ʤ", "ts", "ʦ", "dz", "ʣ"}
	// eSpeak NG's diphthongs are single letters of the model too: sˈeɪs is sˈAs.
	diphthongs := append(slices.Clip(others), "eɪ", "A", "aɪ", "I", "aʊ", "W", "ɔɪ", "Y")
	if style == "" {
		return kokoroLanguage{}, false
	}
	switch style[0] {
	case 'a':
		return kokoroLanguage{"en-US", "en-us", append(english, "nˈaɪnti", "nˈaɪndi")}, true
	case 'b':
		return kokoroLanguage{"en-GB", "en-gb", english}, true
	case 'e':
		return kokoroLanguage{"es", "es", diphthongs}, true
	case 'f':
		return kokoroLanguage{"fr-FR", "fr-fr", append(others, "-", "")}, true // a mute e is "ə-"
	case 'h':
		return kokoroLanguage{"hi", "hi", append(others, "r.", "ɽ")}, true
	case 'i':
		// aʊ is two sounds in Italian. The model pronounces the consonant of famiglia as j or z if
		// it is written as it was trained.
		return kokoroLanguage{"it", "it", append(slices.Clip(others), "eɪ", "A", "aɪ", "I",
			"aʎ", "aʎj", "eʎ", "eʎj", "ɛʎ", "ɛʎj", "iʎ", "iʎj", "oʎ", "oʎj", "ɔʎ", "ɔʎj", "uʎ", "uʎj")}, true
	case 'p':
		// The model pronounces the nasal at the end of jardim as a separate word (de em) if it is
		// written as by eSpeak NG, and correctly if it is written as a palatal.
		for _, behind := range []string{" ", ".", ",", "?", "!", ";", ":"} {
			diphthongs = append(diphthongs, "iŋ"+behind, "iɲ"+behind)
		}
		return kokoroLanguage{"pt-BR", "pt-br", diphthongs}, true
	}
	return kokoroLanguage{}, false
}

// A KokoroStyle is a voice of a Kokoro pack.
type KokoroStyle struct {
	Name     string // such as "af_heart"
	Language string // BCP 47
	Female   bool
}

// KokoroStyles returns the supported voices of the pack in dir, sorted by name.
func KokoroStyles(dir string) ([]KokoroStyle, error) {
	files, err := filepath.Glob(filepath.Join(dir, "voices", "*"+styleSuffix))
	if err != nil {
		return nil, err
	}
	var all []KokoroStyle
	for _, f := range files { // sorted by name
		name := strings.TrimSuffix(filepath.Base(f), styleSuffix)
		if l, ok := kokoroLanguageOf(name); ok {
			all = append(all, KokoroStyle{Name: name, Language: l.tag, Female: strings.HasPrefix(name[1:], "f")})
		}
	}
	return all, nil
}

// StyleWeight is a style with its weight in a blend.
type StyleWeight struct {
	Name   string  // of a style
	Weight float64 // over 0; the weights of a blend are divided by their sum
}

// blend returns the weighted mean of styles. They must have one language, since a text has one
// pronunciation.
func (k *Kokoro) blend(weights []StyleWeight) (style []float32, language kokoroLanguage, err error) {
	sum := 0.0
	for _, w := range weights {
		if !(w.Weight > 0 && w.Weight <= math.MaxFloat32) {
			return nil, language, fmt.Errorf("voice: weight of %.80q in a blend (%g): it must be over 0", w.Name,
				w.Weight)
		}
		sum += w.Weight
	}
	if len(weights) == 0 {
		return nil, language, fmt.Errorf("voice: blend has no voices: at least one is required")
	}
	style = make([]float32, kokoroLengths*kokoroStyle)
	for i, w := range weights {
		l, err := k.languageOf(w.Name)
		if err != nil {
			return nil, language, err
		}
		if i > 0 && baseOf(l.tag) != baseOf(language.tag) {
			return nil, language, fmt.Errorf("voice: %q speaks %s and %q speaks %s: a blend must have one language",
				weights[0].Name,
				language.tag, w.Name, l.tag)
		}
		if i == 0 || w.Weight > heaviest(weights[:i]) {
			language = l
		}
		one, err := k.style(w.Name)
		if err != nil {
			return nil, language, err
		}
		for i, x := range one {
			style[i] += float32(w.Weight/sum) * x
		}
	}
	return style, language, nil
}

func heaviest(weights []StyleWeight) (weight float64) {
	for _, w := range weights {
		weight = max(weight, w.Weight)
	}
	return weight
}

func baseOf(tag string) string {
	base, _, _ := strings.Cut(tag, "-")
	return base
}

func (k *Kokoro) languageOf(name string) (kokoroLanguage, error) {
	all, err := KokoroStyles(k.dir)
	if err != nil {
		return kokoroLanguage{}, err
	}
	if !slices.ContainsFunc(all, func(s KokoroStyle) bool { return s.Name == name }) {
		var names []string
		for _, s := range all {
			names = append(names, s.Name)
		}
		return kokoroLanguage{}, fmt.Errorf("voice: Kokoro has no voice %.80q; it has %s", name,
			strings.Join(names, ", "))
	}
	l, _ := kokoroLanguageOf(name)
	return l, nil
}

// style returns the style with this name, which must be in the pack.
func (k *Kokoro) style(name string) ([]float32, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.styles[name]; s != nil {
		return s, nil
	}
	path := filepath.Join(k.dir, "voices", name+styleSuffix)
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("voice: %w", err)
	}
	if len(raw) != 4*kokoroLengths*kokoroStyle {
		return nil, fmt.Errorf("voice: %s has %d bytes; a style of Kokoro's has %d", path, len(raw),
			4*kokoroLengths*kokoroStyle)
	}
	s := make([]float32, kokoroLengths*kokoroStyle)
	for i := range s {
		s[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		if x := float64(s[i]); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("voice: value %d of %s is %g", i, path, x)
		}
	}
	k.styles[name] = s
	return s, nil
}
