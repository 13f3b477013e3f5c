package appliance

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/text"
	"parley/internal/packtest"
)

// These tests share one box, since a box takes seconds to start.
func TestConversations(t *testing.T) {
	t.Parallel() // with others that speak and listen in real time
	b := startBox(t)
	for _, does := range []struct {
		what string
		test func(*testing.T, *runningBox)
	}{
		{"answers a spoken question with speech that says the message",
			spokenQuestionIsAnsweredWithSpeechThatSaysTheMessage},
		{"understands what recorders stream wherever it is cut", recordersStreamsAreUnderstoodWhereverTheyAreCut},
		{"is silent when somebody speaks over it", speechOverTheAssistantSilencesItsTurn},
		{"reports bad input and keeps the socket", badInputIsReportedAndTheSocketStays},
		{"hears no words in silence, noise and music", silenceNoiseAndMusicHaveNoWords},
		{"is healthy, and refuses wrong keys before the upgrade", wrongKeysAreRefusedBeforeTheUpgrade},
		{"measures the feelings in speech", feelingsAreMeasuredInSpeech},
		{"returns the recording of a chat", recordingOfAChatCanBeFetched},
		{"counts its turns for the operator only", turnsAreCountedInMetricsForTheOperator},
		{"converts a voice with the same timing", convertedSpeechHasTheSameTiming},
		{"answers at the example's desk, which ends on Ctrl-C", theDeskAnswersAndEndsOnCtrlC},
	} {
		t.Run(does.what, func(t *testing.T) { does.test(t, b) })
	}
}

func spokenQuestionIsAnsweredWithSpeechThatSaysTheMessage(t *testing.T, b *runningBox) {
	c := b.call(t, linear16)
	stop := make(chan struct{})
	defer close(stop)
	c.say(recordingPCM(t, question), stop)
	heard := c.until("assistant_end", 1, waitLimit)
	if got := wordError(words("after the tone say your name and then press the pound key"),
		words(userText(heard))); got > 0.1 {
		t.Errorf("the box understood %q", userText(heard))
	}
	checkOrder(t, heard)
	message, spoken := answer(t, heard)
	back := transcribe(t, b.cfg, spoken)
	if got := wordError(words(message), words(back)); got > 0.1 {
		t.Errorf("word error %.0f %%: the message is %q, the audio says %q", 100*got, message, back)
	}
}

// The stream of a MediaRecorder, of Chrome or of Safari, is understood however it is cut
// into messages.
func recordersStreamsAreUnderstoodWhereverTheyAreCut(t *testing.T, b *runningBox) {
	var together sync.WaitGroup
	for format, of := range map[string]struct{ query, args string }{
		// a constant bit rate, so that pieces of equal size have equal durations
		"WebM with Opus": {"", "-c:a libopus -b:a 32k -vbr off -f webm"},
		"MP4 with AAC": {"", "-c:a aac -ar 48000 -b:a 32k -movflags +frag_keyframe+empty_moov+default_base_moof " +
			"-frag_duration 100000 -f mp4"},
		"linear16": {linear16, "-ac 1 -ar 16000 -f s16le"},
	} {
		// Not t.Parallel, with which each would wait for tests that have begun meanwhile.
		together.Go(func() {
			t.Run(format, func(t *testing.T) { recordersStreamIsUnderstood(t, b.call(t, of.query), of.args) })
		})
	}
	together.Wait()
}

// recordersStreamIsUnderstood streams the question in the format of arguments of ffmpeg.
func recordersStreamIsUnderstood(t *testing.T, c *caller, args string) {
	in := strings.Fields("-v error -i " + packtest.Recording(t, question) + " -af apad=pad_dur=3 " + args + " -")
	stream, err := exec.Command("ffmpeg", in...).Output()
	if err != nil {
		t.Fatalf("ffmpeg: %v", err)
	}
	// of 4.5 s and the silence behind them, what is about 20 ms, and half a sample
	each := len(stream)*20/7500 | 1
	for len(stream) > 0 {
		n := min(len(stream), each)
		if err := c.conn.Write(t.Context(), websocket.MessageBinary, stream[:n]); err != nil {
			t.Fatal(err)
		}
		stream = stream[n:]
		<-time.After(20 * time.Millisecond)
	}
	heard := c.until("assistant_end", 1, waitLimit)
	if got := wordError(words("after the tone say your name and then press the pound key"),
		words(userText(heard))); got > 0.1 {
		t.Errorf("the box understood %q", userText(heard))
	}
}

