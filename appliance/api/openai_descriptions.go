package api

import (
	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// aboutOpenAI describes the routes of OpenAI's API.
func aboutOpenAI() descriptions {
	return inSection("OpenAI's API", descriptions{
		"GET /v1/models": {
			ID:      "listOpenAIModels",
			Summary: "List the models",
			Description: "Language models by their names, transcribers and voices by the names of OpenAI's models " +
				"that they stand for. parley is what the box uses for its own conversations.",
			Answers: ok(contract.OpenAIModels{}),
		},
		"GET /v1/models/{model}": {
			ID:      "getOpenAIModel",
			Summary: "Get a model",
			Answers: ok(contract.OpenAIModel{}),
		},
		"POST /v1/audio/speech": {
			ID:      "createOpenAISpeech",
			Summary: "Speak a text, streamed as one file",
			Description: "The sound, mono at 24 kHz, is sent as it is made; with stream_format sse as events " +
				"speech.audio.delta and speech.audio.done.",
			Body:    "PostedOpenAISpeech",
			Example: `{"model":"tts-1","input":"The museum opens at ten.","voice":"joe","response_format":"wav"}`,
			Answers: []describe.Answer{{
				Status:      200,
				Description: "The sound, in the requested format, or events",
				Media:       "audio/mpeg",
				Also: []string{"audio/ogg", "audio/aac", "audio/flac", "audio/wav", "audio/pcm",
					"text/event-stream"},
			}},
			Errors: []int{404},
		},
		"POST /v1/audio/transcriptions": {
			ID:      "createOpenAITranscription",
			Summary: "Transcribe a recording",
			Description: "The recording may be WAV, MP3, FLAC, Ogg with Opus, Vorbis or FLAC, WebM with Opus or " +
				"Vorbis, or MP4 with AAC or Opus, up to six hours and 512 MiB; Ogg, WebM and MP4 up to 64 MiB. With " +
				"stream, events transcript.text.delta and transcript.text.done.",
			Body:   "PostedOpenAITranscription",
			Upload: "file",
			Answers: []describe.Answer{{
				Status:      200,
				Description: "The transcript, in the requested format, or events",
				Media:       "application/json",
				Also:        []string{"text/plain", "application/x-subrip", "text/vtt", "text/event-stream"},
			}},
			Errors: []int{400, 404, 415},
		},
		"POST /v1/chat/completions": {
			ID:      "createOpenAIChat",
			Summary: "Write the next message of a conversation",
			Description: "Conversations of the box come first. With stream, events of type chat.completion.chunk, " +
				"and [DONE] at the end. The fields top_p, frequency_penalty, presence_penalty, seed, user, " +
				"safety_identifier, store, metadata, service_tier, parallel_tool_calls, reasoning_effort, verbosity, " +
				"prediction and prompt_cache_retention are ignored; others that the box does not have are errors.",
			Body:    "PostedOpenAIChat",
			Example: `{"model":"parley","messages":[{"role":"user","content":"When does the museum open?"}]}`,
			Answers: []describe.Answer{{
				Status: 200,
				Value:  contract.OpenAIChat{},
				Also:   []string{"text/event-stream"},
			}},
			Errors: []int{404},
		},
	})
}
