package api

import (
	"net/http"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// BoxSpeaker is the line of the box's loudspeaker and microphone. Until the box
// has opened it, the errors are contract.ErrUnavailable.
type BoxSpeaker interface {
	// Begin starts a conversation unless one goes on; End ends it. Both return at
	// once.
	Begin() error
	End() error
	Status() (contract.BoxKiosk, error)
}

// ifSpeaker answers 503 where the box has no loudspeaker of its own.
func (a *API) ifSpeaker(handle handler) handler {
	return available(func() bool { return a.Speaker != nil },
		"this box talks over no loudspeaker of its own: its operator turns that on with kiosk.enabled", handle)
}

func (a *API) speakerStatus(w http.ResponseWriter, _ *http.Request, _ caller) error {
	now, err := a.Speaker.Status()
	return a.result(w, http.StatusOK, now, err)
}

func (a *API) startSpeaker(w http.ResponseWriter, _ *http.Request, _ caller) error {
	return noContent(w, a.Speaker.Begin())
}

func (a *API) stopSpeaker(w http.ResponseWriter, _ *http.Request, _ caller) error {
	return noContent(w, a.Speaker.End())
}

// noContent answers 204, or returns err.
func noContent(w http.ResponseWriter, err error) error {
	if err == nil {
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

func aboutSpeaker() descriptions {
	done := []describe.Answer{{Status: http.StatusNoContent, Description: "Requested"}}
	return inSection("The box", descriptions{
		"GET /v0/box/kiosk": {
			ID:      "kioskStatus",
			Summary: "Get the state of the box's loudspeaker and microphone",
			Answers: ok(contract.BoxKiosk{}),
			Errors:  []int{503},
		},
		"POST /v0/box/kiosk/start": {
			ID:          "startKiosk",
			Summary:     "Start a conversation over the loudspeaker, unless one goes on",
			Description: "For buttons and programs on the box itself.",
			Answers:     done,
			Errors:      []int{503},
		},
		"POST /v0/box/kiosk/stop": {
			ID:      "stopKiosk",
			Summary: "End the conversation over the loudspeaker",
			Answers: done,
			Errors:  []int{503},
		},
	})
}
