package recording

import (
	"errors"
	"os"
	"time"

	"parley/appliance/audio"
	"parley/store"
)

// lane is one side's stream. It has a file from its first sound on.
type lane struct {
	side   store.Side
	rateHz int
	file   *os.File
	opus   *audio.OggOpusWriter
	head   int   // samples written
	dirty  bool  // written since the last keep
	err    error // it has failed
}

// write adds samples in their place: silence up to it, but never over what is
// there already.
func (l *lane) write(r *Recorder, at time.Duration, pcm []float32) (err error) {
	if l.file == nil {
		if err := l.open(r); err != nil {
			return err
		}
	}
	l.dirty = true
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

func (l *lane) open(r *Recorder) (err error) {
	if l.file, err = r.files.CreateRecording(r.chatID, l.side); err != nil {
		return err
	}
	l.opus, err = audio.NewOggOpusWriter(l.file, l.rateHz, 1, 1)
	return err
}

func (l *lane) keep() error {
	if !l.dirty || l.err != nil {
		return nil
	}
	l.dirty = false
	return l.file.Sync()
}

func (l *lane) close() error {
	if l.file == nil {
		return nil
	}
	var err error
	if l.opus != nil && l.err == nil {
		err = errors.Join(l.opus.Close(), l.file.Sync())
	}
	return errors.Join(err, l.file.Close())
}
