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
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// soundOut is where sound goes, at contract.OutputRateHz.
type soundOut interface {
	Write(pcm []float32) error
	Close() error
}

// audioFormats are those in which a file may be.
func audioFormats() []string { return []string{"wav", "mp3", "pcm"} }

// formatOfName is the format of a file of that name.
func formatOfName(name string) (string, error) {
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".")
	switch {
	case name == "-" || ext == "":
		return "wav", nil
	case !slices.Contains(audioFormats(), ext):
		return "", fmt.Errorf("--out %s: files are written as %s: name it so", name, strings.Join(audioFormats(), ", "))
	}
	return ext, nil
}

// openSpeaker opens the speaker, if it is wanted.
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

// openFile opens the file too, if one is wanted, or standard output for -.
func (cmd *sayCmd) openFile(c *console, outs []soundOut) ([]soundOut, error) {
	if cmd.Out == "" {
		return outs, nil
	}
	format := cmd.Format
	if format == "" {
		format, _ = formatOfName(cmd.Out) // which was checked
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
	f, err := os.Create(name)
	if err != nil {
		return nil, nil, fmt.Errorf("writing the audio: %w: choose another place", err)
	}
	return f, f.Close, nil
}

// fileOut is a file whose writer does not close it.
type fileOut struct {
	soundOut
	done func() error
}

// Close ends the file.
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

// speakerOut is the speaker.
type speakerOut struct {
	ctx    context.Context //nolint:containedctx // of the command, which ends the waiting
	device *soundDevice
}

// playLead is how much sound is made ahead of what is heard: a machine that is
// busy for some seconds is not heard to be.
const playLead = 20 * time.Second

// Write plays pcm behind what is to be played, and waits while there is more than
// playLead of that.
func (p *speakerOut) Write(pcm []float32) error {
	p.device.queue.add(pcm)
	return p.device.queue.wait(p.ctx, samplesIn(playLead))
}

// Close waits until all was heard.
func (p *speakerOut) Close() error {
	defer p.device.close()
	if err := p.device.queue.wait(p.ctx, 0); err != nil {
		return err
	}
	select { // what was handed over last still has to leave the card: some periods
	case <-time.After(10 * periodMS * time.Millisecond):
		return nil
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	}
}
