// Package analysis measures the feelings that one medium shows: a text, a recording, a picture or a video. Batch jobs
// and the stream of the models use it.
package analysis

import (
	"context"
	"fmt"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/expression"
	"parley/appliance/expression/face"
	"parley/appliance/media"
)

// An Analyser measures one medium after another. Several goroutines may use it.
type Analyser struct {
	Meter       *expression.Meter
	Gate        *engine.Gate
	Media       *media.Reader
	Faces       *face.Finder
	Detector    engine.VoiceDetector
	Transcriber engine.Transcriber // of recordings
}

// A Source is a medium to analyse.
type Source struct {
	Path string // of a file; empty: Text is the medium
	Text string
}

// People are persons whose faces were seen. The zero value knows nobody.
type People = face.People

// A Request says what to measure, and how.
type Request struct {
	Models        contract.BatchModels
	Transcription *contract.BatchTranscription // nil: speech is not transcribed
	// Speakers tells the speakers of a recording apart.
	Speakers bool
	// Urgency returns the urgency of the next piece of work; nil means engine.Batch.
	Urgency func() *engine.Urgency
	// People are those whom faces were recognised as before, if the request identifies faces; nil: nobody.
	People *People
	// SaveFace stores a picture of a face (JPEG); nil if none is wanted.
	SaveFace func(group string, frame int, jpeg []byte) error
}

// A Report is what was measured.
type Report struct {
	Models contract.ModelsPredictions
	// Problems say why a model that was asked for, and applies to the medium, has no predictions, while others have.
	Problems []string
}

// An Error is a fault of the medium or of the request: other media can be analysed.
type Error struct{ Why string }

func (e *Error) Error() string { return e.Why }

// ErrMissing is a part of the box that is not installed.
type ErrMissing struct {
	What string // "the nets for faces"
	How  string // the command that installs it
}

func (e *ErrMissing) Error() string {
	return fmt.Sprintf("%s are not installed: run %s", e.What, e.How)
}

// Analyse measures a medium. The error is an Error if the medium cannot be read or none of the models applies to it,
// and an ErrMissing if the box lacks what all of the models need.
func (a *Analyser) Analyse(ctx context.Context, s Source, r Request) (Report, error) {
	if s.Path == "" {
		return a.text(ctx, s.Text, r)
	}
	return a.file(ctx, s.Path, r)
}
