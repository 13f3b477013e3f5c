package webrtc

import (
	"fmt"

	pion "github.com/pion/webrtc/v4"

	"parley/appliance/line/rtp"
)

// setVoice sends the assistant's voice over the section that an offer describes.
func (c *Call) setVoice(offer string) (err error) {
	if c.voice != nil {
		return c.placeVoice(offer)
	}
	if c.track, err = pion.NewTrackLocalStaticRTP(opus, "voice", "parley"); err != nil {
		return fmt.Errorf("beginning a call: %w", err)
	}
	sequence, clock := rtp.Seed()
	if c.voice, err = newVoice(c.track.WriteRTP, c.played, c.roundTrip.Delay, sequence, clock, c.beat); err != nil {
		return err
	}
	c.channel.fail = c.lifecycle.Drop
	c.channel.receive = c.receive
	return c.placeVoice(offer)
}

// placeVoice chooses the section for the voice: the current one as long as the client hears
// it, and otherwise another one that the client wants. Without one the voice is not sent.
func (c *Call) placeVoice(offer string) error {
	var free bool
	for _, t := range c.pc.GetTransceivers() {
		s, there := sectionByMid(offer, t.Mid())
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
		_ = c.pc.RemoveTrack(c.sender) // an error means that it has already ended
	}
	sender, err := c.pc.AddTrack(c.track)
	if err != nil {
		return fmt.Errorf("placing the voice of a call: %w", err)
	}
	c.sender = sender
	c.lifecycle.Go("reading reports", func() { c.reports(sender) })
	return nil
}

// replaceTrack sends the voice over the current section, or nothing.
func (c *Call) replaceTrack(voice pion.TrackLocal) error {
	if c.sender == nil || c.sender.Track() == voice {
		return nil
	}
	if err := c.sender.ReplaceTrack(voice); err != nil {
		return fmt.Errorf("holding the voice of a call: %w", err)
	}
	return nil
}
