package registry

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/signing"
	"parley/plugins/manifest"
)

// earlierSigner signed two of the plugins in testdata/several-files.tar.gz.
const earlierSigner = "ed25519:3jyK+p3luprLjy306lxUwDxWPBEPxRKpMZgLwg6cdyM="

// earlierData returns the data folder of a former version, with packages of several files
// and plugin logs in files. The plugins are folder, from a signed folder; single, from a
// signed file; unsigned, from a folder.
func earlierData(t *testing.T) string {
	t.Helper()
	f, err := os.Open("testdata/several-files.tar.gz")
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	data := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return data
		}
		must(t, err)
		to := filepath.Join(data, h.Name)
		if h.Typeflag == tar.TypeDir {
			must(t, os.MkdirAll(to, 0o700))
			continue
		}
		text, err := io.ReadAll(r)
		must(t, errors.Join(err, os.WriteFile(to, text, 0o600)))
	}
}

// Plugins of former versions keep running with their signatures, and can be upgraded by one
// file.
func TestPackagesOfSeveralFilesKeepRunning(t *testing.T) {
	data := earlierData(t)
	s := box(t, data)
	must(t, s.Tidy(t.Context()))
	strict := beside(t, data, func(p *Parts) { p.Trust = Trust{Keys: []signing.Key{earlierSigner}, Required: true} })
	for tool, plugin := range map[string]string{"one": "folder", "two": "unsigned", "three": "single"} {
		if i, err := s.Show(t.Context(), plugin); err != nil || i.State != Ready || len(i.Granted) != 1 {
			t.Errorf("%s is %s (%s), granted %v, %v", plugin, i.State, i.Why, i.Granted, err)
		}
		if _, err := s.Call(t.Context(), Origin{Account: "a"}, tool, []byte("{}")); err != nil {
			t.Errorf("%s: %v", plugin, err)
		}
		_, err := strict.Call(t.Context(), Origin{Account: "a"}, tool, []byte("{}"))
		if (err == nil) != (plugin != "unsigned") {
			t.Errorf("%s on a box that requires signatures: %v", plugin, err)
		}
	}
	if lines, err := s.Lines(t.Context(), "folder", 10); err != nil || len(lines) != 0 {
		t.Errorf("the log is %v, %v", lines, err)
	}
	text := strings.NewReplacer("name: tool", "name: folder", "1.0.0", "2.0.0", "name: do", "name: one").Replace(
		described("1.0.0", "permissions: {storage: 1KiB}"))
	must(t, upgrade(t, s, fileOf(t, text, empty), Choice{OtherSigner: true}))
	i, err := s.Show(t.Context(), "folder")
	if err != nil || i.State != Ready || i.Version != "2.0.0" || len(i.Granted) != 1 {
		t.Errorf("after the upgrade: %+v, %v", i, err)
	}
}

// A change of any file of a package is detected.
func TestPackagesOfSeveralFilesAreChecked(t *testing.T) {
	for _, name := range []string{"plugin.yaml", "tests/one.json", "plugin.sig"} {
		data := earlierData(t)
		s := box(t, data)
		i, err := s.Show(t.Context(), "folder")
		must(t, err)
		file := filepath.Join(data, "plugins", i.Digest, name)
		text, err := os.ReadFile(file)
		must(t, errors.Join(err, os.WriteFile(file, append(text, '\n', 'x'), 0o600)))
		_, err = s.CallHook(t.Context(), Origin{}, "folder", manifest.OnTurn, nil)
		if !errors.As(err, new(ErrStopped)) {
			t.Errorf("with a changed %s the call returned %v", name, err)
		}
	}
}
