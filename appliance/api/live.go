package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

// chat starts a live chat.
func (a *API) chat(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.Chats.ServeChat(w, r, by.AccountID, a.authorization(w, r, by))
}

// connect serves a second client that follows and steers a live chat.
func (a *API) connect(w http.ResponseWriter, r *http.Request, by caller) error {
	sound := true
	if text := r.URL.Query().Get("audio_output"); text != "" {
		var err error
		if sound, err = strconv.ParseBool(text); err != nil {
			return contract.ErrInvalid{Field: "audio_output", Why: "expected true or false"}
		}
	}
	return a.Chats.Follow(w, r, by.AccountID, r.PathValue("id"), sound, a.authorization(w, r, by))
}

// taken is the answer to a message that a live chat has accepted.
type taken struct{}

// send passes a message to a live chat.
func (a *API) send(w http.ResponseWriter, r *http.Request, by caller) error {
	m, err := decode(r, contract.ParsePublishEvent)
	if err != nil {
		return err
	}
	err = a.Chats.Steer(by.AccountID, r.PathValue("id"), m)
	if fault, ok := errors.AsType[contract.Fault](err); ok {
		return fault.Refused()
	}
	return a.result(w, http.StatusOK, taken{}, err)
}

// turns answers with the stages of the newest turns of a live chat.
func (a *API) turns(w http.ResponseWriter, r *http.Request, by caller) error {
	all, err := a.Chats.Turns(by.AccountID, r.PathValue("id"))
	return a.result(w, http.StatusOK, contract.ReturnTurns{ChatID: r.PathValue("id"), Turns: all}, err)
}

// authorization is the grant that a socket was opened with. It is a
// connection.Authorization.
type authorization struct {
	keys  Keys
	grant store.Grant
	// outlive keeps the request open after its handler has returned, and returns
	// the function that ends it. It refers to the request, so Watch clears it.
	outlive func() (over func())
}

func (a *API) authorization(w http.ResponseWriter, r *http.Request, by caller) *authorization {
	p := &authorization{keys: a.Keys, grant: by.Grant}
	if answer, ok := w.(*response); ok {
		p.outlive = func() func() {
			answer.outlivesHandler = true
			t, over, leave := summarize(answer, r), answer.onEnd, answer.release
			return func() {
				leave()
				over(t)
			}
		}
	}
	return p
}

// Check returns errRevoked if the key or session has become invalid.
func (p *authorization) Check(ctx context.Context) error {
	err := p.keys.Holds(ctx, p.grant)
	if errors.Is(err, store.ErrNotFound) {
		return errRevoked
	}
	return err
}

// Permits returns an error for a message that the key of a screen may not send.
func (p *authorization) Permits(m contract.ClientMessage) error {
	if p.grant.Kiosk == nil {
		return nil
	}
	return contract.CheckKioskMessage(m)
}

// Watch returns a context that ends when the key or session becomes invalid. The
// request counts as open until release is called.
func (p *authorization) Watch() (lost context.Context, release func()) {
	lost, unwatch := p.keys.WatchKey(p.grant)
	if p.outlive == nil {
		return lost, unwatch
	}
	over := p.outlive()
	p.outlive = nil
	return lost, func() {
		unwatch()
		over()
	}
}

// aboutLiveChats describes the routes of live chats over WebSocket.
func aboutLiveChats() descriptions {
	return inSection("Live chats", descriptions{
		"GET /v0/evi/chat":              aboutChat(),
		"GET /v0/assistant/chat":        aboutOlderChat(),
		"GET /v0/evi/chat/{id}/connect": aboutConnect(),
		"POST /v0/evi/chat/{id}/send":   aboutSend(),
		"GET /v0/evi/chat/{id}/turns": {
			ID:      "listTurns",
			Summary: "Timing of a live chat's turns",
			Description: "The newest hundred turns with a spoken answer, oldest first. The list ends with the chat. " +
				"The box prepares an answer during the silence that ends a turn, so some stages come before the end " +
				"of the turn.",
			Answers: ok(contract.ReturnTurns{}),
			Errors:  []int{404},
		},
	})
}

