package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"parley/appliance/engine"
)

// VoiceRateHz is the sample rate of all voices on servers. Sound of another rate is converted.
const VoiceRateHz = 24000

// VoiceServer is a server with voices.
type VoiceServer struct {
	Options
	Voices []string // their names there
	RateHz int      // of pcm whose rate the server does not name; 0 is VoiceRateHz
}

// VoicePool has the voices of one or several servers.
type VoicePool struct {
	*pool
	servers []VoiceServer

	mu    sync.Mutex
	known map[string]*voiceFigures // by the folded name of the voice
}

// voicePatience is the default Pacing.Patience of voices: the user waits in silence, and an embedded
// voice needs a third of it.
const voicePatience = 1500 * time.Millisecond

// voiceLimits are the default limits of voices. A sentence plays for a minute at most.
func voiceLimits() Limits {
	return Limits{FirstPiece: 10 * time.Second, Idle: 10 * time.Second, Reply: 2 * time.Minute}
}

// OpenVoices prepares the use of voices on servers without calling them. An error names the wrong
// option.
func OpenVoices(servers []VoiceServer, o PoolOptions) (*VoicePool, error) {
	var options []Options
	for _, s := range servers {
		options = append(options, s.Options)
	}
	all, err := openServers(voice, options, voiceLimits())
	if err != nil {
		return nil, err
	}
	return &VoicePool{
		pool:    newPool(all, o, voicePatience),
		servers: servers,
		known:   map[string]*voiceFigures{},
	}, nil
}

// Embedded opens the embedded voice that takes over when all servers of a voice fail.
type Embedded func(ctx context.Context) (engine.Synthesizer, error)

// Voice returns the voice of this name, in any case. language is the BCP 47 tag of what it speaks; ""
// if it is not known. embedded may be nil. It returns false if no server has the voice.
func (p *VoicePool) Voice(name, language string, embedded Embedded) (*Voice, bool) {
	v := &Voice{pool: p, names: make([]string, len(p.servers)), without: make([]bool, len(p.servers)),
		language: language, embedded: embedded}
	found := false
	for i, s := range p.servers {
		v.without[i] = true
		for _, there := range s.Voices {
			if strings.EqualFold(there, name) {
				v.names[i], v.without[i], found = there, false, true
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	folded := strings.ToLower(name)
	if p.known[folded] == nil && found {
		p.known[folded] = newVoiceFigures()
	}
	v.figures = p.known[folded]
	return v, found
}

// warmText is spoken once, so that a server loads its model, and the loudness and the speed of the
// voice become known.
const warmText = "Good morning, and welcome. How can I help you today?"

// Warm has each server of the voice speak a sentence that nobody hears. Its error is as that of
// ModelPool.Warm.
func (v *Voice) Warm(ctx context.Context) error {
	return v.pool.warm(ctx, func(ctx context.Context, i int) error {
		if v.without[i] {
			return nil
		}
		s := v.newSpeech(warmText, engine.SpeakOptions{}, func(engine.Sound) error { return nil })
		return s.speakOn(ctx, i, warmText, false, func() error { return nil })
	})
}

// speechRequest is the body of POST /audio/speech.
type speechRequest struct {
	Model  string  `json:"model"`
	Input  string  `json:"input"`
	Voice  string  `json:"voice"`
	Format string  `json:"response_format"`
	Speed  float64 `json:"speed,omitempty"` // 0.25 to 4; 1 if it is left out
}

// ask asks a server for the sound of a text. The error is that of http.Client.Do, or a *statusError.
func (p *VoicePool) ask(ctx context.Context, i int, voice, text string, speed float64) (*http.Response, error) {
	s := p.members[i].server
	q := speechRequest{
		Model:  s.model,
		Input:  text,
		Voice:  voice,
		Format: "pcm",
	}
	if speed != 1 {
		q.Speed = min(max(speed, 0.25), 4)
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base.JoinPath("audio", "speech").String(),
		bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "audio/pcm, audio/wav")
	return s.send(r, s.key)
}

// rateHz returns the rate of samples whose rate server i does not name.
func (p *VoicePool) rateHz(i int) int {
	if hz := p.servers[i].RateHz; hz > 0 {
		return hz
	}
	return VoiceRateHz
}

// notSound is the failure of a server that answered with something else.
func (s *server) notSound(kind string) *Error {
	return s.bad(false, "", fmt.Sprintf("it answered with %s where sound was requested as pcm: is this an "+
		"OpenAI-compatible address (it often ends in /v1), and does the model speak?", kind))
}
