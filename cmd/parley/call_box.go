package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"parley/appliance/contract"
)

const phonePath = "/v0/box/phone"

// phoneBox is the telephone of a box.
type phoneBox struct{ apiBox }

func (b *phoneBox) request(ctx context.Context, method, path string, body, v any) error {
	return b.apiBox.request(ctx, method, phonePath+path, body, v)
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
