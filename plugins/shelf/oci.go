package shelf

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"parley/plugins/sandbox"
)

// An OCI image layout (https://github.com/opencontainers/image-spec, image-layout.md)
// is how registries' tools keep artifacts in a folder: index.json names a
// manifest, that names the files, and each lies under its SHA-256 in blobs.
const (
	layoutIndex = "index.json"
	// maxIndex bounds what names others: an index or manifest has a few hundred
	// bytes for each.
	maxIndex = 1 << 20
	// maxNesting is how deep an index may name another: one for all tags, one for
	// all platforms.
	maxNesting = 3

	annotationTag   = "org.opencontainers.image.ref.name"
	annotationTitle = "org.opencontainers.image.title"
)

// files reads a file of a layout by its name, of at most so many bytes;
// fs.ErrNotExist where there is none.
type files func(name string, most int64) ([]byte, error)

// descriptor names a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations"`
	Platform    *struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
	} `json:"platform"`
}

var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// blob reads what d names, and checks that it is that.
func (read files) blob(d descriptor, most int64) ([]byte, error) {
	if !digestPattern.MatchString(d.Digest) {
		return nil, unusable("%.100q is no digest that is known here: sha256: and 64 digits are", d.Digest)
	}
	name := strings.TrimPrefix(d.Digest, "sha256:")
	switch {
	case d.Size < 0:
		return nil, unusable("blob %s is said to have %d bytes", name, d.Size)
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

// readLayout reads the plugin in a layout.
func readLayout(read files, tag string) (Package, error) {
	text, err := read(layoutIndex, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return Package{}, unusable("it holds no %s, so it is no OCI layout: %s", layoutIndex, howToBuild)
	}
	if err != nil {
		return Package{}, err
	}
	for range maxNesting {
		var index struct {
			Manifests []descriptor `json:"manifests"`
			Layers    []descriptor `json:"layers"`
		}
		if err := json.Unmarshal(text, &index); err != nil {
			return Package{}, unusable("an index or manifest in it is not JSON as the OCI has it: %v", err)
		}
		if len(index.Manifests) == 0 {
			return read.layers(index.Layers)
		}
		one, err := choose(index.Manifests, tag)
		if err != nil {
			return Package{}, err
		}
		if text, err = read.blob(one, maxIndex); err != nil {
			return Package{}, err
		}
		tag = "" // belongs to the first index
	}
	return Package{}, unusable("its indexes name one another more than %d deep", maxNesting)
}

// choose takes the one that is meant: by its tag, or the one for WebAssembly, or
// the only one.
func choose(all []descriptor, tag string) (descriptor, error) {
	var tags []string
	fit := all
	if tag != "" {
		fit = nil
	}
	for _, d := range all {
		name := d.Annotations[annotationTag]
		if name != "" {
			tags = append(tags, fmt.Sprintf("%.100q", name))
		}
		if tag != "" && name == tag {
			fit = append(fit, d)
		}
	}
	if len(fit) > 1 {
		forWasm := slices.DeleteFunc(slices.Clone(fit), func(d descriptor) bool {
			return d.Platform == nil || d.Platform.Architecture != "wasm"
		})
		if len(forWasm) > 0 {
			fit = forWasm
		}
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) == 0:
		return descriptor{}, unusable("it holds nothing with the tag %.100q; its tags: %s", tag, listed(tags))
	}
	return descriptor{}, unusable("it holds %d images: say which with --tag; its tags: %s", len(fit), listed(tags))
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
		case strings.HasSuffix(title, SignatureEnd):
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
