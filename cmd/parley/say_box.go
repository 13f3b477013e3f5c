package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"parley/appliance/box"
	"parley/appliance/config"
	"parley/appliance/contract"
)

const (
	speechPath = "/v0/tts/stream/json"
	// boxTimeout is how long the box may take to begin its response: twice as long as
	// Kokoro takes to load. A stopped process would never respond, and after half a
	// minute in a queue a voice loaded here is faster.
	boxTimeout = 10 * time.Second
	// speechKeyLife is when the key for one text expires, in case say is killed. The key
	// is checked when the request arrives.
	speechKeyLife = 10 * time.Minute
	// maxSpeechLine bounds a message of the stream: the longest piece of sound is a whole
	// sentence of Kokoro's, a minute at most, 6 MB as samples and 8 in base64.
	maxSpeechLine = 16 << 20
)

// askBox has the running box speak. The error says why none does; the text can still be
// spoken here.
func (cmd *sayCmd) askBox(ctx context.Context, cfg config.Config, asked contract.PostedTTS) (_ *boxSpeech, err error) {
	u := asked.Utterances[0]
	switch {
	case cmd.Alone:
		return nil, errors.New("--alone")
	case utf8.RuneCountInString(u.Text) > contract.MaxUtteranceChars:
		return nil, fmt.Errorf("the text has more than %d characters", contract.MaxUtteranceChars)
	case u.Speed < contract.MinSpeed || u.Speed > contract.MaxSpeed:
		return nil, fmt.Errorf("a box allows speeds of %g to %g", float64(contract.MinSpeed),
			float64(contract.MaxSpeed))
	}
	url, err := box.Running(cfg.Data)
	if err != nil {
		return nil, err
	}
	if url == "" {
		return nil, fmt.Errorf("no box runs on %s", cfg.Data)
	}
	key, revoke, err := makeKey(ctx, cfg,
		temporaryKey{account: cmd.Account, label: "parley say", life: speechKeyLife})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, revoke())
		}
	}()
	client, err := trustingClient("", cfg)
	if err != nil {
		return nil, err
	}
	client.Transport.(*http.Transport).ResponseHeaderTimeout = boxTimeout
	body, err := requestSpeech(ctx, client, url, key, asked)
	if err != nil {
		return nil, err
	}
	return &boxSpeech{body, revoke}, nil
}

// requestSpeech posts a speech request to a box and returns the body of its response.
func requestSpeech(ctx context.Context, client *http.Client, url, key string, asked contract.PostedTTS) (io.ReadCloser,
	error) {
	text, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+speechPath, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Service-Api-Key", key)
	r.Header.Set("Content-Type", "application/json")
	response, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("requesting speech of the box at %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(response.Body, 4096)) // for a log
		return nil, errors.Join(fmt.Errorf("the box at %s returns %s: %s", url, response.Status, why),
			response.Body.Close())
	}
	return response.Body, nil
}

// boxSpeech is speech that a box makes.
type boxSpeech struct {
	body      io.ReadCloser
	revokeKey func() error // revokes the key of the request
}

// Stream calls send with the messages of the box.
func (s *boxSpeech) Stream(ctx context.Context, send func(contract.TTSMessage) error) error {
	lines := bufio.NewScanner(s.body)
	lines.Buffer(nil, maxSpeechLine)
	for lines.Scan() {
		m, err := readSpeech(lines.Bytes())
		if err != nil {
			return err
		}
		if err := send(m); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case lines.Err() != nil:
		return fmt.Errorf("the response of the box ended early: %w", lines.Err())
	}
	return nil
}

// Close ends the response and revokes the key.
func (s *boxSpeech) Close() {
	_ = s.body.Close()
	_ = s.revokeKey() // otherwise it expires
}

// readSpeech parses a message of the stream.
func readSpeech(line []byte) (contract.TTSMessage, error) {
	var kind struct {
		Type string `json:"type"`
	}
	var chunk contract.SnippetAudioChunk
	var times contract.TimestampMessage
	err := json.Unmarshal(line, &kind)
	switch {
	case err != nil:
	case kind.Type == chunk.MessageType():
		if err = json.Unmarshal(line, &chunk); err == nil {
			return chunk, nil
		}
	case kind.Type == times.MessageType():
		if err = json.Unmarshal(line, &times); err == nil {
			return times, nil
		}
	default:
		err = fmt.Errorf("its type is %.40q", kind.Type)
	}
	return nil, fmt.Errorf("the box sent an invalid message: %w", err)
}
