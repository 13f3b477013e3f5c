package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"parley/appliance/engine"
)

// The dimensions of Moonshine's tiny English model.
const (
	moonshineWidth  = 288
	moonshineLayers = 6
	moonshineHeads  = 8
	moonshineDim    = 36
	moonshineVocab  = 32768

	moonshineBOS = 1
	moonshineEOS = 2

	// moonshineTail is the silence appended to every sound, 0.3 s: a word at the very end is
	// recognised better. Without it, 6.9 % of the words of prompts were wrong, and 24.6 % of very
	// short ones; with it 5.9 and 21.4 %. It also makes the shortest sound long enough for the
	// encoder.
	moonshineTail = 3 * engine.SpeechRateHz / 10

	// moonshineLead is the silence put before every sound, 0.1 s. Without it, 7 of 52 sections that
	// begin in the middle of a word lost everything before their first full stop, and with it none;
	// of 966 words of prompts 49 were wrong instead of 55. A second pass leaves it out, so that its
	// result differs.
	moonshineLead = engine.SpeechRateHz / 10

	// maxTokensPerSecond limits the length of a text: people say at most about six and a half
	// tokens a second, and synthesized speech more at a higher speed. A longer text is a runaway.
	maxTokensPerSecond = 6.5
)

// MaxSamples is the longest sound that a Transcriber of this package accepts: 30 s, the window that
// the models were made for.
const MaxSamples = 30 * engine.SpeechRateHz

// Moonshine transcribes English speech. It implements engine.Transcriber; calls share its sessions,
// one at a time for each core.
type Moonshine struct {
	encoder    *Session
	decoder    *mergedDecoder
	tokens     [][]byte
	gate       *engine.Gate
	workspaces *pool[*moonshineWorkspace]
}

// LoadMoonshine loads encoder_model.ort, decoder_model_merged.ort and tokenizer.bin from dir. Each
// call runs on one core; a second one made it faster by a tenth at most.
func LoadMoonshine(rt *Runtime, dir string, gate *engine.Gate) (_ *Moonshine, err error) {
	m := &Moonshine{gate: gate}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	if m.tokens, err = readBinaryVocabulary(filepath.Join(dir, "tokenizer.bin"), moonshineVocab); err != nil {
		return nil, err
	}
	m.encoder, err = rt.Load(filepath.Join(dir, "encoder_model.ort"), SessionOptions{
		Threads: 1,
		Inputs:  []string{"input_values", "attention_mask"},
		Outputs: []string{"last_hidden_state"},
	})
	if err != nil {
		return nil, err
	}
	decoder, err := rt.Load(filepath.Join(dir, "decoder_model_merged.ort"), SessionOptions{Threads: 1})
	if err != nil {
		return nil, err
	}
	m.decoder = newMergedDecoder(decoder, moonshineLayers, moonshineHeads, moonshineDim, moonshineVocab)
	m.workspaces = newPool(gate.Cores(), m.newWorkspace)
	return m, nil
}

// Close releases the memory. No call may be running.
func (m *Moonshine) Close() error {
	var errs []error
	if m.workspaces != nil {
		errs = append(errs, m.workspaces.Close())
	}
	if m.encoder != nil {
		errs = append(errs, m.encoder.Close())
	}
	if m.decoder != nil {
		errs = append(errs, m.decoder.session.Close())
	}
	return errors.Join(errs...)
}

// Warm transcribes a second of silence, because the first call is slow.
func (m *Moonshine) Warm(ctx context.Context) error {
	_, err := m.Transcribe(ctx, make([]float32, engine.SpeechRateHz),
		engine.TranscribeOptions{Urgency: engine.Live.Urgency()})
	return err
}

// Languages returns the only language that Moonshine transcribes.
func (m *Moonshine) Languages() []string { return []string{"en"} }

// Transcribe returns the words in pcm, up to MaxSamples. The cost grows with the square of the
// length, so pieces of up to 15 s are best. Another language than English is an error.
func (m *Moonshine) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript,
	error) {
	if primary := primaryLanguage(o.Language); primary != "" && primary != "en" {
		return engine.Transcript{},
			fmt.Errorf("onnx: language (%q): Moonshine transcribes English only; choose whisper as the transcriber "+
				"for other languages",
				o.Language)
	}
	if err := checkLength(pcm); err != nil {
		return engine.Transcript{}, err
	}
	transcript := engine.Transcript{Language: "en"}
	if len(pcm) == 0 {
		return transcript, ctx.Err()
	}
	var best transcription
	err := m.workspaces.use(func(w *moonshineWorkspace) (err error) {
		best, err = m.transcribe(ctx, w, pcm, o)
		return errors.Join(err, w.end())
	})
	if err != nil {
		return engine.Transcript{}, err
	}
	transcript.Text, transcript.Tokens = m.Text(best.ids), best.ids
	if o.Words {
		transcript.Confidence = math.Exp(best.mean())
		transcript.Words = best.words(transcript.Text, m.piece)
	}
	return transcript, nil
}

