package manifest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// The custom sections that make a module a plugin.
const (
	// SectionName is the section of the manifest: the text of plugin.yaml.
	SectionName = "parley.manifest"
	// TestsSection is the section of the author's test cases: a JSON object of file
	// contents by name. It is optional.
	TestsSection = "parley.tests"
)

// Of returns the manifest in a module's custom section; ok is false if there is none. It
// checks the module only as far as that requires.
func Of(wasm []byte) (m Manifest, ok bool, err error) {
	text, ok, err := Section(wasm, SectionName)
	if err != nil || !ok {
		return Manifest{}, false, err
	}
	m, err = Parse(text)
	return m, err == nil, err
}

// maxTests and maxTestBytes bound the test cases: they are small texts, and all of them run
// at each upgrade.
const (
	maxTests     = 200
	maxTestBytes = 8 << 20
)

// Tests returns the test cases in a module, by file name.
func Tests(wasm []byte) (files map[string]string, err error) {
	text, ok, err := Section(wasm, TestsSection)
	if err != nil || !ok {
		return nil, err
	}
	if len(text) > maxTestBytes {
		return nil, fmt.Errorf("tests/: too large (%d bytes): at most %d are allowed", len(text), maxTestBytes)
	}
	if err := json.Unmarshal(text, &files); err != nil {
		return nil, fmt.Errorf("section %s: not a JSON object of strings: %w", TestsSection, err)
	}
	if len(files) > maxTests {
		return nil, fmt.Errorf("tests/: too many files (%d): at most %d are allowed", len(files), maxTests)
	}
	return files, nil
}

// Section returns the content of the custom section with a name.
func Section(wasm []byte, name string) (text []byte, ok bool, err error) {
	if len(wasm) < 8 || string(wasm[:4]) != "\x00asm" {
		return nil, false, fmt.Errorf("not a WebAssembly module: it does not begin with \\0asm")
	}
	if v := binary.LittleEndian.Uint32(wasm[4:8]); v != 1 {
		return nil, false, fmt.Errorf("a WebAssembly module of version %d (components have 65549); only core modules "+
			"of version 1 are run: build for wasip1", v)
	}
	for rest := wasm[8:]; len(rest) > 0; {
		id := rest[0]
		size, n := binary.Uvarint(rest[1:min(len(rest), 6)])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return nil, false, fmt.Errorf("truncated: the section that begins at byte %d goes beyond the end",
				len(wasm)-len(rest))
		}
		body := rest[1+n:][:size]
		rest = rest[1+n+int(size):]
		if id != 0 {
			continue
		}
		length, n := binary.Uvarint(body[:min(len(body), 5)])
		if n <= 0 || length > uint64(len(body)-n) || string(body[n:n+int(length)]) != name {
			continue
		}
		if ok {
			return nil, false, fmt.Errorf("the module has two sections %s: one is allowed", name)
		}
		text, ok = body[n+int(length):], true
	}
	return text, ok, nil
}

// Embed returns the module with text as its manifest and files as its test cases, if there
// are any. It refuses a module that already has a manifest.
func Embed(wasm, text []byte, files map[string]string) ([]byte, error) {
	if _, err := Parse(text); err != nil {
		return nil, err
	}
	if _, ok, err := Section(wasm, SectionName); err != nil {
		return nil, err
	} else if ok {
		return nil, fmt.Errorf("the module already has a section %s", SectionName)
	}
	all := appendSection(append([]byte(nil), wasm...), SectionName, text)
	if len(files) == 0 {
		return all, nil
	}
	cases, err := json.Marshal(files)
	if err != nil {
		return nil, err
	}
	all = appendSection(all, TestsSection, cases)
	_, err = Tests(all)
	return all, err
}

func appendSection(wasm []byte, name string, text []byte) []byte {
	body := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	wasm = binary.AppendUvarint(append(wasm, 0), uint64(len(body)+len(text)))
	return append(append(wasm, body...), text...)
}
