package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/media"
	"parley/internal/progress"
	"parley/store"
)

const (
	// soundRateHz is the rate at which recordings are stored: that of the files which
	// clients download.
	soundRateHz = 24000
	// maxSoundBytes and maxSound bound a recording, which is decoded in pieces: half an hour of
	// studio quality (48 kHz, 16 bit, stereo), as long as a chat of the old service
	// lasted at most, and an hour of any other.
	maxSoundBytes = 400 << 20
	maxSound      = time.Hour
)

var uuids = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// recordings imports the recordings of chats, which the files are named after, or their
// folders.
func (w *work) recordings(ctx context.Context) error {
	tell := w.Progress.Serial()
	e := progress.Event{Name: "recordings", Step: progress.Writing}
	for _, i := range w.sounds {
		e.Total += w.source.files[i].size
	}
	taken := map[string]bool{}
	for _, i := range w.sounds {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := w.recording(ctx, i, taken); err != nil {
			return err
		}
		if e.Done += w.source.files[i].size; w.apply {
			tell(e)
		}
	}
	if e.Step = progress.Done; w.apply && len(w.sounds) > 0 {
		tell(e)
	}
	return nil
}

// recording imports one recording. taken are the chats that have one from this import.
func (w *work) recording(ctx context.Context, i int, taken map[string]bool) error {
	f := w.source.files[i]
	line := Line{Kind: kindRecording, File: f.name}
	left := func(why string) error {
		line.Why = why
		w.report.leftOut(line)
		return nil
	}
	chatID, ended, err := w.chatOf(ctx, f.name)
	if err != nil {
		return err
	}
	line.ID = chatID
	switch {
	case chatID == "":
		return left("neither its name nor its folder is the id of a chat in the files or on the box")
	case taken[chatID]:
		return left("its chat has another recording, which was taken")
	case f.size > maxSoundBytes:
		return left(fmt.Sprintf("it has more than %d bytes", maxSoundBytes))
	}
	there, err := w.Store.Recordings(ctx, chatID)
	if err != nil {
		return err
	}
	if _, recorded := there[chatID]; recorded {
		w.report.count(kindRecording).Here++
		return nil
	}
	taken[chatID] = true
	if w.apply {
		sides, why, err := w.encode(ctx, f)
		if err == nil && why == "" {
			err = w.Store.ImportSound(ctx, chatID, sides)
		}
		if err != nil {
			return err
		}
		if why != "" {
			delete(taken, chatID) // another file may be better
			return left(why)
		}
	}
	w.report.count(kindRecording).New++
	if days := w.Settings.RecordingDays; days > 0 && ended < time.Now().AddDate(0, 0, -days).UnixMilli() {
		w.expiringSounds++
	}
	return nil
}

// chatOf returns the chat of a recording, and when it ended (Unix milliseconds), or "".
func (w *work) chatOf(ctx context.Context, name string) (id string, ended int64, err error) {
	name = filepath.ToSlash(name)
	candidates, err := rows(ctx, w.spool, only[string], `SELECT chat FROM audio WHERE filename = ?`, path.Base(name))
	if err != nil {
		return "", 0, err
	}
	for ; name != "." && name != "/"; name = path.Dir(name) { // the name, then the nearest folder
		for _, found := range uuids.FindAllString(path.Base(name), -1) {
			candidates = append(candidates, found, strings.ToLower(found))
		}
	}
	for _, id := range candidates {
		c, err := w.Store.ImportedChat(ctx, id)
		switch {
		case err == nil && c.AccountID == w.Account.ID && c.EndedMS > 0:
			return id, c.EndedMS, nil
		case err == nil:
			continue
		case !errors.Is(err, store.ErrNotFound):
			return "", 0, err
		case w.apply: // the chats have been imported
			continue
		}
		ends, err := rows(ctx, w.spool, only[int64], `SELECT max(start, ended) FROM chat WHERE id = ?`, id)
		if err != nil || len(ends) > 0 {
			return id, append(ends, 0)[0], err
		}
	}
	return "", 0, nil
}

// encode returns a recording as the box stores it: both sides are mixed in the saved file,
// so one side is that, and the other has no sound. why says what is wrong with the file.
func (w *work) encode(ctx context.Context, f file) (sides map[store.Side][]byte, why string, err error) {
	var mixed, silent bytes.Buffer
	err = decode(f, &mixed)
	_, tooLong := errors.AsType[*audio.ErrTooLong](err)
	switch {
	case tooLong:
		return nil, err.Error(), nil
	case errors.Is(err, errNoSound):
		return nil, err.Error(), nil
	case err != nil:
		mixed.Reset()
		if why, err = w.convert(ctx, f, &mixed, err.Error()); err != nil || why != "" {
			return nil, why, err
		}
	}
	if err == nil {
		err = encodeNothing(&silent)
	}
	return map[store.Side][]byte{store.UserSide: mixed.Bytes(), store.AssistantSide: silent.Bytes()}, "", err
}

// errNoSound means that a recording is sound of length 0.
var errNoSound = errors.New("it has no sound")

// decode decodes a recording in pieces with our decoders, and encodes it as the box does.
func decode(f file, out io.Writer) error {
	r, err := f.open()
	if err != nil {
		return err
	}
	defer r.Close()
	opus, err := audio.NewOggOpusWriter(out, soundRateHz, 1, 1)
	if err != nil {
		return err
	}
	samples := 0
	err = audio.DecodeEach(io.LimitReader(r, maxSoundBytes), soundRateHz, maxSound, func(pcm []float32) error {
		samples += len(pcm)
		return opus.Write(pcm)
	})
	if err == nil && samples == 0 {
		err = errNoSound
	}
	return errors.Join(err, opus.Close())
}

// convert has ffmpeg decode a recording, in a process without rights. why says what is
// wrong with the file; before is what our decoders said.
func (w *work) convert(ctx context.Context, from file, out io.Writer, before string) (why string, err error) {
	f, err := os.CreateTemp("", "parley-import-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	r, err := from.open()
	if err == nil {
		_, err = io.Copy(f, io.LimitReader(r, maxSoundBytes))
		err = errors.Join(err, r.Close())
	}
	err = errors.Join(err, f.Close())
	if failed, ok := errors.AsType[*fs.PathError](err); ok && failed.Op == "write" { // such as a full disk
		return "", err
	}
	if err != nil {
		return fmt.Sprintf("it cannot be read: %v", err), nil
	}
	var opus *audio.OggOpusWriter
	err = w.media.Sound(ctx, f.Name(), func(pcm []float32) (err error) {
		if opus == nil {
			if opus, err = audio.NewOggOpusWriter(out, media.SampleRate, 1, 1); err != nil {
				return err
			}
		}
		return opus.Write(pcm)
	})
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return fmt.Sprintf("%s; with ffmpeg: %v", before, err), nil
	}
	return "", opus.Close() // Sound has an error for a file without sound
}

// encodeNothing writes sound of length 0 as the box records it.
func encodeNothing(out io.Writer) error {
	opus, err := audio.NewOggOpusWriter(out, soundRateHz, 1, 1)
	if err != nil {
		return err
	}
	return opus.Close()
}
