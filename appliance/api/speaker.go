package api

import (
	"net/http"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// BoxSpeaker is the line of the box's own loudspeaker and microphone. While the box
// does not have it yet, the errors are contract.ErrUnavailable.
type BoxSpeaker interface {
	// Begin begins a conversation, unless one goes on; End ends it. Both return at
	// once.
	Begin() error
	End() error
	Status() (contract.BoxKiosk, error)
}

// errNoSpeaker is said by a box without one.
var errNoSpeaker = contract.ErrUnavailable{
	Why: "this box talks over no loudspeaker of its own: its operator turns that on with kiosk.enabled"}

// withSpeaker answers a request that is about the line.
func (a *API) withSpeaker(answer func(w http.ResponseWriter, s BoxSpeaker) error) handler {
	return func(w http.ResponseWriter, _ *http.Request, _ caller) error {
		if a.Speaker == nil {
			return errNoSpeaker
		}
		w.Header().Set("Cache-Control", "no-store")
		return answer(w, a.Speaker)
	}
}

func (a *API) speakerStatus(w http.ResponseWriter, s BoxSpeaker) error {
	now, err := s.Status()
	return a.result(w, http.StatusOK, now, err)
}

// having answers a request that has the line do something.
func having(do func(BoxSpeaker) error) func(http.ResponseWriter, BoxSpeaker) error {
	return func(w http.ResponseWriter, s BoxSpeaker) error {
		if err := do(s); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// speakerRoutes are those of the line of the box's own loudspeaker.
func (a *API) speakerRoutes() []route {
	says := func(o describe.Operation) describe.Operation {
		o.Section, o.Refuses = "The box", []int{503}
		return o
	}
	done := []describe.Answer{{Status: http.StatusNoContent, Says: "It is told"}}
	return []route{
		{"GET", "/v0/box/kiosk", describe.Operator, unread, quick, storesNothing, a.withSpeaker(a.speakerStatus),
			says(describe.Operation{ID: "kioskStatus",
				Summary: "How the line of the box's own loudspeaker and microphone is",
				Answers: ok(contract.BoxKiosk{})})},
		{"POST", "/v0/box/kiosk/start", describe.Operator, unread, quick, storesNothing,
			a.withSpeaker(having(BoxSpeaker.Begin)), says(describe.Operation{
				ID:      "startKiosk",
				Summary: "Begin a conversation there, unless one goes on",
				More:    "For buttons and programs on the box itself.",
				Answers: done,
			})},
		{"POST", "/v0/box/kiosk/stop", describe.Operator, unread, quick, storesNothing,
			a.withSpeaker(having(BoxSpeaker.End)),
			says(describe.Operation{ID: "stopKiosk", Summary: "End the conversation there", Answers: done})},
	}
}
