package onnx

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"parley/appliance/engine"
)

// CheckVoice loads the Piper voice in dir (voice.onnx and voice.json) and lets
// it speak once, as any voice must that is added to the box. The error names
// what is wrong with it.
func CheckVoice(rt *Runtime, dir string) (err error) {
	ph, err := OpenPhonemizer()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ph.Close()) }()
	p, err := LoadPiper(rt, dir, engine.NewGate(runtime.NumCPU()), ph)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	speech, err := p.Synthesize(context.Background(), "1, 2, 3.", engine.SpeakOptions{})
	if err != nil {
		return fmt.Errorf("voice %s: %w", dir, err)
	}
	if len(speech.PCM) == 0 {
		return fmt.Errorf("voice %s: it loads, but says nothing", dir)
	}
	return nil
}
