package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/store"
)

const (
	// audioURLLife is how long a link to a recording works: long enough to hear
	// the longest chat twice, short enough that one which got lost is soon worth
	// nothing.
	audioURLLife = time.Hour
	// audioURLKey names the key by which links are signed.
	audioURLKey = "audio url"
	// reconstructedHz is the rate of recordings as they are handed out. The
	// voices have 22.05 or 24 kHz and the ear hears at 16 kHz, so nothing of
	// either is lost.
	reconstructedHz = 24000
)

// chatAudio says where to hear a chat.
func (a *API) chatAudio(w http.ResponseWriter, r *http.Request, account string) error {
	c, err := a.Records.Chat(r.Context(), account, r.PathValue("id"))
	if err != nil {
		return missing(err, "chat", r.PathValue("id"))
	}
	all, err := a.reconstructions(r, account, []store.Chat{c})
	if err != nil {
		return err
	}
	a.reply(w, http.StatusOK, all[0])
	return nil
}

// chatGroupAudio says where to hear each chat of a group.
func (a *API) chatGroupAudio(w http.ResponseWriter, r *http.Request, account string) error {
	page, err := readTimedPage(r.URL.Query())
	if err != nil {
		return err
	}
	g, chats, total, err := a.Records.ChatGroup(r.Context(), account, r.PathValue("id"), nil, page)
	if err != nil {
		return missing(err, "chat group", r.PathValue("id"))
	}
	all, err := a.reconstructions(r, account, chats)
	if err != nil {
		return err
	}
	a.reply(w, http.StatusOK, contract.ReturnChatGroupPagedAudioReconstructions{
		TimedPaging: timedPaging(page, total), ID: g.ID, UserID: account, NumChats: g.NumChats, AudioReconstructionsPage: all,
	})
	return nil
}

// reconstructions says of chats where to hear them.
func (a *API) reconstructions(r *http.Request, account string, chats []store.Chat) ([]contract.ReturnChatAudioReconstruction, error) {
	ids := make([]string, len(chats))
	for i, c := range chats {
		ids[i] = c.ID
	}
	recordings, err := a.Records.Recordings(r.Context(), ids...)
	if err != nil {
		return nil, err
	}
	key, err := a.Records.Secret(r.Context(), audioURLKey)
	if err != nil {
		return nil, err
	}
	all := make([]contract.ReturnChatAudioReconstruction, len(chats))
	for i, c := range chats {
		made, kept := recordings[c.ID]
		one := contract.ReturnChatAudioReconstruction{ID: c.ID, UserID: account, Status: a.audioStatus(c, made, kept), ModifiedAt: made.ModifiedMS}
		if one.Status == contract.AudioComplete || one.Status == contract.AudioError {
			expires := a.now().Add(audioURLLife).UnixMilli()
			one.Filename = c.ID + ".wav"
			one.SignedAudioURL = signedURL(r, key, c.ID, expires)
			one.SignedURLExpirationTimestampMillis = expires
		}
		all[i] = one
	}
	return all, nil
}

// audioStatus says how far the recording of a chat is.
func (a *API) audioStatus(c store.Chat, made store.ChatRecording, kept bool) contract.AudioStatus {
	switch {
	case !kept:
		return contract.AudioCancelled
	case made.Status == store.RecordingFailed:
		return contract.AudioError
	case made.Status == store.Recorded:
		return contract.AudioComplete
	case a.Records.Heard(c.ID):
		return contract.AudioInProgress
	}
	return contract.AudioQueued
}

// signedURL is a link to the sound of a chat, at the address by which the client
// reached the box.
func signedURL(r *http.Request, key []byte, chatID string, expires int64) string {
	u := url.URL{Scheme: "http", Host: r.Host, Path: "/v0/evi/chats/" + chatID + "/audio.wav"}
	if here, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && u.Host == "" { // HTTP/1.0 names none
		u.Host = here.String()
	}
	// A proxy that ended TLS says so; behind others, it is the first of a list.
	// Who lies about it gets a link that does not work, and nobody else does.
	proto, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	if r.TLS != nil || strings.EqualFold(strings.TrimSpace(proto), "https") {
		u.Scheme = "https"
	}
	until := strconv.FormatInt(expires, 10)
	u.RawQuery = url.Values{"expires": {until}, "signature": {hex.EncodeToString(signature(key, chatID, until))}}.Encode()
	return u.String()
}

