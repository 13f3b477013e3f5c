package onnx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// A Phonemizer turns words into the phonemes of the International Phonetic
// Alphabet with espeak-ng, in a process of its own. Any number of goroutines may
// use it. Close ends the process.
type Phonemizer struct {
	// Log is told when the process had to be started anew; nil: nobody is.
	Log *slog.Logger
	// switched are the marks that espeak-ng leaves where a word is of another
	// language, such as "(en)".
	switched *regexp.Regexp

	mu     sync.Mutex
	child  *espeakChild // nil after it died
	closed bool
}

// OpenPhonemizer starts espeak-ng, which the machine has or has not. The error
// says how to install it.
func OpenPhonemizer() (*Phonemizer, error) {
	child, err := startEspeak()
	if err != nil {
		return nil, err
	}
	return &Phonemizer{child: child, switched: regexp.MustCompile(`\([a-z0-9-]+\)`)}, nil
}

// Close ends the process of espeak-ng.
func (p *Phonemizer) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.child != nil {
		p.child.stop()
		p.child = nil
	}
	return nil
}

// Phonemize returns the phonemes of text in an espeak-ng voice such as
// "en-us", with spaces between words and one mark (of . , ? ! : ;) where text
// has punctuation.
func (p *Phonemizer) Phonemize(ctx context.Context, text, voice string) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	text = strings.Map(func(r rune) rune {
		if r == 0 || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))

	p.mu.Lock()
	defer p.mu.Unlock()
	var out strings.Builder
	deaths := mostDeaths
	for _, c := range clauses(text) {
		ipa, err := p.say(espeakQuestion{voice, c.words}, &deaths)
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

// mostDeaths is how often espeak-ng may die of one text before that is given up:
// each takes as long as a start, a tenth of a second.
const mostDeaths = 6

// say returns the phonemes of a clause. Mostly espeak-ng dies of what it was
// asked before, so it is asked again. Of a clause that it dies of twice, each
// word is said alone, but for the one that it dies of.
func (p *Phonemizer) say(q espeakQuestion, deaths *int) (string, error) {
	for range 2 {
		ipa, err := p.ask(q)
		if !errors.Is(err, errEspeakDied) {
			return ipa, err
		}
		if p.Log != nil {
			p.Log.Warn("espeak-ng died of a text and is started anew", "bytes", len(q.Words), "err", err)
		}
		if *deaths--; *deaths < 0 {
			return "", fmt.Errorf("%w again and again of one text", errEspeakDied)
		}
	}
	words := strings.Fields(q.Words)
	if len(words) < 2 {
		return "", nil
	}
	var said []string
	for _, w := range words {
		ipa, err := p.say(espeakQuestion{q.Voice, w}, deaths)
		if err != nil {
			return "", err
		}
		said = append(said, ipa)
	}
	return strings.Join(said, " "), nil
}

// ask asks the process, which it starts if there is none.
func (p *Phonemizer) ask(q espeakQuestion) (ipa string, err error) {
	if p.closed {
		return "", errors.New("espeak: the phonemizer is closed")
	}
	if p.child == nil {
		if p.child, err = startEspeak(); err != nil {
			return "", err
		}
	}
	ipa, err = p.child.ask(q)
	if errors.Is(err, errEspeakDied) {
		p.child.stop()
		p.child = nil
	}
	return ipa, err
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
