package speech

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
)

// client records what a socket sends.
type client struct {
	chunks []contract.SnippetAudioChunk
	faults []contract.Fault
	closed chan int
}

func (c *client) Message(_ context.Context, m contract.TTSMessage) error {
	if chunk, ok := m.(contract.SnippetAudioChunk); ok {
		c.chunks = append(c.chunks, chunk)
	}
	return nil
}
func (c *client) Sound(context.Context, []byte) error { return nil }
func (c *client) Fault(_ context.Context, f contract.Fault) error {
	c.faults = append(c.faults, f)
	return nil
}
func (c *client) Close(code int, _ string) { c.closed <- code }

// choir has a voice for every name, and records who says what.
type choir struct{ said *[]string }

func (c choir) Find(_ context.Context, _ string, ref contract.VoiceRef, _ string) (Voice, error) {
	return Voice{Name: ref.Name, Recipe: []byte(`"` + ref.Name + `"`),
		Synthesizer: metronome{0.5, 20}.noting(func(text string, _ engine.SpeakOptions) {
			*c.said = append(*c.said, ref.Name+": "+text)
		})}, nil
}

func (c choir) Design(ctx context.Context, _ string, _ int, _ int64) (Voice, error) {
	return c.Find(ctx, "", contract.VoiceRef{Name: "made"}, "")
}

func (c choir) FromRecipe(ctx context.Context, recipe json.RawMessage, _ string) (Voice, error) {
	return c.Find(ctx, "", contract.VoiceRef{Name: strings.Trim(string(recipe), `"`)}, "")
}

// sendAll sends messages, the last of which closes the socket, and waits for the end.
func sendAll(t *testing.T, in *Input, messages ...contract.PublishTTS) {
	t.Helper()
	for _, m := range messages {
		if err := in.Receive(m); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-in.Done():
	case <-time.After(time.Minute):
		t.Fatal("the socket is not over")
	}
}

// converse sends messages over one socket until the last of them closes it.
func converse(t *testing.T, connect contract.TTSConnect, messages ...contract.PublishTTS) (c *client, said []string) {
	t.Helper()
	s := New(Parts{
		Voices:    choir{said: &said},
		Ear:       Ear{Transcriber: deaf},
		Records:   memoryStore{"before": {ID: "before", Body: `{"voices":["eve"]}`}},
		Retention: Retention{Newest: 10, Texts: true},
		Log:       slog.New(slog.DiscardHandler),
	})
	connect.Format, connect.NoBinary, connect.StripHeaders = contract.FormatPCM, true, true
	c = &client{closed: make(chan int, 2)}
	in := s.OpenInput(t.Context(), "a", "r", connect, c)
	messages = slices.Clone(messages)
	messages[len(messages)-1].Close = true
	sendAll(t, in, messages...)
	if code := <-c.closed; code != contract.CloseNormal {
		t.Errorf("closed with %d", code)
	}
	return c, said
}

// Receive still works after a long text, so that a client that leaves is noticed; the queue is
// bounded.
func TestLongTextDoesNotBlockReceive(t *testing.T) {
	breathless := &enginetest.Voice{SpeakFunc: func(ctx context.Context, _ string, _ engine.SpeakOptions,
		_ func(engine.Sound) error) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}}
	s := New(Parts{Voices: only{Voice{Name: "a", Recipe: []byte(`{}`), Synthesizer: breathless}},
		Records: memoryStore{}, Log: slog.New(slog.DiscardHandler)})
	in := s.OpenInput(t.Context(), "a", "r", contract.TTSConnect{Format: contract.FormatPCM, NoBinary: true},
		&client{closed: make(chan int, 2)})
	received := make(chan int, 100)
	go func() {
		defer close(received)
		long := contract.PublishTTS{Text: strings.Repeat("The museum opens at ten. ", 200),
			Voice: &contract.VoiceRef{Name: "a"}}
		for n := 0; in.Receive(long) == nil; n++ {
			received <- n
		}
	}()
	for range 3 {
		select {
		case <-received:
		case <-time.After(10 * time.Second):
			t.Fatal("Receive blocks while a long text is spoken")
		}
	}
	time.Sleep(100 * time.Millisecond)
	if n := len(received); n > 4 {
		t.Errorf("%d long texts were accepted; the queue is unbounded", n)
	}
	in.HangUp()
	select {
	case <-in.Done():
	case <-time.After(10 * time.Second):
		t.Error("speech continues after its client has gone")
	}
	for range received { // until Receive returns an error
	}
}

