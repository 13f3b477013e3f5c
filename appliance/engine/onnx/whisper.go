package onnx

import (
	"context"
	"errors"
	"math"
	"path/filepath"

	"parley/appliance/engine"
)

// The dimensions of Whisper base.
const (
	whisperWidth  = 512
	whisperLayers = 6
	whisperHeads  = 8
	whisperDim    = 64

	// whisperShortFrames is a window of 15 s for sound of up to whisperShortSound, 9 s: it takes
	// half the time and has the same word error as the 30 s that Whisper was trained on. Longer
	// sound makes the model loop in the shorter window.
	whisperShortFrames = 1500
	whisperLongFrames  = 3000
	whisperShortSound  = 9 * engine.SpeechRateHz

	// whisperLimit limits the tokens of a text to half of the decoder's 448 positions, as its
	// authors do. 30 s of fast English are about 150.
	whisperLimit  = 224
	whisperPrompt = 4

	// noSpeechThreshold is the probability of no speech from which the text is empty.
	noSpeechThreshold = 0.5
)

// Whisper transcribes the speech of 99 languages. It implements engine.Transcriber; calls share its
// sessions.
type Whisper struct {
	tokens      *whisperTokens
	mel         *melBank
	short, long *whisperEncoder
	decoder     *mergedDecoder
	gate        *engine.Gate
	workspaces  *pool[*whisperWorkspace]
}

// LoadWhisper loads encoder_model_quantized.onnx, decoder_model_merged_quantized.onnx,
// tokenizer.json and generation_config.json from dir. The two windows of the encoder are loaded
// when they are first needed.
func LoadWhisper(rt *Runtime, dir string, gate *engine.Gate) (_ *Whisper, err error) {
	encoder := filepath.Join(dir, "encoder_model_quantized.onnx")
	if err := checkReadable(encoder); err != nil {
		return nil, err
	}
	tokens, err := readWhisperTokens(dir)
	if err != nil {
		return nil, err
	}
	decoder, err := rt.Load(filepath.Join(dir, "decoder_model_merged_quantized.onnx"), SessionOptions{})
	if err != nil {
		return nil, err
	}
	w := &Whisper{
		tokens:  tokens,
		mel:     newMelBank(),
		short:   &whisperEncoder{rt: rt, path: encoder, frames: whisperShortFrames},
		long:    &whisperEncoder{rt: rt, path: encoder, frames: whisperLongFrames},
		decoder: newMergedDecoder(decoder, whisperLayers, whisperHeads, whisperDim, whisperVocab),
		gate:    gate,
	}
	w.workspaces = newPool(max(1, gate.Cores()/decoder.Threads()), w.newWorkspace)
	return w, nil
}

// Close releases the memory. No call may be running.
func (w *Whisper) Close() error {
	return errors.Join(w.workspaces.Close(), w.short.Close(), w.long.Close(), w.decoder.session.Close())
}

// Warm transcribes a second of silence, because the first call is slow. It loads the short window.
func (w *Whisper) Warm(ctx context.Context) error {
	_, err := w.Transcribe(ctx, make([]float32, engine.SpeechRateHz),
		engine.TranscribeOptions{Urgency: engine.Live.Urgency()})
	return err
}

// Transcribe returns the words in pcm, up to MaxSamples. If the language is open, detecting it
// takes three more steps of the decoder.
func (w *Whisper) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (_ engine.Transcript,
	err error) {
	language, err := w.tokens.languageToken(o.Language)
	if err != nil {
		return engine.Transcript{}, err
	}
	if err := checkLength(pcm); err != nil {
		return engine.Transcript{}, err
	}
	if len(pcm) == 0 {
		return engine.Transcript{Language: primaryLanguage(o.Language)}, ctx.Err()
	}
	var ids []int64
	err = w.workspaces.use(func(work *whisperWorkspace) (err error) {
		ids, language, err = w.transcribe(ctx, work, pcm, language, o.Urgency)
		return errors.Join(err, work.end())
	})
	if err != nil {
		return engine.Transcript{}, err
	}
	transcript := engine.Transcript{Text: w.tokens.text(ids), Language: primaryLanguage(o.Language)}
	if transcript.Language == "" {
		transcript.Language = w.tokens.language(language)
	}
	return transcript, nil
}

