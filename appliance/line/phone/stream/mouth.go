package stream

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line/rtp"
)

const (
	// frameLength is the length of the sound in a message to the provider.
	frameLength = 20 * time.Millisecond
	// maxAhead is how far ahead of its playback sound is sent. It covers what a busy machine or the network
	// delays. The provider holds that much, and drops it at a clear.
	maxAhead = time.Second
	// batch is how much sound is sent at a time, so that a call wakes the machine less often.
	batch = 3 * frameLength
	// markEvery is how much sound lies between marks. The session extrapolates between them.
	markEvery = time.Second
	// firstMark is the end of the first mark of a sentence: by then its beginning has surely been heard.
	firstMark = 200 * time.Millisecond
	// markAhead is how long before its time the last mark is sent when no more sound waits. More sound may
	// come until then.
	markAhead = 200 * time.Millisecond
	// markGrace is how long after its time a mark may come back. Then the sound counts as heard.
	markGrace = 2 * time.Second
	// maxRelayed bounds the live sound at the provider. What comes faster is dropped.
	maxRelayed = 200 * time.Millisecond
)

// mark is a mark at the provider: it comes back when the sound before it has been played.
type mark struct {
	name string
	id   string        // of the sentence
	upTo time.Duration // position in the sentence
	due  time.Time     // when it has been played by the clock
}

// mouth sends the assistant's voice.
type mouth struct {
	streamSID string
	send      func(message []byte) error
	voice     *rtp.Voice
	wasCut    atomic.Bool // the encoder still has sound from before a cut

	making  sync.Mutex          // held while sound is made
	speech  *audio.PhoneEncoder // of sentences
	keys    *audio.PhoneEncoder // of tones; nil before the first ones
	pressed bool                // play is making tones
	live    *audio.PhoneEncoder // of another leg's sound; nil before the first
	rest    []float32           // of another leg's sound, less than a frame

	poke chan struct{} // wakes run

	mu       sync.Mutex
	played   func(id string, upTo time.Duration)
	end      time.Time     // when all sound at the provider has been played
	sent     bool          // there was sound since the newest clear
	unmarked time.Duration // length of the sound behind the newest mark
	newest   rtp.Frame     // the newest one that was sent
	dried    time.Time     // since when no more sound waits; zero while some does
	marks    []mark        // at the provider, oldest first
	named    int           // number of marks so far
	answers  bool          // the provider returns marks
	mute     bool          // the provider returns no marks
	idle     chan struct{} // closed while nothing waits or is being heard
}

func newMouth(streamSID string, send func([]byte) error) *mouth {
	m := &mouth{
		streamSID: streamSID,
		send:      send,
		speech:    audio.NewVoiceEncoder(audio.MuLaw),
		poke:      make(chan struct{}, 1),
		idle:      make(chan struct{}),
	}
	close(m.idle)
	format := rtp.Format{ClockHz: audio.MuLaw.ClockHz(), Frame: frameLength}
	m.voice = rtp.NewVoice(m.encoder, format, nil, nil) // marks report what was played
	return m
}

// encoder returns the encoder for a sentence or for tones.
func (m *mouth) encoder() (rtp.Encoder, error) {
	if m.wasCut.Swap(false) {
		m.speech.Reset()
	}
	if !m.pressed {
		return m.speech, nil
	}
	if m.keys == nil {
		var err error
		if m.keys, err = audio.NewRelayEncoder(audio.MuLaw, contract.OutputRateHz); err != nil {
			return nil, err
		}
	}
	return m.keys, nil
}

// play adds a piece of a sentence, or of tones.
func (m *mouth) play(s contract.Sound, tones bool) error {
	m.making.Lock()
	defer m.making.Unlock()
	m.pressed = tones
	err := m.voice.Play(s)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settle()
	return err
}

func (m *mouth) heldBack() int {
	m.making.Lock()
	defer m.making.Unlock()
	return m.voice.HeldBack()
}

// run sends the sound until ctx ends.
func (m *mouth) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(m.step(time.Now()))
		select {
		case <-ctx.Done():
			return
		case <-m.voice.Waiting():
		case <-m.poke:
		case <-timer.C:
		}
	}
}

// step sends what is due, and returns after what time there is more to do.
func (m *mouth) step(now time.Time) time.Duration {
	report, next := m.advance(now)
	m.report(report)
	return next
}

// report reports what was played, in order.
func (m *mouth) report(marks []mark) {
	m.mu.Lock()
	played := m.played
	m.mu.Unlock()
	if played == nil {
		return
	}
	for _, k := range marks {
		if k.id != "" {
			played(k.id, k.upTo)
		}
	}
}

func (m *mouth) advance(now time.Time) (played []mark, next time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	played = m.expire(now)
	next = m.fill(now)
	if len(m.marks) > 0 {
		next = min(next, max(0, m.expires(m.marks[0]).Sub(now)))
	}
	m.settle()
	return played, next
}

