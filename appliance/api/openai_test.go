package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/analysis"
	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/appliance/expression"
	"parley/appliance/openai"
)

// openAIOf is OpenAI's API over a service, in which every voice exists but "nobody".
type openAIOf struct{ *openai.Service }

func (o openAIOf) Models() ([]string, error) { return o.Service.Models(), nil }

func (openAIOf) Voice(_ context.Context, _, name string) (contract.VoiceRef, error) {
	if name == "nobody" {
		return contract.VoiceRef{}, contract.ErrInvalid{Field: "voice", Why: "there is no such voice"}
	}
	return contract.VoiceRef{Name: name}, nil
}

// startOpenAI returns a client of a box whose language model is model, and whose transcriber always hears the same.
func startOpenAI(t *testing.T, model engine.LanguageModel) client {
	t.Helper()
	c := startRest(t, "home")[0]
	meter, err := expression.New()
	if err != nil {
		t.Fatal(err)
	}
	ear := &analysis.Analyser{
		Meter:       meter,
		Gate:        engine.NewGate(1),
		Detector:    enginetest.LevelDetector(0.01),
		Transcriber: enginetest.FixedTranscript("Some <words>."),
	}
	c.api.Speech = newHumService(humVoice{}, c.api.Records)
	c.api.OpenAI = openAIOf{openai.New(openai.Parts{
		LanguageModels: []openai.LanguageModel{{Names: []string{"small"}, LanguageModel: model}},
		Live:           ear,
		Recordings:     ear,
		LiveName:       "moonshine",
		Chatting:       func() bool { return false },
	})}
	return c
}

// problemOf returns the error of an answer in the form of OpenAI's API.
func problemOf(t *testing.T, text string) (p contract.OpenAIProblem, param, code string) {
	t.Helper()
	var e contract.OpenAIError
	if err := json.Unmarshal([]byte(text), &e); err != nil || e.Error.Message == "" || e.Error.Type == "" {
		t.Fatalf("%v: %s", err, text)
	}
	if e.Error.Param != nil {
		param = *e.Error.Param
	}
	if e.Error.Code != nil {
		code = *e.Error.Code
	}
	return e.Error, param, code
}

