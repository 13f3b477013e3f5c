package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Server is a model on a server with the OpenAI API.
type Server struct {
	URL    string // base URL, such as http://127.0.0.1:8000/v1
	Model  string // the model's name there
	KeyEnv string // the environment variable that holds the server's API key; empty: no key
}

// VoiceServer is a server with voices.
type VoiceServer struct {
	Server
	Voices   []string // their names there and in the library
	Language string   // BCP 47 tag of what they speak; empty if it is not known
	RateHz   int      // of samples that the server sends without naming their rate; 0 is the API's 24,000
}

// transcriber is the key of the setting.
const transcriber = "engines.transcriber"

// maxServers is how many servers may serve the same: more than a rack of them.
const maxServers = 32

func isURL(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// isServer reports whether text is meant to name a server.
func isServer(text string) bool { return strings.Contains(text, "|") || strings.Contains(text, "://") }

// parseServer parses URL|MODEL or URL|MODEL|KEY_ENV.
func parseServer(text string) (s Server, err error) {
	address, rest, _ := strings.Cut(text, "|")
	if s.URL, err = baseURL(address); err != nil {
		return s, err
	}
	name, key, hasKey := strings.Cut(rest, "|")
	if s.Model = name; name == "" {
		return s, errors.New("it is a server, but no model is named: set openai and model, or write URL|MODEL")
	}
	if hasKey {
		s.KeyEnv, err = variable(key)
	}
	return s, err
}

// String is the inverse of parseServer.
func (s Server) String() string { return strings.TrimSuffix(s.URL+"|"+s.Model+"|"+s.KeyEnv, "|") }

// Describe names the server for people.
func (s Server) Describe() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return s.Model
	}
	return s.Model + " at " + u.Host
}

// addServer parses one more of servers that serve the same.
func addServer(servers []Server, text string) ([]Server, error) {
	s, err := parseServer(text)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(servers, func(o Server) bool { return o.URL == s.URL && o.Model == s.Model }) {
		return nil, fmt.Errorf("%.80q with the model %.80q is there twice", s.URL, s.Model)
	}
	if servers = append(servers, s); len(servers) > maxServers {
		return nil, fmt.Errorf("there are more than %d servers", maxServers)
	}
	return servers, nil
}

// setTranscriber parses moonshine or whisper, or servers, which may come with one of the two.
func setTranscriber(c *Config, g assignment) error {
	c.Engines.TranscriberServers = nil
	names := 0
	for text := range splitList(g.value) {
		if isServer(text) {
			servers, err := addServer(c.Engines.TranscriberServers, text)
			if err != nil {
				return err
			}
			c.Engines.TranscriberServers = servers
			continue
		}
		if err := choose(&c.Engines.Transcriber, text, "moonshine", "whisper"); err != nil {
			return err
		}
		names++
	}
	if names > 1 || names == 0 && len(c.Engines.TranscriberServers) == 0 {
		return fmt.Errorf("%.80q is not allowed: use moonshine or whisper, or servers as URL|MODEL|KEY_ENV with commas",
			g.value)
	}
	return nil
}

// setLanguageModel parses a pack, or servers with commas.
func setLanguageModel(c *Config, g assignment) (err error) {
	first, others, several := strings.Cut(g.value, ",")
	if c.Engines.LanguageModel, err = parseModel(strings.TrimSpace(first)); err != nil || !several {
		return err
	}
	for text := range splitList(others) {
		if err := c.Engines.LanguageModel.add(text); err != nil {
			return err
		}
	}
	return nil
}

// add adds a server that has the same model.
func (m *LanguageModel) add(text string) error {
	if m.OpenAI == "" {
		return fmt.Errorf("%.80q comes with others: several are allowed for servers only", m.Pack)
	}
	all, err := addServer(m.Servers(), text)
	if err != nil {
		return err
	}
	var others []string
	for _, s := range all[1:] {
		others = append(others, s.String())
	}
	m.Others = strings.Join(others, ",")
	return nil
}

// Servers returns the servers of a model; nil for an embedded one.
func (m LanguageModel) Servers() []Server {
	if m.OpenAI == "" {
		return nil
	}
	all := []Server{{URL: m.OpenAI, Model: m.Model, KeyEnv: m.KeyEnv}}
	for text := range splitList(m.Others) {
		if s, err := parseServer(text); err == nil { // it was parsed before
			all = append(all, s)
		}
	}
	return all
}

// Describe names the model for people.
func (m LanguageModel) Describe() string {
	if m.OpenAI == "" {
		return m.Pack
	}
	return describeServers(m.Servers())
}

