// Package espeak converts words to phonemes with eSpeak NG. That is C code which processes
// untrusted text, and some texts make it write past its buffers. So it runs in a separate process
// of this program, without rights and without files other than eSpeak NG's data. The process may
// crash or hang without further harm.
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

// A Phonemizer converts text to the phonemes of the International Phonetic Alphabet. It is safe for
// concurrent use. Close ends its processes.
type Phonemizer struct {
	// Log receives a warning when a process is restarted, and one for each sandbox feature that the
	// kernel lacks; it may be nil. Set it before the first use.
	Log *slog.Logger
	// switched matches eSpeak NG's marks for words of another language, such as "(en)".
	switched *regexp.Regexp
	pool     *pool
	warnOnce sync.Once // logs missingSandbox

	started        chan struct{} // closed when the following fields are set
	missingSandbox []string
	version        string
	failed         error
}

// Open starts the eSpeak NG of the machine. An error explains how to install it.
func Open() (*Phonemizer, error) { return open(childName) }

// Start is like Open but does not wait. Started returns the result; earlier calls wait for it.
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
		p.version, err = first.ask(question{Version: true}, time.Now().Add(answerTime))
		p.pool.put(first, err == nil)
	})
	return p
}

// Started waits until eSpeak NG runs. An error explains how to install it.
func (p *Phonemizer) Started() error {
	<-p.started
	return p.failed
}

// Version returns the version of the eSpeak NG that runs, or "" if none does.
func (p *Phonemizer) Version() string {
	<-p.started
	return p.version
}

// Close ends the processes of eSpeak NG and all calls.
func (p *Phonemizer) Close() error {
	p.pool.close()
	return nil
}

// MissingSandbox describes the sandbox features of the process that this kernel lacks; none on a
// kernel with Landlock and seccomp filters.
func (p *Phonemizer) MissingSandbox() []string {
	<-p.started
	return p.missingSandbox
}

const (
	// textTime limits the time of one text: one clause that hangs, and the rest of the text.
	textTime = answerTime + time.Second
	// maxDeaths is how often eSpeak NG may crash on one text before the text is given up; each
	// crash costs a start, a tenth of a second.
	maxDeaths = 6
)

var errTooLong = fmt.Errorf("espeak: text took longer than %v", textTime)

// Phonemize returns the phonemes of text in an eSpeak NG voice such as "en-us", with spaces between
// words and one mark (of . , ? ! : ;) where text has punctuation. A clause on which eSpeak NG hangs
// is left out. When ctx ends, Phonemize returns its cause at once.
func (p *Phonemizer) Phonemize(ctx context.Context, text, voice string) (string, error) {
	select {
	case <-p.started:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if p.failed != nil {
		return "", p.failed
	}
	p.warnOnce.Do(p.warnMissingSandbox)
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
		ipa, err := p.clausePhonemes(ctx, question{Voice: voice, Words: c.words}, &deaths)
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

// clausePhonemes returns the phonemes of a clause. Usually eSpeak NG crashes because of an earlier
// text, so it is asked again. If it crashes twice, each word is converted alone, and the one that
// crashes it is left out.
func (p *Phonemizer) clausePhonemes(ctx context.Context, q question, deaths *int) (string, error) {
	for range 2 {
		ipa, err := p.ask(ctx, q)
		if errors.Is(err, errHung) {
			p.warn("eSpeak NG hung on a clause, which is left out; restarting it", q, err)
			return "", nil
		}
		if !errors.Is(err, errDied) {
			return ipa, err
		}
		p.warn("eSpeak NG crashed on a text; restarting it", q, err)
		if *deaths--; *deaths < 0 {
			return "", fmt.Errorf("%w repeatedly on one text", errDied)
		}
	}
	words := strings.Fields(q.Words)
	if len(words) < 2 {
		return "", nil
	}
	var result []string
	for _, w := range words {
		ipa, err := p.clausePhonemes(ctx, question{Voice: q.Voice, Words: w}, deaths)
		if err != nil {
			return "", err
		}
		result = append(result, ipa)
	}
	return strings.Join(result, " "), nil
}

// ask passes q to a process. When ctx ends, ask returns at once; the process finishes its answer,
// or is killed at its deadline, in the background.
func (p *Phonemizer) ask(ctx context.Context, q question) (string, error) {
	c, err := p.pool.get(ctx)
	if err != nil {
		return "", err
	}
	type result struct {
		ipa string
		err error
	}
	done := make(chan result, 1)
	if !p.pool.run(func() {
		ipa, err := c.ask(q, time.Now().Add(answerTime))
		done <- result{ipa, err}
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
		p.Log.Warn("this kernel cannot fully sandbox eSpeak NG and the decoders", "lacks", lack)
	}
}