const longSpeech = "The museum opens at ten in the morning. It closes at six in the evening. " +
	"On Mondays it is closed. Children pay nothing at all. Dogs must wait outside. " +
	"There is a garden behind the house. Coffee is served until five."

func speechOverTheAssistantSilencesItsTurn(t *testing.T, b *runningBox) {
	c := b.call(t, linear16)
	c.until("chat_metadata", 1, waitLimit)
	c.send(contract.AssistantInput{Text: longSpeech})
	c.until("audio_output", 1, waitLimit)
	stop := make(chan struct{})
	defer close(stop)
	c.say(recordingPCM(t, question), stop)
	heard := c.until("user_interruption", 1, waitLimit)
	before := len(heard)
	heard = c.until("user_message", 1, waitLimit)
	for _, m := range heard[before:] {
		switch m.MessageType() {
		case "audio_output", "assistant_message", "assistant_end":
			t.Errorf("%s after the interruption, before the next turn: %s", m.MessageType(), types(heard))
		}
	}
}

func badInputIsReportedAndTheSocketStays(t *testing.T, b *runningBox) {
	c := b.call(t, "")
	c.until("chat_metadata", 1, waitLimit)
	for n, row := range []struct {
		sent string
		code contract.Code
		says string
	}{
		{`{"type":`, contract.BrokenJSON, ""},
		{`[]`, contract.WrongShape, ""},
		{`{"type":"sing"}`, contract.UnknownMessage, "sing"},
		{`{"type":"audio_input","data":"?!"}`, contract.BrokenBase64, ""},
		{`{"type":"audio_input","data":"bm8gYXVkaW8gYXQgYWxsLCBqdXN0IHdvcmRzIHdpdGhvdXQgZW5k"}`, contract.BrokenAudio,
			""},
		{`{"type":"session_settings","audio":{"encoding":"linear16","sample_rate":0,"channels":1}}`,
			contract.InvalidSettings, "sample_rate"},
		{`{"type":"session_settings","system_prompt":""}`, contract.InvalidSettings, "system_prompt"},
		{`{"type":"session_settings","voice_id":"nobody"}`, contract.InvalidSettings, "nobody"},
		{`{"type":"user_input"}`, contract.WrongShape, "text"},
		{`{"type":"tool_response","tool_call_id":"x","content":"y"}`, contract.UnexpectedTool, "x"},
	} {
		if err := c.conn.Write(t.Context(), websocket.MessageText, []byte(row.sent)); err != nil {
			t.Fatal(err)
		}
		heard := c.until("error", n+1, waitLimit)
		e := heard[len(heard)-1].ServerMessage.(contract.WebSocketError)
		if e.Code != row.code || !strings.Contains(e.Message, row.says) {
			t.Errorf("%s: %s %q, want %s with %q", row.sent, e.Code, e.Message, row.code, row.says)
		}
	}
	c.send(contract.UserInput{Text: "Hello."})
	c.until("audio_output", 1, waitLimit)
}

func silenceNoiseAndMusicHaveNoWords(t *testing.T, b *runningBox) {
	chats := map[string]*caller{}
	for name, sound := range map[string][]string{
		"silence": {"-n", "synth", "6", "sine", "0", "vol", "0"},
		"pink":    {"-n", "synth", "6", "pinknoise", "vol", "0.3"},
		"music":   {"-n", "synth", "6", "pluck", "C3", "pluck", "E3", "pluck", "G3", "tremolo", "3"},
	} {
		args := append([]string{"-q"}, sound[0])
		args = append(args, "-r", "16000", "-c", "1", "-b", "16", "-t", "wav", "-")
		args = append(args, sound[1:]...)
		wav, err := exec.Command("sox", args...).Output()
		if err != nil {
			t.Fatalf("sox: %v", err)
		}
		pcm, err := audio.DecodeAll(wav, engine.SpeechRateHz)
		if err != nil {
			t.Fatal(err)
		}
		c := b.call(t, linear16)
		chats[name] = c
		data := audio.AppendLinear16(nil, pcm)
		for len(data) > 0 {
			n := min(len(data), 3200)
			if err := c.conn.Write(t.Context(), websocket.MessageBinary, data[:n]); err != nil {
				t.Fatal(err)
			}
			data = data[n:]
		}
	}
	<-time.After(3 * time.Second)
	for name, c := range chats {
		c.until("chat_metadata", 1, waitLimit)
		for _, m := range c.all() {
			if m.MessageType() == "user_message" {
				t.Errorf("%s became %q", name, userText([]receivedMessage{m}))
			}
		}
	}
}

