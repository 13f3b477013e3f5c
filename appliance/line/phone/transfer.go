package phone

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/language"
	"parley/appliance/line"
)

// handover is a request to connect the caller to a person.
type handover struct {
	to       string
	attended bool
	ring     time.Duration
	brief    string // what the caller wants; empty: it is not known
	announce bool   // the box tells the caller first; otherwise the assistant has told the caller
}

// Why a person who was called does not get the caller, for the model.
var (
	errRefused = errors.New("the person does not take the call")
	errLeft    = errors.New("the person hung up")
)

// toolTransfer runs the tool transfer. The model chooses the destination by its name.
func (c *Call) toolTransfer(ctx context.Context, r connection.ToolRun) (connection.ToolResult, error) {
	var a struct {
		Destination string `json:"destination"`
		Reason      string `json:"reason"`
	}
	if err := json.Unmarshal([]byte(r.Arguments), &a); err != nil {
		return connection.ToolResult{}, fmt.Errorf("arguments: %w", err)
	}
	var names []string
	for _, d := range r.Destinations {
		if strings.EqualFold(d.Name, strings.TrimSpace(a.Destination)) {
			return c.toolHandOver(ctx, handover{
				to:       d.To,
				attended: d.Attended,
				ring:     time.Duration(d.RingSecs) * time.Second,
				brief:    a.Reason,
			})
		}
		names = append(names, d.Name)
	}
	return connection.ToolResult{}, fmt.Errorf("destination: there is no %q; there are %s",
		contract.Clip(a.Destination), strings.Join(names, ", "))
}

// toolHandOver hands the caller over, and tells the model if that did not work.
func (c *Call) toolHandOver(ctx context.Context, h handover) (connection.ToolResult, error) {
	err := c.handOver(ctx, h)
	switch {
	case err == nil:
		return connection.ToolResult{Content: "The caller was connected.", Over: true}, nil
	case ctx.Err() != nil:
		return connection.ToolResult{}, err
	case c.lifecycle.Gone().Err() != nil:
		return connection.ToolResult{}, errors.New("the caller hung up")
	}
	c.log.Info("call not handed over", "to", h.to, "because", err)
	return connection.ToolResult{Content: "The caller could not be connected: " + err.Error() +
		". The caller is still on the line with you. Say so, and offer help."}, nil
}

// Transfer hands a live call over at an operator's request, and returns when the person has taken it. If ctx
// ends before, the transfer goes on. The error is a contract.ErrConflict if the call goes on as before.
func (s *Server) Transfer(ctx context.Context, id string, p contract.PostedPhoneTransfer) error {
	c, err := s.find(id)
	if err != nil {
		return err
	}
	session := c.live()
	if session == nil {
		return contract.ErrConflict{Why: "the call has no chat now, so there is nobody to hand over"}
	}
	if p.Attended && len(s.Trunks) > 0 {
		if err := s.CanDial(c.secondTrunk(), p.To); err != nil {
			return contract.ErrInvalid{Field: "to", Why: err.Error()}
		}
	}
	done := make(chan error, 1)
	c.lifecycle.Go("handing a call over", func() {
		done <- c.handOverFrom(session, handover{
			to:       p.To,
			attended: p.Attended,
			ring:     time.Duration(p.RingSecs) * time.Second,
			brief:    p.Brief,
			announce: true,
		})
	})
	select {
	case err := <-done:
		if err != nil {
			return contract.ErrConflict{Why: "the call was not handed over: " + err.Error()}
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// handOverFrom hands the caller over while the assistant is silent, and ends the chat if that works.
func (c *Call) handOverFrom(s line.Session, h handover) error {
	if err := c.setAway(true); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.lifecycle.Gone())
	defer cancel()
	c.lifecycle.Go("watching a chat", func() {
		select {
		case <-s.Done():
			cancel()
		case <-ctx.Done():
		}
	})
	err := c.handOver(ctx, h)
	if err == nil {
		s.HangUp()
		return nil
	}
	c.log.Info("call not handed over", "to", h.to, "because", err)
	_ = c.setAway(false)
	_ = s.Receive(contract.AssistantInput{Text: c.speech().NobodyThere()}) // on an error the chat is over
	return err
}

// setAway notes whether the person waits at an operator's request.
func (c *Call) setAway(away bool) error {
	c.mu.Lock()
	defer notify(c.changed)
	defer c.mu.Unlock()
	if away && c.transferring {
		return errTransferring
	}
	c.away = away
	return nil
}

var errTransferring = errors.New("another transfer is under way")

// speech returns the language in which the box speaks to the caller.
func (c *Call) speech() language.Language {
	tag := c.assistant.Voice.Language()
	c.mu.Lock()
	defer c.mu.Unlock()
	return language.Of(cmp.Or(tag, c.language))
}

// handOver connects the caller to a person. The error says why not; then the call is as before.
func (c *Call) handOver(ctx context.Context, h handover) error {
	c.mu.Lock()
	under, listens := c.transferring, c.person.listener.Load()
	if !under {
		c.transferring, c.state = true, contract.CallTransferring
	}
	c.mu.Unlock()
	if under {
		return errTransferring
	}
	c.person.ignore()
	err := c.connectTo(ctx, h)
	c.mu.Lock()
	c.transferring = false
	if err != nil {
		c.state = contract.CallTalking
		c.person.listener.Store(listens)
	}
	c.mu.Unlock()
	notify(c.changed)
	if err == nil {
		c.log.Info("call handed over", "to", h.to, "attended", h.attended)
	}
	return err
}

// connectTo connects the caller, who hears nothing of the assistant meanwhile.
func (c *Call) connectTo(ctx context.Context, h handover) error {
	if h.announce {
		c.person.leg.Cut()
		if err := c.person.speak(ctx, c.assistant.Voice, c.speech().PuttingThrough()); err != nil {
			return err
		}
	}
	if h.attended {
		return c.handOverAttended(ctx, h)
	}
	if err := c.person.drain(ctx); err != nil { // the assistant says that it is connecting
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, h.ring)
	defer cancel()
	c.learn(func(f *facts) { f.HandedOverTo = h.to }) // afterwards the far end ends the call, and with it the chat
	err := c.person.leg.Transfer(ctx, h.to)
	if err != nil {
		c.learn(func(f *facts) { f.HandedOverTo = "" })
	}
	return err
}
