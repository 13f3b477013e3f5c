package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

const (
	// linkLifetime is how long a link to a recording works: long enough to hear
	// the longest chat twice, and short enough that a leaked link soon stops
	// working.
	linkLifetime = time.Hour
	// AudioURLKey names the secret that signs the links.
	AudioURLKey = "audio url"
)

// chatAudio answers with a link to the recording of a chat.
func (a *API) chatAudio(w http.ResponseWriter, r *http.Request, by caller) error {
	c, err := a.Records.Chat(r.Context(), by.AccountID, r.PathValue("id"))
	if err != nil {
		return notFound(err, "chat", r.PathValue("id"))
	}
	all, err := a.recordingLinks(r, by, []store.Chat{c})
	if err != nil {
		return err
	}
	return a.result(w, http.StatusOK, all[0], nil)
}

// chatGroupAudio answers with links to the recordings of a group's chats.
func (a *API) chatGroupAudio(w http.ResponseWriter, r *http.Request, by caller) error {
	page, err := readTimedPage(r.URL.Query())
	if err != nil {
		return err
	}
	g, chats, total, err := a.Records.ChatGroup(r.Context(), by.AccountID, r.PathValue("id"), nil, page)
	if err != nil {
		return notFound(err, "chat group", r.PathValue("id"))
	}
	all, err := a.recordingLinks(r, by, chats)
	return a.result(w, http.StatusOK, contract.ReturnChatGroupPagedAudioReconstructions{
		TimedPaging:              timedPaging(page, total),
		ID:                       g.ID,
		UserID:                   by.AccountID,
		NumChats:                 g.NumChats,
		AudioReconstructionsPage: all,
	}, err)
}

// recordingLinks returns the status of each chat's recording, with a link if it
// can be heard.
func (a *API) recordingLinks(
	r *http.Request, by caller, chats []store.Chat,
) ([]contract.ReturnChatAudioReconstruction, error) {
	ids := make([]string, len(chats))
	for i, c := range chats {
		ids[i] = c.ID
	}
	recordings, err := a.Records.Recordings(r.Context(), ids...)
	if err != nil {
		return nil, err
	}
	key, err := a.Records.Secret(r.Context(), AudioURLKey)
	if err != nil {
		return nil, err
	}
	all := make([]contract.ReturnChatAudioReconstruction, len(chats))
	for i, c := range chats {
		recording, recorded := recordings[c.ID]
		one := contract.ReturnChatAudioReconstruction{
			ID:         c.ID,
			UserID:     by.AccountID,
			Status:     a.audioStatus(c, recording, recorded),
			ModifiedAt: recording.ModifiedMS,
		}
		if one.Status == contract.AudioComplete || one.Status == contract.AudioError {
			expires := a.now().Add(linkLifetime).UnixMilli()
			one.Filename = c.ID + ".wav"
			one.SignedAudioURL = signedURL(r, key, c.ID, expires, by.Grant)
			one.SignedURLExpirationTimestampMillis = expires
		}
		all[i] = one
	}
	return all, nil
}

// audioStatus returns the status of a chat's recording.
func (a *API) audioStatus(c store.Chat, recording store.ChatRecording, recorded bool) contract.AudioStatus {
	switch {
	case !recorded:
		return contract.AudioCancelled
	case recording.Status == store.RecordingFailed:
		return contract.AudioError
	case recording.Status == store.Recorded:
		return contract.AudioComplete
	case a.Records.HasSound(c.ID):
		return contract.AudioInProgress
	}
	return contract.AudioQueued
}

// signedURL returns a link to a chat's recording, at the address by which the
// client reached the box. The link names the key or session that asked for it and
// ends with it.
func signedURL(r *http.Request, key []byte, chatID string, expires int64, asked store.Grant) string {
	u := url.URL{Scheme: "http", Host: r.Host, Path: "/v0/evi/chats/" + chatID + "/audio.wav"}
	if here, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && u.Host == "" { // HTTP/1.0 names none
		u.Host = here.String()
	}
	// A proxy that terminates TLS sets this header; with several proxies it is a
	// list. A client that forges it only gets a link that does not work.
	proto, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	if r.TLS != nil || strings.EqualFold(strings.TrimSpace(proto), "https") {
		u.Scheme = "https"
	}
	until := strconv.FormatInt(expires, 10)
	u.RawQuery = linkQuery(key, chatID, until, asked)
	return u.String()
}

