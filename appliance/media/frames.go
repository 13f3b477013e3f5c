package media

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"parley/internal/isolate"
)

// maxFPS is the highest rate of frames that can be asked for: that of a smooth video.
const maxFPS = 60

// Frames decodes a picture, as one frame, or fps frames of each second of a video: the first
// frame that is displayed at or after each multiple of 1/fps. A video with fewer frames has all of
// them emitted. Large frames are scaled down. Rotation that the file asks for is applied. emit may
// wait; ffmpeg then waits too. The error is an Error, ErrNoFFmpeg, or that of emit or ctx.
func (r *Reader) Frames(ctx context.Context, path string, fps float64, emit func(Frame) error) error {
	if !(fps > 0 && fps <= maxFPS) {
		return fmt.Errorf("media: %v frames per second; allowed are more than 0, up to %d", fps, maxFPS)
	}
	info, err := r.Probe(ctx, path)
	if err != nil {
		return err
	}
	f, err := open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	j := job{program: "ffmpeg", urgent: r.Urgent, input: f, kind: info.Kind}
	side := maxVideoSide
	switch info.Kind {
	case Picture:
		side, j.cpu = maxPictureSide, baseCPU
		// The decoder of JPEG fills what it cannot decode with grey; the others fail. That of TIFF would also
		// fail at tags that it does not know.
		j.strict = info.jpeg
	case Video:
		j.cpu = cpuFor(info.Duration)
	default:
		return faultf("the %s has no pictures", info.Kind)
	}
	size := fit(info, side)
	j.args = append(j.args, "-map", "0:V:0", "-vf", frameFilter(fps, size))
	if info.Kind == Picture {
		j.args = append(j.args, "-frames:v", "1")
	}
	j.args = append(j.args, "-fps_mode", "passthrough", "-pix_fmt", "rgb24", "-f", "rawvideo", "pipe:1")
	frames := 0
	_, err = j.run(ctx, func(out io.Reader, report *bufio.Reader) error {
		return readFrames(out, report, size, func(frame Frame) error {
			if info.Kind == Picture {
				frame.Time = 0
			}
			if frame.Time > MaxDuration {
				return tooLong(info.Kind)
			}
			frames++
			return emit(frame)
		})
	})
	if err == nil && frames == 0 {
		return faultf("the %s is damaged: nothing of it could be decoded", info.Kind)
	}
	return err
}

// fit returns the frame, without its content, of a file whose longest side is at most that.
func fit(info Info, side int) Frame {
	scale := max(1, float64(max(info.Width, info.Height))/float64(side))
	return Frame{
		Width:  max(1, int(math.Round(float64(info.Width)/scale))),
		Height: max(1, int(math.Round(float64(info.Height)/scale))),
		Scale:  scale,
	}
}

// The filter reports each decoded frame as a line "frame:… pts:… …" and a line with one of these,
// before it chooses and after. The time is in microseconds.
const (
	reportDecoded = "decoded=1"
	reportChosen  = "chosen=1"
)

// frameFilter returns the filter that chooses frames, reports them and scales them.
func frameFilter(fps float64, size Frame) string {
	report := func(key string) string {
		name, value, _ := strings.Cut(key, "=")
		return fmt.Sprintf(`metadata=add:key=%s:value=%s,metadata=print:key=%s:file='pipe\:%d':direct=1`,
			name, value, name, isolate.ReportFD)
	}
	// A hundredth is for times that are rounded to just before a multiple of 1/fps.
	choose := fmt.Sprintf(`select='isnan(prev_selected_t)+gt(floor(t*%[1]v+0.01),floor(prev_selected_t*%[1]v+0.01))'`,
		strconv.FormatFloat(fps, 'f', -1, 64))
	return strings.Join([]string{
		"settb=1/1000000",
		report(reportDecoded),
		choose,
		report(reportChosen),
		fmt.Sprintf("scale=%d:%d", size.Width, size.Height),
	}, ",")
}

// readFrames reads frames of that size, and the report about them.
func readFrames(out io.Reader, report *bufio.Reader, size Frame, emit func(Frame) error) error {
	size.RGB = make([]byte, 3*size.Width*size.Height)
	decoded := frameReport{report: report}
	for {
		err := decoded.next(&size)
		if err == nil {
			_, err = io.ReadFull(out, size.RGB)
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
		if err := emit(size); err != nil {
			return err
		}
	}
}

// frameReport parses the report of the filter.
type frameReport struct {
	report  *bufio.Reader
	decoded int             // frames so far
	waiting []numberedFrame // those that may still be chosen: the last ones
}

// maxWaiting is more than the frames that ffmpeg passes from one filter to the next at a time.
const maxWaiting = 64

type numberedFrame struct {
	number int
	pts    string
}

// next sets the number and time of the next chosen frame.
func (r *frameReport) next(f *Frame) error {
	var pts string
	for {
		raw, err := r.report.ReadSlice('\n')
		if err != nil {
			return err
		}
		line := strings.TrimSpace(string(raw))
		switch line {
		case reportDecoded:
			if len(r.waiting) >= maxWaiting {
				r.waiting = append(r.waiting[:0], r.waiting[1:]...)
			}
			r.waiting = append(r.waiting, numberedFrame{r.decoded, pts})
			r.decoded++
		case reportChosen:
			for len(r.waiting) > 0 && r.waiting[0].pts != pts {
				r.waiting = r.waiting[1:]
			}
			if len(r.waiting) == 0 {
				return fmt.Errorf("ffmpeg reports an unknown frame at %q", pts)
			}
			f.Number = r.waiting[0].number
			if micros, err := strconv.ParseInt(pts, 10, 64); err == nil { // else it is NOPTS, and the last one stays
				f.Time = time.Duration(max(0, micros)) * time.Microsecond
			}
			r.waiting = r.waiting[1:]
			return nil
		default:
			fields := strings.Fields(line)
			if len(fields) < 2 || !strings.HasPrefix(fields[1], "pts:") {
				return fmt.Errorf("ffmpeg reports %q of a frame", line)
			}
			pts = strings.TrimPrefix(fields[1], "pts:")
		}
	}
}
