package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"parley/appliance"
	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/engine/onnx"
	"parley/appliance/text"
)

// A written is a text and what is said for it.
type written struct{ text, said string }

// tableOf reads the English rows of a table: locale, what is written, what is
// said, with tabs between; lines that begin with # are none.
func tableOf(path string) ([]written, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &ErrOption{fmt.Sprintf("the table: %v", err)}
	}
	var rows []written
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(line, "\t")
		if len(row) != 3 {
			return nil, &ErrOption{fmt.Sprintf("the table %s: %.80q has %d columns; a row has a locale, what is written and what is said, with tabs between", path, line, len(row))}
		}
		if strings.HasPrefix(row[0], "en-US") {
			rows = append(rows, written{strings.NewReplacer(`\n`, "\n", `\\`, `\`).Replace(row[1]), row[2]})
		}
	}
	if len(rows) == 0 {
		return nil, &ErrOption{fmt.Sprintf("the table %s has no row of en-US", path)}
	}
	return rows, nil
}

// judgeVoices has every voice say the same, and another ear write it down.
func (r *Report) judgeVoices(ctx context.Context, o Options, engines *appliance.Engines, voices []string, wants func(string) bool) (err error) {
	table, err := tableOf(o.Table)
	if err != nil {
		return err
	}
	cfg := o.Config
	if _, err := os.Stat(cfg.Pack("whisper")); err == nil {
		cfg.Engines.Transcriber = "whisper"
	}
	o.say("loading %s to listen to the voices", cfg.Engines.Transcriber)
	ears, err := appliance.OpenEngines(ctx, cfg, appliance.Hearing, o.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ears.Close()) }()
	whisper, aligns := ears.Transcriber.(*onnx.Whisper)
	sentences := spokenSentences()
	var said []written
	for _, s := range sentences[:min(len(sentences), o.Prompts)] {
		said = append(said, written{s, s})
	}
	for _, name := range voices {
		voice, err := engines.Voice(ctx, name)
		if err != nil {
			return err
		}
		judge := judging{r: r, name: name, voice: voice, ear: ears.Transcriber, heardBy: "as heard by " + cfg.Engines.Transcriber}
		if wants(ttsWords) {
			o.say("listening to %s", name)
			err = judge.listen(ctx, "", said)
			if err == nil && table != nil {
				err = judge.listen(ctx, "_table", table)
			}
		}
		if err == nil && wants(ttsTimes) && aligns {
			err = r.wordTimes(ctx, o, name, voice, whisper)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// judging is one voice that is listened to.
type judging struct {
	r             *Report
	name, heardBy string
	voice         engine.Synthesizer
	ear           engine.Transcriber
}

// listen counts what the ear does not understand of texts that the voice says.
func (j judging) listen(ctx context.Context, of string, texts []written) error {
	var all []float32
	var wrong, words int
	var took time.Duration
	for _, s := range texts {
		begun := time.Now()
		said, err := engine.SpeakWhole(ctx, j.voice, s.text, engine.SpeakOptions{Urgency: engine.Request.Urgency()})
		if err != nil {
			return err
		}
		took += time.Since(begun)
		all = append(all, said.PCM...)
		heard, err := j.ear.Transcribe(ctx, audio.Resample(said.PCM, said.RateHz, engine.SpeechRateHz), engine.TranscribeOptions{Language: "en"})
		if err != nil {
			return err
		}
		want := asSaid(s.said)
		wrong, words = wrong+text.WordErrors(want, asSaid(heard.Text)), words+len(want)
	}
	seconds := float64(len(all)) / float64(j.voice.RateHz())
	j.r.figure(j.name+of+"_real_time_factor", took.Seconds()/seconds, "", fmt.Sprintf("time over length, %d texts", len(texts)))
	j.r.figure(j.name+of+"_word_error", 100*float64(wrong)/float64(words), "%", fmt.Sprintf("%s, of %d words", j.heardBy, words))
	j.r.figure(j.name+of+"_loudness", audio.Loudness(all, j.voice.RateHz()), "LUFS", "")
	return nil
}

// asSaid are the words of a text, however it writes its numbers.
func asSaid(s string) []string {
	return text.Words(strings.ReplaceAll(text.Aloud(s, text.Options{Language: "en-US"}), "-", " "))
}

// misplaced is how many milliseconds each word of a speech begins from where the
// ear hears it begin.
func misplaced(ctx context.Context, said engine.Speech, ear *onnx.Whisper) ([]float64, error) {
	var words []string
	for _, w := range said.Words {
		words = append(words, w.Text)
	}
	begins, err := ear.Align(ctx, audio.Resample(said.PCM, said.RateHz, engine.SpeechRateHz), words, engine.TranscribeOptions{Language: "en", Urgency: engine.Request.Urgency()})
	if err != nil {
		return nil, err
	}
	var off []float64
	for i, w := range said.Words {
		off = append(off, 1000*math.Abs(float64(w.Begin)/float64(said.RateHz)-float64(begins[i])/engine.SpeechRateHz))
	}
	return off, nil
}
