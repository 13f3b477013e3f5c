package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// soundOut is an output for sound at contract.OutputRateHz.
type soundOut interface {
	Write(pcm []float32) error
	Close() error
}

// audioFormats returns the formats of files.
func audioFormats() []string { return []string{"wav", "mp3", "pcm"} }

// formatOfName returns the format for the name of a file.
func formatOfName(name string) (string, error) {
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".")
	switch {
	case name == "-" || ext == "":
		return "wav", nil
	case !slices.Contains(audioFormats(), ext):
		return "", fmt.Errorf("--out %s: the name must end in one of %s", name, strings.Join(audioFormats(), ", "))
	}
	return ext, nil
}

// openSpeaker opens the loudspeaker, if it is needed.
func (cmd *sayCmd) openSpeaker(ctx context.Context) ([]soundOut, error) {
	if cmd.Out != "" && !cmd.Play {
		return nil, nil
	}
	d, err := openSound(nil)
	if err != nil {
		return nil, err
	}
	return []soundOut{&speakerOut{ctx: ctx, device: d}}, nil
}

// openFile also opens the file, or standard output for -, if there is one.
func (cmd *sayCmd) openFile(c *console, outs []soundOut) ([]soundOut, error) {
	if cmd.Out == "" {
		return outs, nil
	}
	format := cmd.Format
	if format == "" {
		format, _ = formatOfName(cmd.Out) // checked by Validate
	}
	f, done, err := c.create(cmd.Out)
	if err != nil {
		return nil, err
	}
	var w soundOut
	switch format {
	case "mp3":
		w, err = audio.NewMP3Writer(f, contract.OutputRateHz)
	case "pcm":
		w = rawOut{f}
	default:
		w, err = audio.NewWAVWriter(f, contract.OutputRateHz, 1)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("writing the audio: %w", err), done())
	}
	return append(outs, fileOut{w, done}), nil
}

// create opens a file for sound, or standard output for -.
func (c *console) create(name string) (w io.Writer, done func() error, err error) {
	if name == "-" {
		return c.out, func() error { return nil }, nil
	}
	f := c.opened
	if f == nil {
		f, err = os.Create(name)
	} else if err = f.Truncate(0); errors.Is(err, syscall.EINVAL) { // a pipe or a device
		err = nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("writing the audio: %w: choose another file", err)
	}
	return f, f.Close, nil
}

// fileOut closes the file after its writer.
type fileOut struct {
	soundOut
	done func() error
}

// Close completes and closes the file.
func (f fileOut) Close() error {
	if err := errors.Join(f.soundOut.Close(), f.done()); err != nil {
		return fmt.Errorf("writing the audio: %w", err)
	}
	return nil
}

// rawOut writes samples without a header.
type rawOut struct{ w io.Writer }

// Write adds samples.
func (r rawOut) Write(pcm []float32) error {
	_, err := r.w.Write(audio.AppendLinear16(nil, pcm))
	return err
}

// Close does nothing.
func (r rawOut) Close() error { return nil }

// speakerOut plays on the loudspeaker.
type speakerOut struct {
	ctx    context.Context //nolint:containedctx // of the command, which ends the waiting
	device *soundDevice
}

// playLead is how much sound is buffered for playback, so that a machine that is busy for
// some seconds is not heard.
const playLead = 20 * time.Second

// Write queues pcm for playback, and waits while more than playLead is queued.
func (p *speakerOut) Write(pcm []float32) error {
	p.device.queue.add(pcm)
	return p.device.queue.wait(p.ctx, samplesIn(playLead))
}

// Close waits until all is played.
func (p *speakerOut) Close() error {
	defer p.device.close()
	if err := p.device.queue.wait(p.ctx, 0); err != nil {
		return err
	}
	select { // the sound card still has the last periods
	case <-time.After(10 * periodMS * time.Millisecond):
		return nil
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	}
}
