package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line"
	"parley/appliance/line/webrtc"
)

const (
	// callsWindow is for how long calls are measured, after callsSettle, by when
	// all of them are connected.
	callsWindow = 10 * time.Second
	callsSettle = 3 * time.Second
	// clicks of 60 ms come one each clickEvery, over clicksFor: three frames, far
	// enough apart that none is taken for another.
	clickEvery = 500 * time.Millisecond
	clicksFor  = 15 * time.Second
	clickLong  = 60 * time.Millisecond
	// callsShare is the share of one core that the media of twenty calls may take.
	callsShare = 0.15
	// leastHeard is how much of the callers' voices has to come while it is measured
	// what they take: all but what a busy machine may be late by at either end.
	leastHeard = 0.9
	// holeBegins is how much of nothing in a voice is one: two frames.
	holeBegins = 40 * time.Millisecond
	// clickLoud tells a click from what a codec makes of silence.
	clickLoud = 0.1
)

// Calls measures the media of calls over WebRTC without the models: what so many
// of them take of a core while both sides speak, and how long a sound is on its
// way. The callers are processes of their own (Callers).
func Calls(ctx context.Context, o Options) (r Report, err error) {
	r = Report{Bench: "calls", Machine: describe(o.Config)}
	in, out, err := r.clicks(ctx, o)
	if err != nil {
		return r, err
	}
	for _, d := range []struct {
		name, note string
		took       []time.Duration
	}{
		{"delay_in", "from the first sample of a click at the client to the session, of it 20 ms of the frame that " +
			"it is the beginning of", in},
		{"delay_out", "from the session's first sample of a click to the client, decoded; without the client's " +
			"jitter buffer and the network", out},
	} {
		r.figure(d.name+"_p50", median(d.took)/float64(time.Millisecond), "ms", d.note)
		r.figure(d.name+"_p95", quantile(d.took, 0.95)/float64(time.Millisecond), "ms",
			fmt.Sprintf("of %d clicks", len(d.took)))
	}
	if err := r.media(ctx, o); err != nil || o.Loss == 0 && o.Jitter == 0 {
		return r, err
	}
	return r, r.badNetwork(ctx, o)
}

// badNetwork measures what both sides of a call get over one that loses packets and
// has them come late.
func (r *Report) badNetwork(ctx context.Context, o Options) error {
	o.say("a call over a network that loses %v %% and is late by up to %v, for %v", o.Loss, o.Jitter, callsWindow)
	s, err := answerCalls(o, speaking)
	if err != nil {
		return err
	}
	defer s.close()
	told, err := s.call(ctx, o, Dialling{
		Calls:  1,
		Long:   callsSettle + callsWindow,
		Loss:   o.Loss,
		Jitter: o.Jitter,
	})
	if err != nil {
		return err
	}
	concealed, gaps := listened(told.Came, audio.CallFrame)
	note := fmt.Sprintf("of the assistant's frames, %d packets came; lost, or later than the %v that a listener waits",
		len(told.Came), listenerBuffer)
	r.figure("listener_concealed", 100*concealed, "%", note)
	r.figure("listener_gaps", float64(gaps), "",
		fmt.Sprintf("rows of them of %v and more, which no codec makes up for", gapBegins))
	s.mu.Lock()
	defer s.mu.Unlock()
	r.figure("box_heard", s.took.Seconds(), "s", "of sound has the box made of the client's voice")
	r.figure("box_gaps", float64(s.gaps), "",
		fmt.Sprintf("pieces of silence in it of %v and more, where the voice had none", holeBegins))
	return nil
}

// clicks times the way in and out of clicks, in one call.
func (r *Report) clicks(ctx context.Context, o Options) (in, out []time.Duration, err error) {
	o.say("a call with a click both ways each %v, for %v", clickEvery, clicksFor)
	s, err := answerCalls(o, clicking)
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	told, err := s.call(ctx, o, Dialling{Calls: 1, Long: clicksFor, Clicks: true})
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return passed(told.Sent, s.heard), passed(s.sent, told.Heard), nil
}