// transcribe runs the encoder, the prompt, and then the decoder, token by token, and releases the
// cores whenever more urgent work waits.
func (w *Whisper) transcribe(ctx context.Context, work *whisperWorkspace, pcm []float32, language int64,
	u *engine.Urgency) ([]int64, int64, error) {
	text := greedy{limit: whisperLimit, end: whisperEOS}
	err := runPieces(ctx, w.gate, u, w.decoder.session.Threads(),
		func() (bool, error) { return false, w.encode(work, pcm) },
		func() (done bool, err error) {
			var logits []float32
			logits, language, err = w.prompt(work, language)
			if err != nil || logits == nil {
				return true, err
			}
			return !text.add(w.tokens.next(logits, true)), nil
		},
		func() (bool, error) {
			logits, err := work.step(text.last(0))
			return err != nil || !text.add(w.tokens.next(logits, false)), err
		})
	return text.ids, language, err
}

// prompt gives the decoder its instructions and returns the logits of the first token, or nil if
// there is no speech.
func (w *Whisper) prompt(work *whisperWorkspace, language int64) ([]float32, int64, error) {
	prompt := []int64{whisperStart, language, whisperTranscribe, whisperNoTimes}
	if language != 0 {
		logits, err := work.step(prompt...)
		if err != nil || noSpeech(logits[:whisperVocab]) {
			return nil, language, err
		}
		return logits[(whisperPrompt-1)*whisperVocab:], language, nil
	}
	logits, err := work.step(whisperStart)
	if err != nil {
		return nil, 0, err
	}
	language = w.tokens.likeliestLanguage(logits)
	if noSpeech(logits) {
		return nil, language, nil
	}
	prompt[1] = language
	for _, id := range prompt[1:] {
		if logits, err = work.step(id); err != nil {
			return nil, language, err
		}
	}
	return logits, language, nil
}

// noSpeech reports whether the logits at the start predict that there is no speech. NaN, from
// unusable sound, counts as no speech.
func noSpeech(logits []float32) bool {
	top := logits[argmax(logits)]
	var sum float64
	for _, x := range logits {
		sum += math.Exp(float64(x - top))
	}
	return !(math.Exp(float64(logits[whisperNoSpeech]-top))/sum <= noSpeechThreshold)
}

// whisperWorkspace holds the buffers of one call.
type whisperWorkspace struct {
	*decoding
	features, hidden []float32
}

func (w *Whisper) newWorkspace() (*whisperWorkspace, error) {
	d, err := w.decoder.newDecoding()
	if err != nil {
		return nil, err
	}
	return &whisperWorkspace{decoding: d}, nil
}

// encode runs the encoder and prepares the decoder for its output.
func (w *Whisper) encode(work *whisperWorkspace, pcm []float32) error {
	e := w.short
	if len(pcm) > whisperShortSound {
		e = w.long
	}
	work.features = resize(work.features, int64(melBands*e.frames))
	w.mel.features(work.features, pcm, e.frames)

	positions := int64(e.frames / 2)
	work.hidden = resize(work.hidden, positions*whisperWidth)
	if err := work.begin(whisperPrompt+whisperLimit, positions); err != nil {
		return err
	}
	hidden, err := work.track(NewTensor(work.hidden, 1, positions, whisperWidth))
	if err != nil {
		return err
	}
	features, err := work.track(NewTensor(work.features, 1, melBands, int64(e.frames)))
	if err != nil {
		return err
	}
	if err := e.run(features, hidden); err != nil {
		return err
	}
	return work.call.In("encoder_hidden_states", hidden)
}
