package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"parley/appliance/api"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line/ws"
	tts "parley/appliance/speech"
	"parley/store"
)

// benchVoice is what the voice is called in requests.
const benchVoice = "bench"

// oneVoice is a library of one voice.
type oneVoice struct{ speaks engine.Synthesizer }

func (v oneVoice) voice() (tts.Voice, error) {
	return tts.Voice{
		ID:       benchVoice,
		Name:     benchVoice,
		Provider: contract.VoiceLibrary,
		Recipe:   json.RawMessage("{}"),
		Speaks:   v.speaks,
	}, nil
}

func (v oneVoice) Find(context.Context, string, contract.VoiceRef, string) (tts.Voice, error) {
	return v.voice()
}

func (v oneVoice) Design(context.Context, string, int, int64) (tts.Voice, error) { return v.voice() }

func (v oneVoice) Again(context.Context, json.RawMessage, string) (tts.Voice, error) {
	return v.voice()
}

// speechServer is text-to-speech over HTTP, with the handlers and the service
// of a box, and one voice.
type speechServer struct {
	url, key string
	client   *http.Client
	stop     func() error
}

func startSpeech(ctx context.Context, o Options, voice engine.Synthesizer) (_ *speechServer, err error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, fmt.Errorf("a data folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	records, err := store.Open(ctx, dir, o.Log)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, records.Close())
		}
	}()
	key, err := records.CreateKey(ctx, store.NewKey{Account: "default", Label: "parley-bench"})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	service := tts.New(tts.Parts{Voices: oneVoice{voice}, Log: o.Log})
	sockets := speechSockets{service, ws.NewServer(nil, nil, ws.Timing{}, o.Log), ctx}
	server := api.NewServer(api.New(api.Parts{
		Keys:        records,
		Records:     records,
		Speech:      service,
		SpeechInput: sockets,
		Log:         o.Log,
	}), o.Log)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	s := &speechServer{url: "http://" + listener.Addr().String(), key: key.APIKey,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: fairStreams}}}
	s.stop = func() error {
		s.client.CloseIdleConnections()
		err := server.Close()
		<-served // that it was closed
		over, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return errors.Join(err, sockets.lines.Wait(over), records.Close(), os.RemoveAll(dir))
	}
	return s, nil
}

// speechSockets carries sockets that speak, as a box does.
type speechSockets struct {
	service *tts.Service
	lines   *ws.Server
	stop    context.Context //nolint:containedctx // of the measurement
}

func (s speechSockets) ServeInput(w http.ResponseWriter, r *http.Request, account string, pass api.Pass) error {
	reserve := func() (func(), error) { return s.service.ReserveSocket(account) }
	return s.lines.ServeSpeech(w, r, reserve, func(o ws.SpeechOpening) (ws.Speaker, error) {
		return s.service.OpenInput(s.stop, account, o.RequestID, o.Connect, o.Line), nil
	}, pass)
}

// spokenStream is how a stream of sound came.
type spokenStream struct {
	first, whole time.Duration // until its first byte, and until its last
	sound        time.Duration // how long it plays
}

// stream asks for a text as a stream of PCM, and tells got of each piece that
// comes, with the bytes so far.
func (s *speechServer) stream(ctx context.Context, text string, got func(bytes int)) (out spokenStream, err error) {
	body, err := json.Marshal(contract.PostedTTS{
		Utterances: []contract.PostedUtterance{{Text: text, Voice: &contract.VoiceRef{Name: benchVoice}}},
		Format:     &contract.Format{Type: contract.FormatPCM}, StripHeaders: true,
	})
	if err != nil {
		return out, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v0/tts/stream/file", bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	r.Header.Set("X-Service-Api-Key", s.key)
	r.Header.Set("Content-Type", "application/json")
	begun := time.Now()
	answer, err := s.client.Do(r)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(answer.Body, 500))
		return out, fmt.Errorf("text-to-speech answers %s: %s", answer.Status, why)
	}
	all := 0
	for room := make([]byte, 32<<10); ; {
		n, err := answer.Body.Read(room)
		if all == 0 && n > 0 {
			out.first = time.Since(begun)
		}
		if all += n; got != nil && n > 0 {
			got(all)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, err
		}
	}
	out.whole = time.Since(begun)
	out.sound = time.Duration(all/2) * time.Second / contract.OutputRateHz
	return out, nil
}
