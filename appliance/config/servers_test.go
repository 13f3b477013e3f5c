package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const served = `
engines:
  transcriber:
    - {openai: http://10.0.0.5:8000/v1, model: whisper-1, key_env: EARS_KEY}
    - http://10.0.0.6:8000/v1|whisper-1
    - whisper
  language_model:
    - {openai: http://10.0.0.5:8000/v1, model: big, key_env: BIG_KEY}
    - {openai: http://10.0.0.6:8000/v1, model: big}
  voice: af_heart
  voice_servers:
    - {url: http://10.0.0.7:8000/v1/, model: tts-1, voices: [joe, af_heart], language: en-US}
    - {url: http://10.0.0.8:8000/v1, model: tts-1, key_env: VOICE_KEY, voices: Joe, rate_hz: 22050}
routes:
  - provider: OPEN_AI
    model: "*"
    to:
      - {openai: http://10.0.0.5:8000/v1, model: small}
      - {openai: http://10.0.0.6:8000/v1, model: small}
  - {provider: "*", model: x, to: llm-qwen}
`

func TestSeveralServersFromFileAndText(t *testing.T) {
	byFile := load(t, newSources(t, served))
	s := newSources(t, "")
	s.Flags["engines.transcriber"] = "http://10.0.0.5:8000/v1|whisper-1|EARS_KEY, " +
		"http://10.0.0.6:8000/v1|whisper-1,whisper"
	s.Flags["engines.language_model"] = "http://10.0.0.5:8000/v1|big|BIG_KEY, http://10.0.0.6:8000/v1|big"
	s.Flags["routes"] = "OPEN_AI/*=http://10.0.0.5:8000/v1|small,http://10.0.0.6:8000/v1|small,*/x=llm-qwen"
	byFlag := load(t, s)
	const a, b = "http://10.0.0.5:8000/v1", "http://10.0.0.6:8000/v1"
	ears := []Server{{a, "whisper-1", "EARS_KEY"}, {b, "whisper-1", ""}}
	minds := []Server{{a, "big", "BIG_KEY"}, {b, "big", ""}}
	for _, c := range []Config{byFile, byFlag} {
		if e := c.Engines; e.Transcriber != "whisper" || !slices.Equal(e.TranscriberServers, ears) ||
			!slices.Equal(e.LanguageModel.Servers(), minds) || e.LanguageModel.Name() != "big" {
			t.Errorf("%+v", e)
		}
		small := []Server{{a, "small", ""}, {b, "small", ""}}
		if len(c.Routes) != 2 || !slices.Equal(c.Routes[0].To.Servers(), small) ||
			c.Routes[1].To.Servers() != nil {
			t.Errorf("%+v", c.Routes)
		}
	}
	if d := byFile.Engines.LanguageModel.Describe(); d != "big at 10.0.0.5:8000, big at 10.0.0.6:8000" {
		t.Errorf("%q", d)
	}
	voices := []VoiceServer{
		{
			Server:   Server{"http://10.0.0.7:8000/v1", "tts-1", ""},
			Voices:   []string{"joe", "af_heart"},
			Language: "en-US",
		},
		{
			Server: Server{"http://10.0.0.8:8000/v1", "tts-1", "VOICE_KEY"},
			Voices: []string{"Joe"},
			RateHz: 22050,
		},
	}
	if e := byFile.Engines; !reflect.DeepEqual(e.VoiceServers, voices) || len(e.ServersOf("JOE")) != 2 ||
		len(e.ServersOf("af_heart")) != 1 || e.ServersOf("jenny") != nil {
		t.Errorf("%+v", e.VoiceServers)
	}
}

func TestATranscriberOnServersFallsBackOnMoonshineIfNoneIsNamed(t *testing.T) {
	c := load(t, newSources(t, "engines: {transcriber: http://h/v1|w}"))
	if c.Engines.Transcriber != "moonshine" || len(c.Engines.TranscriberServers) != 1 {
		t.Errorf("%+v", c.Engines)
	}
}

func TestWrongServersAreRefused(t *testing.T) {
	const server = "url: http://h, model: m"
	for text, want := range map[string]string{
		"{transcriber: [moonshine, whisper]}":                                "moonshine or whisper",
		"{transcriber: parakeet}":                                            "one of moonshine, whisper",
		"{transcriber: h|m}":                                                 "not a base URL",
		`{transcriber: "http://h/v1"}`:                                       "no model is named",
		`{transcriber: "http://h/v1|w|sk-secret"}`:                           "not the name of an environment variable",
		`{transcriber: "http://h/v1|w,http://h/v1/|w"}`:                      "twice",
		`{language_model: "llm-qwen,http://h/v1|m"}`:                         "for servers only",
		`{language_model: "http://h/v1|m,llm-qwen"}`:                         "not a base URL",
		"{voice: Heart}":                                                     "engines.voice_servers",
		"{voice: a/b}":                                                       "not the name of a voice",
		"{voice_servers: [{model: m, voices: [a]}]}":                         "url is missing",
		"{voice_servers: [{url: http://h, voices: [a]}]}":                    "model is missing",
		"{voice_servers: [{" + server + "}]}":                                "voices is missing",
		"{voice_servers: [{" + server + ", voices: [a, A]}]}":                "twice",
		"{voice_servers: [{" + server + `, voices: ["a|"]}]}`:                "not the name of a voice",
		"{voice_servers: [{" + server + ", voices: a, rate_hz: 1}]}":         "8000 to 48000",
		"{voice_servers: [{" + server + ", voices: a, language: English!}]}": "BCP 47",
		"{voice_servers: [{" + server + ", voices: a}, {" + server +
			", voices: [b, A]}]}": "twice",
	} {
		text = "engines: " + text
		_, err := Load(newSources(t, text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