// aboutChat is the description of live chats.
func aboutChat() describe.Operation {
	return describe.Operation{
		ID:      "chat",
		Summary: "Talk, over WebSocket",
		Kiosk:   true,
		Description: strings.Join([]string{
			"Send the sound of the microphone in audio_input messages or as binary frames: as a browser's " +
				"MediaRecorder makes it or, announced with session_settings.audio, as 16-bit PCM.",
			"The box answers with user_message, then assistant_message, audio_output and assistant_prosody for each " +
				"sentence, and assistant_end.",
			"The query may hold session_settings, or an object within them, as JSON text: " +
				"session_settings[variables]={\"name\": \"Joshua\"}.",
			"The messages are described in /asyncapi.json.",
		}, " "),
		Query: describe.QueryFromShape(contract.ConnectQuery().Shape, map[string]string{
			"config_id":             "The config of the chat. Without one, the settings of the box apply.",
			"config_version":        "The version of the config; default: the newest.",
			"resumed_chat_group_id": "The chat group to resume: the assistant remembers its chats.",
			"voice_id":              "The voice, instead of the config's.",
			"verbose_transcription": "Send interim user_message messages while the user speaks.",
			"allow_connection": "Let other clients with a key, or with a token and the id of the chat, follow and " +
				"steer the live chat.",
			"keep_history": "false: the box stores neither words nor sound of the chat, and the chat cannot be " +
				"resumed. Its webhooks are sent all the same.",
			"sound_ahead_secs": "How many seconds ahead of its playback sound is sent, 2 to 60, " +
				"for clients that buffer clips; default: the setting chat.sound_ahead of the box (5).",
			"event_limit": "How many of the newest events of a resumed chat group the model sees.",
		}),
		Answers: []describe.Answer{{Status: 101, Description: "The socket is open"}},
		Errors:  []int{403, 426},
		Socket: &describe.Socket{Receives: contract.ClientMessages(),
			Sends: describe.Messages(contract.ServerMessages())},
	}
}

// aboutOlderChat is the description of live chats under their older path.
func aboutOlderChat() describe.Operation {
	says := aboutChat()
	says.ID, says.Summary = "chatOlderPath", "Talk, over WebSocket, at the older path"
	says.Description = "The same as /v0/evi/chat, for older clients."
	return says
}

// aboutConnect is the description of following a live chat.
func aboutConnect() describe.Operation {
	return describe.Operation{
		ID:      "connect",
		Summary: "Follow and steer a live chat, over WebSocket",
		Description: "The chat must be one of the account's that was opened with allow_connection=true. The socket " +
			"first replays the messages that the chat's client has received, without their sound, and then sends " +
			"every new one. It accepts the messages that the chat's client may send, except audio. It closes with " +
			"1000 when the chat ends.",
		Query: []describe.Parameter{
			parameter("audio_output", "Whether to send the chat's sound.", describe.Boolean().WithDefault(true)),
		},
		Answers: []describe.Answer{{Status: 101, Description: "The socket is open"}},
		Errors:  []int{403, 426},
		Socket: &describe.Socket{Receives: contract.ControlMessages(),
			Sends: describe.Messages(contract.ServerMessages())},
	}
}

// aboutSend is the description of sending into a live chat.
func aboutSend() describe.Operation {
	return describe.Operation{
		ID:      "send",
		Summary: "Send a message into a live chat",
		Description: "The chat handles it as if its client had sent it. Every client message is allowed except " +
			"audio. Errors are returned here and not sent into the chat.",
		OneOf:   contract.ControlMessages(),
		Example: `{"type":"assistant_input","text":"We close in ten minutes."}`,
		Answers: ok(taken{}),
	}
}
