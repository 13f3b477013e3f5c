package recording

import (
	"errors"
	"time"

	"parley/appliance/audio"
	"parley/store"
)

// track is the stream of one side. It has a file from its first sound on.
type track struct {
	side   store.Side
	rateHz int
	file   *syncedFile
	opus   *audio.OggOpusWriter
	head   int   // samples written
	err    error // why the track ended early
}

// write appends samples at their time. It fills a gap with silence, and never overwrites.
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

// close ends the stream and syncs it to the disk.
func (l *track) close() error {
	switch {
	case l.file == nil:
		return nil
	case l.err != nil:
		_ = l.file.Close() // the error is logged already
		return nil
	}
	return errors.Join(l.opus.Close(), l.file.Close())
}
