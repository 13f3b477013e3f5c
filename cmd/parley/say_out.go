package main

import (
	"context"
	"encoding/json"
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

// saidFormats are those in which a file may be.
func saidFormats() []string { return []string{"wav", "mp3", "pcm"} }

// format is that of the file: as --format says, or its name.
func (cmd *sayCmd) format() (string, error) {
	switch {
	case cmd.Format != "" && !slices.Contains(saidFormats(), cmd.Format):
		return "", misuse{fmt.Errorf("say: --format %s is not written: use %s", cmd.Format,
			strings.Join(saidFormats(), ", "))}
	case cmd.Format != "" && cmd.Out == "":
		return "", misuse{errors.New("say: --format is that of a file: name it with --out")}
	case cmd.Format != "":
		return cmd.Format, nil
	}
	format, err := formatOfName(cmd.Out)
	if err != nil {
		return "", fmt.Errorf("say: %w, or say --format", err)
	}
	return format, nil
}

// formatOfName is the format of a file of that name.
func formatOfName(name string) (string, error) {
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".")
	switch {
	case name == "-" || ext == "":
		return "wav", nil
	case !slices.Contains(saidFormats(), ext):
		return "", misuse{fmt.Errorf("--out %s: files are written as %s: name it so", name,
			strings.Join(saidFormats(), ", "))}
	}
	return ext, nil
}

// speaker opens the speaker, if it is wanted.
func (cmd *sayCmd) speaker(ctx context.Context) ([]soundOut, error) {
	if cmd.Out != "" && !cmd.Play {
		return nil, nil
	}
	d, err := openSound(nil)
	if err != nil {
		return nil, err
	}
	return []soundOut{&playedOut{ctx: ctx, device: d}}, nil
}

// openSaid opens a file, or standard output for -.
func (c *console) openSaid(name, format string) (soundOut, error) {
	out, done := c.out, func() error { return nil }
	if name != "-" {
		f, err := os.Create(name)
		if err != nil {
			return nil, fmt.Errorf("writing the audio: %w: choose another place", err)
		}
		out, done = f, f.Close
	}
	var w soundOut
	var err error
	switch format {
	case "mp3":
		w, err = audio.NewMP3Writer(out, contract.OutputRateHz)
	case "pcm":
		w = rawOut{out}
	default:
		w, err = audio.NewWAVWriter(out, contract.OutputRateHz, 1)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("writing the audio: %w", err), done())
	}
	return fileOut{w, done}, nil
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

// playedOut is the speaker.
type playedOut struct {
	ctx    context.Context //nolint:containedctx // of the command, which ends the waiting
	device *soundDevice
}

// playAhead is how much sound is made ahead of what is heard: a machine that is
// busy for some seconds is not heard to be.
const playAhead = 20 * time.Second

// Write plays pcm behind what is to be played, and waits while there is more than
// playAhead of that.
func (p *playedOut) Write(pcm []float32) error {
	p.device.queue.add(pcm)
	return p.device.queue.wait(p.ctx, samplesIn(playAhead))
}

// Close waits until all was heard.
func (p *playedOut) Close() error {
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

// writeJSON writes v on one line.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
