package appliance

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"

	"parley/appliance/api"
	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/appliance/line/ws"
	"parley/store"
)

// fakeEngines replace all engines. They speak silence, 60 ms for each character.
type fakeEngines struct{ enginetest.Engines }

func (fakeEngines) Prepare(account, name string) error {
	if name != "" && name != "joe" && name != "jenny" {
		return contract.ErrInvalid{Field: "voice", Why: "no such voice; there are joe, jenny"}
	}
	return nil
}
func (e fakeEngines) Voice(_ context.Context, account, name string) (engine.Synthesizer, error) {
	return e, e.Prepare(account, name)
}
func (fakeEngines) Speak(ctx context.Context, text string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	return enginetest.FixedSound(24000, make([]float32, len(text)*24000*60/1000)).Speak(ctx, text, o, emit)
}

func (e fakeEngines) LanguageModel(contract.LanguageModel) (engine.LanguageModel, bool) {
	return e, true
}
func (fakeEngines) Fallback() []engine.LanguageModel                   { return nil }
func (e fakeEngines) CustomModel(string) (engine.LanguageModel, error) { return e, nil }

// startFakeBox runs a box without models: its database, its HTTP and its chats are real.
func startFakeBox(t *testing.T, change ...func(*chat.Parts)) *runningBox {
	t.Helper()
	log := slog.New(slog.NewTextHandler(testLog{t}, nil))
	records, err := store.Open(t.Context(), t.TempDir(), log)
	if err != nil {
		t.Fatal(err)
	}
	key, err := records.CreateKey(t.Context(), store.NewKey{Account: "first"})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := &appliance{
		log:       log,
		records:   records,
		admission: &admission{log: log, stop: t.Context()},
		kiosk:     &kiosk{},
	}
	a.phone = &telephone{appliance: a}
	a.sockets = ws.NewServer(a.admission, nil, ws.Timing{}, log)
	a.http = api.NewServer(api.New(api.Parts{
		Keys:    records,
		Chats:   control{a.sockets, a.admission},
		Ready:   a.admission,
		Version: "hollow",
		Log:     log,
		Records: records,
	}), log)
	parts := chat.Parts{
		Detector:    fakeEngines{},
		Transcriber: fakeEngines{},
		Model:       fakeEngines{},
		Voices:      fakeEngines{},
		Records:     records,
		Defaults:    chatDefaults(config.Config{}),
		Log:         log,
		MaxChats:    100,
		Configs:     api.NewConfigs(records, nil),
		Models:      fakeEngines{},
	}
	for _, c := range change {
		c(&parts)
	}
	a.host = chat.NewHost(t.Context(), parts)
	a.admission.host.Store(a.host)
	served := make(chan error, 1)
	go func() { served <- a.http.Serve(listener) }()
	t.Cleanup(func() {
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		<-served
		if err := records.Close(); err != nil {
			t.Error(err)
		}
	})
	return &runningBox{
		url:     "http://" + strings.Replace(listener.Addr().String(), "127.0.0.1", "localhost", 1),
		key:     key.APIKey,
		secret:  key.SecretKey,
		records: records,
		parts:   a,
	}
}
