package webrtc

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	pionrtp "github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line"
	"parley/appliance/line/rtp"
)

const (
	// minPause is how long no packet has to come for the client to count as silent: five
	// packets.
	minPause = 100 * time.Millisecond
	// maxPause bounds the silence that is inserted for one pause. Whatever a silence can
	// end has ended by then; the session's own clock does the rest.
	maxPause = 3 * time.Second
	// pollInterval is the shortest read timeout: with a deadline in the past, reading
	// returns no waiting packets. The session may block Hear for as long as a pause.
	pollInterval = 10 * time.Millisecond
	// maxPacket is the size of the read buffer for a packet, as in the library.
	maxPacket = 8192
)

// hear passes the client's voice to the session. Of several tracks it takes the first one,
// until that one has ended or been silent for maxPause.
func (c *Call) hear(s line.Session) {
	var listeners sync.WaitGroup
	defer listeners.Wait()
	var ear ear
	for {
		select {
		case track := <-c.tracks:
			listeners.Go(func() {
				defer c.lifecycle.Recover("hearing a track", func() { c.lifecycle.Drop(line.ErrPanicked) })
				c.hearTrack(track, &ear, s)
			})
		case <-c.lifecycle.Gone().Done():
			return
		case <-s.Done():
			return
		}
	}
}

// ear belongs to one track at a time.
type ear struct {
	mu    sync.Mutex
	track *pion.TrackRemote
}

// take runs do if the ear belongs to the track or is free.
func (e *ear) take(track *pion.TrackRemote, do func() error) (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.track == nil {
		e.track = track
	}
	if e.track == track {
		err = do()
	}
	return err
}

// leave frees the ear if it belongs to the track.
func (e *ear) leave(track *pion.TrackRemote) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.track == track {
		e.track = nil
	}
}

// hearTrack passes the sound of a track to the session, until either ends.
func (c *Call) hearTrack(track *pion.TrackRemote, e *ear, s line.Session) {
	defer e.leave(track)
	h, err := newJitterBuffer()
	if err != nil {
		c.log.Error("cannot decode the sound of a call", "err", err)
		c.lifecycle.Drop(err)
		return
	}
	since := time.Now() // time of the newest sound or silence
	silent := maxPause  // silence since the newest packet; none before the first
	var p pionrtp.Packet
	buffer := make([]byte, maxPacket)
	for {
		deadline := time.Time{}
		if silent < maxPause {
			deadline = latest(since.Add(minPause), time.Now().Add(pollInterval))
		} else {
			e.leave(track)
		}
		if err := track.SetReadDeadline(deadline); err != nil {
			return
		}
		err := readInto(&p, track, buffer)
		if c.inflow.stalls(time.Now()) {
			c.endStalled()
			return
		}
		if over(err) {
			return
		}
		if err == nil && len(p.Payload) == 0 || err != nil && !late(err) {
			continue // a network probe, a key press, comfort noise, or no valid packet
		}
		err = e.take(track, func() error {
			var pcm []float32
			if err == nil {
				pcm, since, silent = h.Push(&p), time.Now(), 0
			} else {
				passed := time.Since(since)
				pcm = append(h.Flush(), h.Silence(passed)...)
				since, silent = since.Add(passed), silent+passed
			}
			if len(pcm) > 0 {
				return s.Hear(pcm)
			}
			return nil
		})
		if err != nil {
			return
		}
	}
}

// newJitterBuffer returns a buffer for the packets of one track.
func newJitterBuffer() (*rtp.JitterBuffer, error) {
	d, err := audio.NewCallDecoder(engine.SpeechRateHz)
	if err != nil {
		return nil, err
	}
	return rtp.NewJitterBuffer(d, opusFormat), nil
}

// readInto waits for a packet. Its payload lies in buffer.
func readInto(p *pionrtp.Packet, track *pion.TrackRemote, buffer []byte) error {
	n, _, err := track.Read(buffer)
	if err != nil {
		return err
	}
	*p = pionrtp.Packet{}
	return p.Unmarshal(buffer[:n])
}

// over reports whether a track has ended.
func over(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// late reports whether reading timed out.
func late(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// receive handles a message of the client. Errors are ignored: the session is over then,
// and ends the call.
func (c *Call) receive(m pion.DataChannelMessage) {
	select {
	case <-c.opened:
	case <-c.lifecycle.Gone().Done():
		return
	}
	defer c.lifecycle.Recover("receiving a message", c.session.Fail)
	defer c.inflow.message()()
	if len(m.Data) > maxMessage { // the library bounds them by receiveBuffer only
		_ = c.session.Fault(contract.WrongShape,
			fmt.Sprintf("It has %d bytes; at most %d are allowed on a data channel.", len(m.Data), maxMessage))
		return
	}
	if !m.IsString {
		_ = c.session.Fault(contract.UnknownMessage, "Audio comes as a track of the call; the data channel takes text.")
		return
	}
	_ = line.Receive(c.session, m.Data, func([]byte) error {
		return c.session.Fault(contract.UnknownMessage,
			"Audio comes as a track of the call; audio_input is for sockets.")
	})
}
