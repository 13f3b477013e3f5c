package ws

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/coder/websocket"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/line"
)

// A Speaker speaks what a client sends it over a socket, onto a SpeechLine, which
// it closes in the end. After an error it is over.
type Speaker interface {
	// Receive takes a message; it waits while too much is still to be spoken.
	Receive(m contract.PublishTTS) error
	// HangUp says that the client is gone.
	HangUp()
	// Done is closed when it is over, after it has closed the line.
	Done() <-chan struct{}
}

// SpeechOpening is what the line knows of such a socket before it begins.
type SpeechOpening struct {
	RequestID string // of the handshake
	Connect   contract.TTSConnect
	Line      *SpeechLine
}

// SpeechLine is how what is spoken reaches the client. Any number of goroutines
// may use it. A client too slow to take it is cut off.
type SpeechLine struct {
	line    *Line
	sending sync.Mutex
}

// Message sends a message of the speech.
func (l *SpeechLine) Message(ctx context.Context, m contract.TTSMessage) error {
	data, err := contract.Marshal(m)
	if err != nil {
		return err
	}
	l.sending.Lock()
	defer l.sending.Unlock()
	return l.line.enqueue(ctx, queued{data: data})
}

// Sound sends sound as a binary frame.
func (l *SpeechLine) Sound(ctx context.Context, data []byte) error {
	l.sending.Lock()
	defer l.sending.Unlock()
	return l.line.enqueue(ctx, queued{data: data, binary: true})
}

// Fault tells the client of an error; a fatal one ends the line.
func (l *SpeechLine) Fault(ctx context.Context, f contract.Fault) error {
	l.sending.Lock()
	defer l.sending.Unlock()
	if err := l.line.Send(ctx, f.Code.Error(f.Detail)); err != nil {
		return err
	}
	if f.Code.Fatal() {
		l.line.Close(f.Code.CloseCode(), f.Code.Slug())
	}
	return nil
}

// Close ends the line after what was sent.
func (l *SpeechLine) Close(code int, reason string) { l.line.Close(code, reason) }

// ServeSpeech carries one socket that speaks, from its upgrade to its end. Room for
// it is taken by reserve before the upgrade, so that a box that has none can say
// so over HTTP; release gives it back. An error means that there was no upgrade and
// the response is still to be written.
func (s *Server) ServeSpeech(w http.ResponseWriter, r *http.Request, reserve func() (release func(), err error),
	open func(SpeechOpening) (Speaker, error), pass connection.Authorization) error {
	s.open.Add(1)
	defer s.open.Done()
	if err := checkUpgrade(r, s.origins); err != nil {
		return err
	}
	release, err := reserve()
	if err != nil {
		return err
	}
	defer release()
	l, err := s.accept(w, r)
	if err != nil {
		return err
	}
	l.largest = contract.MaxPublishBytes
	defer l.finish()
	out := &SpeechLine{line: l}
	connect, err := contract.ParseTTSConnect(r.URL.Query())
	l.chunks = connect.Format
	if err != nil {
		line.Refuse(r.Context(), l, s.log, err)
		return nil
	}
	speaker, err := open(SpeechOpening{l.errs.RequestID, connect, out})
	if err != nil {
		line.Refuse(r.Context(), l, s.log, err)
		return nil
	}
	l.carrySpeech(speaker, out, pass)
	return nil
}

// carrySpeech brings what the client sends to the speaker, until either is over.
func (l *Line) carrySpeech(speaker Speaker, out *SpeechLine, pass connection.Authorization) {
	defer line.OnRevoked(pass, func() {
		_ = out.Fault(l.lifecycle.Gone(), contract.Fault{Code: contract.KeyRevoked})
	})()
	l.lifecycle.Go("waiting for a speaker", func() {
		<-speaker.Done()
		l.Close(contract.CloseNormal, "") // the speaker has done it; this is for one that has not
	})
	l.endedBy(l.readSpeech(speaker, out, pass))
	speaker.HangUp()
	<-speaker.Done()
}

// readSpeech takes one message after the other.
func (l *Line) readSpeech(speaker Speaker, out *SpeechLine, pass connection.Authorization) (err error) {
	defer l.lifecycle.Recover("reading what is to be spoken", func() {
		_ = out.Fault(l.lifecycle.Gone(), contract.Fault{Code: contract.Internal})
		err = sessionClosed{line.ErrPanicked}
	})
	return l.messages(func(typ websocket.MessageType, frame *bytes.Buffer) error {
		if l.lifecycle.Revoked(pass) {
			return out.Fault(l.lifecycle.Gone(), contract.Fault{Code: contract.KeyRevoked})
		}
		m, err := contract.ParsePublishTTS(frame.Bytes())
		if typ == websocket.MessageBinary {
			err = contract.Fault{Code: contract.UnknownMessage,
				Detail: "A binary frame; expected a text frame with an object such as {\"text\":\"Hello.\"}."}
		}
		if f, ok := errors.AsType[contract.Fault](err); ok {
			return out.Fault(l.lifecycle.Gone(), f)
		}
		return sessionError(speaker.Receive(m))
	})
}
