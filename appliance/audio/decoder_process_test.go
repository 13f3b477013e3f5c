package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"parley/internal/isolate"
)

// inC are files that are decoded in C, in a separate process.
var inC = map[string]string{
	"a.mp3":       "-c:a libmp3lame OUT",
	"a.aac":       "-c:a aac OUT",
	"live.mp4":    "-c:a aac " + fragments + " OUT",
	"vorbis.ogg":  "-c:a libvorbis -page_duration 20000 OUT",
	"vorbis.webm": "-c:a libvorbis OUT",
}

// processOf returns the process that decodes a stream, after its first frame.
func processOf(t *testing.T, d Decoder) *decoderProcess {
	t.Helper()
	switch p := d.(*decoder).parser.(*container).parser.(type) {
	case *mp3Parser:
		return p.dec
	case *adtsParser:
		return p.track.dec.decoderProcess
	case *mp4Parser:
		return p.aac.dec.decoderProcess
	case *oggParser:
		return p.sound.dec.decoderProcess
	case *webmParser:
		return p.vorbis.dec.decoderProcess
	default:
		t.Fatalf("%T", p)
		return nil
	}
}

// gone fails if a process still exists, even as a zombie.
func gone(t *testing.T, p *decoderProcess, why string) {
	t.Helper()
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.process.Pid())); err == nil {
		t.Errorf("%s: the process of the decoder is still there", why)
	}
}

// halfDecoded returns a stream whose first half is decoded.
func halfDecoded(t *testing.T, data []byte) (d Decoder, first []float32) {
	t.Helper()
	d = NewContainer(16000)
	first, err := d.Decode(data[:len(data)/2])
	if err != nil || len(first) == 0 {
		t.Fatalf("%.4q: %d samples, %v", data, len(first), err)
	}
	return d, first
}

// This process decodes files of all formats, and never loads the libraries that do.
func TestUntrustedBytesAreNotDecodedInThisProcess(t *testing.T) {
	for file, args := range inC {
		if _, err := DecodeAll(voice(t, file, args), 16000); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if err := errors.Join(CheckMP3(), CheckAAC()); err != nil {
		t.Error(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for _, library := range []string{"libmpg123", "libavcodec", "libavutil"} {
		if strings.Contains(string(maps), library) {
			t.Errorf("%s is loaded", library)
		}
	}
}

// The process has no privileges, little memory, and the library.
func TestDecoderIsConfined(t *testing.T) {
	for file, library := range map[string]string{"a.mp3": "libmpg123", "a.aac": "libavcodec"} {
		d, _ := halfDecoded(t, voice(t, file, inC[file]))
		decoder := processOf(t, d)
		p := decoder.process
		if len(p.MissingProtections()) > 0 {
			t.Skipf("this kernel lacks %q", p.MissingProtections())
		}
		for of, want := range map[string]string{"maps": library, "status": "Seccomp:\t2", "cmdline": decoderName} {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.Pid(), of))
			if err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s: %s has no %q, %v", file, of, want, err)
			}
		}
		limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", p.Pid()))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(limits)) {
			if strings.HasPrefix(line, "Max address space") && strings.Contains(line, "unlimited") {
				t.Errorf("%s: %s", file, line)
			}
		}
		d.Close()
		gone(t, decoder, file+", closed")
	}
}

// A decoder that crashes on a file is an error of that file: others decode to the last sample,
// and the next file is decoded.
func TestDecoderCrashIsAnErrorOfItsFile(t *testing.T) {
	for file, args := range inC {
		data := voice(t, file, args)
		want, err := DecodeAll(data, 16000)
		if err != nil {
			t.Fatal(err)
		}
		for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV} {
			neighbour, first := halfDecoded(t, data)
			d, _ := halfDecoded(t, data)
			p := processOf(t, d)
			if err := syscall.Kill(p.process.Pid(), signal); err != nil {
				t.Fatal(err)
			}
			_, err := d.Decode(data[len(data)/2:])
			if err == nil || !strings.Contains(err.Error(), "the file could not be decoded") {
				t.Errorf("%s, %v: %v", file, signal, err)
			}
			gone(t, p, file)
			rest, err := neighbour.Decode(data[len(data)/2:])
			last, flushed := neighbour.Flush()
			if got := slices.Concat(first, rest, last); errors.Join(err, flushed) != nil || !slices.Equal(got, want) {
				t.Errorf("%s: in parallel, %d samples of %d, %v", file, len(got), len(want), errors.Join(err, flushed))
			}
			if got, err := DecodeAll(data, 16000); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: the next has %d samples of %d, %v", file, len(got), len(want), err)
			}
		}
	}
}

func TestHangingDecoderIsKilled(t *testing.T) {
	for file, args := range inC {
		data := voice(t, file, args)
		d, _ := halfDecoded(t, data)
		p := processOf(t, d)
		p.limit = 100 * time.Millisecond
		if err := syscall.Kill(p.process.Pid(), syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Decode(data[len(data)/2:]); !errors.Is(err, errDecoderHung) {
			t.Errorf("%s: %v", file, err)
		}
		gone(t, p, file)
	}
}

// A compromised decoder may answer as late as possible, or with more than the file holds; that
// is bounded too.
func TestDecoderTotalDelayIsBounded(t *testing.T) {
	data := voice(t, "a.mp3", inC["a.mp3"])
	d, _ := halfDecoded(t, data)
	processOf(t, d).late = decodeLate
	if _, err := d.Decode(data[len(data)/2:]); !errors.Is(err, errDecoderHung) {
		t.Errorf("%v", err)
	}
}

// A process ends with its stream, however that ends.
func TestDecoderEndsWithItsStream(t *testing.T) {
	for file, args := range inC {
		data := voice(t, file, args)
		for name, end := range map[string]func(d Decoder){
			"flushed": func(d Decoder) { _, _ = d.Flush() },
			"closed":  func(d Decoder) { d.Close(); d.Close() },
		} {
			d, _ := halfDecoded(t, data)
			p := processOf(t, d)
			end(d)
			gone(t, p, file+", "+name)
			if _, err := d.Decode(data); err == nil {
				t.Errorf("%s, %s, and it goes on", file, name)
			}
		}
		d, _ := halfDecoded(t, data)
		pid := processOf(t, d).process.Pid()
		d = nil // garbage
		for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			runtime.GC()
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
				break
			}
			if time.Since(begun) > 20*time.Second {
				t.Fatalf("%s: an unused decoder process is left", file)
			}
		}
	}
}

