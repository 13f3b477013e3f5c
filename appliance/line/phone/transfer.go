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
	announce bool   // the caller is told of it first; otherwise the assistant has done that
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

// helloTimeout is how long a person who was called may speak before being told of the caller.
const helloTimeout = 5 * time.Second

// handOverAttended calls a person, says who calls and what for, and joins the two if the person wants it.
func (c *Call) handOverAttended(ctx context.Context, h handover) error {
	s := c.server
	if len(s.Trunks) == 0 {
		return errors.New("this box has no trunk to call out over")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(c.lifecycle.Gone(), cancel)()
	music := make(chan struct{})
	c.lifecycle.Go("playing music", func() {
		defer close(music)
		c.playMusic(ctx)
	})
	stopMusic := func() {
		cancel()
		<-music
		c.person.leg.Cut()
	}
	leg, err := s.Dial(ctx, Dialled{Trunk: cmp.Or(c.call.Trunk, s.Trunks[0]), To: h.to, Ring: h.ring})
	if err != nil {
		stopMusic()
		return unreached(err)
	}
	other := newParty(leg, c.guard)
	err = c.brief(ctx, other, h)
	stopMusic()
	if err == nil {
		err = c.join(other)
	}
	if err != nil {
		leg.HangUp()
		return err
	}
	c.learn(func(f *facts) { f.HandedOverTo = h.to })
	return nil
}

// unreached returns why a person could not be reached, for the model.
func unreached(err error) error {
	switch reasonOf(err) {
	case contract.ByBusy:
		return errors.New("the line is busy")
	case contract.ByNobody:
		return errors.New("nobody answered")
	case contract.ByRejected:
		return errRefused
	case contract.ByWrongNumber:
		return errors.New("the number does not exist")
	}
	return err
}

// brief tells a person who was called of the caller, and asks whether the person takes the call.
func (c *Call) brief(ctx context.Context, to *party, h handover) error {
	v := c.assistant.Voice
	hello, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	e := c.server.newEar(to, v.Language(), greetingPause)
	by, _, err := e.whoAnswered(hello)
	switch {
	case errors.Is(err, line.ErrLeft):
		return errLeft
	case err != nil && (ctx.Err() != nil || hello.Err() == nil): // and not a person who talks to others
		return err
	case by == contract.ByMailbox || by == contract.ByWrongNumber:
		return errors.New("a mailbox answered")
	}
	text := language.Of(v.Language()).Brief(c.callerToSay(), h.brief)
	yes, err := question{call: c, to: to, voice: v, text: text}.ask(ctx)
	switch {
	case errors.Is(err, line.ErrLeft):
		return errLeft
	case err == nil && !yes:
		return errRefused
	}
	return err
}

// callerToSay returns the number of the person on the telephone, for a sentence: with spaces, so that voices of
// all languages say digit by digit what they would read as a number.
func (c *Call) callerToSay() string {
	digits, plus := strings.CutPrefix(c.call.CallerNumber, "+")
	if strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	said := strings.Join(strings.Split(digits, ""), " ")
	if plus {
		said = "+" + said
	}
	return said
}

// playMusic plays the music of those who wait until ctx ends, after what the assistant has said.
func (c *Call) playMusic(ctx context.Context) {
	music := c.server.options.Hold
	if len(music) == 0 || c.person.drain(ctx) != nil {
		return
	}
	tick := time.NewTicker(musicPiece)
	defer tick.Stop()
	const samples = int(musicPiece * contract.OutputRateHz / time.Second)
	for index, at := 0, 0; ; index++ {
		end := min(at+samples, len(music))
		if c.person.play(contract.Sound{Index: index, PCM: music[at:end]}) != nil {
			return
		}
		if at = end; at == len(music) {
			at = 0
		}
		if index == 0 {
			continue // one piece ahead
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// musicPiece is the length of the pieces of music, one second: so much is dropped when the music ends.
const musicPiece = time.Second

// join connects the two people: what one says and presses goes to the other at once. It fails if the chat, and
// with it the call, has ended meanwhile.
func (c *Call) join(other *party) error {
	c.mu.Lock()
	if c.session == nil {
		c.mu.Unlock()
		return errors.New("the chat has ended")
	}
	c.joined, c.state = other, contract.CallJoined
	c.mu.Unlock()
	c.passOn(c.person, other)
	c.passOn(other, c.person)
	return nil
}

// passOn passes on what one person says and presses to the other. Keys go one after another, as each takes the
// time for which it is pressed.
func (c *Call) passOn(from, to *party) {
	keys := make(chan rune, maxDigits)
	c.lifecycle.Go("passing keys on", func() {
		for {
			select {
			case key := <-keys:
				if err := to.leg.Press(c.lifecycle.Gone(), string(key)); err != nil {
					c.log.Debug("cannot pass a key on", "err", err)
				}
			case <-c.lifecycle.Gone().Done():
				return
			}
		}
	})
	from.listen(listener{
		hear: func(pcm []float32) error {
			to.leg.Relay(pcm)
			return nil
		},
		press: queueIn(keys),
	})
}

// joinedTimeout bounds the time for which two people stay connected, 4 h: a telephone that was not put down
// must not hold ports for ever.
const joinedTimeout = 4 * time.Hour

// stayJoined waits until one of two joined people hangs up.
func (c *Call) stayJoined(to *party) {
	late := time.NewTimer(joinedTimeout)
	defer late.Stop()
	why := line.ErrClosed
	select {
	case <-to.leg.Done():
		why = errOtherHungUp
	case <-c.lifecycle.Gone().Done():
	case <-late.C:
	case <-c.server.closing.Done():
	}
	c.lifecycle.Drop(why)
	to.leg.HangUp()
}

var errOtherHungUp = errors.New("the person to whom the call was handed over hung up")
