package speaker

import (
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

func ramp(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(i+1) / float32(n)
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Sound that the device got less than initialBuffer ago has not been heard.
func TestProgressIsExactToTheFrame(t *testing.T) {
	p := newPlayout()
	must(t, p.add("a", 0, ramp(rateHz)))
	must(t, p.add("a", rateHz, ramp(rateHz)))
	must(t, p.add("b", 0, ramp(rateHz)))
	block := make([]float32, rateHz/50)
	at := func(after time.Duration) (string, time.Duration) { return p.progress(p.filled.Add(after)) }
	if id, _ := p.progress(time.Now()); id != "" {
		t.Errorf("%q was heard, and nothing was handed over", id)
	}
	p.fill(block)
	if id, upTo := at(0); id != "a" || upTo != 0 {
		t.Errorf("%v of %q was heard of what has just been handed over", upTo, id)
	}
	for range 49 {
		p.fill(block)
	}
	for after, want := range map[time.Duration]time.Duration{0: time.Second - initialBuffer,
		10 * time.Millisecond: time.Second - initialBuffer + 10*time.Millisecond, time.Minute: time.Second} {
		if id, upTo := at(after); id != "a" || upTo != want {
			t.Errorf("%v after a second was handed over, %v of %q was heard, want %v", after, upTo, id, want)
		}
	}
	for range 51 {
		p.fill(block)
	}
	if id, upTo := at(0); id != "b" || upTo != 0 {
		t.Errorf("%v of %q was heard, want none of b", upTo, id)
	}
}

func TestCutSoundEndsWithoutAClick(t *testing.T) {
	p := newPlayout()
	loud := make([]float32, rateHz)
	for i := range loud {
		loud[i] = 1
	}
	must(t, p.add("a", 0, loud))
	drained := p.whenDrained()
	block := make([]float32, rateHz/100)
	p.fill(block)
	p.cut()
	select {
	case <-drained:
	default:
		t.Error("a waiter for the end of playback is not notified")
	}
	p.fill(block)
	for i, v := range block {
		switch {
		case i < fade && i > 0 && v >= block[i-1]:
			t.Fatalf("sample %d behind the cut is %v, after %v", i, v, block[i-1])
		case i >= fade && v != 0:
			t.Fatalf("sample %d behind the cut is %v", i, v)
		}
	}
	must(t, p.add("b", 0, loud[:100]))
	p.fill(block)
	if id, _ := p.progress(time.Now()); id != "b" {
		t.Errorf("%q is played", id)
	}
}

func TestACueDoesNotCountAsProgress(t *testing.T) {
	p := newPlayout()
	must(t, p.add("", 0, toneEnd.pcm()))
	p.fill(make([]float32, rateHz/10))
	if id, _ := p.progress(time.Now()); id != "" {
		t.Errorf("a tone counts as %q", id)
	}
	if len(p.progressed) != 0 {
		t.Error("the session gets progress of a tone")
	}
}

func TestAtMostHalfAnHourOfSoundIsQueued(t *testing.T) {
	p := newPlayout()
	minute := make([]float32, 60*rateHz)
	for range 30 {
		must(t, p.add("a", 0, minute))
	}
	if p.add("a", 0, minute[:1]) == nil {
		t.Error("more sound is accepted")
	}
	p.cut()
	must(t, p.add("a", 0, minute[:1]))
}

// The kernel refuses requests of another size.
func TestTheGPIORequestHasTheKernelsSize(t *testing.T) {
	if n := unsafe.Sizeof(lineRequest{}); n != 592 || ioctlGetLine != 0xC250B407 {
		t.Errorf("a request has %d bytes, its number is %x", n, ioctlGetLine)
	}
	var r lineRequest
	if o := unsafe.Offsetof(r.config) + unsafe.Offsetof(r.config.attribute); o != 320 {
		t.Errorf("the attributes lie at %d", o)
	}
	if o := unsafe.Offsetof(r.fd); o != 588 {
		t.Errorf("the answer lies at %d", o)
	}
}

// A loudspeaker that underruns repeatedly gets a larger buffer, once nothing is played, of
// at most a quarter of a second.
func TestUnderrunsEnlargeTheBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlayout()
		block := make([]float32, rateHz/100)
		fill := func(after time.Duration) {
			time.Sleep(after)
			p.fill(block)
		}
		asked := func() bool {
			select {
			case <-p.reopen:
				return true
			default:
				return false
			}
		}
		must(t, p.add("a", 0, ramp(rateHz/20)))
		fill(time.Hour) // the first period is never late
		for range maxUnderruns {
			fill(initialBuffer)
			fill(initialBuffer + time.Millisecond)
		}
		if asked() {
			t.Error("it is opened anew while something is heard")
		}
		for range 20 {
			fill(10 * time.Millisecond)
		}
		if !asked() || p.openBuffer() != 2*initialBuffer || asked() {
			t.Errorf("it ran dry %d times, and is to hold %v", maxUnderruns, p.nextBuffer())
		}
		for range 9 * maxUnderruns {
			fill(time.Second)
		}
		if p.openBuffer() != maxBuffer {
			t.Errorf("it is to hold %v at most, and does %v", maxBuffer, p.delay())
		}
		for range 9 {
			fill(underrunWindow)
		}
		if p.nextBuffer() != maxBuffer {
			t.Errorf("it is to hold %v", p.nextBuffer())
		}
	})
}
