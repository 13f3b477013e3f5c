package manifest

import (
	"encoding/binary"
	"fmt"
)

// SectionName is the custom section in which a module may carry its manifest.
const SectionName = "parley.manifest"

// Of reads the manifest in a module's custom section; ok is false where it has
// none. The module is looked at no further than that takes.
func Of(wasm []byte) (m Manifest, ok bool, err error) {
	text, ok, err := Section(wasm)
	if err != nil || !ok {
		return Manifest{}, false, err
	}
	m, err = Parse(text)
	return m, err == nil, err
}

// Section is the text of a module's custom section parley.manifest.
func Section(wasm []byte) (text []byte, ok bool, err error) {
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
		if n <= 0 || length > uint64(len(body)-n) || string(body[n:n+int(length)]) != SectionName {
			continue
		}
		if ok {
			return nil, false, fmt.Errorf("two sections %s; one is allowed", SectionName)
		}
		text, ok = body[n+int(length):], true
	}
	return text, ok, nil
}

// Embed returns the module with text as its section parley.manifest, instead of
// one that it has.
func Embed(wasm, text []byte) ([]byte, error) {
	if _, err := Parse(text); err != nil {
		return nil, err
	}
	if _, ok, err := Section(wasm); err != nil {
		return nil, err
	} else if ok {
		return nil, fmt.Errorf("the module has a section %s already", SectionName)
	}
	body := binary.AppendUvarint(nil, uint64(len(SectionName)))
	body = append(append(body, SectionName...), text...)
	all := append([]byte(nil), wasm...)
	all = binary.AppendUvarint(append(all, 0), uint64(len(body)))
	return append(all, body...), nil
}
