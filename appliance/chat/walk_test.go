package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/store"
)

// walk is a conversation in which random things happen at random times.
type walk struct {
	*rand.Rand
	t       *testing.T
	parts   *lively
	host    *Host
	chat    *Session
	voice   atomic.Bool   // the user speaks
	quiet   atomic.Bool   // the client sends nothing
	silent  chan struct{} // closed when the line's reader has ended
	serial  int
	through []string // what happened, for the failure message
}

// reader is the line's reader: it sends chunks of 20 ms until the chat is over.
func (w *walk) reader() {
	defer close(w.silent)
	for {
		var err error
		if pcm := make([]float32, 320); !w.quiet.Load() {
			if w.voice.Load() {
				pcm = slices.Repeat([]float32{0.1}, 320)
			}
			err = w.chat.Hear(pcm)
		}
		if err != nil {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-w.chat.Done():
			return
		}
	}
}

// settings returns valid settings, and now and then invalid ones.
func (w *walk) settings() contract.SessionSettings {
	var m contract.SessionSettings
	w.serial++
	for range 1 + w.IntN(2) {
		switch w.IntN(11) {
		case 0:
			prompt := fmt.Sprint("You are number ", w.serial, ".")
			m.SystemPrompt = &prompt
		case 1:
			m.Context = &contract.Context{Text: fmt.Sprint("Room ", w.serial),
				Type: []contract.ContextType{"temporary", "persistent"}[w.IntN(2)]}
		case 2:
			m.ClearContext, m.Context = true, nil
		case 3:
			m.VoiceID = []string{"joe", "jenny"}[w.IntN(2)]
		case 4:
			m.VoiceID = "nobody"
		case 5:
			m.Audio = &contract.AudioConfiguration{Encoding: contract.Linear16, SampleRate: 8000 + 1000*w.IntN(9),
				Channels: 1}
		case 6:
			m.Variables = map[string]contract.VariableValue{"name": contract.TextVariable(fmt.Sprint("Ann ", w.serial))}
		case 7:
			m.CustomSessionID = fmt.Sprint(w.serial)
		case 8:
			empty := " "
			m.SystemPrompt = &empty
		case 9:
			m.Tools = []contract.Tool{{
				Type:            contract.ToolFunction,
				Name:            "weather",
				Parameters:      `{"type":"object","properties":{"query":{"type":"string"}}}`,
				FallbackContent: []string{"", "It is not known."}[w.IntN(2)],
			}}
		case 10:
			m.BuiltinTools = []contract.BuiltinToolConfig{{Name: contract.WebSearch},
				{Name: contract.HangUp}}[:1+w.IntN(2)]
		}
	}
	return m
}

// act does one thing.
func (w *walk) act() string {
	receive := func(m contract.ClientMessage) string {
		_ = w.chat.Receive(m)
		return m.MessageType()
	}
	switch w.IntN(16) {
	case 15:
		w.host.PluginsChanged()
		return "plugins change"
	case 0, 1, 2, 3:
		speaks := !w.voice.Load()
		w.voice.Store(speaks)
		return fmt.Sprint("voice ", speaks)
	case 4:
		return receive(contract.UserInput{Text: fmt.Sprint("Hello ", w.IntN(9))})
	case 5:
		return receive(contract.AssistantInput{Text: strings.Repeat("This is dictated. ", 1+w.IntN(30))})
	case 6:
		return receive(contract.PauseAssistantMessage{})
	case 7:
		return receive(contract.ResumeAssistantMessage{})
	case 8, 9:
		return receive(w.settings())
	case 10:
		if w.IntN(3) == 0 {
			return receive(contract.ToolErrorMessage{ToolCallID: w.parts.call(), Error: "no"})
		}
		return receive(contract.ToolResponseMessage{ToolCallID: w.parts.call(), Content: "It rains."})
	case 11:
		_ = w.chat.Fault(contract.BrokenJSON, "message 3")
		return "fault"
	case 12:
		stops := !w.quiet.Load()
		w.quiet.Store(stops)
		return fmt.Sprint("sends nothing ", stops)
	case 13:
		w.chat.Played(w.parts.newest(), time.Duration(w.IntN(int(4*time.Second))))
		return "played"
	}
	if l, err := w.chat.Listen(w.IntN(2) == 0); err == nil {
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Duration(w.IntN(int(time.Second))))
		for err == nil {
			_, err = l.Next(ctx)
		}
		cancel()
		l.Close()
	}
	return "listener"
}

// ends are the ways in which a chat may end, and its status after each.
var ends = []struct {
	name   string
	end    func(*walk)
	code   int
	reason string // prefix of the reason
	status store.Status
	silent bool // no client is left to receive it
}{
	{"the client leaves", func(w *walk) { w.chat.HangUp() }, contract.CloseNormal, "", store.UserEnded, true},
	{"the line is dropped", func(w *walk) {
		w.parts.drop()
		_ = w.chat.Fault(contract.BrokenJSON, "x")
	}, contract.CloseInternal, "the chat cannot go on", store.Failed, true},
	{"the box stops", func(w *walk) {
		_ = w.host.Stop(context.Background())
	}, contract.CloseGoingAway, "the box is shutting down", store.Failed, false},
	{"the disk is full", func(w *walk) {
		w.parts.fill()
		_ = w.chat.Receive(contract.UserInput{Text: "Hello"})
	}, contract.CloseInternal, "", store.Failed, false},
	{"its key is revoked", func(w *walk) {
		_ = w.chat.Fault(contract.KeyRevoked, "")
	}, contract.ClosePolicy, "", store.Failed, false},
	{"a part of it panics", func(w *walk) { w.chat.crashed() }, contract.CloseInternal, "", store.Failed, false},
	{"nobody says anything", func(w *walk) { w.quiet.Store(true) }, contract.CloseNormal, "", "", false},
}

