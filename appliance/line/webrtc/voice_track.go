package webrtc

import (
	"fmt"

	pion "github.com/pion/webrtc/v4"
)

// setVoice has the assistant's voice go over the connection that an offer describes.
func (c *Call) setVoice(offer string) (err error) {
	if c.voice != nil {
		return c.placeVoice(offer)
	}
	if c.track, err = pion.NewTrackLocalStaticRTP(opus, "voice", "parley"); err != nil {
		return fmt.Errorf("beginning a call: %w", err)
	}
	sequence, clock := seed()
	if c.voice, err = newVoice(c.track.WriteRTP, c.played, c.roundTrip.delay, sequence, clock, c.beat); err != nil {
		return err
	}
	c.channel.fail = c.lifecycle.Drop
	c.channel.receive = c.receive
	return c.placeVoice(offer)
}

// placeVoice puts the voice where an offer takes it: where it is, as long as it is heard
// there, and in the place of what the client has ended or hears no more. While there is
// none it goes nowhere.
func (c *Call) placeVoice(offer string) error {
	var free bool
	for _, t := range c.pc.GetTransceivers() {
		s, there := named(offer, t.Mid())
		if !there || !s.takesVoice() {
			continue
		}
		switch t.Sender() {
		case nil:
			free = true
		case c.sender:
			return c.replaceTrack(c.track)
		}
	}
	if !free {
		return c.replaceTrack(nil)
	}
	if c.sender != nil {
		_ = c.pc.RemoveTrack(c.sender) // the library says of one that has ended that it has
	}
	sender, err := c.pc.AddTrack(c.track)
	if err != nil {
		return fmt.Errorf("placing the voice of a call: %w", err)
	}
	c.sender = sender
	c.lifecycle.Go("reading reports", func() { c.reports(sender) })
	return nil
}

// replaceTrack has the voice go where it has been placed, or nothing.
func (c *Call) replaceTrack(voice pion.TrackLocal) error {
	if c.sender == nil || c.sender.Track() == voice {
		return nil
	}
	if err := c.sender.ReplaceTrack(voice); err != nil {
		return fmt.Errorf("holding the voice of a call: %w", err)
	}
	return nil
}
