package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// effortless is a voice that costs nothing: of an answer that it speaks, the memory
// is the answer's.
type effortless struct{}

const (
	effortlessRateHz = 22050
	// effortlessPiece is as long as a long piece of Piper's, and perCharacter how long
	// people speak for one.
	effortlessPiece = effortlessRateHz
	perCharacter    = effortlessRateHz * 75 / 1000
)

func (effortless) RateHz() int { return effortlessRateHz }

func (effortless) Speak(_ context.Context, text string, _ engine.SpeakOptions, emit func(engine.Sound) error) error {
	for whole, at := perCharacter*len(text), 0; at < whole; {
		pcm := make([]float32, min(effortlessPiece, whole-at))
		for i := range pcm { // a sawtooth, which takes an encoder as long as speech does
			pcm[i] = float32((at+i)%110)/550 - 0.1
		}
		at += len(pcm)
		if err := emit(engine.Sound{PCM: pcm, Whole: whole, Last: at == whole}); err != nil {
			return err
		}
	}
	return nil
}

// ways are those to have a text spoken.
func ways() []struct{ name, path string } {
	return []struct{ name, path string }{
		{"json", "/v0/tts"}, {"file", "/v0/tts/file"}, {"stream_json", "/v0/tts/stream/json"},
		{"stream_file", "/v0/tts/stream/file"},
		{"socket", "/v0/tts/stream/input"},
	}
}

// answerMemory has the longest text spoken in each way and each format, and looks how
// much more memory the process has at any moment of it than before.
func (r *Report) answerMemory(ctx context.Context, o Options) (err error) {
	s, err := startSpeech(ctx, o, effortless{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for _, way := range ways() {
		o.say("%d characters by %s, in each format", longCharacters, way.path)
		for _, format := range []contract.AudioFormat{contract.FormatWAV, contract.FormatMP3, contract.FormatPCM} {
			speak := func(characters int) func() error {
				return func() error { return s.whole(ctx, way.path, format, story(characters)) }
			}
			if err := speak(longCharacters / 10)(); err != nil { // the first takes what all keep
				return err
			}
			short, err := grownBy(speak(longCharacters / 10))
			if err != nil {
				return err
			}
			long, err := grownBy(speak(longCharacters))
			if err != nil {
				return err
			}
			r.figure("memory_growth_"+way.name+"_"+string(format), long, "MiB",
				fmt.Sprintf("more resident memory at any time while %d characters are spoken by %s, by a voice that "+
					"takes none (a tenth of them: %.1f MiB)", longCharacters, way.path, short))
		}
	}
	return nil
}

// grownBy is how many MiB more the process holds at any moment of a call than before.
func grownBy(call func() error) (float64, error) {
	debug.FreeOSMemory()
	before := resident()
	over, most := make(chan struct{}), make(chan float64)
	go func() {
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for peak := before; ; peak = max(peak, resident()) {
			select {
			case <-look.C:
			case <-over:
				most <- peak
				return
			}
		}
	}()
	err := call()
	close(over)
	return <-most - before, err
}

// whole asks for a text, and reads all of the answer without keeping it.
func (s *speechServer) whole(ctx context.Context, path string, format contract.AudioFormat, text string) (err error) {
	if strings.HasSuffix(path, "/input") {
		return s.overSocket(ctx, path, format, text)
	}
	body, err := json.Marshal(contract.PostedTTS{
		Utterances: []contract.PostedUtterance{{Text: text, Voice: &contract.VoiceRef{Name: benchVoice}}},
		Format:     &contract.Format{Type: format},
	})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("X-Service-Api-Key", s.key)
	answer, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(answer.Body, 500))
		return fmt.Errorf("%s answers %s: %s", path, answer.Status, why)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

// overSocket has a socket speak a text.
func (s *speechServer) overSocket(ctx context.Context, path string, format contract.AudioFormat, text string) error {
	query := url.Values{"api_key": {s.key}, "format_type": {string(format)}}
	//nolint:bodyclose // the library closes it
	c, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.url, "http")+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	defer c.CloseNow()
	c.SetReadLimit(-1)
	order, err := json.Marshal(contract.PublishTTS{Text: text, Voice: &contract.VoiceRef{Name: benchVoice},
		Close: true})
	if err != nil {
		return err
	}
	if err := c.Write(ctx, websocket.MessageText, order); err != nil {
		return err
	}
	for sound := false; ; sound = true {
		kind, message, err := c.Reader(ctx)
		if websocket.CloseStatus(err) == websocket.StatusNormalClosure && sound {
			return nil
		}
		if err != nil {
			return err
		}
		if kind == websocket.MessageText {
			why, _ := io.ReadAll(io.LimitReader(message, 500))
			return fmt.Errorf("%s says: %s", path, why)
		}
		if _, err := io.Copy(io.Discard, message); err != nil {
			return err
		}
	}
}
