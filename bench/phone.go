package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/chat"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/text"
)

// phonePath is a way by which recordings reach the box.
type phonePath struct {
	name    string
	codec   audio.PhoneCodec
	direct  bool // without a telephone
	percent int  // packets lost
}

func phonePaths() []phonePath {
	return []phonePath{
		{name: "direct", direct: true},
		{name: "pcmu", codec: audio.MuLaw},
		{name: "pcmu_loss", codec: audio.MuLaw, percent: 3},
		{name: "pcma", codec: audio.ALaw},
		{name: "g722", codec: audio.G722},
		{name: "g722_loss", codec: audio.G722, percent: 3},
	}
}

// Phone measures hearing over a telephone, compared with the same recordings as they are, and
// the voice that a telephone hears.
func Phone(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	if o.Half != "" && o.Half != tunedHalf && o.Half != heldHalf {
		return Report{}, &ErrOption{fmt.Sprintf("half is %q; allowed are %s and %s", o.Half, tunedHalf, heldHalf)}
	}
	said, err := recordings(o.Recordings)
	if err != nil {
		return Report{}, err
	}
	prompts, err := phonePrompts(said, o)
	if err != nil {
		return Report{}, err
	}
	r := Report{Bench: "phone", Machine: describe(o.Config, "runtime-onnx", o.Config.Engines.Transcriber,
		o.Config.Engines.Voice)}
	opened, err := engines.Open(ctx, o.Config, engines.Hearing|engines.Speaking, o.Log)
	if err != nil {
		return r, err
	}
	defer opened.Close()
	direct := phoneResult{}
	for _, path := range phonePaths() {
		o.announce("hearing %d recordings: %s", len(prompts), path.name)
		got, err := hearAll(ctx, opened, path, prompts)
		if err != nil {
			return r, err
		}
		if path.direct {
			direct = got
		}
		r.addPhone(path, got, direct)
	}
	o.announce("speaking on a telephone")
	return r, r.addPhoneVoice(ctx, opened)
}