func TestOpenAIErrorsNameTheField(t *testing.T) {
	c := startOpenAI(t, enginetest.FixedReply(0, "Yes."))
	const chat, speech = "/v1/chat/completions", "/v1/audio/speech"
	say := func(more string) string {
		return `{"model":"parley","messages":[{"role":"user","content":"Hi."}]` + more + `}`
	}
	deep := strings.Repeat(`{"type":"array","items":`, 400) + `{}` + strings.Repeat(`}`, 400)
	for _, try := range []struct {
		path, body string
		status     int
		param      string
	}{
		{chat, ``, 400, ""},
		{chat, `[]`, 400, ""},
		{chat, `{"model":"parley"`, 400, ""},
		{chat, "{\"model\":\"\xff\"}", 400, ""},
		{chat, `{"messages":[]}`, 400, "model"},
		{chat, `{"model":"parley","messages":[]}`, 400, "messages"},
		{chat, `{"model":7,"messages":[{"role":"user","content":"Hi."}]}`, 400, "model"},
		{chat, `{"model":"gpt-9","messages":[{"role":"user","content":"Hi."}]}`, 404, "model"},
		{chat, `{"model":"parley","messages":"Hi."}`, 400, "messages"},
		{chat, `{"model":"parley","messages":[{"role":"king","content":"Hi."}]}`, 400, "messages[0].role"},
		{chat, `{"model":"parley","messages":[{"role":"user"}]}`, 400, "messages[0].content"},
		{chat, `{"model":"parley","messages":[{"role":"user","content":7}]}`, 400, "messages[0].content"},
		{chat, `{"model":"parley","messages":[{"role":"user","content":[{"type":"input_audio"}]}]}`, 400,
			"messages[0].content[0].type"},
		{chat, `{"model":"parley","messages":[{"role":"tool","content":"Hi.","tool_call_id":"x"}]}`, 400,
			"messages.0.tool_call_id"},
		{chat, `{"model":"parley","messages":[` + strings.Repeat(`{"role":"user","content":"Hi."},`, 9999) +
			`{"role":"user","content":"Hi."}]}`, 400, "messages"},
		{chat, say(`,"n":2`), 400, "n"},
		{chat, say(`,"logprobs":true`), 400, "logprobs"},
		{chat, say(`,"top_k":4`), 400, "top_k"},
		{chat, say(`,"temperature":3`), 400, "temperature"},
		{chat, say(`,"max_tokens":0`), 400, "max_tokens"},
		{chat, say(`,"max_tokens":1.5`), 400, "max_tokens"},
		{chat, say(`,"stop":["a","b","c","d","e"]`), 400, "stop"},
		{chat, say(`,"stop":[""]`), 400, "stop[0]"},
		{chat, say(`,"stream_options":{"include_usage":true}`), 400, "stream_options"},
		{chat, say(`,"tool_choice":"required"`), 400, "tool_choice"},
		{chat, say(`,"tools":[{"type":"web_search"}]`), 400, "tools[0].function"},
		{chat, say(`,"tools":[{"type":"function","function":{"name":"a b"}}]`), 400, "tools[0].function.name"},
		{chat, say(`,"response_format":{"type":"json_schema"}`), 400, "response_format.json_schema"},
		{chat, say(`,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"cheese"}}}`),
			400, "response_format.json_schema.schema"},
		{chat, say(`,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":` +
			`{"$defs":{"n":{"properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n"}}}},` +
			`"properties":{"a":{"$ref":"#/$defs/n"}}}}}`), 400, "response_format.json_schema.schema"},
		{chat, say(`,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":` + deep + `}}`), 200,
			""},
		{chat, say(`,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"enum":["` +
			strings.Repeat("x", 70<<10) + `"]}}}`), 400, "response_format.json_schema.schema"},
		{speech, `{"model":"tts-1","input":"Hi."}`, 400, "voice"},
		{speech, `{"model":"tts-9","input":"Hi.","voice":"alloy"}`, 404, "model"},
		{speech, `{"model":"tts-1","input":"Hi.","voice":"nobody"}`, 400, "voice"},
		{speech, `{"model":"tts-1","input":"Hi.","voice":["a"]}`, 400, "voice"},
		{speech, `{"model":"tts-1","input":" ","voice":"alloy"}`, 400, "input"},
		{speech, `{"model":"tts-1","input":"...","voice":"alloy"}`, 400, "input"},
		{speech, `{"model":"tts-1","input":"a\u0000b","voice":"alloy"}`, 400, "input"},
		{speech, `{"model":"tts-1","input":"` + strings.Repeat("a ", 13000) + `","voice":"alloy"}`, 400, "input"},
		{speech, `{"model":"tts-1","input":"Hi.","voice":"alloy","response_format":"midi"}`, 400, "response_format"},
		{speech, `{"model":"tts-1","input":"Hi.","voice":"alloy","speed":9}`, 400, "speed"},
		{"/v1/audio/speech/", `{}`, 404, ""},
		{"/v1/embeddings", `{}`, 404, ""},
	} {
		begun := time.Now()
		status, _, text := c.send("POST", try.path, "application/json", try.body)
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%s %.80s: it took %v", try.path, try.body, took)
		}
		if status == 200 && try.status == 200 {
			continue
		}
		p, param, code := problemOf(t, text)
		unnamed := status == 404 && try.param == "model" && code != "model_not_found"
		if status != try.status || param != try.param || unnamed {
			t.Errorf("%s %.120s: %d %q %+v, want %d %q", try.path, try.body, status, param, p, try.status, try.param)
		}
	}
	for method, status := range map[string]int{"GET": 405, "DELETE": 405} {
		if got, _, text := c.send(method, chat, "", ""); got != status {
			t.Errorf("%s: %d %s", method, got, text)
		} else {
			problemOf(t, text)
		}
	}
}

