package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"parley/appliance/audio"
)

// wantWAV refuses names of files that promise another format.
func wantWAV(what, name string) error {
	if ext := strings.ToLower(filepath.Ext(name)); name != "-" && ext != "" && ext != ".wav" {
		return fmt.Errorf("%s %s: only WAV files are written: name it .wav and convert it afterwards", what, name)
	}
	return nil
}

// writeWAV writes frames (their channels interleaved) as a WAV file, or to
// standard output for -.
func (c *console) writeWAV(name string, frames []float32, rateHz, channels int) error {
	if name == "-" && channels == 1 {
		_, err := c.out.Write(audio.EncodeWAV(frames, rateHz))
		return err
	}
	out, done, err := c.create(name)
	if err != nil {
		return err
	}
	w, err := audio.NewWAVWriter(out, rateHz, channels)
	if err == nil {
		err = errors.Join(w.Write(frames), w.Close())
	}
	if err = errors.Join(err, done()); err != nil {
		return fmt.Errorf("writing the audio: %w", err)
	}
	return nil
}
