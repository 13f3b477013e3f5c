// Package media reads pictures, videos and sounds that strangers made. ffmpeg and ffprobe of the
// system decode them, in processes without rights (isolate.RunProgram), one file a process.
package media

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"parley/internal/isolate"
)

// A Kind says what a file holds.
type Kind int

// The kinds of files. A video may have sound; a picture has none.
const (
	Picture Kind = iota + 1
	Video
	Sound
	Text
)

// String returns the kind as a word.
func (k Kind) String() string {
	switch k {
	case Picture:
		return "picture"
	case Video:
		return "video"
	case Sound:
		return "sound"
	case Text:
		return "text"
	}
	return "unknown"
}

// Info describes a file.
type Info struct {
	Kind     Kind
	HasSound bool // Sound, or a Video with sound
	// Width and Height are in pixels as displayed, after the rotation that the file asks for; 0
	// without a picture.
	Width, Height int
	// Duration is 0 for a picture or a text, and where the file does not say: a recording of a
	// browser has no length.
	Duration  time.Duration
	FrameRate float64 // frames per second on average; 0: not a video, or unknown

	sound    int  // the number of the stream
	channels int  // its channels
	jpeg     bool // a JPEG picture
}

// Medium names what a file holds: its kind, or "video without sound".
func (i Info) Medium() string {
	if i.Kind == Video && !i.HasSound {
		return "video without sound"
	}
	return i.Kind.String()
}

// A Frame is a picture, or one picture of a video.
type Frame struct {
	Number        int           // of all frames of the video, from 0
	Time          time.Duration // since the start of the file
	Width, Height int           // of RGB
	// Scale is how many pixels of the file, as displayed, one pixel of RGB stands for: 1 or more.
	Scale float64
	RGB   []byte // three bytes a pixel, row by row from the top left; valid until emit returns
}

const (
	// SampleRate is the rate of decoded sound, in Hz, which all models take.
	SampleRate = 16000
	// MaxDuration is the longest sound or video: an evening's recording. It bounds files
	// without an end, and the time of a job.
	MaxDuration = 3 * time.Hour
	// MaxPicturePixels is the largest picture, of a good camera. As 16-bit RGBA it takes 400 MB
	// while it is decoded.
	MaxPicturePixels = 50_000_000
	// MaxVideoPixels is the largest frame of a video: 4096x4096. H.264 stores up to 16 of them
	// while it decodes, 400 MB.
	MaxVideoPixels = 4096 * 4096
	// maxVideoSide is the longest side of an emitted frame of a video: a face of a 60th of the
	// width still has 32 pixels, and a frame has at most 11 MB.
	maxVideoSide = 1920
	// maxPictureSide is that of a picture, where a group may be small in a large picture: at most
	// 50 MB.
	maxPictureSide = 4096
	// maxChannels is the most channels of a sound: of a studio.
	maxChannels = 64
)

// ErrNoFFmpeg means that the box cannot read media.
var ErrNoFFmpeg = errors.New("ffmpeg is not installed: apt-get install ffmpeg")

// An Error is a fault of the file: it is damaged, too large, or of an unknown format.
type Error struct{ Why string }

func (e *Error) Error() string { return e.Why }

// faultf returns an Error.
func faultf(format string, args ...any) error { return &Error{Why: fmt.Sprintf(format, args...)} }

// Main becomes ffmpeg if this process was started to. A program that uses a Reader, and so every
// test binary of it, calls Main before anything else.
func Main() { isolate.ProgramMain() }

// Check returns why ffmpeg cannot read media in isolation, or nil.
func Check(ctx context.Context) error {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	for _, program := range []string{"ffmpeg", "ffprobe"} {
		j := job{program: program, args: []string{"-version"}, cpu: baseCPU, urgent: true, input: f}
		messages, err := j.run(ctx, func(out io.Reader, _ *bufio.Reader) error {
			_, err := io.Copy(io.Discard, out)
			return err
		})
		if err != nil && !errors.Is(err, ErrNoFFmpeg) {
			err = fmt.Errorf("%s does not run in isolation: %w %s", program, err, messages)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A Reader reads media. Several goroutines may use it, also the zero value.
type Reader struct {
	// Urgent is set when somebody waits for the result. ffmpeg then runs with the priority of
	// the box; else only when nothing else wants to.
	Urgent bool

	mu   sync.Mutex
	last fs.FileInfo // the file that was probed last, and what it holds: Sound and Frames ask again
	info Info
}

// open opens a file that has content.
func open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file: %w", path, fs.ErrInvalid)
	case err == nil && info.Size() == 0:
		err = faultf("the file is empty")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Probe says what a file holds, by its content. The error is an Error if the box cannot read it,
// and ErrNoFFmpeg if the box needs ffmpeg to know.
func (r *Reader) Probe(ctx context.Context, path string) (Info, error) {
	f, err := open(path)
	if err != nil {
		return Info{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	now, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	r.mu.Lock()
	last, info := r.last, r.info
	r.mu.Unlock()
	if last != nil && os.SameFile(last, now) && last.Size() == now.Size() && last.ModTime().Equal(now.ModTime()) {
		return info, nil
	}
	// ffprobe takes some texts for subtitles, playlists or terminal recordings.
	if text, err := isText(f); err != nil || text {
		return Info{Kind: Text}, err
	}
	info, err = r.probe(ctx, f)
	if err != nil {
		return Info{}, err
	}
	r.mu.Lock()
	r.last, r.info = now, info
	r.mu.Unlock()
	return info, nil
}