// DescribeTranscriber names the transcriber of chats for people.
func (e Engines) DescribeTranscriber() string {
	if len(e.TranscriberServers) == 0 {
		return e.Transcriber
	}
	return describeServers(e.TranscriberServers)
}

func describeServers(all []Server) string {
	var names []string
	for _, s := range all {
		names = append(names, s.Describe())
	}
	return strings.Join(names, ", ")
}

// ServersOf returns the servers that have a voice of this name, in any case.
func (e Engines) ServersOf(voice string) []VoiceServer {
	var have []VoiceServer
	for _, s := range e.VoiceServers {
		if s.has(voice) {
			have = append(have, s)
		}
	}
	return have
}

func (s VoiceServer) has(voice string) bool {
	return slices.ContainsFunc(s.Voices, func(name string) bool { return strings.EqualFold(name, voice) })
}

// voiceName parses the name of a voice: of a pack, or as servers have them.
var voiceName = matching(`^[\pL\pN][\pL\pN ._-]{0,63}$`, "is not the name of a voice: use up to 64 letters, digits, "+
	"spaces and . _ -")

// checkVoice checks the name of the default voice.
func (e Engines) checkVoice(source string) error {
	if _, err := packName(e.Voice); err != nil && len(e.ServersOf(e.Voice)) == 0 {
		return fmt.Errorf("engines.voice (%s): %w, or a voice of engines.voice_servers", source, err)
	}
	return nil
}

func voiceServerKeys() []mapKey[VoiceServer] {
	return []mapKey[VoiceServer]{
		{
			mapKeyName{name: "url", help: "base URL of the server, such as http://10.0.0.7:8000/v1"},
			parsedText(func(s *VoiceServer) *string { return &s.URL }, baseURL),
		},
		{
			mapKeyName{name: "model", help: "name of the model there, such as tts-1"},
			parsedText(func(s *VoiceServer) *string { return &s.Model }, serverModel),
		},
		{
			mapKeyName{name: "key_env", help: "environment variable with the server's API key"},
			parsedText(func(s *VoiceServer) *string { return &s.KeyEnv }, variable),
		},
		{
			mapKeyName{name: "voices", help: "names of the voices", isList: true},
			setServedVoices,
		},
		{
			mapKeyName{name: "language", help: "BCP 47 tag of the language that the voices speak, such as en-US"},
			parsedText(func(s *VoiceServer) *string { return &s.Language }, languageTag),
		},
		{
			mapKeyName{name: "rate_hz", help: "sample rate of what the server sends as pcm; 24000 if it is left out"},
			setServedRate,
		},
	}
}

var serverModel = matching(`^[^|,=\s]{1,200}$`, "is not the name of a model: use up to 200 characters without "+
	"spaces and | , =")

var languageTag = matching(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`, "is not a BCP 47 tag: use one such as en-US or de")

// maxServedVoices is more than the largest model has.
const maxServedVoices = 500

func setServedVoices(s *VoiceServer, g assignment) error {
	for text := range splitList(g.value) {
		name, err := voiceName(text)
		if err != nil {
			return err
		}
		if s.has(name) {
			return fmt.Errorf("%.80q is there twice", name)
		}
		if s.Voices = append(s.Voices, name); len(s.Voices) > maxServedVoices {
			return fmt.Errorf("there are more than %d", maxServedVoices)
		}
	}
	return nil
}

// The sample rates of speech: that of telephones, and the highest of sound cards.
const minRateHz, maxRateHz = 8000, 48000

func setServedRate(s *VoiceServer, g assignment) (err error) {
	s.RateHz, err = strconv.Atoi(g.value)
	if err != nil || s.RateHz < minRateHz || s.RateHz > maxRateHz {
		return fmt.Errorf("%.80q is not a sample rate: use %d to %d", g.value, minRateHz, maxRateHz)
	}
	return nil
}

// checkVoiceServer checks a server of voices after others.
func checkVoiceServer(s VoiceServer, others []VoiceServer) error {
	switch {
	case s.URL == "":
		return errors.New("url is missing")
	case s.Model == "":
		return fmt.Errorf("model is missing for %s", s.URL)
	case len(s.Voices) == 0:
		return fmt.Errorf("voices is missing for %s: name those that the library is to have", s.URL)
	case len(others) >= maxServers:
		return fmt.Errorf("there are more than %d servers", maxServers)
	}
	for _, o := range others {
		if o.URL != s.URL || o.Model != s.Model {
			continue
		}
		for _, name := range s.Voices {
			if o.has(name) {
				return fmt.Errorf("the voice %.80q of %s is there twice", name, s.URL)
			}
		}
	}
	return nil
}
