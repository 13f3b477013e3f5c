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
	// A style is so many numbers for each length of a text in phonemes, from 0 to
	// kokoroLengths - 1; longer texts have that of the longest.
	kokoroStyle   = 256
	kokoroLengths = 510

	styleSuffix = ".bin"
)

// A kokoroLanguage is what the first letter of a style's name says.
type kokoroLanguage struct {
	tag    string // BCP 47
	espeak string // eSpeak NG's voice
	// replacements are phonemes as eSpeak NG writes them, and as the model was taught
	// them, by turns.
	replacements []string
}

// kokoroLanguageOf is the language of a style, by the first letter of its name.
//
// Those of Japanese (j) and Chinese (z) are not spoken. The model was taught
// Chinese with arrows for its tones, which eSpeak NG writes as digits that count
// otherwise, and Japanese from a dictionary of its own; eSpeak NG cannot read
// the Chinese characters in which most Japanese is written.
func kokoroLanguageOf(style string) (kokoroLanguage, bool) {
	// In English x is no sound of its own (loch), and r is always ɹ.
	english := []string{"ʲ", "j", "r", "ɹ", "x", "k", "ɬ", "l"}
	// Affricates are one sound each.
	others := []string{"tʃ", "ʧ", "dʒ", "ʤ", "ts", "ʦ", "dz", "ʣ"}
	// So are the diphthongs that eSpeak NG has as one, in the letters of the
	// model: sˈeɪs is sˈAs.
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
		// aʊ is two sounds in Italian. What stands between vowels in famiglia the
		// model says as j or z where it is written as it was taught.
		return kokoroLanguage{"it", "it", append(slices.Clip(others), "eɪ", "A", "aɪ", "I",
			"aʎ", "aʎj", "eʎ", "eʎj", "ɛʎ", "ɛʎj", "iʎ", "iʎj", "oʎ", "oʎj", "ɔʎ", "ɔʎj", "uʎ", "uʎj")}, true
	case 'p':
		// The nasal at the end of jardim is said as a word of its own (de em) as
		// eSpeak NG writes it, and rightly as a palatal one.
		for _, behind := range []string{" ", ".", ",", "?", "!", ";", ":"} {
			diphthongs = append(diphthongs, "iŋ"+behind, "iɲ"+behind)
		}
		return kokoroLanguage{"pt-BR", "pt-br", diphthongs}, true
	}
	return kokoroLanguage{}, false
}

// A KokoroStyle is a voice that lies in a pack of Kokoro's.
type KokoroStyle struct {
	Name     string // such as "af_heart"
	Language string // BCP 47
	Female   bool
}

// KokoroStyles are the voices of the pack in dir that can be spoken, by name.
func KokoroStyles(dir string) ([]KokoroStyle, error) {
	files, err := filepath.Glob(filepath.Join(dir, "voices", "*"+styleSuffix))
	if err != nil {
		return nil, err
	}
	var all []KokoroStyle
	for _, f := range files { // in order of their names
		name := strings.TrimSuffix(filepath.Base(f), styleSuffix)
		if l, ok := kokoroLanguageOf(name); ok {
			all = append(all, KokoroStyle{Name: name, Language: l.tag, Female: strings.HasPrefix(name[1:], "f")})
		}
	}
	return all, nil
}

// StyleWeight is a part of a blend of styles.
type StyleWeight struct {
	Name   string  // of a style
	Weight float64 // over 0; the shares of a blend are divided by their sum
}

// blend is the style that lies between some. They have to be of one language: a
// text has one pronunciation.
func (k *Kokoro) blend(weights []StyleWeight) (style []float32, language kokoroLanguage, err error) {
	sum := 0.0
	for _, w := range weights {
		if !(w.Weight > 0 && w.Weight <= math.MaxFloat32) {
			return nil, language, fmt.Errorf("voice: the share of %.80q in a blend is %g; a share is over 0", w.Name,
				w.Weight)
		}
		sum += w.Weight
	}
	if len(weights) == 0 {
		return nil, language, fmt.Errorf("voice: a blend of no voices; it has at least one")
	}
	style = make([]float32, kokoroLengths*kokoroStyle)
	for i, w := range weights {
		l, err := k.languageOf(w.Name)
		if err != nil {
			return nil, language, err
		}
		if i > 0 && baseOf(l.tag) != baseOf(language.tag) {
			return nil, language, fmt.Errorf("voice: %q speaks %s and %q %s; a blend has one language", weights[0].Name,
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

func heaviest(weights []StyleWeight) (share float64) {
	for _, w := range weights {
		share = max(share, w.Weight)
	}
	return share
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

// style is the one of a name, which is in the pack.
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
			return nil, fmt.Errorf("voice: number %d of %s is %g", i, path, x)
		}
	}
	k.styles[name] = s
	return s, nil
}
