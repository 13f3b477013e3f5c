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

	"parley/plugins/sandbox"
)

// An OCI image layout (https://github.com/opencontainers/image-spec, image-layout.md)
// permissions how registries' tools keep artifacts in a folder: index.json names a
// manifest, that names the files, and each lies under its SHA-256 in blobs.
const (
	layoutIndex = "index.json"
	// maxIndex bounds what names others: an index or manifest has a few hundred
	// bytes for each.
	maxIndex = 1 << 20
	// maxUnpacked bounds a tar: it is held in memory, and holds a module and a little
	// beside it.
	maxUnpacked = sandbox.MaxModule + 16<<20

	annotationTag   = "org.opencontainers.image.ref.name"
	annotationTitle = "org.opencontainers.image.title"
)

// files reads a file of a layout by its name, of at most so many bytes;
// fs.ErrNotExist where there is none.
type files func(name string, most int64) ([]byte, error)

// tarFiles reads a tar. Links, devices and the like are no part of a layout and
// left alone.
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
			return nil, unusable("it is neither a module (which begins with \\0asm) nor a tar file: %s", howToBuild)
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

// descriptor names a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations"`
}

// blob reads what d names, and checks that it is that.
func (read files) blob(d descriptor, most int64) ([]byte, error) {
	name, known := strings.CutPrefix(d.Digest, "sha256:")
	switch {
	case !known || !digestName.MatchString(name):
		return nil, unusable("%.100q is no digest that is known here: sha256: and 64 digits are", d.Digest)
	case d.Size > most:
		return nil, tooLarge("blob "+name, most)
	}
	text, err := read("blobs/sha256/"+name, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unusable("the layout has no blob %s, which it names: copy it again, whole", name)
	}
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != name || int64(len(text)) != d.Size {
		return nil, unusable("blob %s is not what its digest and size say: the layout is damaged", name)
	}
	return text, nil
}

// readLayout reads the plugin in a layout: the one with the tag, or the only one.
func readLayout(read files, tag string) (Package, error) {
	text, err := read(layoutIndex, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return Package{}, unusable("it is no OCI layout, which has an %s, and no plugin: %s", layoutIndex, howToBuild)
	}
	if err != nil {
		return Package{}, err
	}
	var index struct{ Manifests []descriptor }
	if err := json.Unmarshal(text, &index); err != nil {
		return Package{}, unusable("%s is not JSON as the OCI has it: %v", layoutIndex, err)
	}
	var tags []string
	fit := slices.DeleteFunc(index.Manifests, func(d descriptor) bool {
		tags = append(tags, fmt.Sprintf("%.100q", d.Annotations[annotationTag]))
		return tag != "" && d.Annotations[annotationTag] != tag
	})
	switch {
	case len(fit) == 0:
		return Package{}, unusable("it holds nothing with the tag %.100q; its tags: %s", tag, listed(tags))
	case len(fit) > 1:
		return Package{}, unusable("it holds %d images: say which with --tag; its tags: %s", len(fit), listed(tags))
	}
	if text, err = read.blob(fit[0], maxIndex); err != nil {
		return Package{}, err
	}
	var image struct{ Layers []descriptor }
	if err := json.Unmarshal(text, &image); err != nil {
		return Package{}, unusable("the manifest in it is not JSON as the OCI has it: %v", err)
	}
	return read.layers(image.Layers)
}

// isModule tells whether a layer is a module by its media type, which have
// changed over the years, or by its file's name.
func isModule(d descriptor) bool {
	return slices.Contains([]string{
		"application/wasm", // https://tag-runtime.cncf.io/wgs/wasm/deliverables/wasm-oci-artifact/
		"application/vnd.wasm.content.layer.v1+wasm",
		"application/vnd.module.wasm.content.layer.v1+wasm",
	}, d.MediaType) || strings.HasSuffix(d.Annotations[annotationTitle], ".wasm")
}

// layers makes a package of the layers of an artifact: one is the module, and one
// titled like it with .sig behind, or plugin.sig, its signature.
func (read files) layers(layers []descriptor) (Package, error) {
	var wasm, signature []byte
	for _, d := range layers {
		title := d.Annotations[annotationTitle]
		var err error
		switch {
		case isModule(d) && wasm != nil:
			err = unusable("the artifact holds two modules; a plugin has one")
		case isModule(d):
			wasm, err = read.blob(d, sandbox.MaxModule)
		case title == "plugin.yaml" || strings.HasPrefix(title, "tests/"):
			err = unusable("the artifact holds %.80q beside the module: %s", title, howToBuild)
		case strings.HasSuffix(title, SignatureSuffix):
			signature, err = read.blob(d, maxSignature)
		}
		if err != nil {
			return Package{}, err
		}
	}
	if wasm == nil {
		return Package{}, unusable("none of the artifact's %d layers is a module (application/wasm); a container "+
			"image with a module in its file system is none", len(layers))
	}
	return newPackage(wasm, signature)
}
