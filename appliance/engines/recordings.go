package engines

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"parley/appliance/engine"
	"parley/appliance/engine/onnx"
)

// whisperPack is the pack of the transcriber that recordings get, whatever the chats have.
const whisperPack = "whisper"

// whisperIdle is how long Whisper stays loaded after a recording. It takes 0.4 GB, and 0.55 GB once it has transcribed
// parts of more than 9 s. Releasing it returns 0.2 GB; ONNX Runtime keeps the rest for the next model. Loading it takes
// a second or two, which a job of a few minutes hardly notices.
const whisperIdle = 5 * time.Minute

// Recordings transcribes recordings, which nobody waits for: with Whisper if its pack is installed, because it makes
// fewer mistakes, knows many languages and measures when words are said; otherwise with the transcriber of the chats.
// It implements engine.Transcriber. Whisper is loaded on its first use and released after whisperIdle.
type Recordings struct {
	set *Set

	mu      sync.Mutex
	whisper *onnx.Whisper // nil while it is not loaded
	calls   int           // that use it
	idle    *time.Timer
}

// recordings returns the transcriber of recordings. The box closes it with the other engines.
func (e *Set) recordings() engine.Transcriber {
	if e.cfg.Engines.Transcriber == whisperPack && e.embedded != nil {
		return e.embedded
	}
	r := &Recordings{set: e}
	e.onClose(r.release)
	return r
}

// Languages returns the languages that are transcribed; see engine.LanguagesOf. They change when a pack is installed.
func (r *Recordings) Languages() []string {
	if r.installed() {
		return nil
	}
	return engine.LanguagesOf(r.set.Transcriber)
}

func (r *Recordings) installed() bool {
	_, err := os.Stat(filepath.Join(r.set.cfg.Pack(whisperPack), "tokenizer.json"))
	return err == nil
}

// Transcribe implements engine.Transcriber.
func (r *Recordings) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript,
	error) {
	if !r.installed() {
		return r.set.Transcriber.Transcribe(ctx, pcm, o)
	}
	w, err := r.acquire()
	if err != nil {
		return engine.Transcript{}, err
	}
	defer r.done()
	return w.Transcribe(ctx, pcm, o)
}

// acquire returns Whisper, which it loads if need be, for one call. Calls at the same time wait for the loading.
func (r *Recordings) acquire() (*onnx.Whisper, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.whisper == nil {
		begun := time.Now()
		w, err := onnx.LoadWhisper(r.set.runtime, r.set.cfg.Pack(whisperPack), r.set.Gate)
		if err != nil {
			return nil, err
		}
		r.whisper = w
		r.set.log.Debug("loaded for recordings", "engine", whisperPack, "ms", time.Since(begun).Milliseconds())
	}
	r.calls++
	return r.whisper, nil
}

func (r *Recordings) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls--
	if r.idle != nil {
		r.idle.Stop()
	}
	r.idle = time.AfterFunc(whisperIdle, func() {
		if err := r.release(); err != nil {
			r.set.log.Error("releasing the transcriber of recordings", "err", err)
		}
	})
}

// release frees the memory of Whisper, unless a call uses it.
func (r *Recordings) release() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle != nil {
		r.idle.Stop()
	}
	if r.whisper == nil || r.calls > 0 {
		return nil
	}
	w := r.whisper
	r.whisper = nil
	return w.Close()
}
