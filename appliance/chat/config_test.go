package chat

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// oneConfig is the only config of an account.
type oneConfig struct{ contract.ReturnConfig }

func (o oneConfig) Config(_ context.Context, account, id string, version *int) (contract.ReturnConfig, error) {
	if account != "a" || id != o.ID || version != nil && *version != o.Version {
		return contract.ReturnConfig{},
			store.ErrMissing{Ref: store.Ref{Kind: store.KindConfig, ID: id, Version: store.Newest}}
	}
	return o.ReturnConfig, nil
}

// oneModel serves one model besides the default.
type oneModel struct{ other, fallback engine.LanguageModel }

func (o oneModel) LanguageModel(named contract.LanguageModel) (engine.LanguageModel, bool) {
	if named.Resource == "served" {
		return o.other, true
	}
	return o.fallback, false
}

// config returns the stored form of a posted config.
func config(t *testing.T, posted string) contract.ReturnConfig {
	t.Helper()
	c, err := contract.Parse[contract.PostedConfig]([]byte(posted))
	if err != nil {
		t.Fatal(err)
	}
	r := c.Record()
	r.ID, r.Version = "c", 3
	if c.Voice != nil {
		r.Voice = &contract.ReturnVoice{ID: c.Voice.Name}
	}
	if c.Prompt != nil {
		r.Prompt = &contract.ReturnPrompt{Text: c.Prompt.Text}
	}
	return r
}

func (o oneModel) Fallback() []engine.LanguageModel { return nil }

func (o oneModel) CustomModel(url string) (engine.LanguageModel, error) {
	if url != "https://h/x" {
		return nil, errors.New(url)
	}
	return o.other, nil
}

func hostWith(t *testing.T, f, other *fakes, c contract.ReturnConfig, log *bytes.Buffer) *Host {
	return hostOf(f, func(p *Parts) {
		p.Configs, p.Models = oneConfig{c}, oneModel{other, f}
		p.Log = slog.New(slog.NewTextHandler(log, nil))
	})
}

