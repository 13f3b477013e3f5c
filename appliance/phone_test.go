package appliance

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/certs"
	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/appliance/line/phone/media"
	"parley/appliance/line/phone/sip"
	"parley/appliance/line/rtp"
	"parley/appliance/voices"
	"parley/internal/packtest"
	"parley/store"
)

// phoneEngines are fake engines whose voice is a tone of 50 ms for each character.
type phoneEngines struct {
	fakeEngines
	model *enginetest.Model
}

func (e *phoneEngines) Voice(_ context.Context, account, name string) (engine.Synthesizer, error) {
	return e, e.Prepare(account, name)
}

func (*phoneEngines) Speak(ctx context.Context, text string, o engine.SpeakOptions,
	emit func(engine.Sound) error) error {
	pcm := make([]float32, len(text)*24000*50/1000)
	for i := range pcm {
		pcm[i] = 0.3 * float32(math.Sin(2*math.Pi*440*float64(i)/24000))
	}
	return enginetest.FixedSound(24000, pcm).Speak(ctx, text, o, emit)
}

// phoneBox is a box with fake engines and a real telephone.
type phoneBox struct {
	*runningBox
	t      *testing.T
	guide  string  // id of a config
	person *person // a telephone
}

// startPhoneBox runs a box that a person with a telephone may call, and calls.
func startPhoneBox(t *testing.T, model enginetest.Model, change ...func(*config.Phone)) *phoneBox {
	t.Helper()
	engines := &phoneEngines{model: &model}
	b := startFakeBox(t, func(p *chat.Parts) {
		p.Detector = enginetest.LevelDetector(0.1)
		p.Voices = engines
		p.Model = &model
		p.Models = phoneModels{engines}
	})
	a := b.parts
	at := freeAddress(t)
	p := &phoneBox{runningBox: b, t: t, person: newPerson(t, at)}
	p.guide = p.post("/v0/evi/configs", `{"name":"Guide","evi_version":"4-mini","event_messages":{
		"on_new_chat":{"enabled":true,"text":"Good day."},"on_mailbox":{"enabled":true,"text":"{{name}}, call back."}},
		"builtin_tools":[{"name":"transfer","destinations":[{"name":"desk","to":"200","attended":true,"ring_secs":5},
		{"name":"elsewhere","to":"101"}]},
		{"name":"send_digits"}]}`)["id"].(string)
	a.identity = &certs.Identity{}
	a.lexicons = voices.NewLexicons(b.records, "", nil, a.log)
	a.cfg.Phone = config.Phone{
		Listen:    []config.PhoneListener{{Transport: config.TransportUDP, Address: at}},
		RTPPorts:  config.PortRange{First: 30000, Last: 30999},
		HoldMusic: config.HoldMusicOn,
		Trunks:    []config.Trunk{{Name: "desk", Address: p.person.at.String()}},
		Extensions: []config.Extension{{Number: "100", Config: "Guide"}, {Number: "101", Config: "Guide"},
			{Number: "500", Config: "none"}},
	}
	for _, c := range change {
		c(&a.cfg.Phone)
	}
	var err error
	if a.phone.endpoint, err = a.phone.openSIP(); err != nil {
		t.Fatal(err)
	}
	a.phone.start(engines, enginetest.LevelDetector(0.1), fakeEngines{})
	return p
}

// freeAddress returns an address with a UDP port that was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().String()
}

// phoneModels gives every chat the model of the test.
type phoneModels struct{ *phoneEngines }

func (m phoneModels) LanguageModel(contract.LanguageModel) (engine.LanguageModel, bool) {
	return m.model, true
}

