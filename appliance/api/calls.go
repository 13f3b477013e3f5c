package api

import (
	"net/http"

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
			Description: "The body is an SDP offer with one audio track in both directions and a data channel named " +
				"chat; the answer is SDP too (WHIP, RFC 9725). Audio is Opus. The data channel carries the messages " +
				"of the WebSocket as text, except audio, and ends with call_ended {code, reason}. Location is the " +
				"path of the call: PATCH it with candidates or a new offer, DELETE it to hang up.",
			Query:   aboutChat().Query,
			Upload:  sdpMedia,
			Answers: []describe.Answer{{Status: 201, Description: "The answer", Media: sdpMedia}},
			Errors:  []int{413, 415, 422, 503},
		},
		"PATCH /v0/evi/chat/webrtc/calls/{id}": {
			ID:      "changeCall",
			Summary: "Add candidates to a call, or restart its connection",
			Call:    true,
			Kiosk:   true,
			Description: "The body is an SDP fragment (" + fragmentMedia + ") or a new offer (" + sdpMedia +
				"), for instance after a change of networks. A restart is answered in the same format.",
			Upload:      fragmentMedia,
			OtherUpload: sdpMedia,
			Answers: []describe.Answer{{Status: 200, Description: "The connection is restarted", Media: fragmentMedia},
				{Status: 204, Description: "The candidates were added"}},
			Errors: []int{412, 413, 415, 503},
		},
		"DELETE /v0/evi/chat/webrtc/calls/{id}": {
			ID:      "endCall",
			Summary: "Hang up",
			Call:    true,
			Kiosk:   true,
			Answers: []describe.Answer{{Status: 200, Description: "The call has ended"}},
			Errors:  []int{503},
		},
	})
}
