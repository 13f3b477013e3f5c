package phone

import (
	"errors"
	"time"

	"parley/appliance/contract"
	"parley/appliance/line"
)

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