// media measures what the calls take of a core.
func (r *Report) media(ctx context.Context, o Options) error {
	n := o.Calls
	o.say("%d calls in which both sides speak, for %v", n, callsWindow)
	s, err := answerCalls(o, speaking)
	if err != nil {
		return err
	}
	defer s.close()
	ended := make(chan error, 1)
	go func() {
		_, err := s.call(ctx, o, Dialling{Calls: n, Long: callsSettle + callsWindow})
		ended <- err
	}()
	if err := sleep(ctx, callsSettle); err != nil {
		return errors.Join(err, <-ended)
	}
	heard, window := s.listened(), callsWindow-time.Second
	share, err := cpuShare(ctx, self(), window)
	heard = s.listened() - heard
	if err := errors.Join(err, <-ended); err != nil {
		return err
	}
	codec, err := codecShare()
	if err != nil {
		return err
	}
	if live := s.opened(); live != n {
		return fmt.Errorf("of %d calls %d came about", n, live)
	}
	if err := flowed(heard, time.Duration(n)*window); err != nil {
		return err
	}
	r.against("calls_cpu", share, "cores", callsShare,
		fmt.Sprintf("%d calls, both sides speaking; %v of a core may be taken by 20", n, callsShare))
	r.figure("calls_codec", codec*float64(n), "cores", "of it Opus both ways, measured alone")
	r.figure("calls_network", share-codec*float64(n), "cores", "and the rest: packets, encryption, timers")
	r.figure("calls_of_codec", share/(codec*float64(n)), "×",
		"all of it, of what Opus alone takes on this machine now: machines differ in both")
	return nil
}

// flowed is an error where so much of the voices was not heard that what the calls
// took says nothing of them: on a machine that was stopped meanwhile they take
// nothing at all.
func flowed(heard, spoken time.Duration) error {
	if heard.Seconds() < leastHeard*spoken.Seconds() {
		return fmt.Errorf("of %v of voices %v were heard: the machine was held up meanwhile, measure again", spoken,
			heard.Round(time.Second/10))
	}
	return nil
}

// codecShare is what encoding and decoding one voice takes of a core.
func codecShare() (float64, error) {
	const length = 20 * time.Second
	e, err := audio.NewCallEncoder()
	if err != nil {
		return 0, err
	}
	theirs, err := audio.NewLossyCallEncoder()
	if err != nil {
		return 0, err
	}
	d, err := audio.NewCallDecoder(engine.SpeechRateHz)
	if err != nil {
		return 0, err
	}
	pcm, frame := hum(length), audio.Samples(audio.CallFrame, contract.OutputRateHz)
	said, err := packets(theirs, pcm)
	if err != nil {
		return 0, err
	}
	before, err := cpuTime(self())
	if err != nil {
		return 0, err
	}
	for n, packet := range said {
		_, err := e.Encode(pcm[n*frame : (n+1)*frame])
		if err == nil && len(packet) > 0 {
			_, err = d.Decode(packet)
		}
		if err != nil {
			return 0, err
		}
	}
	after, err := cpuTime(self())
	return float64(after-before) / float64(length), err
}

// packets are what an encoder makes of a sound, frame by frame; empty is silence.
func packets(e *audio.CallEncoder, pcm []float32) (all [][]byte, err error) {
	frame := audio.Samples(audio.CallFrame, audio.CallRateHz)
	for ; len(pcm) >= frame; pcm = pcm[frame:] {
		packet, err := e.Encode(pcm[:frame])
		if err != nil {
			return nil, err
		}
		all = append(all, slices.Clone(packet))
	}
	return all, nil
}

// passed is how long each of the later moments comes after the newest of the
// earlier ones.
func passed(from, to []time.Time) (all []time.Duration) {
	for _, at := range to {
		var newest time.Time
		for _, f := range from {
			if !f.After(at) {
				newest = f
			}
		}
		if d := at.Sub(newest); !newest.IsZero() && d < clickEvery {
			all = append(all, d)
		}
	}
	return all
}

// hum is like a voice: harmonics that go up and down, louder and softer.
func hum(d time.Duration) []float32 {
	pcm := make([]float32, audio.Samples(d, contract.OutputRateHz))
	phase := 0.0
	for i := range pcm {
		at := float64(i) / contract.OutputRateHz
		phase += 2 * math.Pi * (140 + 40*math.Sin(6*math.Pi*at)) / contract.OutputRateHz
		for k := 1.0; k <= 8; k++ {
			pcm[i] += float32(math.Sin(k*phase) / k * (0.3 + 0.1*math.Sin(8*math.Pi*at)))
		}
	}
	return pcm
}

// switchboard answers calls, and notes when clicks left and came.
type switchboard struct {
	lines   *webrtc.Server
	address string
	stop    func()
	speak   func(context.Context, *extension)

	mu          sync.Mutex
	sent, heard []time.Time
	count       int
	took        time.Duration // of sound that was heard
	gaps        int           // in it
}

// answerCalls serves calls, in each of which the assistant speaks so.
func answerCalls(o Options, speak func(context.Context, *extension)) (*switchboard, error) {
	s := &switchboard{speak: speak}
	lines, err := webrtc.Open(s, webrtc.Network{Address: "127.0.0.1:0"}, webrtc.Timing{}, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, lines.Close(context.Background()))
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := lines.Answer(w, r, "bench", func(id string) string { return "/" + id }, always{}); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})}
	go func() { _ = server.Serve(at) }()
	s.lines, s.address = lines, "http://"+at.Addr().String()
	s.stop = func() { _ = server.Close() }
	return s, nil
}

