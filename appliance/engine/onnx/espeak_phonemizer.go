package onnx

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// A Phonemizer turns words into the phonemes of the International Phonetic
// Alphabet with espeak-ng. All Phonemizers share the one library; any number
// of goroutines may use them.
type Phonemizer struct {
	lib *espeak
	// switched are the marks that espeak-ng leaves where a word is of another
	// language, such as "(en)".
	switched *regexp.Regexp
}

// OpenPhonemizer loads espeak-ng from the machine. The error says how to
// install it.
func OpenPhonemizer() (*Phonemizer, error) {
	lib, err := theEspeak()
	if err != nil {
		return nil, err
	}
	return &Phonemizer{lib: lib, switched: regexp.MustCompile(`\([a-z0-9-]+\)`)}, nil
}

// Phonemize returns the phonemes of text in an espeak-ng voice such as
// "en-us", with spaces between words and one mark (of . , ? ! : ;) where text
// has punctuation.
func (p *Phonemizer) Phonemize(text, voice string) (string, error) {
	text = strings.Map(func(r rune) rune {
		if r == 0 || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))

	p.lib.mu.Lock()
	defer p.lib.mu.Unlock()
	if err := p.lib.use(voice); err != nil {
		return "", err
	}
	var out strings.Builder
	for _, c := range clauses(text) {
		ipa, err := p.lib.say(c.words)
		if err != nil {
			return "", err
		}
		ipa = strings.TrimSpace(p.switched.ReplaceAllString(ipa, ""))
		if ipa == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(ipa)
		out.WriteString(c.mark)
	}
	return out.String(), nil
}

// A clause is what stands between two marks of punctuation, and the mark at
// its end.
type clause struct{ words, mark string }

// clauses cuts text at its punctuation: espeak-ng swallows it, and the voices
// were taught to pause and to raise their pitch by it.
func clauses(text string) []clause {
	var out []clause
	r := []rune(text)
	for begin := 0; begin < len(r); {
		end := begin
		for end < len(r) && !punctuation(r, end) {
			end++
		}
		next := end
		for next < len(r) && (punctuation(r, next) || unicode.IsSpace(r[next])) {
			next++
		}
		words := strings.TrimSpace(string(r[begin:end]))
		switch mark := strongest(r[end:next]); {
		case words != "":
			out = append(out, clause{words, mark})
		case len(out) > 0 && out[len(out)-1].mark == "":
			out[len(out)-1].mark = mark
		}
		begin = next
	}
	return out
}

// punctuation reports whether r[i] parts clauses. A full stop, comma or colon
// inside a number or a name ("3,5", "e.V") does not.
func punctuation(r []rune, i int) bool {
	switch r[i] {
	case '.', ',', ':':
		inside := i > 0 && i+1 < len(r) && alphanumeric(r[i-1]) && alphanumeric(r[i+1])
		return !inside
	case ';', '!', '?', '—', '…', '"', '(', ')', '[', ']', '{', '}', '“', '”', '„', '«', '»', '¡', '¿',
		'。', '！', '？', '，', '、', '：', '；', '؟', '،', '؛', '।':
		return true
	}
	return false
}

// markRank orders the marks that voices were taught, the strongest first, with
// all that are written for each. Voices learned from single marks, so a run of
// them, or one that they never met, is read as the strongest of these.
var markRank = [...]struct{ mark, written string }{
	{"?", "?？؟"}, {"!", "!！"}, {".", ".。।"}, {":", ":："}, {";", ";；؛"}, {",", ",，、،—()[]{}…"},
}

// strongest returns the one mark that a run of punctuation is read as. Quotes
// alone are silent.
func strongest(run []rune) string {
	for _, m := range markRank {
		for _, r := range run {
			if strings.ContainsRune(m.written, r) {
				return m.mark
			}
		}
	}
	return ""
}

// espeakNames are the names to try for a voice, the best first. The library
// does not know some that voices are trained with.
func espeakNames(voice string) []string {
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
		return []string{tag, base} // "fr-fr" is known as "fr"
	}
	return []string{tag}
}

func baseLanguage(tag string) string {
	base, _, _ := strings.Cut(tag, "-")
	return base
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// onceForEach calls say for the first time that each rune is met.
type onceForEach struct {
	mu   sync.Mutex
	seen map[rune]bool
}

func (o *onceForEach) met(r rune) (first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen[r] {
		return false
	}
	if o.seen == nil {
		o.seen = make(map[rune]bool)
	}
	o.seen[r] = true
	return true
}
