package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"parley/store"
)

// linkBy returns a link to a chat's recording, requested with some headers.
func (c client) linkBy(chatID string, header ...string) string {
	c.t.Helper()
	answer, body := c.fetch("GET", c.http.URL+"/v0/evi/chats/"+chatID+"/audio", header...)
	var got struct {
		Link string `json:"signed_audio_url"`
	}
	if err := json.Unmarshal(body, &got); err != nil || answer.StatusCode != 200 || got.Link == "" {
		c.t.Fatalf("no link: %d %s", answer.StatusCode, body)
	}
	return got.Link
}

// recordedChat returns a finished chat with a recording.
func (c client) recordedChat() string {
	chat := c.begin(store.NewChat{StartedMS: at(0), Recorded: true})
	c.addSound(chat.ID, store.UserSide, 16000, 500, 0, 1)
	c.end(chat.ID, store.UserEnded, at(1))
	return chat.ID
}

func TestALinkEndsWithItsKeyOrSession(t *testing.T) {
	c := startRest(t, "home")[0]
	chat, records := c.recordedChat(), c.api.Records
	now := time.Now()
	c.api.now = func() time.Time { return now }
	stays := c.linkBy(chat, "X-Service-Api-Key", c.key)
	key := func(expires time.Time) store.Credentials {
		n := store.NewKey{Account: "home"}
		if !expires.IsZero() {
			n.ExpiresMS = expires.UnixMilli()
		}
		made, err := records.CreateKey(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	revoked, renewed := key(time.Time{}), key(time.Time{})
	forgotten, over := key(now.Add(2*time.Hour)), key(now.Add(time.Minute))
	sign, err := records.StartSignIn(t.Context(), "home", now)
	if err != nil {
		t.Fatal(err)
	}
	cookie, session, err := records.SignIn(t.Context(), sign, "", "", now)
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(c.http.URL)
	if err != nil {
		t.Fatal(err)
	}
	inCookie := sessionCookie(&http.Request{Host: address.Host}) + "=" + cookie
	ofRevoked := c.linkBy(chat, "X-Service-Api-Key", revoked.APIKey)
	links := map[string]string{
		"a key that is revoked":                   ofRevoked,
		"a key with an end that is revoked":       c.linkBy(chat, "X-Service-Api-Key", forgotten.APIKey),
		"a key that is given new secrets":         c.linkBy(chat, "X-Service-Api-Key", renewed.APIKey),
		"a key that is past its end":              c.linkBy(chat, "X-Service-Api-Key", over.APIKey),
		"a session of the console that is ended":  c.linkBy(chat, "Cookie", inCookie),
		"a key that is revoked, for another's id": strings.Replace(ofRevoked, revoked.KeyID, renewed.KeyID, 1),
	}
	for name, link := range links {
		want := 200
		if strings.HasSuffix(name, "another's id") {
			want = 403
		}
		if answer, body := c.fetch("HEAD", link); answer.StatusCode != want {
			t.Errorf("the link of %s, before: %d %s, want %d", name, answer.StatusCode, body, want)
		}
	}
	_, err = records.RegenerateKey(t.Context(), renewed.KeyID)
	for _, id := range []string{revoked.KeyID, forgotten.KeyID} {
		err = errors.Join(err, records.RevokeKey(t.Context(), id))
	}
	if err := errors.Join(err, records.EndSession(t.Context(), session.ID)); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Minute)
	for name, link := range links {
		answer, body := c.fetch("GET", link, "Range", "bytes=0-10")
		if answer.StatusCode != 403 || !strings.Contains(string(body), "revoked") {
			t.Errorf("the link of %s: %d %s, want 403", name, answer.StatusCode, body)
		}
	}
	if answer, body := c.fetch("HEAD", stays); answer.StatusCode != 200 {
		t.Errorf("the link of a key that is good: %d %s", answer.StatusCode, body)
	}
}

func TestARevokedLinkEndsADownload(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	turn := make(chan struct{}, 1)
	sound := serialReader{ctx, strings.NewReader(strings.Repeat("x", 100)), turn}
	if n, err := io.ReadFull(sound, make([]byte, 10)); n != 10 || err != nil {
		t.Fatal(n, err)
	}
	turn <- struct{}{} // another request is decoding
	read := make(chan error)
	go func() {
		_, err := sound.Read(make([]byte, 10))
		read <- err
	}()
	cancel()
	if err := <-read; !errors.Is(err, context.Canceled) {
		t.Errorf("while it waits: %v", err)
	}
	<-turn
	if _, err := sound.Read(make([]byte, 10)); !errors.Is(err, context.Canceled) {
		t.Errorf("afterwards: %v", err)
	}
}
