package registry

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
)

// Export is an installed plugin as another box installs it.
type Export struct {
	Name    string
	Version string
	Granted json.RawMessage // its permissions
	// Settings are the values that were set, without secrets.
	Settings map[string]string
	// File is the plugin with its signature, as ReadFrom reads it: the tar file of an OCI image layout. The same plugin
	// always has the same bytes.
	File []byte
}

// SHA256 returns the checksum of the file, hexadecimal.
func (e Export) SHA256() string {
	sum := sha256.Sum256(e.File)
	return hex.EncodeToString(sum[:])
}

// Export returns an installed plugin. The error is an ErrNotInstalled if there is none with the name.
func (s *Registry) Export(ctx context.Context, name string) (Export, error) {
	row, err := s.Records.Plugin(ctx, name)
	if err != nil {
		return Export{}, storeError(name, err)
	}
	told, err := s.Records.PluginSettings(ctx, name)
	if err != nil {
		return Export{}, storeError(name, err)
	}
	e := Export{
		Name:     row.Name,
		Version:  row.Version,
		Granted:  json.RawMessage(row.Granted),
		Settings: map[string]string{},
	}
	for _, t := range told {
		if t.Sealed == nil {
			e.Settings[t.Name] = t.Value
		}
	}
	wasm, signer, err := s.folder.get(row.Digest)
	if err != nil {
		return e, unusable("the files of the plugin %s: %v", name, err)
	}
	var signature []byte
	if signer != "" {
		if signature, err = os.ReadFile(s.folder.path(row.Digest, signatureName)); err != nil {
			return e, unusable("the signature of the plugin %s: %v", name, reason(err))
		}
	}
	e.File, err = layoutOf(name, row.Version, wasm, signature)
	return e, err
}

// layoutOf returns the tar file of an OCI image layout with one plugin
// (https://github.com/opencontainers/image-spec/blob/main/image-layout.md).
func layoutOf(name, version string, wasm, signature []byte) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	put := func(file string, text []byte) error {
		if err := w.WriteHeader(&tar.Header{Name: file, Mode: 0o600, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err := w.Write(text)
		return err
	}
	blob := func(media, title string, text []byte) (descriptor, error) {
		sum := sha256.Sum256(text)
		d := descriptor{MediaType: media, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(text))}
		if title != "" {
			d.Annotations = map[string]string{annotationTitle: title}
		}
		return d, put("blobs/sha256/"+hex.EncodeToString(sum[:]), text)
	}
	module, err := blob("application/wasm", name+".wasm", wasm)
	if err != nil {
		return nil, err
	}
	layers := []descriptor{module}
	if signature != nil {
		signed, err := blob("text/plain", name+".wasm"+SignatureSuffix, signature)
		if err != nil {
			return nil, err
		}
		layers = append(layers, signed)
	}
	empty, err := blob("application/vnd.oci.empty.v1+json", "", []byte("{}"))
	if err != nil {
		return nil, err
	}
	const media = "application/vnd.oci.image.manifest.v1+json"
	text, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": media, "config": empty, "layers": layers})
	if err != nil {
		return nil, err
	}
	image, err := blob(media, "", text)
	if err != nil {
		return nil, err
	}
	image.Annotations = map[string]string{annotationTag: version}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "manifests": []descriptor{image}})
	if err != nil {
		return nil, err
	}
	if err := put(layoutIndex, index); err != nil {
		return nil, err
	}
	if err := put("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}
