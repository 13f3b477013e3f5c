package bundle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fileOf(name, text string) File {
	sum := sha256.Sum256([]byte(text))
	return File{Name: name, Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
}

func quiet(int64) {}

// written returns a bundle of two files, the second of which was deleted.
func written(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, time.Unix(0, 0), 0o600)
	must(t, err)
	must(t, w.Header("head", map[string]int{"format": 1}))
	must(t, w.Add(t.Context(), "a", fileOf("a", "text"), strings.NewReader("text"), quiet))
	must(t, w.AddDeleted("b"))
	must(t, w.Close())
	return out.Bytes()
}

func TestMembersAreReadAsWrittenInOrder(t *testing.T) {
	file := written(t)
	if !bytes.Equal(file, written(t)) {
		t.Error("the same files make another bundle")
	}
	r, err := NewReader(bytes.NewReader(file))
	must(t, err)
	defer r.Close()
	var head map[string]int
	must(t, r.Header("head", 100, &head))
	dir := t.TempDir()
	var reported int64
	must(t, r.Extract(t.Context(), "a", fileOf("a", "text"), filepath.Join(dir, "sub", "a"), func(n int64) {
		reported += n
	}))
	if err := r.Extract(t.Context(), "b", fileOf("b", "gone"), filepath.Join(dir, "b"), quiet); !errors.Is(err,
		ErrDeleted) {
		t.Errorf("a deleted file: %v", err)
	}
	must(t, r.End())
	text, err := os.ReadFile(filepath.Join(dir, "sub", "a"))
	if err != nil || string(text) != "text" || head["format"] != 1 || reported != 4 {
		t.Errorf("%q (%v), header %v, reported %d", text, err, head, reported)
	}
}

func TestUnexpectedMembersAreRefused(t *testing.T) {
	file := written(t)
	for name, c := range map[string]struct {
		read func(*Reader) error
		want string
	}{
		"another header": {func(r *Reader) error { return r.Header("other", 100, new(any)) }, ErrFormat.Error()},
		"too long a one": {func(r *Reader) error { return r.Header("head", 3, new(any)) }, ErrFormat.Error()},
		"another name": {func(r *Reader) error {
			return extract(t, r, "x", fileOf("x", "text"))
		}, `"a" of 4 bytes where "x"`},
		"another size": {func(r *Reader) error {
			return extract(t, r, "a", fileOf("a", "texts"))
		}, "of 5 should be"},
		"another content": {func(r *Reader) error { return extract(t, r, "a", fileOf("a", "TEXT")) }, "is damaged"},
		"more than wanted": {func(r *Reader) error {
			_ = r.Header("head", 100, new(any))
			return r.End()
		}, `holds "a"`},
	} {
		r, err := NewReader(bytes.NewReader(file))
		must(t, err)
		if err := c.read(r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		r.Close()
	}
}

func extract(t *testing.T, r *Reader, name string, f File) error {
	must(t, r.Header("head", 100, new(any)))
	return r.Extract(t.Context(), name, f, filepath.Join(t.TempDir(), "f"), quiet)
}

func TestAddChecksTheSizeAndCanBeCancelled(t *testing.T) {
	w, err := NewWriter(&bytes.Buffer{}, time.Unix(0, 0), 0o600)
	must(t, err)
	if err := w.Add(t.Context(), "a", fileOf("a", "text"), strings.NewReader("tex"), quiet); err == nil ||
		!strings.Contains(err.Error(), "ends after 3 of 4") {
		t.Errorf("a file that is cut off: %v", err)
	}
	w, err = NewWriter(&bytes.Buffer{}, time.Unix(0, 0), 0o600)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	long := strings.Repeat("x", 9<<20)
	err = w.Add(ctx, "a", fileOf("a", long), strings.NewReader(long), func(int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
}