// fill sends sound until the provider has enough or nothing waits, and returns after what time there is more
// to send.
func (m *mouth) fill(now time.Time) time.Duration {
	for m.end.Sub(now) < maxAhead {
		f, ok := m.voice.Next()
		if !ok {
			return m.dry(now)
		}
		m.dried = time.Time{}
		m.write(f, now)
	}
	return m.end.Sub(now) - maxAhead + batch
}

// dry sends the last mark when no more sound waits, and returns after what time that is due.
func (m *mouth) dry(now time.Time) time.Duration {
	if m.unmarked == 0 {
		return time.Hour
	}
	if m.dried.IsZero() {
		m.dried = now
	}
	if left := max(m.end.Sub(now)-markAhead, m.dried.Sub(now)+batch); left > 0 {
		return left
	}
	m.mark()
	return time.Hour
}

// write sends a frame, and the marks before and after it.
func (m *mouth) write(f rtp.Frame, now time.Time) {
	if f.ID != m.newest.ID {
		m.mark()
	}
	m.put(f.Payload, now)
	m.newest = f
	if m.unmarked += frameLength; m.unmarked >= markEvery || f.End == firstMark {
		m.mark()
	}
}

// put sends sound.
func (m *mouth) put(payload []byte, now time.Time) {
	m.message(sent{Event: "media", Media: &sentMedia{Payload: payload}})
	m.sent = true
	if m.end.Before(now) {
		m.end = now
	}
	m.end = m.end.Add(frameLength)
}

// mark sends a mark behind the sound that has none.
func (m *mouth) mark() {
	if m.unmarked == 0 {
		return
	}
	m.unmarked = 0
	m.named++
	k := mark{name: strconv.Itoa(m.named), id: m.newest.ID, upTo: m.newest.End, due: m.end}
	m.marks = append(m.marks, k)
	m.message(sent{Event: "mark", Mark: &sentMark{Name: k.name}})
}

func (m *mouth) message(s sent) {
	s.StreamSID = m.streamSID
	text, err := json.Marshal(s)
	if err == nil {
		_ = m.send(text) // a broken connection ends the call elsewhere
	}
}

// returned takes a mark that comes back: the sound before it has been played. Those that a cut dropped are
// no longer known, as the provider returns them too.
func (m *mouth) returned(name string) {
	m.report(m.take(name))
}

func (m *mouth) take(name string) []mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.marks, func(k mark) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	played := slices.Clone(m.marks[:i+1])
	m.marks = m.marks[i+1:]
	m.answers, m.mute = true, false
	m.settle()
	return played
}

// expires returns when a mark is not waited for any longer: at once, if the provider returns none.
func (m *mouth) expires(k mark) time.Time {
	if m.mute {
		return k.due
	}
	return k.due.Add(markGrace)
}

// expire drops the marks that were not returned in time. If the provider returns none, it returns them as
// played by the clock.
func (m *mouth) expire(now time.Time) (played []mark) {
	for len(m.marks) > 0 && !m.expires(m.marks[0]).After(now) {
		if m.mute {
			played = append(played, m.marks[0])
		}
		m.marks = m.marks[1:]
		m.mute = !m.answers
	}
	return played
}

// cut drops the sound that was not played, here and at the provider.
func (m *mouth) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.voice.Cut()
	m.wasCut.Store(true)
	if m.sent {
		m.message(sent{Event: "clear"})
	}
	m.marks, m.unmarked, m.sent, m.end = nil, 0, false, time.Now()
	select {
	case m.poke <- struct{}{}: // run finds that nothing waits
	default:
	}
}

// settle keeps idle closed while nothing waits or is being heard.
func (m *mouth) settle() {
	idle := m.unmarked == 0 && len(m.marks) == 0 && isClosed(m.voice.Drained())
	switch closed := isClosed(m.idle); {
	case idle && !closed:
		close(m.idle)
	case !idle && closed:
		m.idle = make(chan struct{})
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (m *mouth) drained() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.idle
}

func (m *mouth) onPlayed(played func(id string, upTo time.Duration)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.played = played
}

// relay sends live sound at engine.SpeechRateHz.
func (m *mouth) relay(pcm []float32) {
	m.making.Lock()
	defer m.making.Unlock()
	if m.live == nil {
		var err error
		if m.live, err = audio.NewRelayEncoder(audio.MuLaw, engine.SpeechRateHz); err != nil {
			return
		}
	}
	const n = int(frameLength * engine.SpeechRateHz / time.Second)
	m.rest = append(m.rest, pcm...)
	for len(m.rest) >= n {
		payload, err := m.live.Encode(m.rest[:n])
		m.rest = m.rest[n:]
		if err == nil {
			m.putLive(payload)
		}
	}
	m.rest = slices.Clone(m.rest)
}

func (m *mouth) putLive(payload []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := time.Now(); m.end.Sub(now) < maxRelayed {
		m.put(payload, now)
	}
}
