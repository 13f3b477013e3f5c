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
	decoder, err := rt.Load(filepath.Join(dir, "decoder_model_merged_quantized.onnx"), attentionOptions())
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
// takes three more steps of the decoder. The times of words are those of Align.
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
	var text transcription
	var words []engine.TranscriptWord
	err = w.workspaces.use(func(work *whisperWorkspace) (err error) {
		if text, language, err = w.transcribe(ctx, work, pcm, language, o.Urgency); err == nil && o.Words {
			said := w.tokens.text(text.ids)
			words = text.words(said, w.tokens.piece)
			a := alignment{samples: len(pcm), language: language, urgency: o.Urgency}
			err = w.setTimes(ctx, work, a, said, words)
		}
		return errors.Join(err, work.end())
	})
	if err != nil {
		return engine.Transcript{}, err
	}
	transcript := engine.Transcript{
		Text:     w.tokens.text(text.ids),
		Language: primaryLanguage(o.Language),
		Words:    words,
	}
	if o.Words && transcript.Text != "" {
		transcript.Confidence = math.Exp(text.mean())
	}
	if transcript.Language == "" {
		transcript.Language = w.tokens.language(language)
	}
	return transcript, nil
}

// transcribe runs the encoder, the prompt, and then the decoder, token by token, and releases the
// cores whenever more urgent work waits.
func (w *Whisper) transcribe(ctx context.Context, work *whisperWorkspace, pcm []float32, language int64,
	u *engine.Urgency) (r transcription, _ int64, err error) {
	text := greedy{limit: whisperLimit, end: whisperEOS}
	take := func(logits []float32, first bool) (more bool) {
		id := w.tokens.next(logits, first)
		r.add(logits[:whisperText+1], id)
		return text.add(id)
	}
	prompt := whisperPromptOf(language)
	var logits []float32
	pieces := make([]func() (bool, error), 0, len(prompt)+1)
	for i := range prompt {
		pieces = append(pieces, func() (done bool, err error) {
			if logits, err = work.step(prompt[i]...); err != nil {
				return true, err
			}
			if i == 0 {
				if language == 0 {
					language = w.tokens.likeliestLanguage(logits)
					prompt[1] = []int64{language}
				}
				if noSpeech(logits[:whisperVocab]) {
					return true, nil
				}
			}
			last := i == len(prompt)-1
			return last && !take(logits[len(logits)-whisperVocab:], true), nil
		})
	}
	pieces = append(pieces, func() (bool, error) {
		logits, err := work.step(text.last(0))
		return err != nil || !take(logits, false), err
	})
	encoding, err := w.encoding(work, pcm)
	if err != nil {
		return r, language, err
	}
	err = encodeAndRun(ctx, w.gate, u, w.decoder.session.Threads(), encoding, pieces...)
	r.ids = text.ids
	return r, language, err
}

// whisperPromptOf returns the decoder's instructions, in the steps in which they are decoded. If the language is open
// (0), it is chosen by the first step, and each of the others is a step.
func whisperPromptOf(language int64) [][]int64 {
	if language != 0 {
		return [][]int64{{whisperStart, language, whisperTranscribe, whisperNoTimes}}
	}
	return [][]int64{{whisperStart}, {language}, {whisperTranscribe}, {whisperNoTimes}}
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
	features []float32
	hidden   [2][]float32
	heard    Value // the encoder's output
}

func (w *Whisper) newWorkspace() (*whisperWorkspace, error) {
	d, err := w.decoder.newDecoding()
	if err != nil {
		return nil, err
	}
	return &whisperWorkspace{decoding: d}, nil
}