// signature is what only the box can make of a chat and a time.
func signature(key []byte, chatID, expires string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(h, "%s\n%s", chatID, expires) // a hash takes everything
	return h.Sum(nil)
}

// hearChat hands out the sound of a chat to who has a link to it.
func (a *API) hearChat(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if err := a.checkLink(r, id); err != nil {
		return err
	}
	made, err := a.Records.Recordings(r.Context(), id)
	if err != nil {
		return err
	}
	if _, kept := made[id]; !kept {
		return contract.ErrNotFound{What: "recording of chat", ID: id}
	}
	wav, closeAll, err := a.openAudio(id)
	if err != nil {
		return err
	}
	defer closeAll()
	h := w.Header()
	h.Set("Content-Type", "audio/wav")
	h.Set("Content-Disposition", fmt.Sprintf(`inline; filename="%s.wav"`, id))
	h.Set("Cache-Control", "no-store")
	h.Set("ETag", fmt.Sprintf(`"%s-%x"`, id, wav.Size()))
	if strings.Contains(r.Header.Get("Range"), ",") {
		r.Header.Del("Range") // each range of many would be a search of its own; the whole is an answer too (RFC 9110, section 14.2)
	}
	http.ServeContent(&ranged{ResponseWriter: w, api: a}, r, "", time.UnixMilli(made[id].ModifiedMS), takingTurns{wav, a.decoding})
	return nil
}

// ranged says in JSON that there is no such range.
type ranged struct {
	http.ResponseWriter
	api     *API
	refused bool
}

func (w *ranged) WriteHeader(status int) {
	if w.refused = status == http.StatusRequestedRangeNotSatisfiable; !w.refused {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.Header().Del("Content-Disposition")
	w.api.reply(w.ResponseWriter, status, problem{"range_not_satisfiable", http.StatusText(status), "Range: expected one such as bytes=0-499 within the recording; HEAD tells its length"})
}

func (w *ranged) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// checkLink refuses a link that the box has not made, or not for this time.
func (a *API) checkLink(r *http.Request, id string) error {
	key, err := a.Records.Secret(r.Context(), audioURLKey)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	until, given := q.Get("expires"), q.Get("signature")
	sum, err := hex.DecodeString(given)
	if err != nil || !hmac.Equal(sum, signature(key, id, until)) {
		return contract.ErrForbidden{Why: "the link's signature is not right; GET /v0/evi/chats/{id}/audio with a key gives a link that works"}
	}
	if ms, err := strconv.ParseInt(until, 10, 64); err != nil || a.now().UnixMilli() >= ms {
		return contract.ErrForbidden{Why: "the link has expired; GET /v0/evi/chats/{id}/audio with a key gives a new one"}
	}
	return nil
}

// openAudio opens both sides of a chat as one WAV file.
func (a *API) openAudio(id string) (wav *audio.MixedWAV, closeAll func(), err error) {
	var sides []*audio.OpusFile
	var open []*os.File
	closeAll = func() {
		for _, f := range open {
			_ = f.Close() // was only read
		}
	}
	for _, side := range []store.Side{store.UserSide, store.AssistantSide} {
		f, err := a.Records.OpenRecording(id, side)
		if errors.Is(err, store.ErrNotFound) {
			continue // it said nothing
		}
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		open = append(open, f)
		info, err := f.Stat()
		if err == nil && info.Size() > 0 {
			var sound *audio.OpusFile
			sound, err = audio.NewOpusFile(f, info.Size())
			sides = append(sides, sound)
		}
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("opening the %s's side of chat %s: %w", side, id, err)
		}
	}
	wav, err = audio.NewMixedWAV(reconstructedHz, sides...)
	return wav, closeAll, err
}

// takingTurns is a file that is decoded by one request at a time: recordings
// may take one core, and live chats have the rest.
type takingTurns struct {
	io.ReadSeeker
	turn chan struct{} // has room for one
}

func (t takingTurns) Read(p []byte) (int, error) {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	return t.ReadSeeker.Read(p)
}
