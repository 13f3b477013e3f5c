package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"parley/appliance/contract"
)

const (
	phonePath = "/v0/box/phone"
	// phoneTimeout bounds one request about calls.
	phoneTimeout = 30 * time.Second
	// maxPhoneText bounds an answer about calls: a hundred calls have 60 kB.
	maxPhoneText = 4 << 20
)

// phoneBox is the telephone of a box.
type phoneBox struct {
	client *http.Client
	at     boxTarget
	key    string
}

// request sends a request to a path below phonePath, and parses the answer into v unless
// that is nil.
func (b *phoneBox) request(ctx context.Context, method, path string, body, v any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, phoneTimeout,
		fmt.Errorf("the box at %s did not answer within %v", b.at.address, phoneTimeout))
	defer cancel()
	text := []byte{}
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, b.at.web()+phonePath+path, bytes.NewReader(text))
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
		return refusal(b.at.address, "the call", nil, err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return refusal(b.at.address, "the call", response, nil)
	}
	if v == nil {
		return nil
	}
	return json.NewDecoder(io.LimitReader(response.Body, maxPhoneText)).Decode(v)
}

func (b *phoneBox) start(ctx context.Context, posted contract.PostedPhoneCall) (call contract.PhoneCall, err error) {
	return call, b.request(ctx, http.MethodPost, "/calls", map[string]string{
		"trunk":     posted.Trunk,
		"to":        posted.To,
		"config_id": posted.ConfigID,
		"account":   posted.Account,
	}, &call)
}

// call returns the present state of a call.
func (b *phoneBox) call(ctx context.Context, id string) (contract.PhoneCall, error) {
	var now contract.Phone
	if err := b.request(ctx, http.MethodGet, "", nil, &now); err != nil {
		return contract.PhoneCall{}, err
	}
	for _, c := range append(now.Calls, now.EndedCalls...) {
		if c.CallID == id {
			return c, nil
		}
	}
	return contract.PhoneCall{}, errors.New("the box does not know the call any more: did it restart?")
}

func (b *phoneBox) hangUp(ctx context.Context, id string) error {
	return b.request(ctx, http.MethodDelete, "/calls/"+url.PathEscape(id), nil, nil)
}

// listen follows the chat of a call, without its sound.
func (b *phoneBox) listen(ctx context.Context, chatID string) (*chatConn, error) {
	return dial(ctx, b.client, b.at.address+"/"+url.PathEscape(chatID)+"/connect", b.key,
		url.Values{"audio_output": {"false"}})
}
