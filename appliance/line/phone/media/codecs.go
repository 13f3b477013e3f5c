package media

import (
	"strconv"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/line/rtp"
)

// codec is a way to send sound.
type codec struct {
	name     string // encoding name in SDP
	clockHz  int
	channels string // "/2" for Opus, whatever is sent (RFC 7587, section 7)
	offered  uint8  // payload type in the box's offers
	fmtp     string // parameters in SDP
	phone    audio.PhoneCodec
}

const (
	eventName = "telephone-event" // key presses (RFC 4733)
	noiseName = "CN"              // comfort noise (RFC 3389)
	// noiseType is the payload type of comfort noise (RFC 3551, section 6).
	noiseType = 13
	// The payload types of key presses in the box's offers, by clock rate. They are the
	// usual ones.
	eventType, wideEventType = 101, 110

	opusName = "opus"
	opusType = 111
	phoneHz  = 8000
)

// codecs returns the codecs of the box, the best one first.
func codecs() []codec {
	return []codec{
		{name: opusName, clockHz: audio.CallRateHz, channels: "/2", offered: opusType, fmtp: "useinbandfec=1"},
		{name: "G722", clockHz: phoneHz, offered: 9, phone: audio.G722},
		{name: "PCMU", clockHz: phoneHz, offered: 0, phone: audio.MuLaw},
		{name: "PCMA", clockHz: phoneHz, offered: 8, phone: audio.ALaw},
	}
}

// isOpus reports whether a codec is Opus, and not one of telephones.
func (c codec) isOpus() bool { return c.name == opusName }

// rtpmap returns the codec as in a=rtpmap.
func (c codec) rtpmap() string { return c.name + "/" + strconv.Itoa(c.clockHz) + c.channels }

// names reports whether an a=rtpmap of the far end means this codec.
func (c codec) names(rtpmap string) bool {
	if strings.EqualFold(rtpmap, "G722/16000") {
		rtpmap = "G722/8000" // some telephones give the rate of its sound
	}
	return strings.EqualFold(rtpmap, c.rtpmap()) || c.channels == "" && strings.EqualFold(rtpmap, c.rtpmap()+"/1")
}

// decoder returns a decoder for one stream.
func (c codec) decoder() (rtp.Decoder, error) {
	if c.isOpus() {
		return audio.NewCallDecoder(engine.SpeechRateHz)
	}
	return audio.NewPhoneDecoder(c.phone, engine.SpeechRateHz)
}

const (
	minFrame, maxFrame = 10 * time.Millisecond, 60 * time.Millisecond
	usualFrame         = 20 * time.Millisecond
)

// frame returns the length of the packets to send to a far end that asks for a number of
// milliseconds with a=ptime.
func (c codec) frame(ptime int) time.Duration {
	if ptime <= 0 || c.isOpus() {
		return usualFrame
	}
	wanted := time.Duration(ptime) * time.Millisecond
	return min(max(wanted-wanted%minFrame, minFrame), maxFrame)
}

// static returns the a=rtpmap of a payload type that needs none (RFC 3551, section 6).
func static(payloadType uint8) string {
	switch payloadType {
	case noiseType:
		return noiseName + "/8000"
	}
	for _, c := range codecs() {
		if c.offered == payloadType && !c.isOpus() {
			return c.rtpmap()
		}
	}
	return ""
}
