package media

import (
	"sync"
	"sync/atomic"
	"time"

	pionrtp "github.com/pion/rtp"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line/rtp"
)

const (
	// maxDrift is by how much the time of a packet may differ from its timestamp, both ways:
	// the jitter of relayed sound, which the far end's own buffer takes.
	maxDrift = 120 * time.Millisecond
	// maxLead is how much sound of another call may be sent early, after a burst of its
	// packets. The rest is dropped, so that the delay does not grow.
	maxLead = 60 * time.Millisecond
	// relayPause is how long after the last sound of another call the box sends silence
	// again: as long as a gap in the other call's packets that counts as silence there.
	relayPause = 100 * time.Millisecond
	// maxPacket bounds a packet that is sent: 60 ms of G.711, headers and authentication.
	maxPacket = 1024
)

// sender sends the packets of a call: as long as the call lasts one for every frame, because
// gateways and firewalls take a stream without packets for a dead one. Without anything to say
// it sends encoded silence, and no comfort noise, which few telephones play well.
type sender struct {
	s     *Session
	clock rtp.Clock

	playing sync.Mutex // guards the next four fields while a sentence is encoded
	voice   *rtp.Voice // nil before the first agreement; mu guards it too
	codec   codec
	plain   rtp.Encoder // nil until needed
	lossy   rtp.Encoder // Opus with error correction; nil until needed
	wasCut  atomic.Bool // since the newest sentence began

	mu       sync.Mutex // guards the stream of packets below
	a        *agreement
	format   rtp.Format
	relay    rtp.Encoder // of silence and of sound of another call
	silence  []float32   // a frame for relay
	relaying relaying
	event    *event // key press that is being sent; nil: none
	spoke    time.Time
	ssrc     uint32
	sequence uint16
	base     uint32 // timestamp at epoch
	epoch    time.Time
	next     uint32 // timestamp of the next packet
	begun    bool   // next is set
	reports  reports
	buffer   []byte
	sealed   []byte
}

func newSender(s *Session, c rtp.Clock) *sender {
	return &sender{
		s:      s,
		clock:  c,
		buffer: make([]byte, maxPacket),
	}
}

// adopt changes the stream to a new agreement.
func (o *sender) adopt(before, a *agreement) {
	o.playing.Lock()
	defer o.playing.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.a = a
	if before == nil || before.codec.clockHz != a.codec.clockHz || !a.sameRemote(before) {
		o.newStream()
	}
	if before != nil && before.codec == a.codec && before.frame == a.frame {
		return
	}
	o.format = rtp.Format{ClockHz: a.codec.clockHz, Frame: a.frame}
	o.codec, o.plain, o.lossy, o.relay = a.codec, nil, nil, nil
	o.relaying = relaying{}
	o.silence = make([]float32, audio.Samples(a.frame, engine.SpeechRateHz))
	if o.voice == nil {
		o.voice = rtp.NewVoice(o.encoder, o.format, o.s.played, o.s.round.Delay)
		return
	}
	d, err := before.codec.decoder()
	if err == nil {
		err = o.voice.Recode(o.format, d)
	}
	if err != nil {
		o.s.log.Error("a change of codec has cut what was being said", "err", err)
		o.voice.Cut()
	}
}

// newStream begins a stream with numbers of its own: with another clock, or for another far
// end, whose count of the packets begins at zero (RFC 7160, RFC 3711, section 3.3.1).
func (o *sender) newStream() {
	var high uint16
	high, o.ssrc = rtp.Seed()
	_, o.base = rtp.Seed()
	o.sequence = high >> 1 // far from its overflow, so that nobody guesses the rollover wrong
	o.epoch = time.Now()
	o.begun = false
	o.reports.restart()
}

// encoder returns the encoder for the next sentence. playing is held.
func (o *sender) encoder() (_ rtp.Encoder, err error) {
	if !o.codec.isOpus() {
		if o.plain == nil {
			o.plain = audio.NewVoiceEncoder(o.codec.phone)
		}
		if e, ok := o.plain.(*audio.PhoneEncoder); ok && o.wasCut.Swap(false) {
			e.Reset() // what the filters hold was cut too
		}
		return o.plain, nil
	}
	if o.s.in.lossy.Load() {
		if o.lossy == nil {
			o.lossy, err = opusEncoder(audio.NewLossyCallEncoder)
		}
		return o.lossy, err
	}
	if o.plain == nil {
		o.plain, err = opusEncoder(audio.NewCallEncoder)
	}
	return o.plain, err
}

