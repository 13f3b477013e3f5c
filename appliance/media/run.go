package media

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode"

	"parley/internal/isolate"
)

const (
	// maxMemory is the address space of ffmpeg. The largest pictures and videos (8660x5773 in 16
	// bits, 4096x4096 with 16 reference frames) needed less than 0.8 GB, of which 0.5 GB are used.
	// More recent versions have more threads, whose stacks and arenas reserve 72 MB each.
	maxMemory = 2 << 30
	// baseCPU is the processor time for any file, and cpuPerSecond what each second of a sound or
	// video adds: 4K video takes a core of a small box some seconds.
	baseCPU      = 2 * time.Minute
	cpuPerSecond = 8
	// decoderPixels is the most pixels in a decoder, which adds edges to a picture.
	decoderPixels = MaxPicturePixels + MaxPicturePixels/10
	// maxStderr is how much of the messages of ffmpeg is stored: the first ones say most.
	maxStderr = 4 << 10
)

// formats are the formats that are read, as ffmpeg names their demuxers. Playlists, and formats
// that name other files, are not among them.
const formats = "mov,matroska,avi,flv,mpegts,mpeg,mpegvideo,h264,hevc,m4v,ivf,obu,asf,mxf,dv,yuv4mpegpipe," +
	"wav,w64,mp3,aac,ac3,eac3,flac,ogg,aiff,caf,au,amr,amrnb,amrwb,ape,wv,tta,dts,voc," +
	"jpeg_pipe,png_pipe,apng,gif,webp_pipe,bmp_pipe,tiff_pipe,ppm_pipe,pgm_pipe,j2k_pipe,jpegxl_pipe"

// A job is one run of ffmpeg or ffprobe.
type job struct {
	program string
	args    []string // after those that all jobs have
	cpu     time.Duration
	stall   time.Duration // 0: stallCPU
	silence time.Duration // 0: stallSilence
	urgent  bool
	input   *os.File
	kind    Kind // of the input; 0: unknown
	// strict makes any damage an error.
	strict bool
}

// inputArgs returns the arguments before those of the job, which choose the input.
func (j job) inputArgs() []string {
	all := []string{"-hide_banner", "-loglevel", "error"}
	if j.program == "ffmpeg" {
		all = append(all, "-nostdin", "-threads", "1", "-filter_threads", "1")
	}
	if j.strict {
		all = append(all, "-err_detect", "explode")
	}
	return append(all,
		"-protocol_whitelist", "file,pipe",
		"-format_whitelist", formats,
		"-max_pixels", fmt.Sprint(decoderPixels),
		"-i", "file:"+isolate.InputPath)
}

// run runs a job. read gets its output and, line by line, its report; the job ends when read
// returns an error, which run returns. The error is an Error if the program fails before it wrote
// anything; a file that is damaged later has been read up to there. messages are those of the
// program.
func (j job) run(ctx context.Context, read func(out io.Reader, report *bufio.Reader) error) (
	messages string, err error) {
	path, err := exec.LookPath(j.program)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", ErrNoFFmpeg
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer func() { _ = out.Close() }()
	report, reportTo, err := os.Pipe()
	if err != nil {
		return "", errors.Join(err, stdout.Close())
	}
	defer func() { _ = report.Close() }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var stderr headWriter
	watch := stallWatch{
		cancel:  cancel,
		busy:    cmp.Or(j.stall, stallCPU),
		silence: cmp.Or(j.silence, stallSilence),
	}
	ended := make(chan error, 1)
	go func() {
		err := isolate.RunProgram(ctx, isolate.Program{
			Path:   path,
			Args:   append(j.inputArgs(), j.args...),
			Memory: maxMemory,
			CPU:    j.cpu,
			Urgent: j.urgent,
			Input:  j.input,
			Stdout: stdout,
			Report: reportTo,
			Stderr: &stderr,
			Started: func(pid int) {
				watch.pid.Store(int64(pid))
			},
		})
		watch.pid.Store(0)
		_, _ = stdout.Close(), reportTo.Close()
		ended <- err
	}()
	go watch.run(ctx)
	readErr := read(&progressReader{out, &watch}, bufio.NewReader(&progressReader{report, &watch}))
	if readErr != nil {
		cancel(readErr)
	}
	watch.reading.Add(1)
	err = <-ended
	if ctx.Err() != nil {
		return stderr.text, context.Cause(ctx)
	}
	return stderr.text, j.fault(err, watch.bytes.Load() > 0, stderr.text)
}

// fault returns the error of a program's end.
func (j job) fault(err error, wrote bool, stderr string) error {
	exit := (*exec.ExitError)(nil)
	if err == nil || !errors.As(err, &exit) {
		return err
	}
	status, _ := exit.Sys().(syscall.WaitStatus)
	switch {
	case exit.UserTime()+exit.SystemTime() >= j.cpu-time.Second:
		return faultf("the file takes longer to decode than %v of processor time", j.cpu)
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		return fmt.Errorf("%s was killed; the box may lack memory", j.program)
	case status.Signaled():
		return faultf("the file could not be decoded: it crashes %s", j.program)
	case wrote && j.program == "ffmpeg":
		return nil
	case strings.Contains(stderr, "Cannot allocate memory"):
		return faultf("the file needs more than the %d GB of memory that a decoder gets", maxMemory>>30)
	case j.kind != 0 && strings.Contains(stderr, "Invalid data found"):
		return faultf("the %s is damaged or cut off", j.kind)
	case stderr == "", strings.Contains(stderr, "Invalid data found"), strings.Contains(stderr, "Invalid argument"):
		return faultf("the file is damaged, or neither a picture, video or sound in a format that the box reads, " +
			"nor a text in UTF-8")
	}
	return faultf("the file could not be decoded: %s", lastLine(stderr))
}

// lastLine returns the last message of ffmpeg, printable, without the path and the part that says
// it.
func lastLine(stderr string) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(stderr, "")), "\n")
	line := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, lines[len(lines)-1])
	if _, after, ok := strings.Cut(line, "] "); ok && strings.HasPrefix(line, "[") {
		line = after
	}
	const most = 200 // its own messages are shorter
	line = strings.TrimPrefix(line, "file:"+isolate.InputPath+": ")
	return string([]rune(line)[:min(most, len([]rune(line)))])
}

// headWriter stores the first bytes that are written.
type headWriter struct{ text string }

func (w *headWriter) Write(b []byte) (int, error) {
	w.text += string(b[:min(len(b), maxStderr-len(w.text))])
	return len(b), nil
}

// cpuFor returns the processor time for a file of that length; 0: unknown.
func cpuFor(length time.Duration) time.Duration {
	if length <= 0 {
		length = MaxDuration
	}
	return baseCPU + cpuPerSecond*length
}