// A stream of a thousand short ones, which is little to send, starts one process.
func TestConsecutiveStreamsShareAProcess(t *testing.T) {
	data := voice(t, "vorbis.ogg", inC["vorbis.ogg"])
	d := NewContainer(16000)
	var first *decoderProcess
	for range 3 {
		if _, err := d.Decode(data); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = processOf(t, d)
		}
	}
	if processOf(t, d) != first {
		t.Error("each has a separate process")
	}
	d.Close()
}

// lying is the name of a decoder that answers what its requests say: nothing, what follows a 1,
// or what follows a 2 repeatedly.
const lying = "parley-decoder-lying"

func lie(request []byte, reply func([]byte) error) error {
	for len(request) > 0 {
		if err := reply(request[1:]); err != nil || request[0] == 1 {
			return err
		}
	}
	return nil
}

// A decoder's answers are not trusted.
func TestInvalidAnswersAreErrorsOfTheFile(t *testing.T) {
	number := func(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
	rate := appendPart(nil, partRate, number(48000))
	sound := appendPart(nil, partSound, make([]byte, 40000))
	end := appendPart(nil, partEnd, make([]byte, endingLen))
	sample := func(v float64) []byte { return number(math.Float32bits(float32(v))) }
	odd := appendPart(nil, partSound, slices.Concat(sample(math.NaN()), sample(math.Inf(-1)), sample(100)))
	words := appendPart(nil, partFault, slices.Repeat([]byte("\x1b\xff\nwords"), 10000))
	once := func(parts ...[]byte) []byte { return append([]byte{1}, slices.Concat(parts...)...) }
	for name, c := range map[string]struct {
		request []byte
		says    string
	}{
		"nothing":                   {nil, "takes too long"},
		"half a part":               {once([]byte{partEnd, 5}), "crashed"},
		"a part longer than it is":  {once([]byte{partSound, 0xff, 0xff, 0xff, 0xff, 1, 2}), "crashed"},
		"no such part":              {once([]byte{'?', 0, 0, 0, 0}), "crashed"},
		"an end of no length":       {once([]byte{partEnd, 0, 0, 0, 0}), "crashed"},
		"sound without a rate":      {once(sound, end), "crashed"},
		"a rate that nobody has":    {once(appendPart(nil, partRate, number(1<<31))), "allowed are"},
		"two rates":                 {once(rate, appendPart(nil, partRate, number(44100))), "changes"},
		"an error of its own":       {once(appendPart(nil, partFault, []byte("so it says"))), "so it says"},
		"an error without an end":   {once(words), "wordswords"},
		"sound without an end":      {slices.Concat([]byte{2}, rate, sound), "too long"},
		"what is no number or loud": {once(rate, odd, end), ""},
	} {
		process, err := isolate.Start(lying)
		if err != nil {
			t.Fatal(err)
		}
		limit := time.Minute
		if len(c.request) == 0 {
			limit = 100 * time.Millisecond
		}
		d := &decoderProcess{process: process, limit: limit}
		to := newSink(48000)
		to.max = 1 << 20
		_, err = d.ask(c.request, to.rate, func(pcm []float32) error {
			for _, v := range pcm {
				if v != v || v > maxSample || v < -maxSample {
					t.Errorf("%s: a sample of %v", name, v)
				}
			}
			return to.write(pcm)
		})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		shown := err == nil || len(err.Error()) <= maxFaultBytes && utf8.ValidString(err.Error())
		if !shown || err != nil && strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%s: %.300q", name, err)
		}
		process.Stop()
	}
}

// BenchmarkLiveFrame measures the cost of a frame of a live stream.
func BenchmarkLiveFrame(b *testing.B) {
	for _, file := range []string{"a.aac", "a.mp3"} {
		b.Run(file, func(b *testing.B) {
			data := voice(b, file, inC[file])
			n := 0
			for b.Loop() {
				b.StopTimer()
				d := NewContainer(16000)
				if _, err := d.Decode(data[:1000]); err != nil { // the process starts
					b.Fatal(err)
				}
				b.StartTimer()
				for piece := range slices.Chunk(data[1000:], 100) {
					if _, err := d.Decode(piece); err != nil {
						b.Fatal(err)
					}
					n++
				}
				b.StopTimer()
				d.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n), "µs/piece")
		})
	}
}

// BenchmarkFirstFrame measures the cost of a stream before its first frame.
func BenchmarkFirstFrame(b *testing.B) {
	for _, file := range []string{"a.aac", "a.mp3"} {
		b.Run(file, func(b *testing.B) {
			data := voice(b, file, inC[file])
			for b.Loop() {
				d := NewContainer(16000)
				if _, err := d.Decode(data[:1000]); err != nil {
					b.Fatal(err)
				}
				d.Close()
			}
		})
	}
}
