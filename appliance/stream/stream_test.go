package stream

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"parley/appliance/analysis"
	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/media"
)

// fakeMedia takes the first word of a file for its kind, and a number after it for its seconds. The
// samples of a sound count up to the end.
type fakeMedia struct{}

func (fakeMedia) Probe(_ context.Context, path string) (media.Info, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return media.Info{}, err
	}
	var kind string
	var seconds float64
	_, _ = fmt.Sscan(string(data), &kind, &seconds)
	length := time.Duration(seconds * float64(time.Second))
	switch kind {
	case "picture":
		return media.Info{Kind: media.Picture, Width: 9, Height: 9}, nil
	case "video":
		return media.Info{Kind: media.Video, HasSound: true, Duration: length}, nil
	case "silent-video":
		return media.Info{Kind: media.Video, Duration: length}, nil
	case "sound":
		return media.Info{Kind: media.Sound, HasSound: true, Duration: length}, nil
	case "browser-sound":
		return media.Info{Kind: media.Sound, HasSound: true}, nil
	case "text":
		return media.Info{Kind: media.Text}, nil
	case "large":
		return media.Info{}, &media.Error{Why: "the picture has 9000 x 9000 pixels; at most 50 million are read"}
	case "no-ffmpeg":
		return media.Info{}, media.ErrNoFFmpeg
	case "film":
		return media.Info{}, &media.Error{Why: "the video is longer than 3 hours, the most that is read"}
	}
	return media.Info{}, &media.Error{Why: "the file is of no known format"}
}

func (f fakeMedia) Sound(_ context.Context, path string, emit func([]float32) error) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var kind string
	var seconds, level float64
	_, _ = fmt.Sscan(string(data), &kind, &seconds, &level)
	piece := make([]float32, media.SampleRate/10)
	for i := range piece {
		piece[i] = float32(level)
	}
	for range int(10 * seconds) {
		if err := emit(piece); err != nil {
			return err
		}
	}
	return nil
}

// fakeAnalyser finds one thing for each model. It finds nothing in what contains "nothing".
type fakeAnalyser struct {
	requests []analysis.Request
	sounds   [][]float32
	wait     chan struct{}
}

func (a *fakeAnalyser) Analyse(ctx context.Context, s analysis.Source, r analysis.Request) (analysis.Report, error) {
	a.requests = append(a.requests, r)
	data := []byte(s.Text)
	if s.Path != "" {
		var err error
		if data, err = os.ReadFile(s.Path); err != nil {
			return analysis.Report{}, err
		}
	}
	if bytes.HasPrefix(data, []byte("RIFF")) {
		pcm, err := audio.DecodeAll(data, media.SampleRate)
		if err != nil {
			return analysis.Report{}, err
		}
		a.sounds = append(a.sounds, pcm)
	}
	if a.wait != nil {
		select {
		case <-a.wait:
		case <-ctx.Done():
			return analysis.Report{}, ctx.Err()
		}
	}
	if strings.Contains(string(data), "breaks") {
		return analysis.Report{}, errors.New("a secret of the box")
	}
	there := !strings.Contains(string(data), "nothing")
	var m contract.ModelsPredictions
	if r.Models.Face != nil {
		m.Face = one(there, "face_0", contract.FacePrediction{Frame: 3, Prob: 0.9})
	}
	if r.Models.Facemesh != nil {
		m.Facemesh = one(there, contract.UnknownGroup, contract.FacemeshPrediction{})
	}
	if r.Models.Prosody != nil {
		m.Prosody = one(there, contract.UnknownGroup, contract.ProsodyPrediction{})
	}
	if r.Models.Language != nil {
		m.Language = one(there, contract.UnknownGroup, contract.LanguagePrediction{Text: "word"})
	}
	return analysis.Report{Models: m}, nil
}

func one[P any](there bool, group string, p P) *contract.ModelPredictions[P] {
	m := &contract.ModelPredictions[P]{GroupedPredictions: []contract.Grouped[P]{}}
	if there {
		m.GroupedPredictions = append(m.GroupedPredictions, contract.Grouped[P]{ID: group, Predictions: []P{p}})
	}
	return m
}

// fakeLine has what the client receives.
type fakeLine struct {
	sent chan string // JSON, and at the end "closed 1000"
}

func (l *fakeLine) Send(_ context.Context, m contract.StreamMessage) error {
	data, err := contract.Marshal(m)
	l.sent <- string(data)
	return err
}

func (l *fakeLine) Close(code int, _ string) { l.sent <- fmt.Sprint("closed ", code) }

func (l *fakeLine) next(t *testing.T) string {
	t.Helper()
	select {
	case s := <-l.sent:
		return s
	case <-time.After(10 * time.Second):
		t.Fatal("nothing is sent")
	}
	return ""
}

// client is a socket.
type client struct {
	*Session
	*fakeLine
	t *testing.T
	a *fakeAnalyser
}