// transcribe transcribes pcm. If the model has probably lost part of the speech, which happens with
// about one in a hundred sections of a long utterance, it transcribes the sound again with other
// silence around it; and in two halves, if the text is still far too short for the voice.
func (m *Moonshine) transcribe(ctx context.Context, w *moonshineWorkspace, pcm []float32,
	o engine.TranscribeOptions) (transcription, error) {
	p := transcribePass{
		pcm:         pcm,
		lead:        moonshineLead,
		speculative: m.usableTokens(o.SpeculativeTokens),
		speed:       max(o.Speed, 1),
		urgency:     o.Urgency,
		confidence:  o.Words || len(pcm) >= minDoubtSamples,
	}
	best, err := m.runPass(ctx, w, p)
	if err != nil || !best.doubtful(pcm) {
		return best, err
	}
	p.lead, p.speculative = 0, nil
	again, err := m.runPass(ctx, w, p)
	if err != nil {
		return transcription{}, err
	}
	if again.better(best) {
		best = again
	}
	if !best.tooShort(pcm) {
		return best, nil
	}
	at := quietest(pcm)
	p.pcm = pcm[:at]
	first, err := m.runPass(ctx, w, p)
	if err != nil {
		return transcription{}, err
	}
	p.pcm = pcm[at:]
	second, err := m.runPass(ctx, w, p)
	if err != nil {
		return transcription{}, err
	}
	if halves := first.concat(second); halves.better(best) {
		return halves, nil
	}
	return best, nil
}

// moonshineWorkspace holds the buffers of one call.
type moonshineWorkspace struct {
	*decoding
	sound  []float32
	ones   []int64
	hidden []float32
}

func (m *Moonshine) newWorkspace() (*moonshineWorkspace, error) {
	d, err := m.decoder.newDecoding()
	if err != nil {
		return nil, err
	}
	return &moonshineWorkspace{decoding: d}, nil
}

// transcribePass is one pass over a sound.
type transcribePass struct {
	pcm         []float32
	lead        int     // samples of silence before the sound
	speculative []int64 // tokens with which the text may begin
	speed       float64 // relative to people's
	urgency     *engine.Urgency
	confidence  bool // compute the model's confidence, which costs a tenth of each token
}

// runPass runs the encoder and then the decoder, token by token, and releases the cores whenever
// more urgent work waits.
func (m *Moonshine) runPass(ctx context.Context, w *moonshineWorkspace, p transcribePass) (transcription, error) {
	w.sound = resize(w.sound, int64(p.lead+len(p.pcm)+moonshineTail))
	clear(w.sound[:p.lead])
	clampSound(w.sound[p.lead:], p.pcm)
	clear(w.sound[p.lead+len(p.pcm):])
	limit := int(maxTokensPerSecond*p.speed*float64(len(p.pcm))/engine.SpeechRateHz) + 2
	p.speculative = p.speculative[:min(len(p.speculative), limit-1)]
	text := greedy{limit: limit, end: moonshineEOS}
	var r transcription
	take := func(logits []float32) (id int64, more bool) {
		id = argmax(logits)
		if p.confidence {
			r.add(logits, id)
		}
		return id, text.add(id)
	}
	encode := func(ctx context.Context) error { return m.encode(ctx, w, int64(limit)) }
	err := encodeAndRun(ctx, m.gate, p.urgency, m.encoder.Threads(), []func(context.Context) error{encode},
		func() (bool, error) { return w.verify(p.speculative, take) },
		func() (bool, error) {
			logits, err := w.step(text.last(moonshineBOS))
			if err != nil {
				return true, err
			}
			_, more := take(logits)
			return !more, nil
		})
	r.ids = text.ids
	return r, err
}

// encode runs the encoder and prepares the decoder for its output.
func (m *Moonshine) encode(ctx context.Context, w *moonshineWorkspace, limit int64) error {
	n := int64(len(w.sound))
	frames := moonshineFrames(n)
	for int64(len(w.ones)) < n {
		w.ones = append(w.ones, 1)
	}
	w.hidden = resize(w.hidden, frames*moonshineWidth)
	if err := w.begin(limit, frames); err != nil {
		return err
	}
	sound, err := w.track(NewTensor(w.sound, 1, n))
	if err != nil {
		return err
	}
	mask, err := w.track(NewTensor(w.ones, 1, n))
	if err != nil {
		return err
	}
	hidden, err := w.track(NewTensor(w.hidden, 1, frames, moonshineWidth))
	if err != nil {
		return err
	}
	if err := m.encoder.RunUntil(ctx, []Value{sound, mask}, []Value{hidden}); err != nil {
		return err
	}
	// The mask has the length of the sound, not of the encoder's output; with the latter the
	// decoder fails on long sounds.
	return errors.Join(
		w.call.In("encoder_hidden_states", hidden),
		w.call.In("encoder_attention_mask", mask))
}

// moonshineFrames returns how many frames the encoder makes of n samples: its three convolutions
// are 127, 7 and 3 wide with strides of 64, 3 and 2.
func moonshineFrames(n int64) int64 {
	n = (n-127)/64 + 1
	n = (n-7)/3 + 1
	return (n-3)/2 + 1
}

// Text converts tokens to text. Tokens without text (the ends, the unknown token, reserved ones)
// are left out.
func (m *Moonshine) Text(ids []int64) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(m.piece(id))
	}
	return cleanText(b.String())
}

// piece returns the text of a token.
func (m *Moonshine) piece(id int64) string {
	if piece := string(m.tokens[id]); id > moonshineEOS && !strings.HasPrefix(piece, "<<ST_") {
		return strings.ReplaceAll(piece, "\u2581", " ")
	}
	return ""
}
