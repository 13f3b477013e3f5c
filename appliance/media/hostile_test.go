package media

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/internal/isolate"
)

// png returns a PNG file of one colour, with one bit a pixel, in some of its bytes.
func png(width, height int) []byte {
	be := binary.BigEndian
	chunk := func(kind string, content []byte) []byte {
		b := append([]byte(kind), content...)
		return be.AppendUint32(append(be.AppendUint32(nil, uint32(len(content))), b...), crc32.ChecksumIEEE(b))
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	for range height {
		_, _ = z.Write(make([]byte, 1+(width+7)/8)) // to memory
	}
	_ = z.Close()
	header := append(be.AppendUint32(be.AppendUint32(nil, uint32(width)), uint32(height)), 1, 0, 0, 0, 0)
	return bytes.Join([][]byte{[]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", header), chunk("IDAT", packed.Bytes()),
		chunk("IEND", nil)}, nil)
}

// all asks everything of a file, and returns the first error.
func all(ctx context.Context, path string) error {
	r := Reader{Urgent: true}
	info, err := r.Probe(ctx, path)
	if err != nil {
		return err
	}
	if info.Width > 0 {
		err = r.Frames(ctx, path, 60, func(Frame) error { return nil })
	}
	if info.HasSound {
		err = errors.Join(err, r.Sound(ctx, path, func([]float32) error { return nil }))
	}
	return err
}

// A file that is not what it seems is refused with the reason, and never the box's fault.
func TestHostileFilesAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 100_000)
	for i, r := 0, rand.New(rand.NewPCG(1, 2)); i < len(noise); i++ {
		noise[i] = byte(r.Uint32())
	}
	jpeg := contentOf(t, made(t, "a.jpg", quarters+"-frames:v 1 OUT"))
	frame := bytes.Index(jpeg, []byte{0xff, 0xc0})
	huge := bytes.Clone(jpeg)
	binary.BigEndian.PutUint16(huge[frame+5:], 60000)
	binary.BigEndian.PutUint16(huge[frame+7:], 60000)
	video := contentOf(t, made(t, "a.mp4", counter("25", 2e9)+" -c:v libx264 OUT"))
	eternal := contentOf(t, made(t, "a.mkv", counter("25", 2e9)+" -c:v libx264 OUT"))
	length := eternal[bytes.Index(eternal, []byte{0x44, 0x89, 0x88})+3:] // a float64, in milliseconds
	binary.BigEndian.PutUint64(length, math.Float64bits(1e9))
	playlist := "#EXTM3U\n#EXTINF:9,\n" + made(t, "b.mp4", counter("25", 2e9)+" -c:v libx264 OUT") + "\n"
	for name, c := range map[string]struct {
		content []byte
		why     string // a part of the reason
	}{
		"nothing":                   {nil, "empty"},
		"noise":                     {noise, "damaged"},
		"zeros":                     {make([]byte, 5000), "damaged"},
		"header of a JPEG":          {jpeg[:frame], "damaged"},
		"60000x60000 pixels":        {huge, "50 million pixels"},
		"small file, 2.5 gigapixel": {png(50_000, 50_000), "50 million pixels"},
		"video without its index":   {video[:len(video)/2], "damaged"},
		"video of 11 days":          {eternal, "longer than 3 hours"},
		"playlist":                  {[]byte(playlist + "\x01"), "damaged"},
		"list of files":             {[]byte("ffconcat version 1.0\nfile /etc/passwd\n\x01"), "damaged"},
		"archive":                   {append([]byte("PK\x03\x04"), noise...), "damaged"},
	} {
		err := all(t.Context(), written(t, "file", c.content))
		if fault := (*Error)(nil); !errors.As(err, &fault) || !strings.Contains(fault.Why, c.why) {
			t.Errorf("%s: %v, want an error of the file with %q", name, err, c.why)
		}
	}
}

