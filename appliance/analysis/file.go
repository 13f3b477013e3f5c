package analysis

import (
	"context"
	"errors"
	"fmt"
	"os"

	"parley/appliance/media"
)

// maxTextFile is the largest file of text, in bytes: a novel.
const maxTextFile = 4 << 20

// file measures a picture, a video, a sound or a file of text.
func (a *Analyser) file(ctx context.Context, path string, r Request) (Report, error) {
	info, err := a.Media.Probe(ctx, path)
	if err != nil {
		return Report{}, mediaError(err)
	}
	if info.Kind == media.Text {
		text, err := readText(path)
		if err != nil {
			return Report{}, err
		}
		return a.text(ctx, text, r)
	}
	var report Report
	var problems []error
	applies := false
	if info.Kind != media.Sound && r.wantsFaces() {
		applies = true
		problems = append(problems, a.seen(ctx, path, info, r, &report))
	}
	if info.HasSound && r.wantsSound() {
		applies = true
		problems = append(problems, a.sound(ctx, path, info, r, &report))
	}
	if !applies {
		return Report{}, notApplicable(describe(info), r)
	}
	return report, report.conclude(ctx, problems)
}

// conclude keeps what is wrong with a part of the medium as a problem of the report, and returns an error if there is
// nothing else to report, or if it is not a fault of the medium.
func (rep *Report) conclude(ctx context.Context, problems []error) error {
	failed := errors.Join(problems...)
	if failed == nil || ctx.Err() != nil {
		return failed
	}
	measured := false
	for _, err := range problems {
		_, fault := errors.AsType[*Error](err)
		_, missing := errors.AsType[*ErrMissing](err)
		switch {
		case err == nil:
			measured = true
		case !fault && !missing:
			return failed
		default:
			rep.Problems = append(rep.Problems, err.Error())
		}
	}
	if !measured {
		return failed
	}
	return nil
}

func (r Request) wantsFaces() bool { return r.Models.Face != nil || r.Models.Facemesh != nil }

func (r Request) wantsSound() bool {
	m := r.Models
	return m.Prosody != nil || m.Burst != nil || r.wantsWords()
}

func (r Request) wantsWords() bool { return r.Models.Language != nil || r.Models.NER != nil }

// describe names a medium for an error.
func describe(info media.Info) string {
	if info.Kind == media.Video && !info.HasSound {
		return "a video without sound"
	}
	return fmt.Sprintf("a %v", info.Kind)
}

// seen measures the faces of a picture or video.
func (a *Analyser) seen(ctx context.Context, path string, info media.Info, r Request, to *Report) error {
	part := r
	if info.HasSound && r.wantsSound() && r.Progress != nil {
		part.Progress = func(done float64) { r.Progress(done / 2) }
	}
	pictures, err := a.faces(ctx, func(ctx context.Context, fps float64, emit func(media.Frame) error) error {
		return a.Media.Frames(ctx, path, fps, emit)
	}, info.Duration, part)
	if err != nil {
		return mediaError(err)
	}
	to.Models.Face, to.Models.Facemesh = pictures.face, pictures.facemesh
	if pictures.seen == 0 && r.Models.Face != nil {
		to.Warnings = append(to.Warnings, NoFaces)
	}
	if pictures.seen == 0 && r.Models.Facemesh != nil {
		to.Warnings = append(to.Warnings, NoFacemesh)
	}
	return nil
}

// sound measures the voices of a sound, or of the sound of a video.
func (a *Analyser) sound(ctx context.Context, path string, info media.Info, r Request, to *Report) error {
	var heard int
	err := a.speech(ctx, func(ctx context.Context, emit func([]float32) error) error {
		return a.Media.Sound(ctx, path, func(pcm []float32) error {
			heard += len(pcm)
			if r.Progress != nil && info.Duration > 0 {
				done := min(1, float64(heard)/media.SampleRate/info.Duration.Seconds())
				if info.Kind == media.Video && r.wantsFaces() {
					done = (1 + done) / 2
				}
				r.Progress(done)
			}
			return emit(pcm)
		})
	}, r, to)
	return mediaError(err)
}

// readText returns the content of a file of text.
func readText(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > maxTextFile {
		return "", &Error{fmt.Sprintf("it is a text of %d bytes; at most %d are allowed", info.Size(), maxTextFile)}
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

// mediaError returns a fault of a file as an Error, and a missing program as an ErrMissing.
func mediaError(err error) error {
	if fault, ok := errors.AsType[*media.Error](err); ok {
		return &Error{fault.Why}
	}
	if errors.Is(err, media.ErrNoFFmpeg) {
		return &ErrMissing{What: "the programs that read pictures, videos and sounds", How: "apt-get install ffmpeg"}
	}
	return err
}
