package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/appliance/engine"
	"parley/appliance/engine/onnx"
	"parley/bench/yardstick"
)

const (
	// fairStreams is how many ask at once: a page of prompts.
	fairStreams = 8
	// longCharacters is the longest text that text-to-speech takes at once.
	longCharacters = 5000
	// slowRounds bounds the pairs of what takes many seconds each.
	slowRounds = 3
)

// timedSentences are what the first sound is timed of: their name says how many
// words they have.
func timedSentences() []struct{ name, text string } {
	return []struct{ name, text string }{
		{"3_words", "Good morning, Anna."},
		{"12_words", "Please take the elevator to the third floor and turn left there."},
		{"30_words", "The swimming pool on the second floor is open every day from seven in the morning until ten at " +
			"night, and towels for it are free of charge at the desk."},
	}
}

// story is a text of at most so many characters, of whole sentences.
func story(characters int) string {
	var b strings.Builder
	for sentences := spokenSentences(); ; {
		for _, s := range sentences {
			if b.Len()+len(s)+1 > characters {
				return strings.TrimSpace(b.String())
			}
			b.WriteString(s + " ")
		}
	}
}

// besideHTTP has text-to-speech over HTTP, as a client has it, measured beside the
// voice's graph alone.
func besideHTTP(ctx context.Context, o Options, voice engine.Synthesizer,
	measure func(s *speechServer, plain preparation) error) (err error) {
	plain, done, err := plainVoice(o, voice)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	s, err := startSpeech(ctx, o, voice)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	return measure(s, plain)
}

// firstSounds compares the first sound of sentences.
func (r *Report) firstSounds(ctx context.Context, o Options, s *speechServer, plain preparation) error {
	for _, said := range timedSentences() {
		o.say("the first sound of %s over HTTP, %d times", said.name, o.Rounds)
		run, release, err := plain(ctx, said.text)
		if err != nil {
			return err
		}
		var first []float64
		c, err := yardstick.Compare(o.Rounds, func() error {
			heard, err := s.stream(ctx, said.text, nil)
			first = append(first, milliseconds(heard.first))
			return err
		}, run)
		release()
		if err != nil {
			return err
		}
		// The pairs time the whole answer; what counts here is its first sound.
		ms := median(first[1:])
		r.paired("http_first_sound_"+said.name, ms, "ms", milliseconds(c.Straight), ms/milliseconds(c.Straight),
			"over plain ONNX Runtime's run for the whole sentence")
	}
	return nil
}

// longText compares all of a long text.
func (r *Report) longText(ctx context.Context, o Options, s *speechServer, plain preparation) error {
	long := story(longCharacters / 5)
	rounds := min(o.Rounds, slowRounds)
	o.say("%d characters over HTTP, %d times", len(long), rounds)
	run, release, err := plain(ctx, long)
	if err != nil {
		return err
	}
	defer release()
	var sound time.Duration
	var ours, straight []time.Duration // of the processor
	c, err := yardstick.Compare(rounds, processor(&ours, func() error {
		heard, err := s.stream(ctx, long, nil)
		sound = heard.sound
		return err
	}), processor(&straight, run))
	if err != nil {
		return err
	}
	r.paired("http_real_time_factor", c.Ours.Seconds()/sound.Seconds(), "", c.Straight.Seconds()/sound.Seconds(),
		c.Ratio,
		fmt.Sprintf("time over length of a text of %d characters, over plain ONNX Runtime's for the same sentences",
			len(long)))
	r.against("http_processor_time", seconds(ours), "s", seconds(straight),
		"of the processor for the same, which a busy machine changes little")
	return nil
}

// processor notes how long this process uses the processor in a call.
func processor(took *[]time.Duration, call func() error) func() error {
	return func() error {
		before, err := cpuTime(self())
		if err != nil {
			return err
		}
		if err := call(); err != nil {
			return err
		}
		after, err := cpuTime(self())
		*took = append(*took, after-before)
		return err
	}
}

func seconds(took []time.Duration) float64 { return time.Duration(median(took)).Seconds() }

// A preparation makes the runs of a graph for a text, to be run again and again
// until they are released.
type preparation func(ctx context.Context, text string) (run func() error, release func(), err error)

// plainVoice prepares the runs of a voice's graph by ONNX Runtime alone.
func plainVoice(o Options, voice engine.Synthesizer) (prepare preparation, done func() error, err error) {
	piper, ok := voice.(*onnx.Piper)
	if !ok {
		return nil, nil, &ErrOption{fmt.Sprintf("the voice %s is none of Piper's, which alone can be compared with "+
			"their graph: choose one with --voice", o.Config.Engines.Voice)}
	}
	y, err := yardstick.OpenONNX(filepath.Join(o.Config.Pack("runtime-onnx"), "libonnxruntime.so"))
	if err != nil {
		return nil, nil, err
	}
	p, err := y.OpenPiper(voiceFolder(o.Config), piper)
	if err != nil {
		return nil, nil, errors.Join(err, y.Close())
	}
	return p.Prepare, func() error { return errors.Join(p.Close(), y.Close()) }, nil
}

