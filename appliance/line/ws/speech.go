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

// A Speaker speaks the messages of a client onto a SpeechLine, which it closes at the end.
// After an error it is over.
type Speaker interface {
	// Receive takes a message. It blocks while too much is still to be spoken.
	Receive(m contract.PublishTTS) error
	// HangUp reports that the client is gone.
	HangUp()
	// Done is closed when the speaker is over and has closed the line.
	Done() <-chan struct{}
}

// SpeechOpening is what the line knows of a text-to-speech socket before it begins.
type SpeechOpening struct {
	RequestID string // of the handshake
	Connect   contract.TTSConnect
	Line      *SpeechLine
}

// SpeechLine sends speech to the client. Many goroutines may use it. A client that is too
// slow is dropped.
type SpeechLine struct {
	line    *Line
	sending sync.Mutex
}

// Message sends a message.
func (l *SpeechLine) Message(ctx context.Context, m contract.TTSMessage) error {
	data, err := contract.Marshal(m)
	if err != nil {
		return err
	}
	l.sending.Lock()
	defer l.sending.Unlock()
	return l.line.enqueue(ctx, queued{data: data})
}

// Sound sends sound in a binary frame.
func (l *SpeechLine) Sound(ctx context.Context, data []byte) error {
	l.sending.Lock()
	defer l.sending.Unlock()
	return l.line.enqueue(ctx, queued{data: data, binary: true})
}

// Fault sends an error; a fatal one closes the line.
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

// Close closes the line after what was sent.
func (l *SpeechLine) Close(code int, reason string) { l.line.Close(code, reason) }

// ServeSpeech serves a text-to-speech socket, from its upgrade to its end. reserve is
// called before the upgrade, so that a full box can report that over HTTP; release undoes
// it. An error means that there was no upgrade, and the response is still to be written.
func (s *Server) ServeSpeech(w http.ResponseWriter, r *http.Request, reserve func() (release func(), err error),
	open func(SpeechOpening) (Speaker, error), auth connection.Authorization) error {
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
	l.maxMessage = contract.MaxPublishBytes
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
	l.carrySpeech(speaker, out, auth)
	return nil
}

// carrySpeech passes the client's messages to the speaker, until either ends.
func (l *Line) carrySpeech(speaker Speaker, out *SpeechLine, auth connection.Authorization) {
	defer line.OnRevoked(auth, func() {
		_ = out.Fault(l.lifecycle.Gone(), contract.Fault{Code: contract.KeyRevoked})
	})()
	l.lifecycle.Go("waiting for a speaker", func() {
		<-speaker.Done()
		l.Close(contract.CloseNormal, "") // in case the speaker has not closed it
	})
	l.endedBy(l.readSpeech(speaker, out, auth))
	speaker.HangUp()
	<-speaker.Done()
}

// readSpeech processes one message after the other.
func (l *Line) readSpeech(speaker Speaker, out *SpeechLine, auth connection.Authorization) (err error) {
	defer l.lifecycle.Recover("reading what is to be spoken", func() {
		_ = out.Fault(l.lifecycle.Gone(), contract.Fault{Code: contract.Internal})
		err = sessionClosed{line.ErrPanicked}
	})
	return l.messages(func(typ websocket.MessageType, frame *bytes.Buffer) error {
		if l.lifecycle.Revoked(auth) {
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