// Files that are damaged at any place give what can be read, or an error of the file.
func TestDamagedFilesAreNeverTheFaultOfTheBox(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"a.mkv": counter("25", 2e9) + " -f lavfi -i sine=440:d=2 -c:v libx264 OUT",
		"a.jpg": quarters + "-frames:v 1 OUT",
		"a.mp3": "-f lavfi -i sine=440:d=2 OUT",
	} {
		path := made(t, name, args)
		if err := all(t.Context(), path); err != nil {
			t.Errorf("%s, undamaged: %v", name, err)
		}
		whole := contentOf(t, path)
		r := rand.New(rand.NewPCG(3, 4))
		for range 2 {
			b := bytes.Clone(whole)[:len(whole)-r.IntN(len(whole)/2)]
			for range 20 {
				b[r.IntN(len(b))] = byte(r.Uint32())
			}
			err := all(t.Context(), written(t, name, b))
			if fault := (*Error)(nil); err != nil && !errors.As(err, &fault) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A path that is not a regular file is refused at once.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	t.Parallel()
	var r Reader
	for _, path := range []string{"/dev/zero", t.TempDir(), filepath.Join(t.TempDir(), "absent")} {
		if _, err := r.Probe(t.Context(), path); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

// ffmpeg in isolation reads its input and nothing else: no file, no address, and it writes none.
func TestFFmpegReachesNothingButItsInput(t *testing.T) {
	t.Parallel()
	input := made(t, "a.wav", "-f lavfi -i sine=440:d=0.1 OUT")
	secret := made(t, "secret.wav", "-f lavfi -i sine=440:d=0.1 OUT")
	output := filepath.Join(t.TempDir(), "out.wav")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	f, err := os.Open(input)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	run := func(args string) (string, error) {
		out, stdout, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = out.Close(), stdout.Close() }()
		var stderr headWriter
		err = isolate.RunProgram(t.Context(), isolate.Program{
			Path:   "/usr/bin/ffmpeg",
			Args:   strings.Fields("-nostdin -hide_banner -loglevel error -y " + args),
			Memory: maxMemory,
			CPU:    time.Minute,
			Input:  f,
			Stdout: stdout,
			Stderr: &stderr,
		})
		return stderr.text, err
	}
	if message, err := run("-i " + isolate.InputPath + " -f null -"); err != nil {
		t.Fatalf("its input: %v, %s", err, message)
	}
	for what, args := range map[string]string{
		"another file":  "-i " + secret + " -f null -",
		"a folder":      "-f concat -safe 0 -i /etc/passwd -f null -",
		"an address":    "-i tcp://" + listener.Addr().String() + " -f null -",
		"a sound card":  "-f alsa -i default -f null -",
		"writing":       "-i " + isolate.InputPath + " " + output,
		"an IP address": "-i udp://127.0.0.1:9 -f null -",
	} {
		message, err := run(args)
		if err == nil || !strings.Contains(message, "denied") && !strings.Contains(message, "not permitted") &&
			!strings.Contains(message, "I/O error") && !strings.Contains(message, "Input/output error") {
			t.Errorf("%s: %v, %s", what, err, message)
		}
	}
	if _, err := os.Stat(output); err == nil {
		t.Error("it wrote a file")
	}
}

// children returns the processes that this one has started and that have not ended.
func children(t *testing.T) (names []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		stat, err := os.ReadFile(path)
		if _, after, _ := strings.Cut(string(stat), ") "); err == nil &&
			strings.HasPrefix(after[min(len(after), 2):], fmt.Sprint(os.Getpid(), " ")) {
			names = append(names, string(stat))
		}
	}
	return names
}

// A reader that no longer wants anything gets its own error at once, and ffmpeg ends.
func TestReadingEndsWithItsContextOrItsReader(t *testing.T) {
	path := made(t, "long.mkv", counter("25", 30e9)+" -f lavfi -i sine=440:d=30 -c:v libx264 -preset ultrafast OUT")
	enough := errors.New("enough")
	for what, read := range map[string]func(ctx context.Context, stop func() error) error{
		"sound": func(ctx context.Context, stop func() error) error {
			return new(Reader).Sound(ctx, path, func([]float32) error { return stop() })
		},
		"frames": func(ctx context.Context, stop func() error) error {
			return new(Reader).Frames(ctx, path, 10, func(Frame) error { return stop() })
		},
	} {
		pieces := 0
		if err := read(t.Context(), func() error { pieces++; return enough }); !errors.Is(err, enough) || pieces != 1 {
			t.Errorf("%s: %v after %d pieces", what, err, pieces)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		if err := read(ctx, func() error { cancel(enough); return nil }); !errors.Is(err, enough) {
			t.Errorf("%s, cancelled: %v", what, err)
		}
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A file on which ffmpeg computes without end, or does nothing, is given up.
func TestEndlessDecodingIsGivenUp(t *testing.T) {
	t.Parallel()
	f, err := os.Open(made(t, "a.mkv", counter("25", 1e9)+" -c:v libx264 OUT"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for why, j := range map[string]job{
		"longer to decode than": {cpu: time.Second, args: []string{"-vf", "loop=loop=-1:size=1"}},
		"without a result":      {stall: 100 * time.Millisecond, args: []string{"-vf", "loop=loop=-1:size=1"}},
		"did nothing":           {silence: time.Second, args: []string{"-vf", "realtime=speed=0.001:limit=10000"}},
	} {
		j.program, j.input, j.cpu, j.urgent = "ffmpeg", f, cmp.Or(j.cpu, time.Minute), true
		j.args = append(j.args, "-f", "null", "-")
		_, err := j.run(t.Context(), func(out io.Reader, _ *bufio.Reader) error {
			_, err := io.Copy(io.Discard, out)
			return err
		})
		if fault := (*Error)(nil); !errors.As(err, &fault) || !strings.Contains(fault.Why, why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
}

// Without ffmpeg, the error names the package; texts need none.
func TestMissingFFmpegIsNamed(t *testing.T) {
	sound := made(t, "a.wav", "-f lavfi -i sine=440:d=0.1 OUT")
	if err := Check(t.Context()); err != nil {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := Check(t.Context()); !errors.Is(err, ErrNoFFmpeg) {
		t.Error(err)
	}
	var r Reader
	_, err := r.Probe(t.Context(), sound)
	if !errors.Is(err, ErrNoFFmpeg) || !strings.Contains(err.Error(), "install ffmpeg") {
		t.Error(err)
	}
	info, err := r.Probe(t.Context(), written(t, "a.txt", []byte("Good morning.\n")))
	if err != nil || info.Kind != Text {
		t.Error(info, err)
	}
}