// walkAnswers are the approved answers of a walk; most have none. Its user says "When do you open?" or types "Hello 3".
var walkAnswers = [...]*contract.Answers{nil, nil, {Items: []contract.AnswerItem{
	{ID: "hello", Ask: []string{"Hello 1", "Hello 2"}, Say: "Hello {{name}}. Welcome to the museum."},
	{ID: "hours", Ask: []string{"When do you open?"}, Say: "We open at ten."},
}}, {Mode: contract.AnswersOnly, Unknown: "I don't know.", Items: []contract.AnswerItem{
	{ID: "hours", Ask: []string{"When do you open?"}, Say: "We open at ten. Not on Mondays."},
}}}

// A chat with random events, at any stage when it ends, ends properly: with a reason, its line closed once
// and not used after that, its slot released, and no listener or goroutine left (otherwise the test's bubble
// would not end). A failure names the number of its walk. PARLEY_FULL_TESTS makes ten times as many walks.
func TestAnyChatEndsWhole(t *testing.T) {
	walks := 25
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		walks = 1000
	}
	for seed := range uint64(walks) {
		synctest.Test(t, func(t *testing.T) { oneWalk(t, seed) })
		if t.Failed() {
			return
		}
	}
}

func oneWalk(t *testing.T, seed uint64) {
	chance := rand.New(rand.NewPCG(seed, 11))
	parts := newLively(rand.New(rand.NewPCG(seed, 12)), []int{0, 10, 50}[chance.IntN(3)])
	semantic := chance.IntN(2) == 0
	finder := wordFinder()
	defer finder.Close()
	host := hostOf(parts, func(p *Parts) {
		p.Answers, p.Defaults.Answers = finder, walkAnswers[chance.IntN(len(walkAnswers))]
		p.TurnEnd, p.Tools, p.Plugins = parts, parts, parts
		p.Defaults.Plugins = []string{"greeter", "hours"}[:chance.IntN(3)]
		p.Defaults.Semantic = semantic
		p.Defaults.Inactivity = 5 * time.Minute
		p.Defaults.OnInactivity = contract.EventMessage{Enabled: chance.IntN(2) == 0, Text: "Are you there?"}
		p.Defaults.OnMaxDuration = contract.EventMessage{Enabled: chance.IntN(2) == 0}
		p.Defaults.MaxDuration = time.Duration(1+chance.IntN(30)) * time.Minute / []time.Duration{1, 60}[chance.IntN(2)]
		p.Defaults.Nudge = time.Duration(chance.IntN(3)) * 7 * time.Second
	})
	w := &walk{
		Rand:   chance,
		t:      t,
		parts:  parts,
		host:   host,
		silent: make(chan struct{}),
	}
	w.chat = begin(t, host, connection.Opening{Line: parts,
		Settings: contract.ConnectSettings{VerboseTranscription: chance.IntN(2) == 0}})
	along, err := w.chat.Listen(true)
	if err != nil {
		t.Fatal(err)
	}
	go w.reader()
	for range chance.IntN(40) {
		w.through = append(w.through, w.act())
		time.Sleep(time.Duration(chance.IntN(int(1500 * time.Millisecond))))
	}
	end := ends[chance.IntN(len(ends))]
	byItself := true // it may be over before, or while this is done
	ended := time.Now()
	end.end(w)
	<-w.chat.Done()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("walk %d, after %q, when %s: %s", seed, w.through, end.name, fmt.Sprintf(format, args...))
	}
	if took := time.Since(ended); took > 2*lastWriteLimit && end.name != "nobody says anything" {
		fail("it took %s", took)
	}
	<-w.silent
	parts.fakes.mu.Lock()
	status, reason := parts.status, parts.reason
	parts.fakes.mu.Unlock()
	code := <-parts.closed
	switch {
	case len(parts.closed) > 0:
		fail("its line was closed %d times", 1+len(parts.closed))
	case status == "" || status == store.Active || reason == "" && !end.silent:
		fail("it ended as %q, with the reason %q", status, reason)
	case byItself && (status == store.MaxDurationTimeout || status == store.UserEnded):
	case end.status != "" && (status != end.status || code != end.code || !strings.HasPrefix(reason, end.reason)):
		fail("it ended as %s, closed with %d %q", status, code, reason)
	}
	if parts.after > 0 {
		fail("its line was used %d times after it was closed", parts.after)
	}
	for err == nil {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err = along.Next(ctx)
		cancel()
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, ErrBehind) {
		fail("who listens along is told %v", err)
	}
	if err := host.Stop(t.Context()); err != nil || host.Running() != 0 || len(host.Chats()) != 0 {
		fail("%v, %d live", err, host.Running())
	}
}
