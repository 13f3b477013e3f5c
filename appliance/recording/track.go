package recording

import (
	"errors"
	"time"

	"parley/appliance/audio"
	"parley/store"
)

// track is one side's stream. It has a file from its first sound on.
type track struct {
	side   store.Side
	rateHz int
	file   *syncedFile
	opus   *audio.OggOpusWriter
	head   int   // samples written
	err    error // it has failed
}

// write adds samples in their place: silence up to it, but never over what is
// there already.
func (l *track) write(r *Recorder, at time.Duration, pcm []float32) (err error) {
	if l.file == nil {
		if err := l.open(r); err != nil {
			return err
		}
	}
	for gap := audio.Samples(at, l.rateHz) - l.head; gap > 0; {
		n := min(gap, l.rateHz)
		if err := l.opus.Write(make([]float32, n)); err != nil {
			return err
		}
		l.head, gap = l.head+n, gap-n
	}
	l.head += len(pcm)
	return l.opus.Write(pcm)
}

func (l *track) open(r *Recorder) (err error) {
	f, err := r.files.CreateRecording(r.chatID, l.side)
	if err != nil {
		return err
	}
	l.file = r.syncer.open(f)
	l.opus, err = audio.NewOggOpusWriter(l.file, l.rateHz, 1, 1)
	return err
}

// close ends the stream and has the disk keep it.
func (l *track) close() error {
	switch {
	case l.file == nil:
		return nil
	case l.err != nil:
		_ = l.file.Close() // it has failed already, and was said to
		return nil
	}
	return errors.Join(l.opus.Close(), l.file.Close())
}
