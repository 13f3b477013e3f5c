package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"
	"golang.org/x/sync/errgroup"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// Called is what callers noted: when their clicks began, when they heard one, and,
// over a bad network, when each packet of the assistant's came.
type Called struct {
	Sent, Heard []time.Time
	Came        []arrival
}

// Dialling is how callers call.
type Dialling struct {
	Calls  int // at once
	Long   time.Duration
	Clicks bool    // now and then, and none speaks
	Loss   float64 // of packets, in percent, and
	Jitter time.Duration
}

// Callers holds calls with the switchboard at an address: in each of them somebody
// speaks, or clicks now and then.
func Callers(ctx context.Context, address string, d Dialling) (Called, error) {
	n, long, clicks := d.Calls, d.Long, d.Clicks
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	var told Called
	all := errgroup.Group{}
	for range n {
		all.Go(func() error {
			c := &dialled{clicks: clicks, loss: d.Loss / 100, jitter: d.Jitter}
			err := c.hold(ctx, address)
			if clicks || c.bad() {
				c.mu.Lock()
				defer c.mu.Unlock()
				told = Called{c.sent, c.heard, c.came}
			}
			return err
		})
	}
	return told, all.Wait()
}

// dialled is one call of the callers.
type dialled struct {
	clicks bool
	loss   float64
	jitter time.Duration
	sent   []time.Time // of who speaks

	mu    sync.Mutex
	heard []time.Time
	came  []arrival
}

// bad tells whether the network is.
func (c *dialled) bad() bool { return c.loss > 0 || c.jitter > 0 }

// hold makes the call and speaks until ctx ends.
func (c *dialled) hold(ctx context.Context, address string) error {
	pc, err := pion.NewPeerConnection(pion.Configuration{})
	if err != nil {
		return err
	}
	defer func() { _ = pc.GracefulClose() }()
	track, err := pion.NewTrackLocalStaticRTP(
		pion.RTPCodecCapability{MimeType: pion.MimeTypeOpus, ClockRate: audio.CallRateHz, Channels: 2}, "mic", "caller")
	if err != nil {
		return err
	}
	if _, err := pc.AddTrack(track); err != nil {
		return err
	}
	pc.OnTrack(func(t *pion.TrackRemote, _ *pion.RTPReceiver) { c.listen(t) })
	connected := make(chan struct{})
	pc.OnConnectionStateChange(func(s pion.PeerConnectionState) {
		if s == pion.PeerConnectionStateConnected {
			close(connected)
		}
	})
	answer, err := dialTo(ctx, pc, address)
	if err != nil {
		return err
	}
	if c.bad() {
		var network *badNetwork
		if network, answer, err = interpose(answer, c.loss, c.jitter); err != nil {
			return err
		}
		defer network.close()
	}
	if err := pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: answer}); err != nil {
		return err
	}
	select {
	case <-connected:
		return c.speak(ctx, track)
	case <-ctx.Done():
		return errors.New("no connection came about in time")
	}
}

// dialTo makes an offer and returns the answer.
func dialTo(ctx context.Context, pc *pion.PeerConnection, address string) (string, error) {
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		return "", err
	}
	gathered := pion.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		return "", err
	}
	<-gathered
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address,
		bytes.NewReader([]byte(pc.LocalDescription().SDP)))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/sdp")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("answered with %s: %s", res.Status, answer)
	}
	return string(answer), nil
}

// speak sends a frame each 20 ms, of a voice or of silence with clicks in it, until
// ctx ends. What is sent was made before: it is the box that is measured.
func (c *dialled) speak(ctx context.Context, track *pion.TrackLocalStaticRTP) error {
	e, err := audio.NewLossyCallEncoder() // as browsers do
	if err != nil {
		return err
	}
	pcm, frame := hum(time.Second), audio.Samples(audio.CallFrame, audio.CallRateHz)
	if c.clicks {
		pcm = append(hum(clickLong), make([]float32, audio.Samples(clickEvery-clickLong, audio.CallRateHz))...)
	}
	said, err := packets(e, pcm)
	if err != nil {
		return err
	}
	every := time.NewTicker(audio.CallFrame)
	defer every.Stop()
	sequence := uint16(0)
	for n := 0; ; n++ {
		select {
		case <-every.C:
		case <-ctx.Done():
			return nil
		}
		packet := said[n%len(said)]
		if c.clicks && n%len(said) == 0 {
			c.sent = append(c.sent, time.Now().Add(-audio.CallFrame)) // its first sample
		}
		if len(packet) == 0 {
			continue // silence, which is not sent
		}
		p := rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: sequence, Timestamp: uint32(n * frame)},
			Payload: packet}
		sequence++
		if err := track.WriteRTP(&p); err != nil {
			return err
		}
	}
}

// listen notes the clicks of the assistant.
func (c *dialled) listen(t *pion.TrackRemote) {
	d, err := audio.NewCallDecoder(contract.OutputRateHz)
	if err != nil {
		return
	}
	loud := false
	for {
		p, _, err := t.ReadRTP()
		if err != nil {
			return
		}
		now := time.Now()
		if c.bad() {
			c.mu.Lock()
			c.came = append(c.came, arrival{p.SequenceNumber, now})
			c.mu.Unlock()
		}
		if !c.clicks || len(p.Payload) == 0 {
			continue
		}
		pcm, err := d.Decode(p.Payload)
		if err == nil && (p.Marker && begins(pcm, new(bool)) || begins(pcm, &loud)) {
			c.mu.Lock()
			c.heard = append(c.heard, now)
			c.mu.Unlock()
		}
	}
}
