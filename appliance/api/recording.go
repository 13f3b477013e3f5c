package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/store"
)

const (
	// recordingRateHz is the sample rate of recordings that clients download.
	// Voices have 22.05 or 24 kHz and the ear works at 16 kHz, so no content of
	// either is lost.
	recordingRateHz = 24000
	// markDamagedTimeout bounds writing one row to a disk that has just failed.
	markDamagedTimeout = 2 * time.Second
)

// hearChat serves a chat's recording to a client with a link.
func (a *API) hearChat(w http.ResponseWriter, r *http.Request, _ caller) error {
	id := r.PathValue("id")
	recordings, err := a.Records.Recordings(r.Context(), id)
	if err != nil {
		return err
	}
	if _, recorded := recordings[id]; !recorded {
		return contract.ErrNotFound{What: "recording of chat", ID: id}
	}
	sound, err := a.openRecording(id)
	if err != nil {
		return err
	}
	defer sound.close()
	if recordings[id].Status == store.Recorded {
		defer a.markDamaged(r, id, sound)
	}
	if sound.wav == nil {
		return sound.lost
	}
	h := w.Header()
	h.Set("Content-Type", "audio/wav")
	h.Set("Content-Disposition", fmt.Sprintf(`inline; filename="%s.wav"`, id))
	h.Set("Cache-Control", "no-store")
	h.Set("ETag", fmt.Sprintf(`"%s-%x"`, id, sound.wav.Size()))
	if strings.Contains(r.Header.Get("Range"), ",") {
		// Each range would need a search of its own; the whole file is a valid answer (RFC 9110, section 14.2).
		r.Header.Del("Range")
	}
	content := serialReader{r.Context(), sound.wav, a.decoding}
	modified := time.UnixMilli(recordings[id].ModifiedMS)
	http.ServeContent(&rangeErrorWriter{ResponseWriter: w, api: a}, r, "", modified, content)
	return nil
}

// rangeErrorWriter replaces the 416 answer of http.ServeContent with one in JSON.
type rangeErrorWriter struct {
	http.ResponseWriter
	api     *API
	discard bool
}

func (w *rangeErrorWriter) WriteHeader(status int) {
	if w.discard = status == http.StatusRequestedRangeNotSatisfiable; !w.discard {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.Header().Del("Content-Disposition")
	w.api.reply(w.ResponseWriter, status, problem{"range_not_satisfiable", http.StatusText(status), "Range: expected " +
		"one such as bytes=0-499 within the file; HEAD tells its length"})
}

func (w *rangeErrorWriter) Write(p []byte) (int, error) {
	if w.discard {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// chatRecording is an open recording of a chat.
type chatRecording struct {
	wav   *audio.MixedWAV // nil if no side can be decoded
	files []*os.File
	sides []*audio.OpusFile
	lost  error // why a side is missing
}

func (c *chatRecording) close() {
	for _, f := range c.files {
		_ = f.Close() // only read from
	}
}

// openRecording opens both sides of a chat as one WAV file. If a side cannot be
// decoded, the file holds the other one.
func (a *API) openRecording(id string) (*chatRecording, error) {
	var c chatRecording
	var err error
	for _, side := range []store.Side{store.UserSide, store.AssistantSide} {
		if err := c.open(a.Records, id, side); err != nil {
			c.close()
			return nil, fmt.Errorf("opening the %s's side of chat %s: %w", side, id, err)
		}
	}
	if len(c.sides) > 0 || c.lost == nil {
		c.wav, err = audio.NewMixedWAV(recordingRateHz, c.sides...)
	}
	return &c, err
}

func (c *chatRecording) open(records *store.Store, id string, side store.Side) error {
	f, err := records.OpenRecording(id, side)
	if errors.Is(err, store.ErrNotFound) {
		return nil // this side made no sound
	}
	if err != nil {
		return err
	}
	c.files = append(c.files, f)
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	sound, err := audio.NewOpusFile(f, info.Size())
	if err != nil {
		c.lost = errors.Join(c.lost, fmt.Errorf("the %s's side cannot be read: %w", side, err))
		return nil
	}
	c.sides = append(c.sides, sound)
	return nil
}

// markDamaged marks the recording of a chat as incomplete if parts of it could
// not be decoded.
func (a *API) markDamaged(r *http.Request, id string, sound *chatRecording) {
	err := sound.lost
	if slices.ContainsFunc(sound.sides, (*audio.OpusFile).Damaged) {
		err = errors.Join(err, errDamagedSound)
	}
	if err == nil {
		return
	}
	// The client may have closed the connection.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), markDamagedTimeout)
	defer cancel()
	err = errors.Join(err, a.Records.FailRecording(ctx, id))
	a.Log.ErrorContext(ctx, "recording damaged; serving what is left of it", "chat", id, "err", err)
}

var errDamagedSound = errors.New("the file of a side is damaged; parley doctor says where")

// serialReader decodes for one request at a time, so recordings take one core at
// most and live chats have the rest.
type serialReader struct {
	ctx context.Context // ends when the client is gone or its access is revoked
	io.ReadSeeker
	turn chan struct{} // holds one token
}

func (t serialReader) Read(p []byte) (int, error) {
	select {
	case t.turn <- struct{}{}:
	case <-t.ctx.Done():
		return 0, context.Cause(t.ctx)
	}
	defer func() { <-t.turn }()
	if t.ctx.Err() != nil {
		return 0, context.Cause(t.ctx)
	}
	return t.ReadSeeker.Read(p)
}
