package onnx

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"parley/internal/durable"
)

// cachedVoice caches what loading a voice found out, in two files: PACK.json identifies the voice,
// and PACK.ort is its encoder as ONNX Runtime optimized it. If anything is wrong with them, the
// voice is loaded without. A nil cachedVoice caches nothing.
type cachedVoice struct {
	path     string                 // of both files, without their suffixes
	identity func() (string, error) // takes a while, since it reads the model

	mu     sync.Mutex // guards the following fields, since parts of a model load in parallel
	loaded bool
	record voiceRecord // of any voice
}

// voiceRecord is the content of PACK.json.
type voiceRecord struct {
	Identity string  `json:"identity"`
	Gain     float32 `json:"gain,omitempty"`
	Encoder  string  `json:"front,omitempty"` // SHA-256 of the encoder's file
}

// openVoiceCache opens the cache of a pack's voice; identity distinguishes the voice from others.
func openVoiceCache(folder, pack string, identity func() ([]byte, error)) *cachedVoice {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // as the packs
		return nil
	}
	return &cachedVoice{path: filepath.Join(folder, pack), identity: sync.OnceValues(func() (string, error) {
		sum, err := identity()
		return hex.EncodeToString(sum), err
	})}
}

// identity returns the SHA-256 of everything that encoder and gain depend on.
func (p *Piper) identity(rt *Runtime, model []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s %s %s\n", voiceCacheVersion, runtime.GOARCH, rt.Version(), p.config.raw)
	h.Write(model)
	return h.Sum(nil)
}

// voiceCacheVersion is incremented when cached data would change: the calibration of voices, or how
// the encoder is cut.
const voiceCacheVersion = 2

// stored returns the record as it is stored.
func (c *cachedVoice) stored() voiceRecord {
	if !c.loaded {
		c.loaded = true
		data, err := os.ReadFile(c.path + ".json")
		if err != nil || json.Unmarshal(data, &c.record) != nil {
			c.record = voiceRecord{}
		}
	}
	return c.record
}

// current returns the record of exactly this voice.
func (c *cachedVoice) current() voiceRecord {
	id, err := c.identity()
	if c.stored().Identity != id || err != nil {
		c.record = voiceRecord{Identity: id}
	}
	return c.record
}

// matches reports whether the cached encoder belongs to exactly this voice.
func (c *cachedVoice) matches() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current().Encoder != ""
}

// gain returns the measured gain, or 0.
func (c *cachedVoice) gain() float32 {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.current().Gain; g > 0 && g <= maxGain {
		return g
	}
	return 0
}

// storeGain stores a gain. A failure is ignored; the gain is measured again then.
func (c *cachedVoice) storeGain(gain float32) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current()
	c.record.Gain = gain
	c.write()
}

func (c *cachedVoice) write() {
	if data, err := json.Marshal(c.record); err == nil {
		_ = durable.WriteFile(c.path+".json", append(data, '\n'), 0o644) // a failure is ignored
	}
}

// encoder returns the optimized encoder of the stored record, in memory outside Go's heap, or nil.
func (c *cachedVoice) encoder() (prepared []byte, release func()) {
	if c == nil {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	want := c.stored().Encoder
	if want == "" {
		return nil, nil
	}
	data, unmap, err := readModel(c.path+".ort", "")
	if err != nil {
		return nil, nil
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != want {
		_ = unmap()
		return nil, nil
	}
	return data, func() { _ = unmap() }
}

// newEncoderFile creates the file of the encoder; nil if nothing is cached.
func (c *cachedVoice) newEncoderFile() *encoderFile {
	if c == nil {
		return nil
	}
	f, err := durable.Create(c.path+".ort", 0o644)
	if err != nil {
		return nil
	}
	return &encoderFile{c, f}
}

// encoderFile is an encoder that ONNX Runtime is writing.
type encoderFile struct {
	voice *cachedVoice
	file  *durable.File
}

func (f *encoderFile) name() string {
	if f == nil {
		return ""
	}
	return f.file.Name()
}

func (f *encoderFile) discard() {
	if f != nil {
		f.file.Discard()
	}
}

// commit stores the written file.
func (f *encoderFile) commit() {
	if f == nil {
		return
	}
	data, release, err := readModel(f.file.Name(), "")
	if err != nil {
		return
	}
	sum := sha256.Sum256(data)
	if release() != nil || f.file.Commit() != nil {
		return
	}
	f.voice.mu.Lock()
	defer f.voice.mu.Unlock()
	f.voice.current()
	f.voice.record.Encoder = hex.EncodeToString(sum[:])
	f.voice.write()
}