// Text without anything to say is skipped among other text, and is an error on its own.
func TestTextWithoutSpeechMakesNoChunk(t *testing.T) {
	ref := &contract.VoiceRef{Name: "ann"}
	c, _ := converse(t, contract.TTSConnect{}, contract.PublishTTS{Text: "...", Voice: ref, Flush: true},
		contract.PublishTTS{Text: "Hello there.\n\n"},
		contract.PublishTTS{Text: "...\n\n"}, contract.PublishTTS{Text: "Bye.", Flush: true},
		contract.PublishTTS{Flush: true}, contract.PublishTTS{Text: "?!"})
	if len(c.faults) != 2 || c.faults[0].Code != contract.SpeechRefused ||
		!strings.Contains(c.faults[0].Detail, `"..."`) {
		t.Errorf("%+v", c.faults)
	}
	ended := 0
	for _, chunk := range c.chunks {
		if len(chunk.Audio) == 0 {
			t.Errorf("an empty chunk of %q", chunk.Text)
		}
		if chunk.IsLastChunk {
			ended++
		}
	}
	if ended != 2 {
		t.Errorf("%d snippets ended, of 2", ended)
	}
}

// Text of mark-up alone is an error too.
func TestEmojiAloneIsRefused(t *testing.T) {
	ref := &contract.VoiceRef{Name: "ann"}
	c, said := converse(t, contract.TTSConnect{}, contract.PublishTTS{Text: "😀", Voice: ref, Flush: true},
		contract.PublishTTS{Text: " ", Flush: true},
		contract.PublishTTS{Text: "Hi.", Flush: true}, contract.PublishTTS{Text: "Bye. 😀"})
	if len(c.faults) != 1 || c.faults[0].Code != contract.SpeechRefused || !strings.Contains(c.faults[0].Detail, "😀") {
		t.Errorf("%+v", c.faults)
	}
	if want := []string{"ann: Hi.", "ann: Bye. 😀"}; !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
}

// A message after close does not cut off the text before it.
func TestMessageAfterCloseIsIgnored(t *testing.T) {
	var said []string
	s := New(Parts{
		Voices:    choir{said: &said},
		Records:   memoryStore{},
		Retention: Retention{Newest: 10, Texts: true},
		Log:       slog.New(slog.DiscardHandler),
	})
	c := &client{closed: make(chan int, 2)}
	in := s.OpenInput(t.Context(), "a", "r", contract.TTSConnect{Format: contract.FormatPCM, NoBinary: true}, c)
	for _, m := range []contract.PublishTTS{{Text: "One. Two.", Voice: &contract.VoiceRef{Name: "ann"}, Close: true},
		{Text: "Three."}, {Close: true}} {
		_ = in.Receive(m) // errSocketClosed if everything has been spoken
	}
	select {
	case <-in.Done():
	case <-time.After(time.Minute):
		t.Fatal("the socket is not over")
	}
	if code := <-c.closed; code != contract.CloseNormal || !slices.Equal(said, []string{"ann: One.", "ann: Two."}) {
		t.Errorf("closed with %d, having said %q", code, said)
	}
}

