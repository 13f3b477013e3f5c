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

// connect lets a second client follow and steer a live chat.
func (a *API) connect(w http.ResponseWriter, r *http.Request, by caller) error {
	sound := true
	if asked := r.URL.Query().Get("audio_output"); asked != "" {
		var err error
		if sound, err = strconv.ParseBool(asked); err != nil {
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
	if wrong, ok := errors.AsType[contract.Fault](err); ok {
		return wrong.Refused()
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
			Summary: "How long the stages of a live chat's turns took",
			Description: "The newest hundred that were answered aloud, the oldest first. They are gone with the " +
				"chat. An answer is prepared while the silence that ends a turn is still waited for, so some of its " +
				"stages come before the end of the turn.",
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
			"Send audio_input messages with what the microphone hears, as a browser's MediaRecorder makes it or, " +
				"announced with session_settings.audio, as 16-bit PCM; binary frames are audio too.",
			"The box answers with user_message, then assistant_message, audio_output and assistant_prosody for each " +
				"sentence, and assistant_end.",
			"Of session_settings, all or one that is an object may be JSON text: " +
				"session_settings[variables]={\"name\": \"Joshua\"}.",
			"The messages are described in /asyncapi.json.",
		}, " "),
		Query: describe.QueryFromShape(contract.ConnectQuery().Shape, map[string]string{
			"config_id":             "The config that the assistant follows; without one the box's own settings hold.",
			"config_version":        "A version of the config; the newest where none is named.",
			"resumed_chat_group_id": "The chat group to go on with: the assistant remembers what was said.",
			"voice_id":              "The voice, in place of the config's.",
			"verbose_transcription": "Send user_message also while the user speaks, with interim true.",
			"allow_connection": "Let others with a key, or with a token and the id of the chat, follow and " +
				"steer it while it is live.",
			"keep_history": "false: nothing of the chat is kept, neither words nor sound, and it cannot be " +
				"resumed. Webhooks are told of it all the same.",
			"sound_ahead_secs": "How many seconds ahead of its playback sound is sent, 2 to 60, " +
				"for clients that hold clips themselves; absent: as the box is set (chat.sound_ahead, 5 by default).",
			"event_limit": "How many of the newest events of a resumed group the model sees.",
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
	says.ID, says.Summary = "chatOlderPath", "Talk, over WebSocket: the older path"
	says.Description = "The same as /v0/evi/chat, for clients of before that."
	return says
}

// aboutConnect is the description of following a live chat.
func aboutConnect() describe.Operation {
	return describe.Operation{
		ID:      "connect",
		Summary: "Follow and steer a live chat, over WebSocket",
		Description: strings.Join([]string{
			"The chat has to be one of the account, opened with allow_connection=true.",
			"All that its client was told comes first, without the sound, and then all that it is told, as it is.",
			"What its client may send is taken here too, audio excepted.",
			"The socket closes with 1000 when the chat is over.",
		}, " "),
		Query: []describe.Parameter{
			parameter("audio_output", "Whether the chat's sound comes too.", describe.Boolean().WithDefault(true)),
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
		Description: "As if its client had sent it: any of the client's messages, audio excepted. What is wrong with " +
			"it is told here, and not in the chat.",
		OneOf:   contract.ControlMessages(),
		Example: `{"type":"assistant_input","text":"We close in ten minutes."}`,
		Answers: ok(taken{}),
	}
}
