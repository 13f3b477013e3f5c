package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

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
)

// chatAudio says where to hear a chat.
func (a *API) chatAudio(w http.ResponseWriter, r *http.Request, by caller) error {
	c, err := a.Records.Chat(r.Context(), by.AccountID, r.PathValue("id"))
	if err != nil {
		return missing(err, "chat", r.PathValue("id"))
	}
	all, err := a.reconstructions(r, by.AccountID, []store.Chat{c})
	if err != nil {
		return err
	}
	a.reply(w, http.StatusOK, all[0])
	return nil
}

// chatGroupAudio says where to hear each chat of a group.
func (a *API) chatGroupAudio(w http.ResponseWriter, r *http.Request, by caller) error {
	page, err := readTimedPage(r.URL.Query())
	if err != nil {
		return err
	}
	g, chats, total, err := a.Records.ChatGroup(r.Context(), by.AccountID, r.PathValue("id"), nil, page)
	if err != nil {
		return missing(err, "chat group", r.PathValue("id"))
	}
	all, err := a.reconstructions(r, by.AccountID, chats)
	if err != nil {
		return err
	}
	a.reply(w, http.StatusOK, contract.ReturnChatGroupPagedAudioReconstructions{
		TimedPaging: timedPaging(page, total), ID: g.ID, UserID: by.AccountID, NumChats: g.NumChats, AudioReconstructionsPage: all,
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

// checkLink refuses a link that the box has not made, or not for this time.
func (a *API) checkLink(r *http.Request) error {
	key, err := a.Records.Secret(r.Context(), audioURLKey)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	until, given := q.Get("expires"), q.Get("signature")
	sum, err := hex.DecodeString(given)
	if err != nil || !hmac.Equal(sum, signature(key, r.PathValue("id"), until)) {
		return contract.ErrForbidden{Why: "the link's signature is not right; GET /v0/evi/chats/{id}/audio with a key gives a link that works"}
	}
	if ms, err := strconv.ParseInt(until, 10, 64); err != nil || a.now().UnixMilli() >= ms {
		return contract.ErrForbidden{Why: "the link has expired; GET /v0/evi/chats/{id}/audio with a key gives a new one"}
	}
	return nil
}