// post sends JSON, and returns the answer.
func (b *phoneBox) post(path, body string) map[string]any {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("X-Hume-Api-Key", b.key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	var got map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil || answer.StatusCode >= 300 {
		b.t.Fatalf("%s: %s: %v, %v", path, answer.Status, got, err)
	}
	return got
}

// person is somebody with a telephone: real SIP and real sound.
type person struct {
	t        *testing.T
	endpoint *sip.Endpoint
	at       netip.AddrPort
	rings    chan *sip.Invitation
}

func newPerson(t *testing.T, box string) *person {
	t.Helper()
	p := &person{t: t, rings: make(chan *sip.Invitation, 9)}
	log := slog.New(slog.NewTextHandler(testLog{t}, nil))
	sound := media.Options{Ports: media.Ports{From: 31000, To: 31999}, Clock: rtp.NewClock(), Log: log}
	var err error
	p.endpoint, err = sip.Open(sip.Options{
		Listen:    []string{"udp://127.0.0.1:0"},
		Media:     func(peer netip.Addr, _ bool) (sip.Media, error) { return media.New(sound, peer) },
		Trunks:    []sip.Trunk{{Name: "box", Address: box}},
		UserAgent: "telephone",
		Log:       log,
	}, func(ctx context.Context, i *sip.Invitation) {
		p.rings <- i
		<-ctx.Done()
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.endpoint.Close(ended()) })
	p.at = netip.MustParseAddrPort(strings.TrimPrefix(p.endpoint.Listeners()[0], "udp://"))
	return p
}

// calls calls the box. The error is a *sip.DialError if it refuses.
func (p *person) calls(number string) (*farCall, error) {
	p.t.Helper()
	c, err := p.endpoint.Dial(p.t.Context(), sip.DialOptions{To: number, From: "+4930123"})
	if err != nil {
		return nil, err
	}
	return newFarCall(p.t, c), nil
}

// answers answers the next call of the box.
func (p *person) answers() (*sip.Invitation, *farCall) {
	p.t.Helper()
	select {
	case i := <-p.rings:
		c, err := i.Answer(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		return i, newFarCall(p.t, c)
	case <-time.After(5 * time.Second):
		p.t.Fatal("the box does not call")
		return nil, nil
	}
}

// farCall is the far end of a call.
type farCall struct {
	*sip.Call
	t *testing.T

	mu   sync.Mutex
	loud time.Duration // that was heard
	keys string        // that were pressed by the box
}

func newFarCall(t *testing.T, c *sip.Call) *farCall {
	f := &farCall{Call: c, t: t}
	c.Listen(func(pcm []float32) {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, v := range pcm {
			if v > 0.02 || v < -0.02 {
				f.loud += time.Second / engine.SpeechRateHz
			}
		}
	}, func(key rune) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.keys += string(key)
	})
	return f
}

// hears waits until something loud was heard for about d since the last call.
func (f *farCall) hears(d time.Duration) {
	f.t.Helper()
	f.until("the box says nothing", func() bool { return f.loud >= d*8/10 })
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loud = 0
}

func (f *farCall) until(what string, is func() bool) {
	f.t.Helper()
	soon(f.t, what, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return is()
	})
}

// soon waits up to ten seconds.
func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal(what)
}

// says speaks for d.
func (f *farCall) says(d time.Duration) {
	pcm := make([]float32, int(d*contract.OutputRateHz/time.Second))
	for i := range pcm {
		pcm[i] = 0.4 * float32(math.Sin(2*math.Pi*300*float64(i)/contract.OutputRateHz)+
			math.Sin(2*math.Pi*1700*float64(i)/contract.OutputRateHz))
	}
	if err := f.Play(contract.Sound{ID: "said", PCM: pcm, Last: true}); err != nil {
		f.t.Error(err)
	}
	<-f.Drained()
}