// linkQuery returns the query of a link.
func linkQuery(key []byte, chatID, until string, asked store.Grant) string {
	sum := signature(key, chatID, until, asked)
	return url.Values{"by": {asked.By()}, "expires": {until}, "signature": {hex.EncodeToString(sum)}}.Encode()
}

// signature signs a chat, an expiry time, and the key or session that asked for
// the link. It covers the hash of the key's secret, so a regenerated key
// invalidates old links.
func signature(key []byte, chatID, expires string, asked store.Grant) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(h, "%s\n%s\n%s\n%x", chatID, expires, asked.By(), asked.Hash()) // a hash never fails
	return h.Sum(nil)
}

// errInvalidLink is the same for forged and for expired links, so it tells an
// attacker nothing.
var errInvalidLink = contract.ErrForbidden{Why: "the link's signature is wrong, " +
	"or the key or session that asked for it was revoked, regenerated or ended; " +
	"GET /v0/evi/chats/{id}/audio with a key gives a link that works"}

// checkLink verifies a link and returns the key or session that asked for it. The
// caller has no account, so the request does not count against the account's
// rate.
func (a *API) checkLink(r *http.Request) (caller, error) {
	q := r.URL.Query()
	asked, err := a.Records.GrantBy(r.Context(), q.Get("by"), a.now())
	if errors.Is(err, store.ErrNotFound) {
		return caller{}, errInvalidLink
	}
	if err != nil {
		return caller{}, err
	}
	key, err := a.Records.Secret(r.Context(), AudioURLKey)
	if err != nil {
		return caller{}, err
	}
	until, given := q.Get("expires"), q.Get("signature")
	sum, err := hex.DecodeString(given)
	if err != nil || !hmac.Equal(sum, signature(key, r.PathValue("id"), until, asked)) {
		return caller{}, errInvalidLink
	}
	if ms, err := strconv.ParseInt(until, 10, 64); err != nil || a.now().UnixMilli() >= ms {
		return caller{}, contract.ErrForbidden{
			Why: "the link has expired; GET /v0/evi/chats/{id}/audio with a key gives a new one",
		}
	}
	return caller{Grant: asked}, nil
}

// aboutAudio describes the routes of recordings.
func aboutAudio() descriptions {
	return inSection("Chats", descriptions{
		"GET /v0/evi/chats/{id}/audio": {
			ID:      "getChatAudio",
			Summary: "Get a link to a chat's recording",
			Description: "The link works without a key for an hour, unless the key or the console session that asked " +
				"for it ends before. If the user interrupted the assistant, the recording does not contain what the " +
				"assistant had not yet said.",
			Answers: ok(contract.ReturnChatAudioReconstruction{}),
		},
		"GET /v0/evi/chats/{id}/audio.wav": {
			ID:          "hearChat",
			Summary:     "Download a chat's recording",
			Description: "Both sides in one WAV file: 24 kHz, 16-bit, mono. Range requests are supported.",
			Query: []describe.Parameter{
				{
					Name:        "by",
					Description: "The id of the key or session that asked for the link.",
					Schema:      describe.String(),
				},
				parameter("expires", "When the link expires, in Unix milliseconds.", describe.String()),
				{Name: "signature", Description: "The signature of the link.", Schema: describe.String()},
			},
			Answers: append(ofType("audio/wav"),
				unchanged(),
				describe.Answer{Status: 206, Description: "The requested range", Media: "audio/wav"},
				describe.Answer{Status: 412, Description: "The recording does not match If-Match"},
				describe.Answer{Status: 416, Description: "The range is outside the recording", Value: problem{}}),
			Errors: []int{404},
		},
	})
}
