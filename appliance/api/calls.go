package api

import (
	"net/http"
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/connection"
)

// Calls runs live chats over WebRTC.
type Calls interface {
	// Answer starts a call with the offer in the request and writes the answer;
	// path returns the path of a call's id. If the error is not nil, nothing was
	// written to w.
	Answer(w http.ResponseWriter, r *http.Request, account string, path func(id string) string,
		pass connection.Authorization) error
	// Change applies candidates or a new offer of a call's client, and answers
	// it.
	Change(w http.ResponseWriter, r *http.Request, account, id string) error
	// HangUp ends a call.
	HangUp(account, id string) error
}

// ifCalls answers 503 where the box takes no calls.
func (a *API) ifCalls(handle handler) handler {
	return available(func() bool { return a.Calls != nil },
		"this box takes no calls over WebRTC: its operator has turned them off (webrtc.listen)", handle)
}

func (a *API) call(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.Calls.Answer(w, r, by.AccountID, func(id string) string {
		return "/v0/evi/chat/webrtc/calls/" + id
	}, &authorization{keys: a.Keys, grant: by.Grant})
}

func (a *API) changeCall(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.Calls.Change(w, r, by.AccountID, r.PathValue("id"))
}

func (a *API) endCall(w http.ResponseWriter, r *http.Request, by caller) error {
	if err := a.Calls.HangUp(by.AccountID, r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

const (
	sdpMedia      = "application/sdp"
	fragmentMedia = "application/trickle-ice-sdpfrag"
)

// aboutCalls describes the routes of live chats over WebRTC.
func aboutCalls() descriptions {
	return inSection("Live chats", descriptions{
		"POST /v0/evi/chat/webrtc": {
			ID:      "call",
			Summary: "Talk, over WebRTC",
			Call:    true,
			Kiosk:   true,
			Description: strings.Join([]string{
				"The body is an SDP offer with one audio track, both ways, and a data channel named chat; the answer " +
					"is SDP too (WHIP, RFC 9725).",
				"The voices go as Opus; the data channel carries the messages of the socket as text, but for audio, " +
					"and call_ended {code, reason} at the end.",
				"Location is the call: PATCH it with further candidates or a new offer, DELETE it to hang up.",
			}, " "),
			Query:   aboutChat().Query,
			Upload:  sdpMedia,
			Answers: []describe.Answer{{Status: 201, Description: "The answer", Media: sdpMedia}},
			Errors:  []int{413, 415, 422, 503},
		},
		"PATCH /v0/evi/chat/webrtc/calls/{id}": {
			ID:      "changeCall",
			Summary: "Add candidates to a call, or begin its connection anew",
			Call:    true,
			Kiosk:   true,
			Description: "The body is a fragment of SDP (" + fragmentMedia + ") or a whole offer (" + sdpMedia +
				"), after a change of networks for one; what begins anew is answered in kind.",
			Upload:      fragmentMedia,
			OtherUpload: sdpMedia,
			Answers: []describe.Answer{{Status: 200, Description: "The connection begins anew", Media: fragmentMedia},
				{Status: 204, Description: "The candidates were taken"}},
			Errors: []int{412, 413, 415, 503},
		},
		"DELETE /v0/evi/chat/webrtc/calls/{id}": {
			ID:      "endCall",
			Summary: "Hang up",
			Call:    true,
			Kiosk:   true,
			Answers: []describe.Answer{{Status: 200, Description: "The call is over"}},
			Errors:  []int{503},
		},
	})
}