// opusEncoder returns an encoder for a stream of which others are a part too: silence, and
// sound of another call.
func opusEncoder(open func() (*audio.CallEncoder, error)) (rtp.Encoder, error) {
	e, err := open()
	if err != nil {
		return nil, err
	}
	return e, e.Independent()
}

func (o *sender) play(c contract.Sound) error {
	o.playing.Lock()
	defer o.playing.Unlock()
	if o.voice == nil {
		return nil // nobody hears it
	}
	return o.voice.Play(c)
}

func (o *sender) heldBack() int {
	o.playing.Lock()
	defer o.playing.Unlock()
	if o.voice == nil {
		return 0
	}
	return o.voice.HeldBack()
}

func (o *sender) cut() {
	if v := o.current(); v != nil {
		v.Cut()
		o.wasCut.Store(true)
	}
}

func (o *sender) drained() <-chan struct{} {
	if v := o.current(); v != nil {
		return v.Drained()
	}
	none := make(chan struct{})
	close(none)
	return none
}

// current returns the voice without waiting for a sentence that is being encoded.
func (o *sender) current() *rtp.Voice {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.voice
}

// run sends a packet for every frame, and reports, until the session ends.
func (o *sender) run() {
	o.clock.Pace(o.s.done, func(at time.Time, _ bool) time.Duration {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.report(at)
		if o.a.sends {
			o.step(at)
		}
		return o.format.Frame
	})
}

// step sends the packet of a frame's time: a key press, or else the assistant's voice, or else
// silence, unless sound of another call comes. mu is held.
func (o *sender) step(at time.Time) {
	if _, ready := o.a.crypto(); !ready {
		return // the voice waits
	}
	if o.event != nil && o.sendEvent(at) {
		return
	}
	if f, ok := o.voice.Next(); ok {
		o.spoke = at
		if len(f.Payload) == 0 {
			o.sendSilence(at)
		} else {
			o.send(f.Payload, at)
		}
		o.voice.Sent(f)
		return
	}
	if at.Sub(o.relaying.newest) < relayPause {
		return
	}
	o.sendSilence(at)
}

// opusSilence is 20 ms of silence as Opus: a CELT frame that is marked as silent (RFC 6716,
// section 4.3).
const opusSilence = "\xf8\xff\xfe"

// sendSilence sends a frame of silence.
func (o *sender) sendSilence(at time.Time) {
	if o.a.codec.isOpus() {
		o.send([]byte(opusSilence), at)
		return
	}
	e, err := o.relayEncoder()
	if err != nil {
		return
	}
	if payload, err := e.Encode(o.silence); err == nil {
		o.send(payload, at)
	}
}

// send sends a payload of the codec. mu is held.
func (o *sender) send(payload []byte, at time.Time) {
	timestamp, marker := o.stamp(at)
	o.write(pionrtp.Header{
		Marker:      marker,
		PayloadType: o.a.sendType,
		Timestamp:   timestamp,
	}, payload)
}

// stamp returns the timestamp of a packet at a time, and whether it begins a talkspurt. As long
// as packets come about in time, each one continues the one before.
func (o *sender) stamp(at time.Time) (timestamp uint32, first bool) {
	wall := o.base + o.format.Ticks(at.Sub(o.epoch))
	drift := int32(wall - o.next)
	if limit := int32(o.format.Ticks(maxDrift)); !o.begun || drift > limit || drift < -limit {
		o.next, first = wall, true
	}
	o.begun = true
	timestamp = o.next
	o.next += o.format.Ticks(o.format.Frame)
	return timestamp, first
}

// write encrypts and sends a packet. mu is held.
func (o *sender) write(h pionrtp.Header, payload []byte) {
	k, ready := o.a.crypto()
	to := o.s.target.Load()
	if !ready || to == nil || o.s.done.Err() != nil {
		return
	}
	h.Version, h.SSRC, h.SequenceNumber = 2, o.ssrc, o.sequence
	o.sequence++
	n, err := h.MarshalTo(o.buffer)
	if err != nil || n+len(payload) > len(o.buffer) {
		return // longer than any frame of a codec
	}
	packet := append(o.buffer[:n], payload...)
	if k != nil {
		if o.sealed, err = k.out.EncryptRTP(o.sealed[:0], packet, nil); err != nil {
			return
		}
		packet = o.sealed
	}
	o.reports.sent(len(payload), h.Timestamp, time.Now())
	_, _ = o.s.sockets.rtp.WriteToUDPAddrPort(packet, to.rtp) // a far end that is gone is noticed by its silence
}