func TestOpenAITranscriptsOfBrokenForms(t *testing.T) {
	c := startOpenAI(t, enginetest.FixedReply(0, "Yes."))
	recording := part{"file", "a.wav", string(audio.EncodeWAV(tone(16000), 16000))}
	model := part{name: "model", body: "whisper-1"}
	for name, try := range map[string]struct {
		parts  []part
		change func(kind, body string) (string, string)
		status int // 0: 400
		param  string
	}{
		"no file":       {parts: []part{model}, param: "file"},
		"no model":      {parts: []part{recording}, param: "model"},
		"unknown model": {parts: []part{recording, {name: "model", body: "whisper-9"}}, status: 404, param: "model"},
		"empty file":    {parts: []part{model, {"file", "a.wav", ""}}, param: "file"},
		"no sound":      {parts: []part{model, {"file", "a.wav", string(audio.EncodeWAV(nil, 16000))}}, param: "file"},
		"a text":        {parts: []part{model, {"file", "a.wav", strings.Repeat("hello ", 1000)}}, param: "file"},
		"a cut-off tag": {parts: []part{model, {"file", "a.mp3", "ID3\x04\x00\x00\x7f\x7f\x7f\x7f"}}, param: "file"},
		"two files":     {parts: []part{model, recording, recording}, param: "file"},
		"wrong format": {parts: []part{model, recording, {name: "response_format", body: "xml"}},
			param: "response_format"},
		"wrong times": {parts: []part{model, recording, {name: "timestamp_granularities[]", body: "word"}},
			param: "timestamp_granularities"},
		"unknown field": {parts: []part{model, recording, {name: "hotwords", body: "x"}}, param: "hotwords"},
		"a huge field": {parts: []part{model, recording, {name: "prompt", body: strings.Repeat("x", 2<<20)}},
			param: "prompt"},
		"a stream of subtitles": {parts: []part{model, recording, {name: "stream", body: "true"},
			{name: "response_format", body: "srt"}}, param: "response_format"},
		"cut off": {parts: []part{model, recording}, param: "body",
			change: func(kind, body string) (string, string) { return kind, body[:len(body)/2] }},
		"no boundary": {parts: []part{model}, status: 415,
			change: func(_, body string) (string, string) { return "multipart/form-data", body }},
		"JSON": {status: 415, change: func(string, string) (string, string) { return "application/json", "{}" }},
	} {
		kind, body := multiparts(t, try.parts...)
		if try.change != nil {
			kind, body = try.change(kind, body)
		}
		status, _, text := c.send("POST", "/v1/audio/transcriptions", kind, body)
		if _, param, _ := problemOf(t, text); status != cmp.Or(try.status, 400) || param != try.param {
			t.Errorf("%s: %d %s, want %d %q", name, status, text, try.status, try.param)
		}
	}
}

func TestOpenAITranscripts(t *testing.T) {
	c := startOpenAI(t, enginetest.FixedReply(0, "Yes."))
	for form, want := range map[string]string{
		"json":         `{"text":"Some <words>.","usage":{"type":"duration","seconds":2}}` + "\n",
		"text":         "Some <words>.\n",
		"srt":          "1\n00:00:00,",
		"vtt":          "WEBVTT\n\n00:00:00.",
		"verbose_json": `{"task":"transcribe","language":"english","duration":2,"text":"Some`,
	} {
		kind, body := multiparts(t, part{"file", "a.wav", string(audio.EncodeWAV(tone(16000), 16000))},
			part{name: "model", body: "whisper-1"}, part{name: "response_format", body: form})
		status, _, text := c.send("POST", "/v1/audio/transcriptions", kind, body)
		escaped := strings.Contains(text, "&lt;words&gt;")
		if status != 200 || !strings.HasPrefix(text, want) || escaped != (form == "vtt") {
			t.Errorf("%s: %d %s", form, status, text)
		}
	}
}

// An hour is transcribed in the memory of a minute; the recording goes through in pieces.
func TestOpenAITranscribesLongRecordings(t *testing.T) {
	c := startOpenAI(t, enginetest.FixedReply(0, "Yes."))
	const minutes = 20
	one := audio.AppendLinear16(nil, slices.Repeat(tone(8000), 30))
	header := audio.AppendOpenWAVHeader(nil, 8000)
	kind, form := multiparts(t, part{name: "model", body: "moonshine"}, part{"file", "a.wav", "HERE"})
	before, after, _ := strings.Cut(form, "HERE")
	parts := []io.Reader{strings.NewReader(before), bytes.NewReader(header)}
	for range minutes {
		parts = append(parts, bytes.NewReader(one))
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", c.http.URL+"/v1/audio/transcriptions",
		io.MultiReader(append(parts, strings.NewReader(after))...))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Authorization", "Bearer "+c.key)
	answer, err := c.http.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var got contract.OpenAITranscript
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil || answer.StatusCode != 200 ||
		got.Usage.Seconds != minutes*60 || strings.Count(got.Text, "words") < minutes*25 {
		t.Errorf("%v: %d, %d s, %d words", err, answer.StatusCode, got.Usage.Seconds, strings.Count(got.Text, "words"))
	}
}

