package packs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"parley/internal/bundle"
	"parley/internal/durable"
)

// A Check loads the model in folder once and returns what is wrong with it. The caller of
// Add supplies it, since this package knows no engines.
type Check func(ctx context.Context, kind Kind, folder string) error

// Add copies an operator's model into dir as the pack name: one GGUF file, or the ONNX
// file of a Piper voice with its JSON. The pack appears only after check has loaded it.
func Add(ctx context.Context, dir string, files []string, name string, check Check) (Pack, error) {
	if err := checkCustomName(name); err != nil {
		return Pack{}, err
	}
	kind, byName, err := identify(files)
	if err != nil {
		return Pack{}, err
	}
	unlock, err := lock(dir)
	if err != nil {
		return Pack{}, err
	}
	defer unlock()
	target := filepath.Join(dir, name)
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		return Pack{},
			fmt.Errorf("there is already a pack %s: choose another name, or run first: parley packs remove %s", name,
				name)
	}
	var need int64
	for _, from := range byName {
		info, err := os.Stat(from)
		if err != nil {
			return Pack{}, err
		}
		need += info.Size()
	}
	if err := checkSpace(dir, need); err != nil {
		return Pack{}, err
	}
	stage, err := durable.NewStage(filepath.Join(dir, stageName), "add-")
	if err != nil {
		return Pack{}, err
	}
	defer stage.Remove()
	r := record{
		Name:    name,
		Kind:    kind,
		Summary: "added by the operator, from " + filepath.Base(files[0]),
		Version: "1",
		Licence: "unknown",
		Custom:  true,
	}
	for to, from := range byName {
		f, err := copyIn(ctx, from, filepath.Join(stage.Path, to))
		if err != nil {
			return Pack{}, fmt.Errorf("copying %s: %w", from, err)
		}
		r.Files = append(r.Files, f)
	}
	slices.SortFunc(r.Files, func(a, b recordFile) int { return strings.Compare(a.Name, b.Name) })
	if err := check(ctx, kind, stage.Path); err != nil {
		return Pack{}, fmt.Errorf("%s cannot be used: %w", strings.Join(files, " with "), err)
	}
	if err := errors.Join(r.checkCustom(), r.write(stage.Path), os.Chmod(stage.Path, 0o755)); err != nil {
		return Pack{}, err
	}
	return r.pack(), durable.Replace(stage.Path, target)
}

// identify returns the kind of the files by their contents, and the files by their names
// in the pack.
func identify(files []string) (Kind, map[string]string, error) {
	byName := map[string]string{}
	for _, path := range files {
		name, err := identifyFile(path)
		if err != nil {
			return "", nil, err
		}
		if was, ok := byName[name]; ok {
			return "", nil, fmt.Errorf("%s and %s are both a %s: add one at a time", was, path, name)
		}
		byName[name] = path
	}
	switch {
	case len(byName) == 1 && byName["model.gguf"] != "":
		return LanguageModel, byName, nil
	case len(byName) == 2 && byName["voice.onnx"] != "" && byName["voice.json"] != "":
		return Voice, byName, nil
	case len(byName) == 1 && byName["voice.onnx"] != "":
		return "", nil,
			fmt.Errorf("%s looks like a Piper voice: name its JSON file FILE.onnx.json too",
				files[0])
	case len(byName) == 1 && byName["voice.json"] != "":
		return "", nil, fmt.Errorf("%s is the JSON file of a Piper voice: name its ONNX file too", files[0])
	}
	return "", nil, fmt.Errorf("%s: name one GGUF file, or an ONNX file and its JSON file", strings.Join(files, ", "))
}

// identifyFile returns the name in a pack for the contents of path.
func identifyFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a file", path)
	}
	magic := make([]byte, 4)
	n, err := io.ReadFull(f, magic)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", err
	}
	switch {
	case string(magic[:n]) == "GGUF":
		return "model.gguf", nil
	case n > 0 && magic[0] == '{':
		return "voice.json", checkVoiceJSON(path)
	case strings.HasSuffix(path, ".onnx") && n == 4:
		return "voice.onnx", nil // protobuf has no magic number; loading the model checks it
	}
	return "", fmt.Errorf("%s is neither a GGUF model nor part of a Piper voice (an .onnx file and its JSON)", path)
}

// checkVoiceJSON returns an error if path is JSON, but not that of a Piper voice.
func checkVoiceJSON(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var voice struct {
		Phonemes map[string]json.RawMessage `json:"phoneme_id_map"`
	}
	// 4 MiB: the file of a voice has some 5 kB, with 900 speakers some 30 kB.
	if err := json.NewDecoder(io.LimitReader(f, 4<<20)).Decode(&voice); err != nil {
		return fmt.Errorf("%s is not JSON: %w", path, err)
	}
	if len(voice.Phonemes) == 0 {
		return fmt.Errorf("%s is not the JSON file of a Piper voice: it has no phoneme_id_map", path)
	}
	return nil
}

// copyIn copies a file and returns its record.
func copyIn(ctx context.Context, from, to string) (recordFile, error) {
	in, err := os.Open(from)
	if err != nil {
		return recordFile{}, err
	}
	defer in.Close()
	if err := writeAt(to, 0, bundle.Cancellable(ctx, in)); err != nil {
		return recordFile{}, err
	}
	info, err := os.Stat(to)
	if err != nil {
		return recordFile{}, err
	}
	sum, err := bundle.Hash(ctx, to)
	return recordFile{bundle.File{Name: filepath.Base(to), Bytes: info.Size(), SHA256: sum}, info.ModTime().UnixNano()},
		err
}

// ErrAbsent means that a pack does not exist.
var ErrAbsent = errors.New("is not there")

// DropPartial deletes what an interrupted pull has fetched of a pack, so that the next
// one starts over.
func DropPartial(dir string, p Pack) error {
	unlock, err := lock(dir)
	if err != nil {
		return err
	}
	defer unlock()
	return os.RemoveAll(filepath.Join(dir, stageName, p.Name))
}

// Remove deletes a pack from dir.
func Remove(dir string, p Pack) error {
	if p.System != nil {
		return fmt.Errorf("pack %s belongs to the operating system: remove it with apt-get", p.Name)
	}
	unlock, err := lock(dir)
	if err != nil {
		return err
	}
	defer unlock()
	removed := filepath.Join(dir, stageName, "removed-"+p.Name)
	err = os.RemoveAll(removed)
	if err == nil {
		err = os.Rename(filepath.Join(dir, p.Name), removed)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("pack %s %w", p.Name, ErrAbsent)
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(removed)
}
