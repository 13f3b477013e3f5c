package webrtc

import (
	"errors"
	"net"
	"time"

	pion "github.com/pion/webrtc/v4"

	"parley/appliance/contract"
)

const (
	// pause is for how long nothing has to come for the client to be taken for
	// silent: five packets.
	pause = 100 * time.Millisecond
	// longestPause is how much silence is made for that. Whatever ends with a
	// silence has ended by then; the session's own clock does the rest.
	longestPause = 3 * time.Second
)

// hear brings the client's voice to the session.
func (c *Call) hear(s Session) {
	var track *pion.TrackRemote
	select {
	case track = <-c.heard:
	case <-c.gone.Done():
		return
	case <-s.Done():
		return
	}
	h, err := newHearing()
	if err != nil {
		c.log.Error("cannot hear a call", "err", err)
		c.drop(err)
		return
	}
	since := time.Now()      // the newest sound, or what stood for it
	var silent time.Duration // made since the newest packet
	for {
		deadline := time.Time{}
		if silent < longestPause {
			deadline = since.Add(pause)
		}
		if err := track.SetReadDeadline(deadline); err != nil {
			return
		}
		p, _, err := track.ReadRTP()
		var pcm []float32
		switch {
		case err == nil:
			pcm, since, silent = h.take(p), time.Now(), 0
		case late(err):
			passed := time.Since(since)
			pcm = append(h.flush(), h.silence(passed)...)
			since, silent = since.Add(passed), silent+passed
		default:
			return // the connection is over
		}
		if len(pcm) > 0 && s.Hear(pcm) != nil {
			return
		}
	}
}

// late tells whether nothing came in time.
func late(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// receive takes a message of the client's.
func (c *Call) receive(m pion.DataChannelMessage) {
	c.survive("taking a message", func() {
		select {
		case <-c.opened:
			_ = take(c.session, m) // a session that is over ends the call by itself
		case <-c.gone.Done():
		}
	})
}

// take hands a message on to the session.
func take(s Session, m pion.DataChannelMessage) error {
	if !m.IsString {
		return s.Fault(contract.UnknownMessage, "Audio comes as a track of the call; the data channel takes text.")
	}
	read, err := contract.ParseClientMessage(m.Data)
	if f, ok := errors.AsType[contract.Fault](err); ok {
		return s.Fault(f.Code, f.Detail)
	} else if err != nil {
		return s.Fault(contract.Internal, "")
	}
	if _, ok := read.(contract.AudioInput); ok {
		return s.Fault(contract.UnknownMessage, "Audio comes as a track of the call; audio_input is for sockets.")
	}
	return s.Receive(read)
}
