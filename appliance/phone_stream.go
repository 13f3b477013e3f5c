package appliance

import (
	"parley/appliance/line/phone"
	"parley/appliance/line/phone/stream"
)

// openStreams takes calls as media streams of a provider.
func (t *telephone) openStreams() (*stream.Server, error) {
	token, err := t.cfg.Phone.AuthToken()
	if err != nil {
		return nil, err
	}
	return stream.Open(stream.Options{
		AuthToken: token,
		Admit:     t.admit,
		Answered:  t.streamed,
		Sockets:   t.sockets,
		Log:       t.log.With("line", phone.Kind),
	}), nil
}

// streamed holds the chat of a call that has come as a media stream.
func (t *telephone) streamed(c *stream.Call) error {
	s, err := t.server()
	if err != nil {
		return err
	}
	of := c.Ticket()
	return s.Streamed(c.Context(), phone.Stream{
		Leg:           c,
		Account:       of.Account,
		Settings:      of.Settings,
		Authorization: of.Authorization,
		RequestID:     of.RequestID,
		Client:        c.Client(),
		From:          of.Caller,
		To:            of.Called,
		Twilio:        of.Twilio,
	})
}