func TestAConfigOverridesDefaultsAndTheClientOverridesAConfig(t *testing.T) {
	c := config(t, `{"name":"n","evi_version":"3","voice":{"name":"joe"},"prompt":{"text":"You are {{who}}."},
		"turn_detection":{"end_of_turn_silence_ms":500,"speech_detection_threshold":0,"prefix_padding_ms":0},
		"interruption":{"min_interruption_ms":50},"language_model":{"temperature":0.5},
		"timeouts":{"inactivity":{"enabled":false},"max_duration":{"enabled":true,"duration_secs":60}},
		"event_messages":{"on_new_chat":{"enabled":true,"text":"Hi"}}}`)
	f := newFakes()
	h := hostWith(t, f, nil, c, &bytes.Buffer{})
	defer h.Stop(t.Context())
	got, err := h.setUp(t.Context(),
		connection.Opening{Account: "a", Settings: contract.ConnectSettings{ConfigID: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	s := got.settings
	if s.SystemPrompt != "You are {{who}}." || s.Voice != "joe" || s.Temperature != 0.5 || s.Threshold != 0 ||
		s.PrefixPadding != 0 ||
		s.EndOfTurnSilence != 500*time.Millisecond || s.MinInterruption != 50*time.Millisecond ||
		s.Inactivity != 1800*time.Second || s.MaxDuration != time.Minute || s.OnNewChat.Text != "Hi" ||
		got.config != (store.ConfigRef{ID: "c", Version: 3}) {
		t.Errorf("%+v", got)
	}
	prompt := "Be brief."
	got, err = h.setUp(t.Context(),
		connection.Opening{Account: "a", Settings: contract.ConnectSettings{ConfigID: "c",
			SessionSettings: contract.SessionSettings{SystemPrompt: &prompt}}})
	if err != nil || got.settings.SystemPrompt != prompt || got.settings.Voice != "joe" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestADefaultConfigChangesNothing(t *testing.T) {
	h := hostWith(t, newFakes(), nil, config(t, `{"name":"n","evi_version":"4-mini"}`), &bytes.Buffer{})
	defer h.Stop(t.Context())
	with, err := h.setUp(t.Context(),
		connection.Opening{Account: "a", Settings: contract.ConnectSettings{ConfigID: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	without, err := h.setUp(t.Context(), connection.Opening{Account: "a", Settings: contract.ConnectSettings{}})
	if err != nil {
		t.Fatal(err)
	}
	if with.settings.Threshold != without.settings.Threshold ||
		with.settings.PrefixPadding != without.settings.PrefixPadding ||
		with.settings.EndOfTurnSilence != without.settings.EndOfTurnSilence ||
		with.settings.Inactivity != without.settings.Inactivity ||
		with.settings.MaxDuration != without.settings.MaxDuration ||
		with.settings.MinInterruption != without.settings.MinInterruption || with.model != without.model {
		t.Errorf("%+v\n%+v", with, without)
	}
}

func TestAnUnavailableConfigIsAFault(t *testing.T) {
	one := 1
	f := newFakes()
	h := hostWith(t, f, nil, config(t, `{"name":"n","evi_version":"3","voice":{"name":"gone"}}`), &bytes.Buffer{})
	defer h.Stop(t.Context())
	for name, c := range map[string]struct {
		account string
		connect contract.ConnectSettings
		code    contract.Code
	}{
		"none": {"a", contract.ConnectSettings{ConfigID: "x"}, contract.ConfigNotFound},
		"another version": {"a", contract.ConnectSettings{ConfigID: "c", ConfigVersion: &one},
			contract.ConfigNotFound},
		"another account's": {"b", contract.ConnectSettings{ConfigID: "c"}, contract.ConfigNotFound},
		"its voice is gone": {"a", contract.ConnectSettings{ConfigID: "c"}, contract.VoiceNotFound},
	} {
		_, err := h.setUp(t.Context(), connection.Opening{Account: c.account, Settings: c.connect})
		if fault, ok := errors.AsType[contract.Fault](err); !ok || fault.Code != c.code || fault.Detail == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A prompt that the client's variables make too long is refused at connect.
func TestAPromptThatVariablesMakeTooLongIsAFault(t *testing.T) {
	f := newFakes()
	h := hostWith(t, f, nil,
		config(t, `{"name":"n","evi_version":"4-mini","prompt":{"text":"`+strings.Repeat("{{a}}", 10_000)+`"}}`),
		&bytes.Buffer{})
	defer h.Stop(t.Context())
	connect := contract.ConnectSettings{ConfigID: "c"}
	connect.SessionSettings.Variables = map[string]contract.VariableValue{
		"a": contract.TextVariable(strings.Repeat("x", 1000))}
	_, err := enter(t, h, connection.Opening{Line: f, Settings: connect})
	if fault, ok := errors.AsType[contract.Fault](err); !ok || fault.Code != contract.InvalidSettings ||
		!strings.Contains(fault.Detail, "10000000 bytes") {
		t.Errorf("%v", err)
	}
	if h.Running() != 0 {
		t.Error("the slot is not given back")
	}
}

func TestAConfigsModelAnswersOrTheDefaultWithAWarning(t *testing.T) {
	for _, c := range []struct {
		model  string
		strict bool
		other  bool
		code   contract.Code
		logged bool
	}{
		{model: `{"model_provider":"OPEN_AI","model_resource":"served"}`, other: true},
		{model: `{"model_provider":"OPEN_AI","model_resource":"served"}`, strict: true, other: true},
		{model: `{"model_provider":"OPEN_AI","model_resource":"gpt-9"}`, logged: true},
		{model: `{"model_provider":"OPEN_AI","model_resource":"gpt-9"}`, strict: true, code: contract.ModelUnavailable},
		{model: `{"model_provider":"GROQ"}`, strict: true, code: contract.ModelUnavailable},
		{model: `{"model_provider":"HUME_AI"}`, strict: true},
		{model: `{"temperature":1}`, strict: true},
		{model: `{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"https://h/x"}`, other: true},
		{model: `{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"https://h/y"}`,
			code: contract.ModelUnavailable},
	} {
		var log bytes.Buffer
		f, other := newFakes(), newFakes()
		h := hostWith(t, f, other, config(t, `{"name":"n","evi_version":"4-mini","language_model":`+c.model+`}`), &log)
		h.StrictModels = c.strict
		got, err := h.setUp(t.Context(),
			connection.Opening{Account: "a", Settings: contract.ConnectSettings{ConfigID: "c"}})
		if fault, _ := errors.AsType[contract.Fault](err); fault.Code != c.code {
			t.Errorf("%s: %v, want %q", c.model, err, c.code)
		}
		if err == nil && (got.model == engine.LanguageModel(other)) != c.other {
			t.Errorf("%s: the wrong model answers", c.model)
		}
		if err := h.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(log.String(), "gpt-9") != c.logged {
			t.Errorf("%s: log %q", c.model, &log)
		}
	}
}

func TestTheGreetingHasItsVariablesFilledIn(t *testing.T) {
	c := config(t, `{"name":"n","evi_version":"4-mini","event_messages":{"on_new_chat":{"enabled":true,"text":"Hello `+
		`{{name}}. Welcome."}}}`)
	f := newFakes()
	h := hostWith(t, f, nil, c, &bytes.Buffer{})
	connect := contract.ConnectSettings{ConfigID: "c"}
	connect.SessionSettings.Variables = map[string]contract.VariableValue{"name": contract.TextVariable("Ann")}
	s := begin(t, h, connection.Opening{Line: f, Settings: connect})
	f.until(t, "assistant_end")
	s.HangUp()
	<-s.Done()
	f.mu.Lock()
	defer f.mu.Unlock()
	first, ok := f.sent[1].(contract.AssistantMessage)
	if !ok || first.Message.Content != "Hello Ann." || first.FromText {
		t.Errorf("the greeting is %+v", f.sent[1])
	}
}
