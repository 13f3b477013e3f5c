package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"parley/appliance/audio"
)

// aacBitrate is enough for a voice at 24 kHz to be transparent.
const aacBitrate = "96k"

// An AACWriter encodes sound as an AAC stream (ADTS) while it comes, by ffmpeg. Its input is sound that the box has
// made, so the process needs no confinement. One goroutine uses it, and must close it.
type AACWriter struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr headWriter
	cancel context.CancelFunc
	copied chan error
	end    func() error
	pcm    []byte
}

// NewAACWriter starts the encoder, which writes to w from a goroutine of its own until Close returns. The error is
// ErrNoFFmpeg without ffmpeg. The encoder ends with ctx.
func NewAACWriter(ctx context.Context, w io.Writer, rateHz int) (*AACWriter, error) {
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		return nil, ErrNoFFmpeg
	}
	ctx, cancel := context.WithCancel(ctx)
	a := &AACWriter{cancel: cancel, copied: make(chan error, 1)}
	a.end = sync.OnceValue(a.finish)
	a.cmd = exec.CommandContext(ctx, path, "-hide_banner", "-loglevel", "error", "-nostdin",
		"-f", "s16le", "-ar", strconv.Itoa(rateHz), "-ac", "1", "-probesize", "32", "-i", "pipe:0",
		"-c:a", "aac", "-b:a", aacBitrate, "-flush_packets", "1", "-f", "adts", "pipe:1")
	a.cmd.Stderr = &a.stderr
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C at the terminal is not for it
	if a.stdin, err = a.cmd.StdinPipe(); err == nil {
		var out io.ReadCloser
		if out, err = a.cmd.StdoutPipe(); err == nil {
			if err = a.cmd.Start(); err == nil {
				go func() {
					_, err := io.Copy(w, out)
					if err != nil {
						cancel() // the client is gone
					}
					a.copied <- err
				}()
				return a, nil
			}
		}
	}
	cancel()
	return nil, fmt.Errorf("starting ffmpeg: %w", err)
}

// Write adds samples in [-1, 1].
func (a *AACWriter) Write(pcm []float32) error {
	a.pcm = audio.AppendLinear16(a.pcm[:0], pcm)
	if _, err := a.stdin.Write(a.pcm); err != nil {
		return errors.Join(a.end(), err)
	}
	return nil
}

// Close ends the sound, and waits until all of it is written. A second Close does nothing.
func (a *AACWriter) Close() error { return a.end() }

// Stop ends the encoder without waiting for its sound, unless it is closed.
func (a *AACWriter) Stop() {
	a.cancel()
	_ = a.end() // of an encoder that was told to stop
}

func (a *AACWriter) finish() error {
	err := a.stdin.Close()
	copied := <-a.copied
	failed := a.cmd.Wait()
	a.cancel()
	if copied != nil {
		return copied
	}
	if failed != nil {
		return fmt.Errorf("ffmpeg: %w: %s", failed, strings.TrimSpace(a.stderr.text))
	}
	return err
}
