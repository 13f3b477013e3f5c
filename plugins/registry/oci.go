package registry

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"parley/internal/signing"
	"parley/plugins/sandbox"
)

// An OCI image layout (https://github.com/opencontainers/image-spec, image-layout.md) is
// the form in which the tools of registries store artifacts in a folder: index.json names a
// manifest, the manifest names the files, and each file lies in blobs under its SHA-256.
const (
	layoutIndex = "index.json"
	// maxIndex bounds an index and a manifest, which have a few hundred bytes for each
	// entry.
	maxIndex = 1 << 20
	// maxUnpacked bounds a tar file, which is held in memory: a module and a few small
	// files.
	maxUnpacked = sandbox.MaxModule + 16<<20

	annotationTag   = "org.opencontainers.image.ref.name"
	annotationTitle = "org.opencontainers.image.title"
)

// files returns a file of a layout by its name, if it has at most so many bytes;
// fs.ErrNotExist if there is none.
type files func(name string, most int64) ([]byte, error)

// tarFiles reads a tar file. It ignores links, devices and the like, which are no part of a
// layout.
func tarFiles(r io.Reader) (files, error) {
	found := map[string][]byte{}
	limited := &io.LimitedReader{R: r, N: maxUnpacked + 1}
	for t := tar.NewReader(limited); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) && len(found) > 0 {
			break
		}
		switch {
		case err != nil && len(found) == 0:
			return nil, unusable("neither a module (which begins with \\0asm) nor a tar file: %s", howToBuild)
		case err == nil && h.Typeflag != tar.TypeReg:
			continue
		case err == nil && h.Size < limited.N:
			text := make([]byte, h.Size)
			_, err = io.ReadFull(t, text)
			found[path.Clean(h.Name)] = text
		case err == nil || limited.N == 0:
			return nil, tooLarge("what is packed in it", maxUnpacked)
		}
		if err != nil {
			return nil, unusable("the tar file is damaged: %v", err)
		}
	}
	return func(name string, most int64) ([]byte, error) {
		text, ok := found[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		if int64(len(text)) > most {
			return nil, tooLarge(name, most)
		}
		return text, nil
	}, nil
}

// descriptor refers to a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations"`
}

// blob returns the blob that d refers to, and checks its digest and size.
func (read files) blob(d descriptor, most int64) ([]byte, error) {
	name, known := strings.CutPrefix(d.Digest, "sha256:")
	switch {
	case !known || !digestName.MatchString(name):
		return nil, unusable("unknown digest (%.100q): sha256: and 64 hexadecimal digits are allowed", d.Digest)
	case d.Size > most:
		return nil, tooLarge("blob "+name, most)
	}
	text, err := read("blobs/sha256/"+name, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unusable("the layout is incomplete: it lists blob %s, which is missing; copy it again", name)
	}
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != name || int64(len(text)) != d.Size {
		return nil, unusable("the layout is damaged: blob %s does not match its digest and size", name)
	}
	return text, nil
}

// readLayout reads the plugin in a layout: the one with the tag, or the only one.
func readLayout(read files, tag string) (Package, error) {
	text, err := read(layoutIndex, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return Package{}, unusable("neither a plugin nor an OCI layout, which has an %s: %s", layoutIndex, howToBuild)
	}
	if err != nil {
		return Package{}, err
	}
	var index struct{ Manifests []descriptor }
	if err := json.Unmarshal(text, &index); err != nil {
		return Package{}, unusable("%s is not an OCI index: %v", layoutIndex, err)
	}
	var tags []string
	fit := slices.DeleteFunc(index.Manifests, func(d descriptor) bool {
		tags = append(tags, fmt.Sprintf("%.100q", d.Annotations[annotationTag]))
		return tag != "" && d.Annotations[annotationTag] != tag
	})
	switch {
	case len(fit) == 0:
		return Package{}, unusable("no image has the tag %.100q: the tags are %s", tag, listed(tags))
	case len(fit) > 1:
		return Package{}, unusable("it holds %d images: choose with --tag; the tags are %s", len(fit), listed(tags))
	}
	if text, err = read.blob(fit[0], maxIndex); err != nil {
		return Package{}, err
	}
	var image struct{ Layers []descriptor }
	if err := json.Unmarshal(text, &image); err != nil {
		return Package{}, unusable("the image manifest is not an OCI manifest: %v", err)
	}
	return read.layers(image.Layers)
}

// isModule reports whether a layer is a module, by its media type, which has changed over
// the years, or by its file name.
func isModule(d descriptor) bool {
	return slices.Contains([]string{
		"application/wasm", // https://tag-runtime.cncf.io/wgs/wasm/deliverables/wasm-oci-artifact/
		"application/vnd.wasm.content.layer.v1+wasm",
		"application/vnd.module.wasm.content.layer.v1+wasm",
	}, d.MediaType) || strings.HasSuffix(d.Annotations[annotationTitle], ".wasm")
}

// layers makes a package from the layers of an artifact. One layer is the module, and one
// with the module's title and .sig, or plugin.sig, is its signature.
func (read files) layers(layers []descriptor) (Package, error) {
	var wasm, signature []byte
	for _, d := range layers {
		title := d.Annotations[annotationTitle]
		var err error
		switch {
		case isModule(d) && wasm != nil:
			err = unusable("the artifact holds two modules: a plugin has one")
		case isModule(d):
			wasm, err = read.blob(d, sandbox.MaxModule)
		case title == "plugin.yaml" || strings.HasPrefix(title, "tests/"):
			err = unusable("the artifact holds the file %.80q besides the module: %s", title, howToBuild)
		case strings.HasSuffix(title, SignatureSuffix):
			signature, err = read.blob(d, signing.MaxBytes)
		}
		if err != nil {
			return Package{}, err
		}
	}
	if wasm == nil {
		return Package{}, unusable("none of the artifact's %d layers is a module (application/wasm): container images "+
			"with a module in their file system are not supported", len(layers))
	}
	return newPackage(wasm, signature)
}