func open(t *testing.T, change ...func(*Service)) client {
	a := &fakeAnalyser{}
	s := New(a, fakeMedia{}, slog.New(slog.DiscardHandler))
	for _, c := range change {
		c(s)
	}
	l := &fakeLine{sent: make(chan string, 8)}
	session := s.Open(t.Context(), "home", l)
	t.Cleanup(func() { session.HangUp(); <-session.Done() })
	return client{session, l, t, a}
}

// send sends a message and returns the answer.
func (c client) send(message string) string {
	c.t.Helper()
	if err := c.Receive(contract.ParseStreamPayload([]byte(message))); err != nil {
		c.t.Fatal(err)
	}
	return c.next(c.t)
}

// medium returns the message with a file.
func medium(file, models string) string {
	return fmt.Sprintf(`{"data":%q,"models":{%s}}`, base64.StdEncoding.EncodeToString([]byte(file)), models)
}

func TestEachPayloadGetsOneAnswerWithItsID(t *testing.T) {
	c := open(t)
	for message, want := range map[string]string{
		`{"data":"Hi.","raw_text":true,"payload_id":"1","models":{"language":{}}}`: `{"payload_id":"1","language":` +
			`{"predictions":[{"text":"word","position":{"begin":0,"end":0},"emotions":null}]}}`,
		`{"reset_stream":true}`:                `{}`,
		`{"job_details":true}`:                 `{"job_details":{"job_id":"` + c.id + `"}}`,
		`{"job_details":true,"payload_id":"2"`: `"code":"E0100"`,
		`{"job_details":7,"payload_id":"3"}`:   `"code":"E0101","payload_id":"3"`,
		`{"job_details":true,"data":"!","payload_id":"4"}`: `"code":"E0201","payload_id":"4",` +
			`"job_details":{"job_id":"` + c.id + `"}`,
	} {
		if got := c.send(message); !strings.Contains(got, want) {
			t.Errorf("%s: %s; want %s", message, got, want)
		}
	}
}

// Models that are absent from a payload are those of the payload before.
func TestAPayloadRunsTheModelsThatApplyToIt(t *testing.T) {
	c := open(t)
	for _, try := range []struct{ message, want string }{
		{`{"data":"Hi.","raw_text":true}`, "language"},
		{medium("picture", ""), "face facemesh"},
		{medium("video 2", ""), "face facemesh prosody burst"},
		{medium("sound 2", ""), "prosody burst"},
		{medium("text", ""), "language"},
		{medium("sound 2", `"prosody":{"granularity":"sentence"}`), "prosody (transcribed)"},
		{medium("sound 2", `"prosody":{"granularity":"sentence","window":{}}`), "prosody"},
		{medium("sound 2", `"language":{}`), "language (transcribed)"},
		{medium("text", ""), "language"},
		{medium("silent-video 2", `"prosody":{},"face":{}`), "face; prosody: E0102"},
		{medium("picture nothing", ""), "face (W0103); prosody: E0102; W0103"},
		{medium("sound 2", ""), "prosody; face: E0102"},
		{medium("video 2 nothing", `"prosody":{},"face":{},"burst":{}`),
			"face (W0103) prosody (W0105) burst (W0101); W0103"},
		{`{"data":"nothing","raw_text":true,"models":{"language":{}}}`, "language (W0104); W0104"},
	} {
		got := c.send(try.message)
		if !same(t, got, try.want) {
			t.Errorf("%s: %s; want %s", try.message, got, try.want)
		}
		last := c.a.requests[len(c.a.requests)-1]
		if last.People != &c.people {
			t.Error("the persons of the payloads before are not known")
		}
		if u := last.Urgency(); u.Get().Priority != engine.Request {
			t.Error("a payload is not a request of a client that waits")
		}
		if transcribed := strings.Contains(try.want, "transcribed"); transcribed != (last.Transcription != nil) {
			t.Errorf("%s: transcription %v", try.message, last.Transcription)
		}
	}
}

// same reports whether an answer has predictions, warnings and errors as said.
func same(t *testing.T, answer, said string) bool {
	t.Helper()
	var got map[string]json.RawMessage
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for part := range strings.SplitSeq(strings.ReplaceAll(said, " (transcribed)", ""), "; ") {
		if strings.HasPrefix(part, "W") {
			if string(got["code"]) != `"`+part+`"` || got["warning"] == nil {
				return false
			}
			continue
		}
		for one := range strings.SplitSeq(strings.ReplaceAll(strings.ReplaceAll(part, ": ", ":"), " (", "("), " ") {
			name, code, _ := strings.Cut(strings.TrimRight(one, ")"), ":")
			name, warning, _ := strings.Cut(name, "(")
			want[name] = true
			var m contract.StreamModel[json.RawMessage]
			if err := json.Unmarshal(got[name], &m); err != nil {
				return false
			}
			if name == "burst" && warning == "" {
				warning = "W0101" // nothing measures them
			}
			if m.Predictions == nil || (m.Error != "") != (code != "") || (m.Warning != "") != (warning != "") ||
				string(m.Code) != code+warning || (len(m.Predictions) == 0) != (code+warning != "") {
				return false
			}
		}
	}
	for name := range got {
		if name != "code" && name != "warning" && !want[name] {
			return false
		}
	}
	return strings.Contains(said, "; W") == (got["warning"] != nil)
}