// Each generation has an id of its own, and the voice of the one before it unless it names one.
func TestGenerationsOfASocketContinue(t *testing.T) {
	c, said := converse(t, contract.TTSConnect{},
		contract.PublishTTS{Text: "One.", Voice: &contract.VoiceRef{Name: "ann"}, Flush: true},
		contract.PublishTTS{Text: "Two.", Flush: true},
		contract.PublishTTS{Text: "Three. Four.", Voice: &contract.VoiceRef{Name: "bob"}, Flush: true},
		contract.PublishTTS{Text: "Five."})
	want := []string{"ann: One.", "ann: Two.", "bob: Three.", "bob: Four.", "bob: Five."}
	if !slices.Equal(said, want) || len(c.faults) > 0 {
		t.Errorf("%q, %+v", said, c.faults)
	}
	of := map[string][]string{}
	for _, chunk := range c.chunks {
		if chunk.ChunkIndex == 0 {
			of[chunk.GenerationID] = append(of[chunk.GenerationID], chunk.Text)
		}
	}
	if len(of) != 4 {
		t.Errorf("%d generations of 4: %q", len(of), of)
	}
	for i, chunk := range c.chunks {
		if chunk.UtteranceIndex < c.chunks[max(i-1, 0)].UtteranceIndex {
			t.Errorf("utterance %d behind a later one", chunk.UtteranceIndex)
		}
	}
}

// The designed voice stays until another is named. Its sound is transcribed before it is sent,
// since instant mode is not requested.
func TestSocketDesignsAVoiceIfNoneIsNamed(t *testing.T) {
	c, said := converse(t, contract.TTSConnect{},
		contract.PublishTTS{Text: "One. ", Description: "a friendly doorman"},
		contract.PublishTTS{Text: "Two.", Flush: true}, contract.PublishTTS{Text: "Three.", Flush: true},
		contract.PublishTTS{Text: "Four.", Voice: &contract.VoiceRef{Name: "ann"}, Flush: true},
		contract.PublishTTS{Text: "Five."})
	want := []string{"made: One.", "made: Two.", "made: Three.", "ann: Four.", "ann: Five."}
	if !slices.Equal(said, want) || len(c.faults) > 0 {
		t.Errorf("%q, %+v", said, c.faults)
	}
	for _, chunk := range c.chunks {
		if made := chunk.UtteranceIndex < 2; (chunk.TranscribedText != nil) != made || len(chunk.Audio) == 0 {
			t.Errorf("%q: %d bytes, transcribed as %v", chunk.Text, len(chunk.Audio), chunk.TranscribedText)
		}
	}
}

// Instant mode needs a voice; text with a voice named later is spoken.
func TestInstantModeNeedsAVoice(t *testing.T) {
	instant, no := true, false
	c, said := converse(t, contract.TTSConnect{InstantMode: &instant},
		contract.PublishTTS{Text: "One.", Flush: true},
		contract.PublishTTS{Text: "Two.", Voice: &contract.VoiceRef{Name: "ann"}})
	if len(c.faults) != 1 || c.faults[0].Code != contract.SpeechRefused ||
		!strings.HasPrefix(c.faults[0].Detail, "voice: missing") || !slices.Equal(said, []string{"ann: Two."}) {
		t.Errorf("%q, %+v", said, c.faults)
	}
	c, said = converse(t, contract.TTSConnect{Version: contract.Octave2}, contract.PublishTTS{Text: "One."})
	if len(c.faults) != 1 || len(said) > 0 {
		t.Errorf("version 2: %q, %+v", said, c.faults)
	}
	c, said = converse(t, contract.TTSConnect{ContextGenerationID: "before"}, contract.PublishTTS{Text: "One."})
	if !slices.Equal(said, []string{"eve: One."}) || len(c.chunks) != 1 || c.chunks[0].TranscribedText != nil {
		t.Errorf("with the voice of the context: %q in %d chunks, %+v", said, len(c.chunks), c.faults)
	}
	c, _ = converse(t, contract.TTSConnect{InstantMode: &no},
		contract.PublishTTS{Text: "One.", Voice: &contract.VoiceRef{Name: "ann"}})
	if len(c.chunks) != 1 || c.chunks[0].TranscribedText == nil {
		t.Errorf("sound without instant mode comes in %d chunks", len(c.chunks))
	}
}
