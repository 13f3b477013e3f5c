package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"parley/appliance/config"
)

const (
	// apiTimeout bounds one request. The box gives most of its answers 30 seconds to begin.
	apiTimeout = 40 * time.Second
	// maxAPIText bounds an answer: the config with the most approved answers has 24 MB.
	maxAPIText = 32 << 20
)

// apiBox is a running box, asked over REST.
type apiBox struct {
	client *http.Client
	at     boxTarget
	key    string
	what   string // what errors say that the box refuses
}

// open finds the box that the flags name and the key for it. closeBox revokes a temporary key.
func (f boxFlags) open(ctx context.Context, cfg config.Config, made temporaryKey) (box apiBox,
	closeBox func() error, err error) {
	at, err := findBox(f.URL, f.Key, cfg, f.asks)
	if err != nil {
		return apiBox{}, nil, err
	}
	client, err := trustingClient(f.CA, cfg)
	if err != nil {
		return apiBox{}, nil, misuse{err}
	}
	key, revoke, err := f.key(ctx, cfg, at, made)
	if err != nil {
		return apiBox{}, nil, err
	}
	return apiBox{client, at, key, "the request"}, func() error {
		client.CloseIdleConnections()
		return revoke()
	}, nil
}

// asking returns the box with what its errors say that it refuses.
func (b apiBox) asking(what string) apiBox {
	b.what = what
	return b
}

// refused is the error of a box that answers with another status than 2xx.
type refused struct {
	error
	status int
}

func (r refused) Unwrap() error { return r.error }

// request sends a request with a body as JSON, and parses the answer into v unless that is
// nil.
func (b apiBox) request(ctx context.Context, method, path string, body, v any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, apiTimeout,
		fmt.Errorf("the %s at %s did not answer within %v", b.at.is, b.at.web(), apiTimeout))
	defer cancel()
	text := []byte{}
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, b.at.web()+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("X-Service-Api-Key", b.key)
	r.Header.Set("Content-Type", "application/json")
	response, err := b.client.Do(r)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return refusal(b.at.is, b.at.web(), b.what, nil, err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return refused{refusal(b.at.is, b.at.web(), b.what, response, nil), response.StatusCode}
	}
	if v == nil {
		return nil
	}
	return json.NewDecoder(io.LimitReader(response.Body, maxAPIText)).Decode(v)
}

// isMissing reports whether a box answers that it does not have what was asked for.
func isMissing(err error) bool {
	r, ok := errors.AsType[refused](err)
	return ok && r.status == http.StatusNotFound
}
