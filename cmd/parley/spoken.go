package main

import (
	"context"
	"net/http"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// spokenClient speaks and listens over the API of a box.
type spokenClient struct {
	http     *http.Client
	url, key string
}

// speak has the box speak a text, and returns the sound at chatRateHz.
func (s spokenClient) speak(ctx context.Context, voice, text string) (pcm []float32, err error) {
	body, err := requestSpeech(ctx, s.http, s.url, s.key,
		speechRequest(contract.PostedUtterance{Text: text, Voice: &contract.VoiceRef{Name: voice}}, false))
	if err != nil {
		return nil, err
	}
	said := &boxSpeech{body, func() error { return nil }}
	defer said.Close()
	decoder, err := audio.NewLinear16(contract.OutputRateHz, 1, chatRateHz)
	if err != nil {
		return nil, err
	}
	err = said.Stream(ctx, func(message contract.TTSMessage) error {
		chunk, _ := message.(contract.SnippetAudioChunk)
		piece, err := decoder.Decode(chunk.Audio)
		pcm = append(pcm, piece...)
		return err
	})
	return pcm, err
}

// talk holds a chat in real time until fill returns false or there is an error. fill is called
// before each piece of periodMS is sent, with its time and silence at chatRateHz to write the
// sound into. receive gets the messages of the box, between two pieces.
func (s spokenClient) talk(ctx context.Context, fill func(at time.Time, piece []float32) bool,
	receive func(received) error) error {
	chat, err := dial(ctx, s.http, "ws"+strings.TrimPrefix(s.url, "http")+chatPath, s.key, nil)
	if err != nil {
		return err
	}
	defer chat.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	messages := make(chan received, 256)
	go chat.receive(ctx, messages)
	err = chat.send(ctx, contract.SessionSettings{
		Audio: &contract.AudioConfiguration{Encoding: contract.Linear16, SampleRate: chatRateHz, Channels: 1},
	})
	at, piece := time.Now(), make([]float32, chatRateHz*periodMS/1000)
	for ; err == nil && fill(at, piece); at = at.Add(pieceDuration) {
		err = sendAt(ctx, chat, at, piece)
		for len(messages) > 0 && err == nil {
			err = receive(<-messages)
		}
		clear(piece)
	}
	return err
}
