package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/engine/espeak"
	"parley/appliance/engine/onnx"
	"parley/appliance/engines"
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
			return nil, &ErrOption{fmt.Sprintf("the table %s: %.80q has %d columns; a row has a locale, what is "+
				"written and what is said, with tabs between", path, line, len(row))}
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
func (r *Report) judgeVoices(ctx context.Context, o Options, opened *engines.Set, voices []string,
	wants func(string) bool) (err error) {
	table, err := tableOf(o.Table)
	if err != nil {
		return err
	}
	cfg := o.Config
	if _, err := os.Stat(cfg.Pack("whisper")); err == nil {
		cfg.Engines.Transcriber = "whisper"
	}
	o.say("loading %s to listen to the voices", cfg.Engines.Transcriber)
	ears, err := engines.Open(ctx, cfg, engines.Hearing, o.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ears.Close()) }()
	whisper, aligns := ears.Transcriber.(*onnx.Whisper)
	kept, err := openNotes(o.Notes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	ph, err := espeak.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ph.Close()) }()
	for _, name := range voices {
		voice, err := opened.Voice(ctx, name)
		if err != nil {
			return err
		}
		language, sentences := sentencesFor(voice)
		judge := judging{
			r:         r,
			name:      name,
			language:  language,
			sentences: sentences,
			voice:     voice,
			ear:       ears.Transcriber,
			heardBy:   "as heard by " + cfg.Engines.Transcriber,
			notes:     kept,
			sounds:    soundsOf(ph, language),
		}
		if wants(ttsWords) {
			err = judge.words(ctx, o, table)
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

// What the voices say.
const ofSentences, ofTable = "sentences", "table"

// words has the voice say sentences of its language, and the table where that is
// English.
func (j judging) words(ctx context.Context, o Options, table []written) error {
	if len(j.sentences) == 0 {
		o.say("%s speaks %q, of which there are no sentences here: it is left out", j.name, j.language)
		return nil
	}
	o.say("listening to %s", j.name)
	var said []written
	for _, s := range evenly(j.sentences, o.Prompts) {
		said = append(said, written{s, s})
	}
	err := j.listen(ctx, ofSentences, said)
	if err != nil || table == nil || j.language != "en" {
		return err
	}
	return j.listen(ctx, ofTable, evenly(table, o.Sample))
}

// languageOf is the BCP 47 tag of what a voice speaks; English where it does not
// say it.
func languageOf(voice engine.Synthesizer) string {
	return cmp.Or(engine.LanguageOf(voice), "en")
}

// sentencesFor are what a voice is judged by, in its language, the base of a tag.
func sentencesFor(voice engine.Synthesizer) (language string, sentences []string) {
	language, _, _ = strings.Cut(languageOf(voice), "-")
	if language == "en" {
		return language, spokenSentences()
	}
	return language, foreignSentences()[language]
}

// misplaced is how many milliseconds each word of a speech begins from where the
// ear hears it begin.
func misplaced(ctx context.Context, said engine.Speech, ear *onnx.Whisper, language string) ([]float64, error) {
	var words []string
	for _, w := range said.Words {
		words = append(words, w.Text)
	}
	begins, err := ear.Align(ctx, audio.Resample(said.PCM, said.RateHz, engine.SpeechRateHz), words,
		engine.TranscribeOptions{Language: language, Urgency: engine.Request.Urgency()})
	if err != nil {
		return nil, err
	}
	var off []float64
	for i, w := range said.Words {
		off = append(off, 1000*math.Abs(float64(w.Begin)/float64(said.RateHz)-float64(begins[i])/engine.SpeechRateHz))
	}
	return off, nil
}
