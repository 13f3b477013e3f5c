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
func (t *track) write(r *Recorder, at time.Duration, pcm []float32) (err error) {
	if t.file == nil {
		if err := t.open(r); err != nil {
			return err
		}
	}
	for gap := audio.Samples(at, t.rateHz) - t.head; gap > 0; {
		n := min(gap, t.rateHz)
		if err := t.opus.Write(make([]float32, n)); err != nil {
			return err
		}
		t.head, gap = t.head+n, gap-n
	}
	t.head += len(pcm)
	return t.opus.Write(pcm)
}

func (t *track) open(r *Recorder) (err error) {
	f, err := r.files.CreateRecording(r.chatID, t.side)
	if err != nil {
		return err
	}
	t.file = r.syncer.open(f)
	t.opus, err = audio.NewOggOpusWriter(t.file, t.rateHz, 1, 1)
	return err
}

// close ends the stream and syncs it to the disk.
func (t *track) close() error {
	switch {
	case t.file == nil:
		return nil
	case t.err != nil:
		_ = t.file.Close() // the error is logged already
		return nil
	}
	return errors.Join(t.opus.Close(), t.file.Close())
}