func (s *switchboard) close() {
	s.stop()
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.lines.Close(now)
}

// listened is how much sound has been heard so far, of all calls.
func (s *switchboard) listened() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.took
}

func (s *switchboard) opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// call has so many calls made by another process, and returns what it has heard.
func (s *switchboard) call(ctx context.Context, o Options, d Dialling) (told Called, err error) {
	program, err := os.Executable()
	if err != nil {
		return told, err
	}
	args := []string{"bench", "calls", "--calls", strconv.Itoa(d.Calls), "--to", s.address, "--long", d.Long.String(),
		"--loss", strconv.FormatFloat(d.Loss, 'g', -1, 64), "--jitter", d.Jitter.String()}
	if d.Clicks {
		args = append(args, "--clicks")
	}
	c := exec.CommandContext(ctx, program, args...)
	c.Stderr = os.Stderr
	said, err := c.Output()
	if err != nil {
		return told, fmt.Errorf("the callers: %w", err)
	}
	return told, json.Unmarshal(said, &told)
}

// Reserve is line.Host.
func (s *switchboard) Reserve(string) (line.Seat, error) { return s, nil }

// Release is line.Seat.
func (s *switchboard) Release() {}

// Open begins a conversation, in which the assistant speaks at once.
func (s *switchboard) Open(ctx context.Context, o line.Opening) (line.Session, error) {
	e := &extension{
		board: s,
		line:  o.Line,
		done:  make(chan struct{}),
		still: -1,
	}
	s.mu.Lock()
	s.count++
	s.mu.Unlock()
	go s.speak(ctx, e)
	return e, nil
}

// extension is a session of the switchboard's.
type extension struct {
	board *switchboard
	line  line.Line
	once  sync.Once
	done  chan struct{}
	loud  bool
	still int // samples of silence in a row, since there was a voice; -1: there was none yet
}

// Hear notes when a click begins, and where there is nothing.
func (e *extension) Hear(pcm []float32) error {
	now := time.Now()
	e.board.mu.Lock()
	e.board.took += time.Duration(len(pcm)) * time.Second / engine.SpeechRateHz
	e.board.gaps += e.holes(pcm)
	e.board.mu.Unlock()
	if begins(pcm, &e.loud) {
		e.board.mu.Lock()
		e.board.heard = append(e.board.heard, now)
		e.board.mu.Unlock()
	}
	return nil
}

// holes counts those that end in what was heard.
func (e *extension) holes(pcm []float32) (n int) {
	for _, v := range pcm {
		switch {
		case v == 0 && e.still >= 0:
			e.still++
		case v != 0:
			if e.still >= audio.Samples(holeBegins, engine.SpeechRateHz) {
				n++
			}
			e.still = 0
		}
	}
	return n
}

// begins tells whether a click does in what was heard.
func begins(pcm []float32, loud *bool) bool {
	was := *loud
	*loud = false
	for _, v := range pcm {
		*loud = *loud || v > clickLoud
	}
	return *loud && !was
}

// Receive and those below are what a session has besides.
func (e *extension) Receive(contract.ClientMessage) error { return nil }

// Audio is none.
func (e *extension) Audio() *contract.AudioConfiguration { return nil }

// Played is not asked for.
func (e *extension) Played(string, time.Duration) {}

// Fault is none of a benchmark's.
func (e *extension) Fault(code contract.Code, detail string) error {
	return fmt.Errorf("%s: %s", code, detail)
}

// HangUp ends it.
func (e *extension) HangUp() {
	e.once.Do(func() {
		e.line.Close(contract.CloseNormal, "")
		close(e.done)
	})
}

// CutOff ends it, too.
func (e *extension) CutOff(error) { e.HangUp() }

// Done is closed then.
func (e *extension) Done() <-chan struct{} { return e.done }

// speaking says a voice without an end, a second at a time.
func speaking(ctx context.Context, e *extension) {
	voice := hum(time.Second)
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for n := 0; e.line.Play(ctx, contract.Sound{ID: "a", Index: n, PCM: append([]float32(nil), voice...)}) == nil; n++ {
		select {
		case <-every.C:
		case <-e.done:
			return
		}
	}
}

// clicking plays a click now and then.
func clicking(ctx context.Context, e *extension) {
	every := time.NewTicker(clickEvery)
	defer every.Stop()
	for n := 0; ; n++ {
		e.board.mu.Lock()
		e.board.sent = append(e.board.sent, time.Now())
		e.board.mu.Unlock()
		if e.line.Play(ctx, contract.Sound{ID: strconv.Itoa(n), PCM: hum(clickLong), Last: true}) != nil {
			return
		}
		select {
		case <-every.C:
		case <-e.done:
			return
		}
	}
}
