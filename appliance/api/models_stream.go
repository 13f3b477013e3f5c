package api

import (
	"net/http"

	"parley/appliance/api/describe"
	"parley/appliance/connection"
	"parley/appliance/contract"
)

// ModelStream analyses media that clients send over sockets.
type ModelStream interface {
	// ServeModels upgrades the request to a WebSocket, and returns when it is
	// closed. If the error is not nil, nothing was written to w.
	ServeModels(w http.ResponseWriter, r *http.Request, account string, auth connection.Authorization) error
}

// ifModelStream answers 503 where no media are analysed.
func (a *API) ifModelStream(handle handler) handler {
	return available(func() bool { return a.ModelStream != nil }, "this box analyses no media", handle)
}

// streamModels analyses the media that a socket receives.
func (a *API) streamModels(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.ModelStream.ServeModels(w, r, by.AccountID, a.authorization(w, r, by))
}

// aboutModelStream describes the socket that analyses media as they come.
func aboutModelStream() descriptions {
	sends := make([]describe.Message, 0, len(contract.StreamMessages()))
	for _, m := range contract.StreamMessages() {
		sends = append(sends, describe.Untyped{Name: m.StreamMessageName(), Value: m})
	}
	return inSection("Analysis of files", descriptions{
		"GET /v0/stream/models": {
			ID:      "streamModels",
			Summary: "Analyse pictures, sounds and texts as they come, over WebSocket",
			Description: "Each message is a picture, a sound or a video of up to a minute, or a text, and gets " +
				"one answer, in order. A socket on which nothing comes for a minute is closed.",
			Answers: []describe.Answer{{Status: 101, Description: "The socket is open"}},
			Errors:  []int{403, 426},
			Socket:  &describe.Socket{Receives: []contract.Body{contract.StreamPayloads()}, Sends: sends},
		},
	})
}