// streamMemory has the longest text streamed and looks how much more memory the
// process has at any piece of it than before, and than for a tenth of it.
func (r *Report) streamMemory(ctx context.Context, o Options, voice engine.Synthesizer) (err error) {
	s, err := startSpeech(ctx, o, voice)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	grown := func(characters int) (float64, error) {
		before, most := resident(), 0.0
		_, err := s.stream(ctx, story(characters), func(int) { most = max(most, resident()-before) })
		return most, err
	}
	if _, err := grown(longCharacters / 10); err != nil { // the first takes what all keep
		return err
	}
	short, err := grown(longCharacters / 10)
	if err != nil {
		return err
	}
	o.say("streaming %d characters", longCharacters)
	long, err := grown(longCharacters)
	if err != nil {
		return err
	}
	r.figure("stream_memory_growth", long, "MiB",
		fmt.Sprintf("more resident memory at any time while %d characters stream (a tenth of them: %.1f MiB)",
			longCharacters, short))
	return nil
}

func resident() float64 { return kilobytes("/proc/self/status", "VmRSS") / 1024 }

// fair has several ask for the same at once, and compares who came last with who
// came first.
func (r *Report) fair(ctx context.Context, o Options, voice engine.Synthesizer) (err error) {
	s, err := startSpeech(ctx, o, voice)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	o.say("%d streams at once", fairStreams)
	sentence := timedSentences()[2].text
	var firsts, wholes, slowest, alone, aloneFirst []float64
	for range min(o.Rounds, slowRounds) {
		one, err := s.stream(ctx, sentence, nil)
		if err != nil {
			return err
		}
		alone, aloneFirst = append(alone, milliseconds(one.whole)), append(aloneFirst, milliseconds(one.first))
		got := make([]spokenStream, fairStreams)
		var all errgroup.Group
		for i := range got {
			all.Go(func() (err error) {
				got[i], err = s.stream(ctx, sentence, nil)
				return err
			})
		}
		if err := all.Wait(); err != nil {
			return err
		}
		firsts = append(firsts, spreadOf(got, func(s spokenStream) time.Duration { return s.first }))
		wholes = append(wholes, spreadOf(got, func(s spokenStream) time.Duration { return s.whole }))
		last := slices.MaxFunc(got, func(a, b spokenStream) int { return cmp.Compare(a.first, b.first) })
		slowest = append(slowest, milliseconds(last.first))
	}
	r.figure("fair_whole", median(wholes), "",
		fmt.Sprintf("slowest over fastest of %d streams of 30 words at once, to their ends", fairStreams))
	r.figure("fair_first_sound", median(firsts), "", "the same, to their first sound")
	each := fairStreams * median(aloneFirst)
	r.paired("fair_slowest_first_sound", median(slowest), "ms", each, median(slowest)/each,
		fmt.Sprintf("until the last of them has its first sound, over %d times that of one alone: above 1 somebody's "+
			"second piece goes before another's first", fairStreams))
	r.figure("fair_alone", median(alone), "ms", "one of them alone")
	return nil
}

func spreadOf(all []spokenStream, of func(spokenStream) time.Duration) float64 {
	least, most := time.Duration(math.MaxInt64), time.Duration(0)
	for _, s := range all {
		least, most = min(least, of(s)), max(most, of(s))
	}
	return float64(most) / float64(least)
}

// wordTimes compares when voices say that their words begin with where Whisper
// finds them in the sound.
func (r *Report) wordTimes(ctx context.Context, o Options, name string, voice engine.Synthesizer,
	ear *onnx.Whisper) error {
	language, sentences := sentencesFor(voice)
	if len(sentences) == 0 {
		return nil
	}
	o.say("aligning the words of %s", name)
	var off []float64
	for _, s := range evenly(sentences, o.Prompts) {
		said, err := engine.SpeakWhole(ctx, voice, s, engine.SpeakOptions{Urgency: engine.Request.Urgency()})
		if err != nil {
			return err
		}
		found, err := misplaced(ctx, said, ear, language)
		if err != nil {
			return err
		}
		off = append(off, found...)
	}
	slices.Sort(off)
	r.figure(name+"_word_time_error", quantile(off, 0.5), "ms",
		fmt.Sprintf("between when %d words begin as the voice tells and as Whisper's attention does, median", len(off)))
	r.figure(name+"_word_time_error_95", quantile(off, 0.95), "ms", "95th percentile")
	return nil
}
