package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"parley/appliance/engine"
	"parley/appliance/engine/espeak"
	"parley/appliance/engine/llama"
	"parley/appliance/engine/onnx"
	"parley/firmware/packs"
)

// loadCheck returns the check that an added model must pass: the engine that will run it,
// from the packs in dir, loads it and runs it once. baseModel decides about a language
// model without a chat template.
func loadCheck(dir string, baseModel func() error) packs.Check {
	return func(ctx context.Context, kind packs.Kind, folder string) error {
		switch kind {
		case packs.LanguageModel:
			converses := true
			err := runCancellable(ctx, func() (err error) { converses, err = loadModel(ctx, dir, folder); return err })
			if err == nil && !converses {
				return baseModel()
			}
			return err
		case packs.Voice:
			return runCancellable(ctx, func() error { return loadVoice(ctx, dir, folder) })
		}
		return fmt.Errorf("nothing here can load a %s", kind)
	}
}

// runCancellable runs work in a C library that may ignore ctx for seconds. When ctx ends,
// it returns and leaves work running: the caller must not need its result, and must end
// the process.
func runCancellable(ctx context.Context, work func() error) error {
	over := make(chan error, 1)
	go func() { over <- work() }()
	select {
	case err := <-over:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func requirePacks(ctx context.Context, dir string, names ...string) error {
	needed, err := packs.Find(dir, names...)
	if err != nil {
		return err
	}
	return packs.Require(ctx, dir, needed)
}

// loadModel loads a language model, and reports whether it has a chat template.
func loadModel(ctx context.Context, dir, folder string) (converses bool, err error) {
	if err := requirePacks(ctx, dir, "runtime-llama"); err != nil {
		return false, err
	}
	m, err := llama.Open(llama.Options{
		LibraryDir:    filepath.Join(dir, "runtime-llama"),
		ModelPath:     filepath.Join(folder, "model.gguf"),
		ContextTokens: 512,
		Conversations: 1, // enough to see that it runs
	})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return m.HasTemplate(), m.Warm(ctx)
}

func loadVoice(ctx context.Context, dir, folder string) (err error) {
	if err := requirePacks(ctx, dir, "runtime-onnx", "espeak-ng"); err != nil {
		return err
	}
	rt, err := onnx.Open(filepath.Join(dir, "runtime-onnx", "libonnxruntime.so"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	phonemes, err := espeak.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, phonemes.Close()) }()
	voice, err := onnx.LoadPiper(rt, folder, engine.NewGate(runtime.NumCPU()), phonemes, onnx.PiperOptions{})
	if err != nil {
		return err
	}
	return voice.Close() // loading it included a run
}
