package api

import (
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// What rows of the routes have in common in what they say of themselves.

func ok(v any) []describe.Answer { return []describe.Answer{{Status: 200, Value: v}} }

func made(v any) []describe.Answer { return []describe.Answer{{Status: 201, Value: v}} }

// plain is an answer that is not written as JSON of a type.
func plain(media string) []describe.Answer { return []describe.Answer{{Status: 200, Media: media}} }

// unchanged answers who has the newest already, by its ETag.
func unchanged() describe.Answer {
	return describe.Answer{Status: 304, Says: "It is as If-None-Match says"}
}

// pageQuery is what readPage reads.
func pageQuery() []describe.Parameter {
	return []describe.Parameter{
		{Name: "page_number", Says: "Which page, from 0. One past the end is empty.",
			Schema: describe.Number(0, maxPageNumber).Or(0)},
		{Name: "page_size", Says: "How many on a page.",
			Schema: describe.Number(1, contract.MaxPageSize).Or(contract.DefaultPageSize)},
	}
}

// versionedWords are how configs, prompts and tools are called, what is sent to
// make one and its next version, and examples of that.
type versionedWords struct {
	one, many                 string
	first, next, name         string // of contract.Bodies
	firstExample, nextExample string
}

// says completes what a row says.
func (t versionedWords) says(id, summary string, o describe.Operation) describe.Operation {
	o.ID, o.Section, o.Summary = id, t.many, summary
	return o
}

// finds is the refusal of what refers to things that there are not.
func (t versionedWords) finds() []int {
	if t.one == "Config" {
		return []int{404}
	}
	return nil
}

// fixed is the refusal to change what a plugin of the box brings.
func (t versionedWords) fixed() []int {
	if t.one == "Tool" {
		return []int{403}
	}
	return nil
}

// beside says what a list holds that nobody has made over this interface.
func (t versionedWords) beside() string {
	if t.one == "Tool" {
		return "Behind the account's own tools stand those that plugins of the box bring: they belong to every " +
			"account, have one version and are read-only."
	}
	return ""
}

// chatSays is the description of live chats.
func chatSays() describe.Operation {
	return describe.Operation{
		ID:      "chat",
		Section: "Live chats",
		Summary: "Talk, over WebSocket",
		Kiosk:   true,
		More: strings.Join([]string{
			"Send audio_input messages with what the microphone hears, as a browser's MediaRecorder makes it or, " +
				"announced with session_settings.audio, as 16-bit PCM; binary frames are audio too.",
			"The box answers with user_message, then assistant_message, audio_output and assistant_prosody for each " +
				"sentence, and assistant_end.",
			"Of session_settings, all or one that is an object may be JSON text: " +
				"session_settings[variables]={\"name\": \"Joshua\"}.",
			"The messages are described in /asyncapi.json.",
		}, " "),
		Query: describe.FromShape(contract.ConnectQuery().Shape, map[string]string{
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
		Answers: []describe.Answer{{Status: 101, Says: "The socket is open"}},
		Refuses: []int{403, 426},
		Socket: &describe.Socket{Takes: contract.ClientMessages(),
			Sends: describe.Messages(contract.ServerMessages())},
	}
}

// olderChatSays is the description of live chats under their older path.
func olderChatSays() describe.Operation {
	says := chatSays()
	says.ID, says.Summary = "chatOlderPath", "Talk, over WebSocket: the older path"
	says.More = "The same as /v0/evi/chat, for clients of before that."
	return says
}

// connectSays is the description of following a live chat.
func connectSays() describe.Operation {
	return describe.Operation{
		ID:      "connect",
		Section: "Live chats",
		Summary: "Follow and steer a live chat, over WebSocket",
		More: strings.Join([]string{
			"The chat has to be one of the account, opened with allow_connection=true.",
			"All that its client was told comes first, without the sound, and then all that it is told, as it is.",
			"What its client may send is taken here too, audio excepted.",
			"The socket closes with 1000 when the chat is over.",
		}, " "),
		Query: []describe.Parameter{
			{Name: "audio_output", Says: "Whether the chat's sound comes too.", Schema: describe.Flag().Or(true)},
		},
		Answers: []describe.Answer{{Status: 101, Says: "The socket is open"}},
		Refuses: []int{403, 426},
		Socket: &describe.Socket{Takes: contract.ControlMessages(),
			Sends: describe.Messages(contract.ServerMessages())},
	}
}

// sendSays is the description of sending into a live chat.
func sendSays() describe.Operation {
	return describe.Operation{
		ID:      "send",
		Section: "Live chats",
		Summary: "Send a message into a live chat",
		More: "As if its client had sent it: any of the client's messages, audio excepted. What is wrong with it " +
			"is told here, and not in the chat.",
		OneOf:   contract.ControlMessages(),
		Example: `{"type":"assistant_input","text":"We close in ten minutes."}`,
		Answers: ok(taken{}),
	}
}
