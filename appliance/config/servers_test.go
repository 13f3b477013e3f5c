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
		if len(c.Routes) != 2 || !slices.Equal(c.Routes[0].To.Servers(), []Server{{a, "small", ""}, {b, "small", ""}}) ||
			c.Routes[1].To.Servers() != nil {
			t.Errorf("%+v", c.Routes)
		}
	}
	if d := byFile.Engines.LanguageModel.Describe(); d != "big at 10.0.0.5:8000, big at 10.0.0.6:8000" {
		t.Errorf("%q", d)
	}
	voices := []VoiceServer{
		{Server: Server{"http://10.0.0.7:8000/v1", "tts-1", ""}, Voices: []string{"joe", "af_heart"}, Language: "en-US"},
		{Server: Server{"http://10.0.0.8:8000/v1", "tts-1", "VOICE_KEY"}, Voices: []string{"Joe"}, RateHz: 22050},
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
	for text, want := range map[string]string{
		"engines: {transcriber: [moonshine, whisper]}":                                 "moonshine or whisper",
		"engines: {transcriber: parakeet}":                                             "one of moonshine, whisper",
		"engines: {transcriber: h|m}":                                                  "not a base URL",
		"engines: {transcriber: \"http://h/v1\"}":                                      "no model is named",
		"engines: {transcriber: \"http://h/v1|w|sk-secret\"}":                          "not the name of an environment variable",
		"engines: {transcriber: \"http://h/v1|w,http://h/v1/|w\"}":                     "twice",
		"engines: {language_model: \"llm-qwen,http://h/v1|m\"}":                        "for servers only",
		"engines: {language_model: \"http://h/v1|m,llm-qwen\"}":                        "not a base URL",
		"engines: {voice: Heart}":                                                      "engines.voice_servers",
		"engines: {voice: a/b}":                                                        "not the name of a voice",
		"engines: {voice_servers: [{model: m, voices: [a]}]}":                          "url is missing",
		"engines: {voice_servers: [{url: http://h, voices: [a]}]}":                     "model is missing",
		"engines: {voice_servers: [{url: http://h, model: m}]}":                        "voices is missing",
		"engines: {voice_servers: [{url: http://h, model: m, voices: [a, A]}]}":        "twice",
		"engines: {voice_servers: [{url: http://h, model: m, voices: [\"a|\"]}]}":      "not the name of a voice",
		"engines: {voice_servers: [{url: http://h, model: m, voices: a, rate_hz: 1}]}": "8000 to 48000",
		"engines: {voice_servers: [{url: http://h, model: m, voices: a, language: English, rate_hz: 8000}, " +
			"{url: http://h, model: m, voices: a}]}": "BCP 47",
		"engines: {voice_servers: [{url: http://h, model: m, voices: a}, {url: http://h, model: m, voices: [b, A]}]}": "twice",
	} {
		_, err := Load(newSources(t, text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
