package phone

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/appliance/language"
	"parley/appliance/line"
)

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
	leg, err := s.Dial(ctx, Dialled{Trunk: c.secondTrunk(), To: h.to, Ring: h.ring})
	if err != nil {
		stopMusic()
		return unreached(err)
	}
	joined := false
	defer func() {
		if !joined { // also after a panic
			leg.HangUp()
		}
	}()
	other := newParty(leg, c.guard)
	err = c.brief(ctx, other, h)
	stopMusic()
	if err == nil {
		err = c.join(other)
	}
	if err != nil {
		return err
	}
	joined = true
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

// secondTrunk returns the trunk over which the box calls the person who takes over: that of the call, and for a
// media stream the first. The box has one.
func (c *Call) secondTrunk() string { return cmp.Or(c.call.Trunk, c.server.Trunks[0]) }
