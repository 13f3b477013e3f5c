package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode"

	"parley/appliance/audio"
	"parley/appliance/box"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/firmware/backup"
	"parley/internal/progress"
	"parley/internal/version"
	"parley/plugins/registry"
	"parley/store"
)

// updatedBox is the box of this machine, as an update sees it. The program of the old
// version uses it, so what concerns the new version uses only the HTTP API.
type updatedBox struct {
	cfg config.Config
	c   *console
}

// Chats returns how many chats are live.
func (b updatedBox) Chats(ctx context.Context) (int, error) {
	s, err := store.Join(ctx, b.cfg.Data)
	if err != nil {
		return 0, err
	}
	open, err := s.OpenChats(ctx)
	return len(open), errors.Join(err, s.Close())
}

// Schema returns the schema of the database, after a check of the whole database.
func (b updatedBox) Schema(ctx context.Context) (int64, error) {
	schema, err := store.Inspect(ctx, b.cfg.Data)
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	return schema, err
}

// updateKeyLife is when the key of an update expires. The new version may have changed the
// database, so the old program cannot revoke it.
const updateKeyLife = time.Hour

// Key makes a key for the spoken question.
func (b updatedBox) Key(ctx context.Context) (string, error) {
	s, err := store.Join(ctx, b.cfg.Data)
	if err != nil {
		return "", err
	}
	made, err := s.CreateKey(ctx, store.NewKey{
		Account:   "default",
		Label:     "parley update",
		Role:      store.ClientKey,
		ExpiresMS: time.Now().Add(updateKeyLife).UnixMilli(),
	})
	return made.APIKey, errors.Join(err, s.Close())
}

// Backup backs the box up.
func (b updatedBox) Backup(ctx context.Context, file string, p progress.Func) error {
	release, err := registry.Hold(ctx, b.cfg.Data)
	if err != nil {
		return err
	}
	defer release()
	_, err = backup.Make(ctx, backup.Box{
		Data:    b.cfg.Data,
		Version: version.String(),
		Database: func(ctx context.Context, file string, progress func(done, total int64)) (int64, error) {
			return store.Backup(ctx, b.cfg.Data, file, progress)
		},
	}, file, p)
	return err
}

// CopyDatabase copies the database of the stopped box.
func (b updatedBox) CopyDatabase(ctx context.Context, file string) error {
	_, err := store.Backup(ctx, b.cfg.Data, file, func(int64, int64) {})
	return err
}

// Ready returns nil if a conversation could start.
func (b updatedBox) Ready(ctx context.Context) error {
	client, url, err := b.reach()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return askReady(ctx, client, url)
}

// readyTimeout is how long the box may take to say whether it is ready: it writes to its
// disk before.
const readyTimeout = 10 * time.Second

// askReady returns nil if a conversation could start on the box at a URL.
func askReady(ctx context.Context, client *http.Client, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(response.Body, 4096)) // for a log
		return fmt.Errorf("it answers %s: %s", response.Status, strings.TrimSpace(string(why)))
	}
	return nil
}

// reach returns the URL of the running box, and a client that trusts it.
func (b updatedBox) reach() (*http.Client, string, error) {
	url, err := box.Running(b.cfg.Data)
	if err == nil && url == "" {
		err = errors.New("it does not listen")
	}
	if err != nil {
		return nil, "", err
	}
	client, err := trustingClient("", b.cfg)
	return client, url, err
}

// Ask has the box speak a question, and asks it in a chat. Then it sends the box its own
// answer, for a transcript: so nothing has to be loaded twice on a small machine.
func (b updatedBox) Ask(ctx context.Context, key string) error {
	client, url, err := b.reach()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	caller := spokenClient{client, url, key}
	question, err := caller.speak(ctx, b.cfg.Engines.Voice, easyQuestion)
	if err == nil && !slices.ContainsFunc(question, audible) {
		err = errors.New("its voice is silent")
	}
	if err != nil {
		return err
	}
	turn, err := caller.turn(ctx, question, func(t *turnCheck) bool { return t.heard && t.ended })
	if err != nil {
		if !turn.heard {
			err = fmt.Errorf("it does not hear the question: %w", err)
		}
		return err
	}
	answer := turn.answer[:min(len(turn.answer), longestEcho*chatRateHz)]
	if !slices.ContainsFunc(answer, audible) {
		return errors.New("its answer is silent")
	}
	// In a chat of its own, since a box does not listen to its own words.
	if _, err = caller.turn(ctx, answer, func(t *turnCheck) bool { return t.heard }); err != nil {
		return fmt.Errorf("its answer has no words: %w", err)
	}
	return nil
}

// longestEcho is how many seconds of the answer are transcribed.
const longestEcho = 6

// turnCheck is what has come of a turn.
type turnCheck struct {
	heard  bool      // the box has transcribed words
	answer []float32 // the sound of its answer
	ended  bool      // the answer is complete
}

// turn sends sound in a chat, and silence after it, until done.
func (s spokenClient) turn(ctx context.Context, sound []float32, done func(*turnCheck) bool) (t turnCheck, err error) {
	err = s.talk(ctx, func(_ time.Time, piece []float32) bool {
		if done(&t) {
			return false
		}
		sound = sound[copy(piece, sound):]
		return true
	}, t.receive)
	return t, err
}

// receive handles a message of the box.
func (t *turnCheck) receive(m received) error {
	if m.err != nil {
		return fmt.Errorf("the chat ended: %w", m.err)
	}
	switch message := m.message.(type) {
	case contract.UserMessage:
		t.heard = t.heard || !message.Interim && strings.ContainsFunc(message.Message.Content, unicode.IsLetter)
	case contract.AudioOutput:
		pcm, err := audio.DecodeAll(message.Data, chatRateHz)
		t.answer = append(t.answer, pcm...)
		return err
	case contract.AssistantEnd:
		t.ended = t.ended || t.heard
	case contract.WebSocketError:
		return fmt.Errorf("the box reports an error: %s %s", message.Code, message.Message)
	}
	return nil
}

// recordUpdate has the installed program record how the update ended, since only that one
// knows the database. What fails is only printed: the box runs.
func recordUpdate(ctx context.Context, c *console) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/usr/bin/parley", "update", "--stage", recordStage).CombinedOutput()
	if err != nil {
		fmt.Fprintf(c.err, "the update is not in the list of administrative acts: %v: %s\n", err, out)
	}
}
