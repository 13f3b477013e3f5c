package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"parley/appliance/analysis"
	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/media"
	"parley/internal/limit"
)

// text analyses a text.
func (t *Session) text(text string) (none contract.StreamModelPredictions, err error) {
	return t.measure(media.Info{Kind: media.Text}, analysis.Source{Text: text})
}

// medium analyses a picture, a sound or a video, or the file of a text.
func (t *Session) medium(data []byte) (none contract.StreamModelPredictions, err error) {
	leave, err := t.service.working.Acquire(t.ctx, t.account)
	if err != nil {
		return none, err
	}
	defer leave()
	file, err := newMediumFile(data)
	if err != nil {
		return none, err
	}
	defer file.close()
	info, err := t.service.media.Probe(t.ctx, file.path())
	if err != nil {
		return none, err
	}
	if info.Kind == media.Text {
		if n := utf8.RuneCount(data); n > contract.MaxStreamTextChars {
			return none, contract.TooLongForStream(n)
		}
		return t.text(string(data))
	}
	if err := checkLength(info.Kind, info.Duration); err != nil {
		return none, err
	}
	if info.Kind == media.Sound && t.applicable(info).Language == nil { // with it, words would come twice
		windowed, err := t.withSoundBefore(file.path())
		if err != nil {
			return none, err
		}
		defer windowed.close()
		file = windowed
	}
	return t.measure(info, analysis.Source{Path: file.path()})
}

// measure analyses a medium of a kind.
func (t *Session) measure(info media.Info, from analysis.Source) (none contract.StreamModelPredictions, err error) {
	r := t.request(info)
	if len(r.Models.Names()) == 0 {
		return none, t.incompatible(info)
	}
	report, err := t.service.analyser.Analyse(t.ctx, from, r)
	if err != nil {
		return none, err
	}
	return t.convert(info, report), nil
}

func checkLength(kind media.Kind, length time.Duration) error {
	if length <= contract.MaxStreamMedia {
		return nil
	}
	code := contract.StreamSoundLong
	if kind == media.Video {
		code = contract.StreamVideoLong
	}
	return contract.StreamFault{Code: code,
		Why: fmt.Sprintf("data: the %s is longer than %v; POST /v0/batch/jobs takes longer ones", kind,
			contract.MaxStreamMedia)}
}

// applicable returns the models that run on a medium: of those that were asked for, or of all,
// the ones that apply to it. Language runs on speech only for a client that asks for it.
func (t *Session) applicable(info media.Info) contract.BatchModels {
	m := contract.AllStreamModels()
	if t.models != nil {
		m = *t.models
	} else if info.HasSound {
		m.Language = nil
	}
	if info.Kind != media.Picture && info.Kind != media.Video {
		m.Face, m.Facemesh = nil, nil
	}
	if !info.HasSound {
		m.Prosody, m.Burst = nil, nil
	}
	if info.Kind != media.Text && !info.HasSound {
		m.Language = nil
	}
	return m
}

func (t *Session) request(info media.Info) analysis.Request {
	r := analysis.Request{Models: t.applicable(info), Urgency: engine.Request.Urgency, People: &t.people}
	if p := r.Models.Prosody; info.HasSound && (r.Models.Language != nil || p != nil && needsWords(*p)) {
		r.Transcription = &contract.BatchTranscription{}
	}
	return r
}

// needsWords reports whether the stretches of a voice depend on what it says.
func needsWords(p contract.BatchProsody) bool {
	return p.Window == nil && p.Granularity != contract.ByUtterance
}

// incompatible is the error for a medium to which none of the models applies.
func (t *Session) incompatible(info media.Info) error {
	code := contract.StreamIncompatible
	if info.Kind == media.Video && (t.models.Prosody != nil || t.models.Burst != nil) {
		code = contract.StreamNoSound
	}
	return contract.StreamFault{Code: code, Why: fmt.Sprintf("models: none of %s applies to a %s",
		strings.Join(t.models.Names(), ", "), info.Medium())}
}

// withSoundBefore returns the sound of a file after that of the payloads before it, as far as
// the window goes back, and remembers its end.
func (t *Session) withSoundBefore(path string) (*mediumFile, error) {
	pcm := t.sound
	fresh := 0
	err := t.service.media.Sound(t.ctx, path, func(piece []float32) error {
		pcm = append(pcm, piece...)
		fresh += len(piece)
		return checkLength(media.Sound, time.Duration(fresh)*time.Second/media.SampleRate)
	})
	if err != nil {
		return nil, err
	}
	window := int(t.windowMS * media.SampleRate / 1000)
	pcm = pcm[max(0, len(pcm)-max(window, fresh)):]
	t.sound = append([]float32(nil), pcm[max(0, len(pcm)-maxWindow):]...)
	return newMediumFile(audio.EncodeWAV(pcm, media.SampleRate))
}

// maxWindow is the number of samples of the longest window.
const maxWindow = contract.MaxStreamWindowMS * media.SampleRate / 1000

// mediumFile is a medium in a file without a name, which is gone when it is closed.
type mediumFile struct{ file *os.File }

func newMediumFile(data []byte) (*mediumFile, error) {
	f, err := os.CreateTemp("", "parley-stream-")
	if err != nil {
		return nil, err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, os.Remove(f.Name())); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &mediumFile{f}, nil
}

// path is a path by which this process opens the file.
func (m *mediumFile) path() string { return fmt.Sprintf("/proc/self/fd/%d", m.file.Fd()) }

func (m *mediumFile) close() { _ = m.file.Close() } // the file is deleted in any case

// faultOf returns the error for the client. Errors of the box are logged.
func (t *Session) faultOf(err error) contract.StreamFault {
	if f, ok := errors.AsType[contract.StreamFault](err); ok {
		return f
	}
	broken, unreadable := errors.AsType[*media.Error](err)
	unfit, ofMedium := errors.AsType[*analysis.Error](err)
	missing, absent := errors.AsType[*analysis.ErrMissing](err)
	switch {
	case unreadable && strings.Contains(broken.Why, "pixels"):
		return contract.StreamFault{Code: contract.StreamPictureLarge, Why: "data: " + broken.Why}
	case unreadable && strings.HasPrefix(broken.Why, "the sound is longer"):
		return contract.StreamFault{Code: contract.StreamSoundLong, Why: "data: " + broken.Why}
	case unreadable && strings.HasPrefix(broken.Why, "the video is longer"):
		return contract.StreamFault{Code: contract.StreamVideoLong, Why: "data: " + broken.Why}
	case unreadable:
		return contract.StreamFault{Code: contract.StreamUnreadable, Why: "data: " + broken.Why}
	case ofMedium:
		return contract.StreamFault{Code: contract.StreamUnreadable, Why: "data: " + unfit.Why}
	case errors.Is(err, limit.ErrTimeout):
		return contract.StreamFault{Code: contract.StreamBusy,
			Why: fmt.Sprintf("other media are being analysed, and this one has waited %v; send it again later",
				workWait)}
	case absent:
		return contract.StreamFault{Code: contract.StreamInternal, Why: missing.Error()}
	case errors.Is(err, media.ErrNoFFmpeg):
		return contract.StreamFault{Code: contract.StreamInternal, Why: media.ErrNoFFmpeg.Error()}
	case t.ctx.Err() == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF):
		t.service.log.Error("cannot analyse a payload", "stream", t.id, "err", err)
	}
	return contract.StreamFault{Code: contract.StreamInternal, Why: contract.Internal.Message()}
}
