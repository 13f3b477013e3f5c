package api

import (
	"net/http"

	"parley/appliance/api/describe"
	"parley/appliance/connection"
)

// PhoneStreams takes telephone calls as media streams of a provider.
type PhoneStreams interface {
	// Answer answers a provider that asks what to do with a call, with the address of
	// the stream. The call is one of the account's, and ends when auth does. If the
	// error is not nil, nothing was written to w.
	Answer(w http.ResponseWriter, r *http.Request, account string, auth connection.Authorization) error
	// Serve upgrades the request to a WebSocket, and returns when the call is over.
	// If the error is not nil, nothing was written to w.
	Serve(w http.ResponseWriter, r *http.Request) error
}

// ifPhoneStreams answers 503 where the box takes no calls.
func (a *API) ifPhoneStreams(handle handler) handler {
	return available(func() bool { return a.PhoneStreams != nil }, "this box takes no telephone calls", handle)
}

func (a *API) phoneStreamTwiML(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.PhoneStreams.Answer(w, r, by.AccountID, &authorization{keys: a.Keys, grant: by.Grant})
}

func (a *API) phoneStream(w http.ResponseWriter, r *http.Request, _ caller) error {
	return a.PhoneStreams.Serve(w, r)
}

// aboutPhoneStream describes the routes of media streams.
func aboutPhoneStream() descriptions {
	ask := describe.Operation{
		ID:      "answerPhoneCall",
		Summary: "Let the assistant answer a call of a telephone provider",
		Description: "The address is the webhook of a number at a provider of media streams. The answer is TwiML " +
			"that connects the call with a stream, or rejects it as busy. The API key is in the query, as " +
			"providers send no headers. Where phone.twilio_auth_token is set, X-Twilio-Signature has to fit the " +
			"request.",
		Call:    true,
		Query:   aboutChat().Query,
		Answers: ofType("application/xml"),
		Errors:  []int{403, 404, 422, 503},
	}
	post := ask
	post.ID, post.Upload = "answerPostedPhoneCall", "application/x-www-form-urlencoded"
	return inSection("The telephone", descriptions{
		"GET /v0/evi/twilio":  ask,
		"POST /v0/evi/twilio": post,
		"GET /v0/evi/twilio/stream": {
			ID:      "phoneStream",
			Summary: "Carry a telephone call, over WebSocket",
			Description: "Providers connect to it as the TwiML says, with the token in it as a custom parameter of " +
				"their start message; it opens one call within a minute. The messages are those of " +
				"https://www.twilio.com/docs/voice/media-streams/websocket-messages.",
			Query: []describe.Parameter{
				parameter("token", "The token, for clients without custom parameters.", describe.String()),
			},
			Answers: []describe.Answer{{Status: 101, Description: "The socket is open"}},
			Errors:  []int{403, 426, 503},
			Socket:  &describe.Socket{},
		},
	})
}
