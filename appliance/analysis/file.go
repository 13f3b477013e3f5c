package analysis

import (
	"context"
	"errors"
	"fmt"
	"os"

	"parley/appliance/contract"
	"parley/appliance/media"
)

// maxTextFile is the largest file of text, in bytes: as many characters as a text of a request, of up to four bytes.
const maxTextFile = 4 * contract.MaxBatchTextChars

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
		problems = append(problems, a.seen(ctx, path, r, &report))
	}
	if info.HasSound && r.wantsSound() {
		applies = true
		problems = append(problems, a.sound(ctx, path, r, &report))
	}
	if !applies {
		return Report{}, notApplicable("a "+info.Medium(), r)
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

// seen measures the faces of a picture or video.
func (a *Analyser) seen(ctx context.Context, path string, r Request, to *Report) (err error) {
	to.Models.Face, to.Models.Facemesh, err = a.faces(ctx,
		func(ctx context.Context, fps float64, emit func(media.Frame) error) error {
			return a.Media.Frames(ctx, path, fps, emit)
		}, r)
	return mediaError(err)
}

// sound measures the voices of a sound, or of the sound of a video.
func (a *Analyser) sound(ctx context.Context, path string, r Request, to *Report) error {
	return mediaError(a.speech(ctx, func(ctx context.Context, emit func([]float32) error) error {
		return a.Media.Sound(ctx, path, emit)
	}, r, to))
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