func TestErrorsHaveTheCodesOfTheOldService(t *testing.T) {
	c := open(t)
	for message, want := range map[string]string{
		medium("picture", `"prosody":{}`):      "E0102 models: none of prosody applies to a picture",
		medium("silent-video", `"prosody":{}`): "E0202 models: none of prosody applies to a video without sound",
		medium("text", `"face":{}`):            "E0102 models: none of face applies to a text",
		`{"data":"x","raw_text":true}`:         "E0102 models: none of face applies to a text",
		medium("something else", ""):           "E0200 data: the file is of no known format",
		medium("sound 61", `"prosody":{}`):     "E0203 data: the sound is longer than 1m0s",
		medium("browser-sound 61", ""):         "E0203 data: the sound is longer than 1m0s",
		medium("video 61", ""):                 "E0204 data: the video is longer than 1m0s",
		medium("film", ""):                     "E0204 data: the video is longer than 3 hours",
		medium("large", ""):                    "E0205 data: the picture has 9000 x 9000 pixels",
		medium("text "+strings.Repeat("x", contract.MaxStreamTextChars), `"language":{}`): "E0206 data: the text has " +
			"10005 characters",
		medium("no-ffmpeg", ""):                   "E0799 ffmpeg is not installed",
		medium("text breaks", `"language":{}`):    "E0799 Something failed inside the box.",
		medium("picture breaks", `"facemesh":{}`): "E0799 Something failed inside the box.",
	} {
		if strings.Contains(message, "raw_text") {
			c.send(medium("picture", `"face":{}`)) // models are remembered
		}
		var got contract.StreamErrorMessage
		if err := json.Unmarshal([]byte(c.send(message)), &got); err != nil {
			t.Fatal(err)
		}
		if text := string(got.Code) + " " + got.Error; !strings.HasPrefix(text, want) {
			t.Errorf("%.60s: %s; want %s", message, text, want)
		}
	}
}

// A sound is analysed after those before it, as far as the window goes back.
func TestTheWindowHoldsTheSoundOfThePayloadsBefore(t *testing.T) {
	c := open(t)
	c.send(medium("sound 1 0.7", `"language":{}`))
	c.send(`{"reset_stream":true}`)
	if len(c.a.sounds) != 0 {
		t.Error("a sound is joined whose words were asked for")
	}
	c.models = nil
	for _, try := range []struct {
		message string
		seconds float64
		starts  float32
	}{
		{medium("sound 1 0.1", ""), 1, 0.1},
		{medium("sound 1 0.2", ""), 2, 0.1},
		{strings.Replace(medium("sound 1 0.3", ""), "{", `{"stream_window_ms":1500,`, 1), 1.5, 0.2},
		{strings.Replace(medium("sound 1 0.4", ""), "{", `{"reset_stream":true,`, 1), 1, 0.4},
		{medium("sound 4 0.5", ""), 4, 0.5}, // longer than the window
		{medium("sound 1 0.6", ""), 1.5, 0.5},
	} {
		c.send(try.message)
		pcm := c.a.sounds[len(c.a.sounds)-1]
		if s := float64(len(pcm)) / media.SampleRate; s != try.seconds || pcm[0] < try.starts-0.01 ||
			pcm[0] > try.starts+0.01 {
			t.Errorf("%s: %v s that begin with %v; want %v, %v", try.message, s, pcm[0], try.seconds, try.starts)
		}
	}
}

func TestASocketOnWhichNothingComesIsClosed(t *testing.T) {
	c := open(t, func(s *Service) { s.idle = time.Millisecond })
	if got := c.next(t); !strings.Contains(got, `"code":"E0714"`) || c.next(t) != "closed 1000" {
		t.Error(got)
	}
	<-c.Done()
	if err := c.Receive(contract.StreamPayload{}, nil); err == nil {
		t.Error("a payload is taken after the end")
	}
}

func TestTheAnalysisEndsWhenTheClientLeaves(t *testing.T) {
	c := open(t)
	c.a.wait = make(chan struct{})
	if err := c.Receive(contract.ParseStreamPayload([]byte(medium("picture", "")))); err != nil {
		t.Fatal(err)
	}
	c.HangUp()
	select {
	case <-c.Done():
	case <-time.After(10 * time.Second):
		t.Error("the analysis goes on")
	}
}

func TestSocketsAreLimitedByAccount(t *testing.T) {
	s := New(nil, nil, slog.New(slog.NewTextHandler(io.Discard, nil)))
	for range socketsPerAccount {
		if _, err := s.Admission("home").Reserve(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Admission("home").Reserve()
	if _, ok := errors.AsType[contract.ErrTooMany](err); !ok {
		t.Error(err)
	}
	release, err := s.Admission("other").Reserve()
	if err != nil {
		t.Fatal(err)
	}
	release()
	for range maxSockets - socketsPerAccount {
		if _, err := s.Admission("other").Reserve(); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.Admission("third").Reserve()
	if _, ok := errors.AsType[contract.ErrFull](err); !ok {
		t.Error(err)
	}
}