// promptModel answers with what it was asked, and calls its tools.
func promptModel(asked *[]engine.Prompt) enginetest.Model {
	return func(_ context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
		*asked = append(*asked, p)
		if len(p.Tools) > 0 && !p.NoToolCalls {
			return engine.Usage{PromptTokens: 7, ReplyTokens: 3},
				emit(engine.Part{Call: &engine.ToolCall{ID: "1", Name: p.Tools[0].Name, Arguments: `{"a":1}`}})
		}
		words := []string{"One, ", "two, ", "thr", "ee, four."}
		if p.Grammar != "" {
			words = []string{`{"a":`, `1}`}
		}
		for i, w := range words {
			if err := emit(engine.Part{Text: w}); err != nil {
				return engine.Usage{PromptTokens: 7, ReplyTokens: i + 1}, err
			}
		}
		return engine.Usage{PromptTokens: 7, ReplyTokens: len(words)}, nil
	}
}

func TestOpenAIChats(t *testing.T) {
	const tool = `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":` +
		`{"a":{"type":"integer"}},"required":["a"]}}}]`
	const schema = `,"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"type":"object"}}}`
	for _, try := range []struct {
		more, content, finish, call string
		calls                       int
	}{
		{``, "One, two, three, four.", "stop", "", 1},
		{`,"stop":"three"`, "One, two, ", "stop", "", 1},
		{`,"stop":["four","three,"]`, "One, two, ", "stop", "", 1},
		{`,"stop":"threx"`, "One, two, three, four.", "stop", "", 1},
		{`,"max_tokens":4`, "One, two, three, four.", "length", "", 1},
		{schema, `{"a":1}`, "stop", "", 1},
		{tool, "", "tool_calls", `{"a":1}`, 1},
		{tool + `,"tool_choice":"none"`, "One, two, three, four.", "stop", "", 1},
		{tool + `,"tool_choice":"required"`, "", "tool_calls", `{"a":1}`, 1},
		{tool + schema, "", "tool_calls", `{"a":1}`, 1},
	} {
		for _, streamed := range []bool{false, true} {
			var asked []engine.Prompt
			c := startOpenAI(t, promptModel(&asked))
			body := fmt.Sprintf(`{"model":"parley","messages":[{"role":"developer","content":"Be brief."},`+
				`{"role":"user","content":[{"type":"text","text":"Hi."}]}],"stream":%t%s}`, streamed, try.more)
			status, _, text := c.send("POST", "/v1/chat/completions", "application/json", body)
			content, finish, call := readChat(t, text, streamed)
			if status != 200 || content != try.content || finish != try.finish || call != try.call ||
				len(asked) != try.calls {
				t.Errorf("%s, streamed %t: %d %q %q %q after %d calls, want %+v\n%s", try.more, streamed, status,
					content, finish, call, len(asked), try, text)
			}
			if p := asked[0].Messages; p[0].Role != engine.System || p[len(p)-1].Content != "Hi." {
				t.Errorf("%+v", p)
			}
		}
	}
}

// readChat joins the parts of an answer.
func readChat(t *testing.T, text string, streamed bool) (content, finish, call string) {
	t.Helper()
	if !streamed {
		var whole contract.OpenAIChat
		if err := json.Unmarshal([]byte(text), &whole); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		m := whole.Choices[0].Message
		if m.Content != nil {
			content = *m.Content
		}
		for _, c := range m.ToolCalls {
			call += c.Function.Arguments
		}
		return content, string(whole.Choices[0].FinishReason), call
	}
	events := strings.Split(strings.TrimSuffix(text, "\n\n"), "\n\n")
	if last := len(events) - 1; events[last] != "data: [DONE]" {
		t.Errorf("it ends with %q", events[last])
	} else {
		events = events[:last]
	}
	for _, e := range events {
		var chunk contract.OpenAIChatChunk
		if err := json.Unmarshal([]byte(strings.TrimPrefix(e, "data: ")), &chunk); err != nil {
			t.Fatalf("%v: %s", err, e)
		}
		d := chunk.Choices[0]
		if d.Delta.Content != nil {
			content += *d.Delta.Content
		}
		for _, c := range d.Delta.ToolCalls {
			call += c.Function.Arguments
		}
		if d.FinishReason != nil {
			finish = string(*d.FinishReason)
		}
	}
	return content, finish, call
}

