package api

import (
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// ttsRoutes are the ways to speech.
func (a *API) ttsRoutes() []route {
	says := func(id, summary, more, example string, answers []describe.Answer) describe.Operation {
		return describe.Operation{
			ID:      id,
			Section: "Text-to-speech",
			Summary: summary,
			More:    more,
			Body:    "PostedTTS",
			Example: example,
			Answers: answers,
			Refuses: []int{404},
		}
	}
	const (
		asked  = `{"utterances":[{"text":"The museum opens at ten."}],"format":{"type":"wav"}}`
		stream = `{"utterances":[{"text":"The museum opens at ten.","voice":{"name":"joe","provider":"HUME_AI"}}],` +
			`"format":{"type":"wav"}}`
	)
	lines := []describe.Answer{{Status: 200, Says: "Objects, each ended by a newline", Media: "application/x-ndjson"}}
	sound := []describe.Answer{{
		Status: 200,
		Says:   "The sound, in the format that was asked for",
		Media:  "audio/mpeg",
		Also:   []string{"audio/wav", "audio/pcm"},
	}}
	form := func(id, summary, more string, answers []describe.Answer) describe.Operation {
		return describe.Operation{
			ID:      id,
			Section: "Text-to-speech",
			Summary: summary,
			More:    more,
			Body:    "PostedConversion",
			Upload:  "audio",
			Answers: answers,
			Refuses: []int{404},
		}
	}
	const converts = "The words of the recording, each phrase when it was said there and as long as it took there. " +
		"Parts other than the recording hold JSON; include_timestamp_types may also come as several parts with a " +
		"word each. The recording may be WAV, MP3, FLAC, Ogg with Opus, Vorbis or FLAC, WebM with Opus or Vorbis, or " +
		"MP4 with AAC or Opus, up to five minutes and 64 MiB."
	return []route{
		{"GET", "/v0/tts/stream/input", describe.Token, unread, whileItLasts, storing, a.ttsInput, inputSays()},
		{"POST", "/v0/tts", describe.Token, recordBody, making, storing, a.tts,
			says("synthesizeJson", "Speak, and answer when all is made",
				"In time for what takes seconds; long texts are better streamed.", asked, ok(contract.ReturnTTS{}))},
		{"POST", "/v0/tts/file", describe.Token, recordBody, making, storing, a.ttsFile,
			says("synthesizeFile", "Speak, and answer with a file",
				"Several generations stand one after the other in it, a second apart.", asked, sound)},
		{"POST", "/v0/tts/stream/json", describe.Token, recordBody, making, storing, a.ttsStream,
			says("synthesizeJsonStreaming", "Speak, and send it as it is made",
				"A SnippetAudioChunk or a TimestampMessage a line, as the socket sends them.", stream, lines)},
		{"POST", "/v0/tts/stream/file", describe.Token, recordBody, making, storing, a.ttsStreamFile,
			says("synthesizeFileStreaming", "Speak, and send a file as it is made",
				"What comes is one file, whether strip_headers is set or not: over this path nobody sees where a chunk "+
					"ends.", stream, sound)},
		{"GET", "/v0/tts/generations/{id}/file", describe.Token, unread, making, storesNothing, a.ttsAgain,
			describe.Operation{
				ID:      "synthesizeAgain",
				Section: "Text-to-speech",
				Summary: "Make a generation again",
				More:    "Sample for sample, as long as the box keeps what it takes and has the same program and packs.",
				Query: []describe.Parameter{{Name: "format_type", Says: "The format of the file.",
					Schema: describe.Words(contract.FormatMP3, contract.FormatPCM,
						contract.FormatWAV).Or(contract.FormatMP3)}},
				Answers: sound,
			}},
		{"POST", "/v0/tts/voice_conversion/json", describe.Token, conversionBody, making, storing, a.voiceConversion,
			form("convertVoiceJson", "Have a recording said by another voice, and send it as it is made", converts,
				lines)},
		{"POST", "/v0/tts/voice_conversion/file", describe.Token, conversionBody, making, storing,
			a.voiceConversionFile, form("convertVoiceFile",
				"Have a recording said by another voice, and answer with a file", converts, sound)},
	}
}

// inputSays is the description of the socket that speaks.
func inputSays() describe.Operation {
	return describe.Operation{
		ID:      "streamInput",
		Section: "Text-to-speech",
		Summary: "Send text bit by bit and hear it, over WebSocket",
		More: strings.Join([]string{
			"Each sentence is spoken as soon as it is whole: when more follows, or nothing for half a second; flush " +
				"has spoken what there is, close too, and then closes the socket.",
			"Sound comes as binary frames or, with no_binary, as the lines of /v0/tts/stream/json do; times and " +
				"errors always come as text.",
			"An error is a chunk without sound that has a code, an error and a message.",
			"A generation ends with each flush. Half a minute of snippets may wait: then nothing more is read.",
			"The messages are described in /asyncapi.json.",
		}, " "),
		Query: append(describe.FromShape(contract.TTSConnectQuery().Shape, map[string]string{
			"instant_mode": "Send sound as it is made. It needs a voice; where it is absent, it is on with " +
				"a voice that is named or that the context has, and otherwise off: a voice is made.",
			"no_binary": "Send sound in JSON messages, not as binary frames.",
			"strip_headers": "Make one file of the chunks of a generation, joined; otherwise each chunk is a " +
				"file.",
			"format_type":           "The format of the sound; mp3 where it is absent.",
			"version":               "2 needs a voice.",
			"context_generation_id": "The generation to go on with, in its voice where none is named.",
		}), describe.Parameter{Name: "include_timestamp_types",
			Says:   "The times of words, of phonemes, or of both: given twice, or with a comma.",
			Schema: describe.Text()}),
		Answers: []describe.Answer{{Status: 101, Says: "The socket is open"}},
		Refuses: []int{403, 426},
		Socket: &describe.Socket{
			Takes: []contract.Body{contract.PublishedTTS()},
			Sends: []describe.Message{contract.SnippetAudioChunk{}, contract.TimestampMessage{}},
		},
	}
}
