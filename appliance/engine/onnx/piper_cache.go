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

// cachedVoice is what loading a voice has found out before, in two files of a folder:
// PACK.json, which says of which voice it is, and PACK.ort, the front of its model
// as ONNX Runtime prepares it. Whatever is wrong with them, the voice is loaded
// without: nil is a voice of which nothing is kept, or may be.
type cachedVoice struct {
	path     string                 // of both, without what their names end with
	identity func() (string, error) // takes a while: the model is read for it

	mu     sync.Mutex // guards what follows: the parts of a model are loaded side by side
	loaded bool
	record voiceRecord // of whichever voice
}

type voiceRecord struct {
	Identity string  `json:"identity"`
	Gain     float32 `json:"gain,omitempty"`
	Encoder  string  `json:"front,omitempty"` // the SHA-256 of that file
}

// openVoiceCache is what a folder keeps of a pack; identity tells one voice from another.
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

// identity is the SHA-256 of all that the front and the gain come from.
func (p *Piper) identity(rt *Runtime, model []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s %s %s\n", voiceCacheVersion, runtime.GOARCH, rt.Version(), p.config.raw)
	h.Write(model)
	return h.Sum(nil)
}

// voiceCacheVersion is counted up where what is kept would be another: the way that
// voices are calibrated, or how the front is cut.
const voiceCacheVersion = 2

// stored is the note as it lies there.
func (k *cachedVoice) stored() voiceRecord {
	if !k.loaded {
		k.loaded = true
		data, err := os.ReadFile(k.path + ".json")
		if err != nil || json.Unmarshal(data, &k.record) != nil {
			k.record = voiceRecord{}
		}
	}
	return k.record
}

// current is the note of this very voice.
func (k *cachedVoice) current() voiceRecord {
	own, err := k.identity()
	if k.stored().Identity != own || err != nil {
		k.record = voiceRecord{Identity: own}
	}
	return k.record
}

// matches reports whether what is kept is of this very voice.
func (k *cachedVoice) matches() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.current().Encoder != ""
}

// levelGain is the one that was measured; 0: none.
func (k *cachedVoice) gain() float32 {
	if k == nil {
		return 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if g := k.current().Gain; g > 0 && g <= maxGain {
		return g
	}
	return 0
}

// storeGain keeps a gain. That it cannot is no fault: it is measured again.
func (k *cachedVoice) storeGain(gain float32) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.current()
	k.record.Gain = gain
	k.write()
}

func (k *cachedVoice) write() {
	if data, err := json.Marshal(k.record); err == nil {
		_ = durable.WriteFile(k.path+".json", append(data, '\n'), 0o644) // it may be deleted, too
	}
}

// encoder is the prepared front, beside Go's heap, of the voice that the note is of;
// nil where there is none.
func (k *cachedVoice) encoder() (prepared []byte, release func()) {
	if k == nil {
		return nil, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	want := k.stored().Encoder
	if want == "" {
		return nil, nil
	}
	data, unmap, err := readModel(k.path+".ort", "")
	if err != nil {
		return nil, nil
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != want {
		_ = unmap()
		return nil, nil
	}
	return data, func() { _ = unmap() }
}

// newEncoderFile begins the file of the front; nil where nothing is kept.
func (k *cachedVoice) newEncoderFile() *encoderFile {
	if k == nil {
		return nil
	}
	f, err := durable.Create(k.path+".ort", 0o644)
	if err != nil {
		return nil
	}
	return &encoderFile{k, f}
}

// encoderFile is a front that ONNX Runtime is writing.
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

// commit keeps what was written.
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