// A client that closes its connection stops the model at once.
func TestOpenAIChatEndsWithItsClient(t *testing.T) {
	ended := make(chan error, 1)
	c := startOpenAI(t, enginetest.Model(func(ctx context.Context, _ engine.Prompt,
		emit func(engine.Part) error) (engine.Usage, error) {
		err := emit(engine.Part{Text: "Once "})
		if err == nil {
			<-ctx.Done()
			err = context.Cause(ctx)
		}
		ended <- err
		return engine.Usage{}, err
	}))
	for _, stream := range []string{"true", "false"} {
		ctx, leave := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "POST", c.http.URL+"/v1/chat/completions",
			strings.NewReader(`{"model":"small","messages":[{"role":"user","content":"Hi."}],"stream":`+stream+`}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.key)
		if stream == "false" {
			time.AfterFunc(50*time.Millisecond, leave) // nothing says that the model has begun
		}
		answer, err := c.http.Client().Do(r)
		if err == nil {
			if _, err := io.ReadFull(answer.Body, make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
			leave()
			answer.Body.Close()
		}
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("stream %s: %v", stream, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("stream %s: the model goes on", stream)
		}
		leave()
	}
}

// A model that fails after its first words is an error for the client, and not a whole message.
func TestOpenAIChatThatFailsIsNotWhole(t *testing.T) {
	c := startOpenAI(t, enginetest.Model(func(_ context.Context, _ engine.Prompt,
		emit func(engine.Part) error) (engine.Usage, error) {
		return engine.Usage{}, errors.Join(emit(engine.Part{Text: "Once "}), engine.ErrUnreachable)
	}))
	const say = `{"model":"small","messages":[{"role":"user","content":"Hi."}],"stream":`
	status, _, text := c.send("POST", "/v1/chat/completions", "application/json", say+`false}`)
	if p, _, code := problemOf(t, text); status != 503 || code != "unavailable" || p.Type != "server_error" {
		t.Errorf("%d %s", status, text)
	}
	status, _, text = c.send("POST", "/v1/chat/completions", "application/json", say+`true}`)
	events := strings.Split(strings.TrimSpace(text), "\n\n")
	if _, _, code := problemOf(t, strings.TrimPrefix(events[len(events)-1], "data: ")); status != 200 ||
		code != "unavailable" || len(events) != 2 {
		t.Errorf("%d %s", status, text)
	}
}

// The first bytes of speech come while the rest is being made, in every format.
func TestOpenAISpeechIsSentAsItIsMade(t *testing.T) {
	c := startOpenAI(t, enginetest.FixedReply(0, "Yes."))
	c.api.Speech = newHumService(humVoice{perLetter: 2 * time.Millisecond}, c.api.Records)
	for _, format := range []string{"mp3", "opus", "aac", "flac", "wav", "pcm"} {
		text := strings.Repeat("The museum opens at ten. ", 8)
		r, err := http.NewRequestWithContext(t.Context(), "POST", c.http.URL+"/v1/audio/speech", strings.NewReader(
			`{"model":"tts-1","voice":"a","input":"`+text+`","response_format":"`+format+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.key)
		begun := time.Now()
		answer, err := c.http.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 1)
		_, err = io.ReadFull(answer.Body, first)
		early := time.Since(begun)
		rest, readErr := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err = errors.Join(err, readErr); err != nil || answer.StatusCode != 200 {
			t.Fatalf("%s: %d %v", format, answer.StatusCode, err)
		}
		if whole := time.Since(begun); format != "aac" && early > whole*2/3 { // ffmpeg begins late
			t.Errorf("%s: the first byte after %v of %v", format, early, whole)
		}
		file := append(first, rest...)
		samples := len(file) / 2
		if format != "pcm" {
			pcm, err := audio.DecodeAll(file, contract.OpenAIRateHz)
			if err != nil {
				t.Errorf("%s: %v", format, err)
			}
			samples = len(pcm)
		}
		// 10 ms a letter, and the pauses between sentences.
		if seconds := float64(samples) / contract.OpenAIRateHz; seconds < 1.9 || seconds > 4 {
			t.Errorf("%s: %.2f s", format, seconds)
		}
	}
}
