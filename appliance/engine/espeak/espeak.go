// Package espeak turns words into phonemes with eSpeak NG. That is C that reads
// whatever anybody wrote, and some texts make it write past its buffers; so it
// lives in a process of its own, this program once more, which has no rights
// and no file but eSpeak NG's data. It may die or hang of a text alone.
package espeak

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
)

// A Phonemizer turns text into the phonemes of the International Phonetic
// Alphabet. Any number of goroutines may use it. Close ends its processes.
type Phonemizer struct {
	// Log gets a warning when a process had to be started anew, and one for each
	// wall that the kernel lacks; nil: none. It is set before the first use.
	Log *slog.Logger
	// switched are the marks that eSpeak NG leaves where a word is of another
	// language, such as "(en)".
	switched *regexp.Regexp
	pool     *pool
	once     sync.Once // tells lacks

	started        chan struct{} // closed when what follows is known
	missingSandbox []string
	failed         error
}

// Open starts eSpeak NG, which the machine has or has not. The error says how
// to install it.
func Open() (*Phonemizer, error) { return open(childName) }

// Start is Open for who has other things to do meanwhile: Started says whether it
// came to be. What is asked before waits for it.
func Start() *Phonemizer { return begin(childName) }

func open(child string) (*Phonemizer, error) {
	p := begin(child)
	if err := p.Started(); err != nil {
		p.pool.close()
		return nil, err
	}
	return p, nil
}

func begin(child string) *Phonemizer {
	p := &Phonemizer{switched: regexp.MustCompile(`\([a-z0-9-]+\)`), pool: newPool(func() (*process, error) {
		return start(child)
	}), started: make(chan struct{})}
	p.pool.run(func() {
		defer close(p.started)
		first, err := p.pool.get(context.Background())
		if err != nil {
			p.failed = err
			return
		}
		p.missingSandbox = first.MissingProtections()
		p.pool.put(first, true)
	})
	return p
}

// Started waits until eSpeak NG runs. The error says how to install it.
func (p *Phonemizer) Started() error {
	<-p.started
	return p.failed
}

// Close ends the processes of eSpeak NG, and what is asked of them.
func (p *Phonemizer) Close() error {
	p.pool.close()
	return nil
}

// MissingSandbox are the walls of the process that this kernel does not have, in words;
// none on a kernel with Landlock and seccomp filters.
func (p *Phonemizer) MissingSandbox() []string {
	<-p.started
	return p.missingSandbox
}

const (
	// textTime is how long one text may take in all: one clause that hangs, and
	// the rest of it.
	textTime = answerTime + time.Second
	// maxDeaths is how often eSpeak NG may die of one text before that is given
	// up: each takes as long as a start, a tenth of a second.
	maxDeaths = 6
)

var errTooLong = fmt.Errorf("espeak: eSpeak NG took longer than %v for a text", textTime)

// Phonemize returns the phonemes of text in an eSpeak NG voice such as
// "en-us", with spaces between words and one mark (of . , ? ! : ;) where text
// has punctuation. A clause that eSpeak NG hangs on is left out. When ctx ends,
// it returns ctx's cause at once.
func (p *Phonemizer) Phonemize(ctx context.Context, text, voice string) (string, error) {
	select {
	case <-p.started:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if p.failed != nil {
		return "", p.failed
	}
	p.once.Do(p.warnMissingSandbox)
	ctx, cancel := context.WithTimeoutCause(ctx, textTime, errTooLong)
	defer cancel()
	text = strings.Map(func(r rune) rune {
		if r == 0 || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	var out strings.Builder
	deaths := maxDeaths
	for _, c := range clauses(text) {
		ipa, err := p.clausePhonemes(ctx, question{voice, c.words}, &deaths)
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

// phonemize returns the phonemes of a clause. Mostly eSpeak NG dies of what it was
// asked before, so it is asked again. Of a clause that it dies of twice, each
// word is said alone, but for the one that it dies of.
func (p *Phonemizer) clausePhonemes(ctx context.Context, q question, deaths *int) (string, error) {
	for range 2 {
		ipa, err := p.ask(ctx, q)
		if errors.Is(err, errHung) {
			p.warn("eSpeak NG hung on a clause, which is left out, and is started anew", q, err)
			return "", nil
		}
		if !errors.Is(err, errDied) {
			return ipa, err
		}
		p.warn("eSpeak NG died of a text and is started anew", q, err)
		if *deaths--; *deaths < 0 {
			return "", fmt.Errorf("%w again and again of one text", errDied)
		}
	}
	words := strings.Fields(q.Words)
	if len(words) < 2 {
		return "", nil
	}
	var said []string
	for _, w := range words {
		ipa, err := p.clausePhonemes(ctx, question{q.Voice, w}, deaths)
		if err != nil {
			return "", err
		}
		said = append(said, ipa)
	}
	return strings.Join(said, " "), nil
}

// ask has a process answer q. When ctx ends, it returns at once; the process
// finishes its answer, or is killed at its deadline, in the background.
func (p *Phonemizer) ask(ctx context.Context, q question) (string, error) {
	c, err := p.pool.get(ctx)
	if err != nil {
		return "", err
	}
	type said struct {
		ipa string
		err error
	}
	done := make(chan said, 1)
	if !p.pool.run(func() {
		ipa, err := c.ask(q, time.Now().Add(answerTime))
		done <- said{ipa, err}
		p.pool.put(c, !errors.Is(err, errDied) && !errors.Is(err, errHung))
	}) {
		return "", errClosed
	}
	select {
	case s := <-done:
		return s.ipa, s.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (p *Phonemizer) warn(what string, q question, err error) {
	if p.Log != nil {
		p.Log.Warn(what, "bytes", len(q.Words), "err", err)
	}
}

func (p *Phonemizer) warnMissingSandbox() {
	if p.Log == nil {
		return
	}
	for _, lack := range p.missingSandbox {
		p.Log.Warn("this kernel does not shut eSpeak NG and the decoders in as far as it should", "lacks", lack)
	}
}