// phonePrompts returns the recordings of a half: of the longest with known words, every second
// one.
func phonePrompts(said []recording, o Options) (some []recording, err error) {
	for i, p := range scored(said, 2*o.Prompts) {
		if tuned := i%2 == 0; tuned == (o.Half == tunedHalf) {
			some = append(some, p)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("too few recordings in %q have a text file with their words and are at most %v long",
			o.Recordings, maxRecording)
	}
	return some, nil
}

// phoneResult is what was heard by a path. The times are those of the recordings' sound.
type phoneResult struct {
	wrong, words int
	barge        []time.Duration // from the first sound until an answer would have been interrupted
	end          []time.Duration // from the last sound until the turn was over
	early        int             // turns that were over before the last sound
	missed       int             // recordings in which no voice was found
}

func (r *Report) addPhone(path phonePath, got, direct phoneResult) {
	name := func(figure string) string { return figure + "_" + path.name }
	rate := func(p phoneResult) float64 { return 100 * float64(p.wrong) / float64(p.words) }
	note := fmt.Sprintf("of %d words", got.words)
	if path.percent > 0 {
		note += fmt.Sprintf(", %d %% of the packets lost", path.percent)
	}
	add := func(figure string, value float64, unit string, yardstick float64, note string) {
		if path.direct {
			r.figure(name(figure), value, unit, note)
		} else {
			r.against(name(figure), value, unit, yardstick, note+"; the recordings as they are")
		}
	}
	add("word_error", rate(got), "%", rate(direct), note)
	note = "from the first sound until an answer is interrupted"
	add("barge_in_median", median(got.barge)/1e6, "ms", median(direct.barge)/1e6, note)
	add("barge_in_p95", quantile(got.barge, 0.95)/1e6, "ms", quantile(direct.barge, 0.95)/1e6, note)
	note = "from the last sound until the turn is over"
	add("turn_end_median", median(got.end)/1e6, "ms", median(direct.end)/1e6, note)
	add("turn_end_p95", quantile(got.end, 0.95)/1e6, "ms", quantile(direct.end, 0.95)/1e6, note)
	r.figure(name("turns_early"), float64(got.early), "", "turns that were over before the last sound")
	r.figure(name("turns_missed"), float64(got.missed), "", "recordings in which no voice was found")
}

// hearAll sends the recordings by a path.
func hearAll(ctx context.Context, opened *engines.Set, path phonePath, prompts []recording) (phoneResult, error) {
	var all phoneResult
	for i, p := range prompts {
		pcm := append(make([]float32, engine.SpeechRateHz/2), p.PCM...)
		begin, end, ok := span(pcm, engine.SpeechRateHz)
		if !ok {
			return all, fmt.Errorf("the recording %s has no sound", p.Name)
		}
		pcm = append(pcm, make([]float32, 2*engine.SpeechRateHz)...)
		heard, err := path.carry(pcm, uint64(i))
		if err != nil {
			return all, err
		}
		h := hearing{begin: begin, end: end}
		if err := h.listen(ctx, opened, heard); err != nil {
			return all, fmt.Errorf("%s: %w", p.Name, err)
		}
		want := text.Words(p.Text)
		all.wrong += text.WordErrors(want, text.Words(strings.Join(h.said, " ")))
		all.words += len(want)
		if h.early {
			all.early++
		}
		if !h.heard {
			all.missed++
			continue
		}
		if h.barge > 0 {
			all.barge = append(all.barge, h.barge)
		}
		all.end = append(all.end, h.over)
	}
	return all, nil
}

// carry returns what the box hears of a recording, in packets of audio.CallFrame.
func (p phonePath) carry(pcm []float32, seed uint64) ([]float32, error) {
	if p.direct {
		return pcm, nil
	}
	e, err := audio.NewRelayEncoder(p.codec, engine.SpeechRateHz)
	if err != nil {
		return nil, err
	}
	d, err := audio.NewPhoneDecoder(p.codec, engine.SpeechRateHz)
	if err != nil {
		return nil, err
	}
	loss := rand.New(rand.NewPCG(seed, 0))
	var out []float32
	for n := audio.Samples(audio.CallFrame, engine.SpeechRateHz); len(pcm) >= n; pcm = pcm[n:] {
		packet, err := e.Encode(pcm[:n])
		if err != nil {
			return nil, err
		}
		decode := d.Decode
		if loss.IntN(100) < p.percent {
			decode = func([]byte) ([]float32, error) { return d.Recover(audio.CallFrame, nil) }
		}
		heard, err := decode(packet)
		if err != nil {
			return nil, err
		}
		out = append(out, heard...)
	}
	return out, nil
}

// hearing is what a chat's ear makes of a recording with sound from begin to end.
type hearing struct {
	begin, end  time.Duration
	said        []string
	barge, over time.Duration
	early       bool
	heard       bool
}

func (h *hearing) listen(ctx context.Context, opened *engines.Set, pcm []float32) error {
	options := engine.DefaultSegmentOptions()
	settings := chat.DefaultSettings()
	options.EndSilence = settings.EndOfTurnSilence
	segmenter := engine.NewSegmenter(opened.Detector.NewStream(), options)
	var part engine.Segment // the newest that is not transcribed yet
	transcribe := func() error {
		if len(part.PCM) == 0 {
			return nil
		}
		got, err := opened.Transcriber.Transcribe(ctx, part.PCM, engine.TranscribeOptions{Language: "en"})
		h.said = append(h.said, got.Text)
		part = engine.Segment{}
		return err
	}
	for ; len(pcm) >= engine.FrameSamples; pcm = pcm[engine.FrameSamples:] {
		segments, err := segmenter.Push(nil, pcm[:engine.FrameSamples])
		if err != nil {
			return err
		}
		now := time.Duration(segmenter.Position()) * time.Second / engine.SpeechRateHz
		for _, s := range segments {
			switch s.Kind {
			case engine.Voice:
				h.heard = true
				if h.barge == 0 && s.Voiced >= settings.MinInterruption {
					h.barge = now - h.begin
				}
			case engine.Paused:
				part = s
			case engine.PartEnded:
				part = s
				err = transcribe()
			case engine.Ended, engine.Dropped:
				h.over, h.early = now-h.end, h.early || now < h.end
				err = transcribe()
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