func wrongKeysAreRefusedBeforeTheUpgrade(t *testing.T, b *runningBox) {
	for path, status := range map[string]int{
		"/healthz": 200, "/readyz": 200, "/v0/evi/chat": 401, "/v0/evi/chat?api_key=wrong": 401, "/nothing": 404,
	} {
		r, err := http.Get(b.url + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != status {
			t.Errorf("%s is %d, want %d", path, r.StatusCode, status)
		}
	}
}

func TestStopEndsChatsAndASecondBoxIsRefused(t *testing.T) {
	b := startBox(t, withScriptedModel(t))
	c := b.call(t, "")
	c.until("chat_metadata", 1, waitLimit)
	err := Run(t.Context(), b.cfg, Console{Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second box on the same data folder: %v", err)
	}
	begun := time.Now()
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 20*time.Second { // four seconds, on a busy machine more
		t.Errorf("stopping took %v", took)
	}
	_, _, err = c.conn.Read(context.Background())
	for deadline := time.Now().Add(time.Minute); err == nil && time.Now().Before(deadline); {
		_, _, err = c.conn.Read(context.Background())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if code := websocket.CloseStatus(c.closed); code != websocket.StatusGoingAway {
		t.Errorf("the chat was closed with %v", c.closed)
	}
}

// checkOrder checks the order of the messages of one spoken turn.
func checkOrder(t *testing.T, heard []receivedMessage) {
	t.Helper()
	announced, clips := map[string]bool{}, map[string]int{}
	for i, m := range heard {
		switch m := m.ServerMessage.(type) {
		case contract.ChatMetadata:
			if i != 0 {
				t.Error("chat_metadata is not the first message")
			}
		case contract.AssistantMessage:
			announced[m.ID] = true
		case contract.AudioOutput:
			if !announced[m.ID] || m.Index != clips[m.ID] {
				t.Errorf("audio_output %s, index %d", m.ID, m.Index)
			}
			clips[m.ID]++
			if !bytes.HasPrefix(m.Data, []byte("RIFF")) {
				t.Error("audio_output is no WAV file")
			}
		}
	}
}

func userText(heard []receivedMessage) string {
	var texts []string
	for _, m := range heard {
		if u, ok := m.ServerMessage.(contract.UserMessage); ok && !u.Interim {
			texts = append(texts, u.Message.Content)
		}
	}
	return strings.Join(texts, " ")
}

// answer returns the assistant's text and sound: the clips one after the other without
// gaps, as a client plays them. A clip may end within a word, more often on a busy box;
// with silence after each clip every second word would be misheard.
func answer(t *testing.T, heard []receivedMessage) (string, []float32) {
	t.Helper()
	var texts []string
	var pcm []float32
	for _, m := range heard {
		switch m := m.ServerMessage.(type) {
		case contract.AssistantMessage:
			texts = append(texts, m.Message.Content)
		case contract.AudioOutput:
			clip, err := audio.DecodeAll(m.Data, engine.SpeechRateHz)
			if err != nil {
				t.Fatal(err)
			}
			pcm = append(pcm, clip...)
		}
	}
	return strings.Join(texts, " "), pcm
}

// transcribe transcribes speech with a different transcriber than the one under test.
func transcribe(t *testing.T, cfg config.Config, pcm []float32) string {
	t.Helper()
	cfg.Engines.Transcriber = "whisper"
	e, err := engines.Open(t.Context(), cfg, engines.Hearing, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	said, _, err := engine.TranscribeRecording(t.Context(), e.Detector, e.Transcriber, pcm,
		engine.DefaultSegmentOptions(),
		engine.TranscribeOptions{Language: "en"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, u := range said {
		all = append(all, u.Text)
	}
	return strings.Join(all, " ")
}

// words returns the words of s as a voice pronounces them.
func words(s string) []string { return text.Words(text.Verbalize(s, text.Options{Language: "en"})) }

// wordError returns the fraction of the words that were heard wrong.
func wordError(want, got []string) float64 {
	return float64(text.WordErrors(want, got)) / float64(max(1, len(want)))
}
