package release

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	_ "embed" // the script
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"parley/internal/bundle"
	"parley/internal/disk"
	"parley/internal/durable"
	"parley/internal/progress"
	"parley/internal/signing"
)

//go:embed install.sh
var script string

// A Source is a part to write: its name in the release file, and the file with its
// content.
type Source struct{ Name, Path string }

// Write writes a release file. It fills in the Format, Script and Files of the manifest:
// the sources in order, the package first. With a key it signs the file. The file appears
// whole or not at all, and the same content makes the same bytes.
func Write(ctx context.Context, file string, m Manifest, sources []Source, key ed25519.PrivateKey,
	tell progress.Func) error {
	m.Format = format
	text, err := paddedScript()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	m.Script = bundle.File{Name: scriptName, Bytes: ScriptBytes, SHA256: hex.EncodeToString(sum[:])}
	m.Files = nil
	var total int64
	for _, s := range sources {
		part, err := describe(ctx, s)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, part)
		total += part.Bytes
	}
	if err := disk.Require(file, total); err != nil {
		return err
	}
	out, err := durable.Create(file, 0o644)
	if err != nil {
		return err
	}
	defer out.Discard()
	if _, err := out.Write(text); err != nil {
		return err
	}
	if err := writeManifest(out, m, key); err != nil {
		return err
	}
	if err := writeParts(ctx, file, out, m.Files, sources, tell); err != nil {
		return err
	}
	return out.Commit()
}

// paddedScript returns the script with empty lines behind it. Its last command is exit, so
// the shell reads none of them.
func paddedScript() ([]byte, error) {
	if len(script) > ScriptBytes {
		return nil, fmt.Errorf("%s has %d bytes, and %d have room", scriptName, len(script), ScriptBytes)
	}
	return []byte(script + strings.Repeat("\n", ScriptBytes-len(script))), nil
}

func describe(ctx context.Context, s Source) (bundle.File, error) {
	info, err := os.Stat(s.Path)
	if err != nil {
		return bundle.File{}, err
	}
	if !info.Mode().IsRegular() {
		return bundle.File{}, fmt.Errorf("%s is not a file", s.Path)
	}
	sum, err := bundle.Hash(ctx, s.Path)
	return bundle.File{Name: s.Name, Bytes: info.Size(), SHA256: sum}, err
}

func writeManifest(out io.Writer, m Manifest, key ed25519.PrivateKey) error {
	text, err := m.encode()
	if err != nil {
		return err
	}
	if _, err := decode(text); err != nil {
		return err
	}
	if err := writeMember(out, manifestName, bytes.NewReader(text), int64(len(text))); err != nil || key == nil {
		return err
	}
	signature := signing.Sign(text, key).Text()
	return writeMember(out, signatureName, bytes.NewReader(signature), int64(len(signature)))
}

func writeParts(ctx context.Context, file string, out io.Writer, parts []bundle.File, sources []Source,
	tell progress.Func) error {
	paths := map[string]string{}
	for _, s := range sources {
		paths[s.Name] = s.Path
	}
	err := each(file, parts, progress.Writing, tell, func(part bundle.File, told io.Writer) error {
		in, err := os.Open(paths[part.Name])
		if err != nil {
			return err
		}
		defer in.Close()
		h := sha256.New()
		from := io.TeeReader(bundle.Cancellable(ctx, in), io.MultiWriter(h, told))
		if err := writeMember(out, part.Name, from, part.Bytes); err != nil {
			return err
		}
		if sum := hex.EncodeToString(h.Sum(nil)); sum != part.SHA256 {
			return fmt.Errorf("%s changed while it was written", in.Name())
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = out.Write(make([]byte, 2*block))
	return err
}

// writeMember writes a member of the tar archive: its header, and size bytes of from.
func writeMember(out io.Writer, name string, from io.Reader, size int64) error {
	head, err := header(name, size)
	if err != nil {
		return err
	}
	if _, err := out.Write(head); err != nil {
		return err
	}
	// As large as the reads of Extract; io.CopyN would take 32 KiB.
	n, err := io.CopyBuffer(struct{ io.Writer }{out}, io.LimitReader(from, size), make([]byte, 1<<20))
	if err == nil && n < size {
		err = fmt.Errorf("%s ends after %d of %d bytes", name, n, size)
	}
	if err != nil {
		return err
	}
	_, err = out.Write(make([]byte, padded(size)-size))
	return err
}
