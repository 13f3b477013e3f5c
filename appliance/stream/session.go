package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/appliance/analysis"
	"parley/appliance/contract"
)

// A Session answers the payloads of one socket, one after the other. The client's goroutine
// calls Receive, and a goroutine of the Session analyses.
type Session struct {
	service *Service
	account string
	id      string // of the stream, for clients that ask
	line    Line

	ctx      context.Context // ends when the client is gone
	cancel   context.CancelFunc
	payloads chan payload
	done     chan struct{}

	models   *contract.BatchModels // of the payload before; nil: none were chosen yet
	people   analysis.People       // whose faces were seen
	sound    []float32             // the end of the sound before, as long as the window may become
	windowMS float64
}

// payload is a message of the client, or why it cannot be read.
type payload struct {
	contract.StreamPayload
	fault error
}

var errOver = errors.New("the stream has ended")

// Open returns a Session for an account. It ends with ctx, when the box stops.
func (s *Service) Open(ctx context.Context, account string, line Line) *Session {
	t := &Session{
		service:  s,
		account:  account,
		id:       contract.NewID(),
		line:     line,
		payloads: make(chan payload),
		done:     make(chan struct{}),
		windowMS: contract.DefaultStreamWindowMS,
	}
	t.ctx, t.cancel = context.WithCancel(ctx)
	go t.run()
	return t
}

// Receive takes a payload, or the fault of one. It blocks while another one is analysed.
func (t *Session) Receive(p contract.StreamPayload, fault error) error {
	select {
	case t.payloads <- payload{p, fault}:
		return nil
	case <-t.done:
		return errOver
	}
}

// HangUp reports that the client is gone.
func (t *Session) HangUp() { t.cancel() }

// Done is closed when the session is over and has closed the line.
func (t *Session) Done() <-chan struct{} { return t.done }

func (t *Session) run() {
	defer close(t.done)
	defer t.cancel()
	defer func() {
		if p := recover(); p != nil {
			t.service.log.Error("analysing a payload panicked", "stream", t.id, "panic", fmt.Sprint(p))
			t.end(contract.StreamInternal, contract.Internal.Message(), contract.CloseInternal)
		}
	}()
	for {
		idle := time.NewTimer(t.service.idle)
		select {
		case p := <-t.payloads:
			idle.Stop()
			if t.line.Send(t.ctx, t.answer(p)) != nil {
				return
			}
		case <-idle.C:
			t.end(contract.StreamIdle, fmt.Sprintf("nothing came for %v, so the socket closes; open another one for "+
				"the next payload", t.service.idle), contract.CloseNormal)
			return
		case <-t.ctx.Done():
			idle.Stop()
			t.line.Close(contract.CloseGoingAway, "the box stops")
			return
		}
	}
}

// end tells the client why the socket closes.
func (t *Session) end(code contract.StreamCode, why string, closeCode int) {
	_ = t.line.Send(t.ctx, contract.StreamErrorMessage{Error: why, Code: code}) // the client may be gone
	t.line.Close(closeCode, why)
}

// answer returns the answer to a payload.
func (t *Session) answer(p payload) contract.StreamMessage {
	var details *contract.StreamJobDetails
	if p.JobDetails {
		details = &contract.StreamJobDetails{JobID: t.id}
	}
	answer, err := contract.StreamModelPredictions{}, p.fault
	if err == nil {
		answer, err = t.predictions(p.StreamPayload)
	}
	if err != nil {
		f := t.faultOf(err)
		return contract.StreamErrorMessage{
			Error:      contract.ClipError(f.Why),
			Code:       f.Code,
			PayloadID:  p.PayloadID,
			JobDetails: details,
		}
	}
	answer.PayloadID, answer.JobDetails = p.PayloadID, details
	return answer
}

// predictions follows the instructions of a payload, and analyses its medium if it has one.
func (t *Session) predictions(p contract.StreamPayload) (none contract.StreamModelPredictions, err error) {
	if p.ResetStream {
		t.sound = nil // faces keep their names, as the old service documented
	}
	if p.Models != nil {
		t.models = p.Models
	}
	if p.StreamWindowMS > 0 {
		t.windowMS = p.StreamWindowMS
	}
	switch {
	case !p.HasData:
		return none, nil
	case p.RawText:
		return t.text(p.Data)
	}
	return t.medium(p.Medium)
}