// chats returns the chats of the history, the newest first, with their events.
func (b *phoneBox) chats() []store.Chat {
	b.t.Helper()
	newest := store.Page{Size: 9, Descending: true}
	all, _, err := b.records.Chats(b.t.Context(), b.account().ID, store.ChatFilter{}, newest)
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

// said returns the texts of the messages of a chat, in order.
func (b *phoneBox) said(chatID string) string {
	b.t.Helper()
	events, _, err := b.records.Events(b.t.Context(), chatID, store.Page{Size: 99})
	if err != nil {
		b.t.Fatal(err)
	}
	var all []string
	for _, e := range events {
		if e.Type == store.UserMessage || e.Type == store.AgentMessage {
			all = append(all, e.MessageText)
		}
	}
	return strings.Join(all, " | ")
}

// repeats answers with what the user said.
func repeats(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	return enginetest.FixedReply(0, "You said: "+p.Messages[len(p.Messages)-1].Content)(ctx, p, emit)
}

func TestAPersonCallsTheBox(t *testing.T) {
	t.Parallel()
	b := startPhoneBox(t, repeats)
	c, err := b.person.calls("100")
	if err != nil {
		t.Fatal(err)
	}
	c.hears(400 * time.Millisecond) // Good day.
	c.says(700 * time.Millisecond)
	c.hears(time.Second)
	if err := c.Press(t.Context(), "42"); err != nil {
		t.Fatal(err)
	}
	c.hears(time.Second)
	status := b.parts.phone.Status()
	if len(status.Calls) != 1 || status.Calls[0].From != "+4930123" || status.Calls[0].To != "100" ||
		status.Calls[0].State != contract.CallTalking || status.Calls[0].PacketsReceived == 0 ||
		status.Calls[0].Account != "first" || status.Calls[0].ConfigID != b.guide {
		t.Errorf("%+v", status.Calls)
	}
	c.HangUp()
	soon(t, "the chat goes on", func() bool { return b.chats()[0].Status == store.UserEnded })
	chat := b.chats()[0]
	if said := b.said(chat.ID); !strings.HasPrefix(said, "Good day. | When do you open? | You said") ||
		!strings.HasSuffix(said, " | 42 | You said: The caller pressed 4 2.") {
		t.Errorf("the history is %q", said)
	}
	if !strings.Contains(chat.Metadata, `"caller_number":"+4930123"`) {
		t.Errorf("the metadata are %s", chat.Metadata)
	}
}

func TestCallsThatNobodyTakesAreRefused(t *testing.T) {
	t.Parallel()
	b := startPhoneBox(t, repeats)
	refused := func(number string) contract.AnsweredBy {
		t.Helper()
		_, err := b.person.calls(number)
		d, ok := errors.AsType[*sip.DialError](err)
		if !ok {
			t.Fatalf("%s: %v", number, err)
		}
		return d.By
	}
	if by := refused("300"); by != contract.ByWrongNumber {
		t.Errorf("a number without an extension: %s", by)
	}
	if by := refused("500"); by != contract.ByFailedNetworks {
		t.Errorf("an extension without its config: %s", by)
	}
	b.parts.host.MaxChats = 0
	if by := refused("100"); by != contract.ByFailedNetworks {
		t.Errorf("a full box: %s", by)
	}
	if chats := b.chats(); len(chats) != 0 {
		t.Errorf("the history has %+v", chats)
	}
}

func TestTheBoxCalls(t *testing.T) {
	t.Parallel()
	b := startPhoneBox(t, repeats)
	call := func() contract.PhoneCall {
		t.Helper()
		c, err := b.parts.phone.Call(t.Context(), b.account().ID,
			contract.PostedPhoneCall{To: "+49301", ConfigID: b.guide})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	call()
	i, c := b.person.answers()
	if i.To != "+49301" {
		t.Errorf("the box calls %s", i.To)
	}
	c.says(700 * time.Millisecond) // Hello?
	c.hears(400 * time.Millisecond)
	c.HangUp()
	soon(t, "the chat goes on", func() bool { return b.chats()[0].Status == store.UserEnded })
	if chat := b.chats()[0]; !strings.Contains(chat.Metadata, `"answered_by":"person"`) ||
		!strings.Contains(chat.Metadata, `"direction":"outbound"`) || !strings.Contains(b.said(chat.ID), "Good day.") {
		t.Errorf("%s: %s", chat.Metadata, b.said(chat.ID))
	}

	ended := call()
	if err := (<-b.person.rings).Reject(486, 0); err != nil {
		t.Fatal(err)
	}
	soon(t, "the call goes on", func() bool { return len(b.parts.phone.Status().Calls) == 0 })
	last := b.parts.phone.Status().EndedCalls[0]
	if chat := b.chats()[0]; chat.ID != last.ChatID || last.CallID != ended.CallID ||
		last.AnsweredBy != contract.ByBusy || !strings.Contains(chat.Metadata, `"answered_by":"busy"`) ||
		b.said(chat.ID) != "" || chat.EndedMS == 0 {
		t.Errorf("%+v; %s: %q", last, chat.Metadata, b.said(chat.ID))
	}
}

func TestAMailboxHearsTheMessageOfTheConfig(t *testing.T) {
	t.Parallel()
	b := startPhoneBox(t, repeats)
	var name contract.VariableValue
	if err := name.UnmarshalJSON([]byte(`"Ada"`)); err != nil {
		t.Fatal(err)
	}
	_, err := b.parts.phone.Call(t.Context(), b.account().ID, contract.PostedPhoneCall{
		To:              "1",
		ConfigID:        b.guide,
		SessionSettings: contract.PhoneSettings{Variables: map[string]contract.VariableValue{"name": name}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, c := b.person.answers()
	c.says(5 * time.Second)
	time.Sleep(300 * time.Millisecond)
	c.beeps(500 * time.Millisecond)
	c.hears(700 * time.Millisecond) // Ada, call back.
	select {
	case <-c.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("the box does not hang up")
	}
	soon(t, "the chat goes on", func() bool { return b.chats()[0].EndedMS != 0 })
	if chat := b.chats()[0]; b.said(chat.ID) != "Ada, call back." ||
		!strings.Contains(chat.Metadata, `"answered_by":"mailbox"`) {
		t.Errorf("%s: %q", chat.Metadata, b.said(chat.ID))
	}
}

// transfers calls the tool transfer at every question.
func transfers(destination string) enginetest.Model {
	return func(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
		if p.Messages[len(p.Messages)-1].Role == engine.ToolRole {
			return repeats(ctx, p, emit)
		}
		return engine.Usage{}, emit(engine.Part{Call: &engine.ToolCall{
			ID:        "call",
			Name:      "transfer",
			Arguments: `{"destination":"` + destination + `","reason":"opening times"}`,
		}})
	}
}

// The carrier of the caller, here the caller's own telephone, calls the other extension instead.
func TestACallerIsRedirected(t *testing.T) {
	t.Parallel()
	b := startPhoneBox(t, transfers("elsewhere"))
	c, err := b.person.calls("100")
	if err != nil {
		t.Fatal(err)
	}
	c.hears(400 * time.Millisecond)
	c.says(700 * time.Millisecond)
	c.hears(400 * time.Millisecond) // the greeting of the other chat
	soon(t, "the first chat goes on", func() bool {
		all := b.chats()
		return len(all) == 2 && all[1].Status == store.UserEnded && all[0].Status == store.Active
	})
	if first := b.chats()[1]; !strings.Contains(first.Metadata, `"handed_over_to":"101"`) {
		t.Errorf("%s", first.Metadata)
	}
	c.HangUp()
}

func TestACallerIsConnectedToAPerson(t *testing.T) {
	t.Parallel()
	b := startPhoneBox(t, transfers("desk"))
	c, err := b.person.calls("100")
	if err != nil {
		t.Fatal(err)
	}
	c.hears(400 * time.Millisecond)
	c.says(700 * time.Millisecond)
	c.hears(time.Second) // music
	busy := <-b.person.rings
	if err := busy.Reject(486, 0); err != nil {
		t.Fatal(err)
	}
	c.hears(3 * time.Second) // You said: The caller could not be connected: the line is busy. ...
	c.says(900 * time.Millisecond)
	_, desk := b.person.answers()
	desk.says(600 * time.Millisecond)
	desk.hears(2 * time.Second) // There is a caller for you, from +4930123. ...
	if err := desk.Press(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	soon(t, "the two are not joined", func() bool {
		calls := b.parts.phone.Status().Calls
		return len(calls) == 1 && calls[0].State == contract.CallJoined
	})
	time.Sleep(time.Second) // what was said before
	desk.forget()
	c.forget()
	desk.says(time.Second)
	c.hears(time.Second)
	c.says(time.Second)
	desk.hears(time.Second)
	chat := b.chats()[0]
	if chat.Status != store.UserEnded || !strings.Contains(chat.Metadata, `"handed_over_to":"200"`) {
		t.Errorf("%s: %s", chat.Status, chat.Metadata)
	}
	desk.HangUp()
	select {
	case <-c.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("the caller is left alone")
	}
}

func TestABoxThatStopsHangsUp(t *testing.T) {
	t.Parallel()
	b := startPhoneBox(t, repeats)
	c, err := b.person.calls("100")
	if err != nil {
		t.Fatal(err)
	}
	c.hears(400 * time.Millisecond)
	began := time.Now()
	b.parts.phone.stop()
	if err := b.parts.host.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.parts.phone.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Done():
	case <-time.After(time.Second):
		t.Fatal("the caller does not learn of it")
	}
	if took := time.Since(began); took > stopLimit {
		t.Errorf("stopping takes %v", took)
	}
}

// beeps plays the beep of a mailbox.
func (f *farCall) beeps(d time.Duration) {
	pcm := make([]float32, int(d*contract.OutputRateHz/time.Second))
	for i := range pcm {
		pcm[i] = 0.3 * float32(math.Sin(2*math.Pi*1000*float64(i)/contract.OutputRateHz))
	}
	if err := f.Play(contract.Sound{ID: "beep", PCM: pcm, Last: true}); err != nil {
		f.t.Error(err)
	}
	<-f.Drained()
}

// forget forgets what was heard.
func (f *farCall) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loud = 0
}

func (b *phoneBox) account() store.Account {
	b.t.Helper()
	a, err := b.records.Account(b.t.Context(), "first")
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

func TestTheMusicForCallersIsTheBoxsOrAFile(t *testing.T) {
	a := &appliance{log: slog.New(slog.DiscardHandler)}
	phone := &telephone{appliance: a}
	for music, want := range map[string]time.Duration{
		config.HoldMusicOn:                 16 * time.Second,
		config.Off:                         0,
		packtest.Recording(t, question):    4 * time.Second,
		filepath.Join(t.TempDir(), "none"): 0,
	} {
		a.cfg.Phone.HoldMusic = music
		got := time.Duration(len(phone.holdMusic())) * time.Second / contract.OutputRateHz
		if got.Round(time.Second) != want {
			t.Errorf("%s: %v of music, want %v", music, got, want)
		}
	}
}
