package bench

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"parley/appliance/analysis"
	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/expression"
	"parley/appliance/expression/face"
	"parley/appliance/media"
)

// portrait is a picture of an astronaut by NASA, in the public domain.
//
//go:embed portrait.jpg
var portrait []byte

// ExpressionData says where labelled data lie. What is not named is not compared.
type ExpressionData struct {
	Texts  string // a file in the form of GoEmotions' test.tsv
	Voices string // a folder with the wav files of EmoDB
	Faces  string // a folder with a folder of pictures for each class of the face nets
}

// What docs/expression.md states: macro-F1 on GoEmotions' test split, unweighted recall on
// speakers of EmoDB that were put away, accuracy on FER2013's private test.
const (
	statedTexts  = 0.470
	statedVoices = 0.722
	statedFaces  = 0.621
)

// Expression measures how right the scores of feelings are, on labelled data, and how fast
// files are analysed.
func Expression(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	ear := o.Config.Engines.Transcriber
	r := Report{Bench: "expression", Machine: describe(o.Config, "runtime-onnx", "turn", "faces", ear)}
	meter, err := expression.New()
	if err != nil {
		return r, err
	}
	opened, err := engines.Open(ctx, o.Config, engines.Hearing, o.Log)
	if err != nil {
		return r, err
	}
	defer opened.Close()
	e := expressionBench{&r, o, meter, opened}
	for _, measure := range []func(context.Context) error{e.texts, e.voices, e.faces, e.pictures, e.sounds} {
		if err := measure(ctx); err != nil {
			return r, err
		}
	}
	r.memory(self(), 0)
	return r, nil
}

type expressionBench struct {
	*Report
	o     Options
	meter *expression.Meter
	set   *engines.Set
}

// texts adds the macro-F1 of the labels of texts: the mean of the F1 of all labels.
func (e expressionBench) texts(context.Context) error {
	if e.o.Expression.Texts == "" {
		return nil
	}
	f, err := os.Open(e.o.Expression.Texts)
	if err != nil {
		return err
	}
	defer f.Close()
	labels := expression.TextLabels()
	hits, found, wanted := make([]int, len(labels)), make([]int, len(labels)), make([]int, len(labels))
	lines := bufio.NewScanner(f)
	n := 0
	for ; lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) < 2 {
			return fmt.Errorf("%s:%d: expected a text, a tab and label numbers", f.Name(), n+1)
		}
		has := make([]bool, len(labels))
		for number := range strings.SplitSeq(fields[1], ",") {
			i, err := strconv.Atoi(number)
			if err != nil || i < 0 || i >= len(labels) {
				return fmt.Errorf("%s:%d: label %q; allowed are 0 to %d", f.Name(), n+1, number, len(labels)-1)
			}
			has[i] = true
		}
		for i, says := range e.meter.HasLabels(fields[0]) {
			found[i] += count(says)
			wanted[i] += count(has[i])
			hits[i] += count(says && has[i])
		}
	}
	var sum float64
	for i := range labels {
		sum += 2 * float64(hits[i]) / max(1, float64(found[i]+wanted[i]))
	}
	e.against("text_macro_f1", sum/float64(len(labels)), "", statedTexts, fmt.Sprintf("%d texts", n))
	return lines.Err()
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// faces adds the share of pictures whose expression is right. A picture without a face that
// is found is wrong.
func (e expressionBench) faces(ctx context.Context) error {
	right, n, err := classified(e.o.Expression.Faces, face.ClassNames(), func(path string) (string, error) {
		class := ""
		err := new(media.Reader).Frames(ctx, path, 1, func(f media.Frame) error {
			p := face.Picture{Width: f.Width, Height: f.Height, RGB: f.RGB}
			found, err := e.set.Faces.Find(ctx, p, face.Options{})
			best := 0.0
			for _, f := range found {
				if f.Probability > best {
					best, class = f.Probability, f.Class()
				}
			}
			return err
		})
		return class, err
	})
	if n > 0 {
		e.against("face_accuracy", float64(right)/float64(n), "", statedFaces, fmt.Sprintf("%d pictures", n))
	}
	return err
}

// classified has judge classify the files in the folder of each class. It returns how many are
// right, and how many there are.
func classified(dir string, classes []string, judge func(path string) (string, error)) (right, n int, err error) {
	if dir == "" {
		return 0, 0, nil
	}
	for _, class := range classes {
		files, err := filepath.Glob(filepath.Join(dir, class, "*.*"))
		if err != nil {
			return 0, 0, err
		}
		for _, path := range files {
			got, err := judge(path)
			if err != nil {
				return 0, 0, fmt.Errorf("%s: %w", path, err)
			}
			right += count(got == class)
		}
		n += len(files)
	}
	if n == 0 {
		return 0, 0, fmt.Errorf("%s has no files in folders named %s", dir, strings.Join(classes, ", "))
	}
	return right, n, nil
}

// pictures times a picture of 512 x 512 pixels with one face.
func (e expressionBench) pictures(ctx context.Context) error {
	path, err := temporary("parley-bench-*.jpg", portrait)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	e.o.announce("finding faces")
	usual := face.Options{
		MinSide:        contract.DefaultMinFaceSize,
		MinProbability: contract.DefaultFaceProbability,
	}
	return new(media.Reader).Frames(ctx, path, 1, func(f media.Frame) error {
		p := face.Picture{Width: f.Width, Height: f.Height, RGB: f.RGB}
		took, err := timed(e.o.Rounds, func() error {
			found, err := e.set.Faces.Find(ctx, p, usual)
			if err == nil && len(found) != 1 {
				err = errors.New("the face of the portrait was not found")
			}
			return err
		})
		e.figure("frames_per_second", 1000/took, "", "512 × 512 pixels, one face")
		return err
	})
}

// soundLength is the length of the sound whose analysis is timed.
const soundLength = 5 * time.Minute

// sounds times the analysis of speech, with transcript, prosody and language.
func (e expressionBench) sounds(ctx context.Context) error {
	said, err := recordings(e.o.Recordings)
	if err != nil {
		return err
	}
	path, err := temporary("parley-bench-*.wav", audio.EncodeWAV(speechOf(said, soundLength), engine.SpeechRateHz))
	if err != nil {
		return err
	}
	defer os.Remove(path)
	a := analysis.Analyser{
		Meter:       e.meter,
		Gate:        e.set.Gate,
		Media:       &media.Reader{},
		Detector:    e.set.Detector,
		Transcriber: e.set.Transcriber,
	}
	all := contract.AllBatchModels()
	e.o.announce("analysing %v of speech", soundLength)
	begun := time.Now()
	_, err = a.Analyse(ctx, analysis.Source{Path: path}, analysis.Request{
		Models:        contract.BatchModels{Prosody: all.Prosody, Language: all.Language},
		Transcription: &contract.BatchTranscription{},
	})
	e.figure("hours_per_hour", soundLength.Seconds()/time.Since(begun).Seconds(), "",
		"of speech; transcript, prosody and language")
	return err
}

// temporary writes a temporary file and returns its path.
func temporary(pattern string, data []byte) (path string, err error) {
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	return f.Name(), errors.Join(err, f.Close())
}
