package contract

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"parley/internal/addresses"
)

func (PostedConfig) read(o object) PostedConfig {
	return PostedConfig{o.label("name", MaxNameChars), PostedConfigVersion{}.read(o)}
}

func (PostedConfigVersion) read(o object) PostedConfigVersion {
	c := PostedConfigVersion{
		EVIVersion:         readEVIVersion(o),
		VersionDescription: readVersionDescription(o),
		Prompt:             readConfigPrompt(o),
		Examples:           each(o, "examples", MaxExamples, readExample),
		Answers:            answersOf(o),
		Voice:              optional(o, "voice", readVoiceRef),
		LanguageModel:      optional(o, "language_model", readLanguageModel),
		EllmModel:          optional(o, "ellm_model", readEllmModel),
		Tools:              readToolRefs(o),
		BuiltinTools:       each(o, "builtin_tools", MaxSessionTools, readBuiltinTool),
		EventMessages:      optional(o, "event_messages", readEventMessages),
		Timeouts:           optional(o, "timeouts", readTimeouts),
		TurnDetection:      optional(o, "turn_detection", readTurnDetection),
		Interruption:       optional(o, "interruption", readInterruption),
		Nudges:             optional(o, "nudges", readNudges),
		Webhooks:           each(o, "webhooks", MaxWebhooks, readWebhook),
	}
	c.PromptExpansion = choice(o, "prompt_expansion", "ZERO")
	noteSharedNames(o, SessionSettings{BuiltinTools: c.BuiltinTools})
	if c.EVIVersion == EVI3 && c.Voice == nil {
		o.note("voice", "wrong_value", "missing; a config of evi_version 3 names its voice")
	}
	if len(c.Examples) > 0 && c.LanguageModel != nil && c.LanguageModel.Provider == ProviderCustom {
		o.note("examples", "wrong_value", "not allowed with a custom language model, which has a prompt of its own")
	}
	if c.Prompt != nil && c.LanguageModel != nil && c.LanguageModel.Provider == ProviderCustom {
		o.note("prompt", "wrong_value", "not allowed with a custom language model, which has a prompt of its own")
	}
	return c
}

func readEVIVersion(o object) EVIVersion {
	o.require("evi_version")
	return choice(o, "evi_version", EVI3, EVI4Mini, EVI2, EVI1)
}

// readConfigPrompt returns nil for an empty prompt.
func readConfigPrompt(o object) *ConfigPrompt {
	p, ok := o.object("prompt")
	if !ok {
		return nil
	}
	c := ConfigPrompt{
		ID:              p.text("id", MaxModelResourceChars),
		Version:         p.integerOrNil("version", 0, maxVersion),
		Text:            p.nonBlank("text", MaxPromptChars),
		PromptExpansion: optional(p, "prompt_expansion", readPromptExpansion),
	}
	switch {
	case c.ID != "" && c.Text != "":
		p.note("text", "wrong_value", "give the id of a prompt, or the text of a new one, not both")
	case c.ID == "" && c.Version != nil:
		p.note("id", "wrong_value", "missing; a version is one of the prompt with that id")
	case c.ID == "" && c.Text == "":
		return nil
	}
	return &c
}

func readExample(e object) Example {
	e.require("user", "assistant")
	return Example{User: e.nonBlank("user", MaxExampleChars), Assistant: e.nonBlank("assistant", MaxExampleChars)}
}

// maxVersion is above any version number.
const maxVersion = 1<<31 - 1

func readVoiceRef(v object) VoiceRef {
	noted := len(*v.problems)
	ref := VoiceRef{
		ID:       v.text("id", MaxModelResourceChars),
		Name:     v.text("name", MaxModelResourceChars),
		Provider: choice(v, "provider", VoiceLibrary, VoiceCustom),
	}
	_, byID := v.get("id")
	_, byName := v.get("name")
	switch {
	case !byID && !byName:
		v.note("", "missing", "give the id or the name of a voice")
	case ref.ID == "" && ref.Name == "" && len(*v.problems) == noted:
		v.note("", "wrong_value", "empty; give the id or the name of a voice")
	}
	return ref
}

func readLanguageModel(l object) LanguageModel {
	m := LanguageModel{
		Provider:    choice(l, "model_provider", ModelProviders()...),
		Resource:    l.text("model_resource", MaxModelResourceChars),
		Temperature: l.numberOrNil("temperature", 0, MaxTemperature),
	}
	noteModel(l, m.Provider, m.Resource)
	m.Fallback = each(l, "fallback", MaxFallback, readLanguageModelRef)
	return m
}

func readLanguageModelRef(f object) LanguageModelRef {
	f.require("model_provider")
	ref := LanguageModelRef{choice(f, "model_provider", ModelProviders()...),
		f.text("model_resource", MaxModelResourceChars)}
	noteModel(f, ref.Provider, ref.Resource)
	return ref
}

func readEllmModel(e object) EllmModel {
	return EllmModel{AllowShortResponses: e.booleanOrNil("allow_short_responses")}
}

func readToolRefs(o object) []ToolRef {
	var refs []ToolRef
	for _, t := range o.list("tools", MaxSessionTools) {
		t.require("id")
		ref := ToolRef{ID: t.nonBlank("id", MaxModelResourceChars), Version: t.integerOrNil("version", 0, maxVersion)}
		if slices.ContainsFunc(refs, func(r ToolRef) bool { return r.ID == ref.ID }) {
			t.note("id", "wrong_value", fmt.Sprintf("the tool %q is listed twice", Clip(ref.ID)))
		}
		refs = append(refs, ref)
	}
	return refs
}

func readEventMessages(e object) EventMessages {
	return EventMessages{
		OnNewChat:            optional(e, "on_new_chat", readEventMessage),
		OnInactivityTimeout:  optional(e, "on_inactivity_timeout", readEventMessage),
		OnMaxDurationTimeout: optional(e, "on_max_duration_timeout", readEventMessage),
		OnMailbox:            optional(e, "on_mailbox", readEventMessage),
	}
}

func readEventMessage(e object) EventMessage {
	e.require("enabled")
	return EventMessage{Enabled: e.boolean("enabled"), Text: e.text("text", MaxInputChars)}
}

func readTimeouts(t object) Timeouts {
	return Timeouts{optional(t, "inactivity", readTimeout), optional(t, "max_duration", readTimeout)}
}

func readTimeout(t object) Timeout {
	t.require("enabled")
	return Timeout{
		Enabled:      t.boolean("enabled"),
		DurationSecs: t.integerOrNil("duration_secs", int(MinTimeout.Seconds()), int(MaxTimeout.Seconds())),
	}
}

func readTurnDetection(t object) TurnDetection {
	return TurnDetection{
		Mode: choice(t, "mode", TurnBySilence, TurnSemantic),
		EndOfTurnSilenceMS: t.integerOrNil("end_of_turn_silence_ms", MinEndOfTurnSilenceMS,
			MaxEndOfTurnSilenceMS),
		SpeechDetectionThreshold: t.numberOrNil("speech_detection_threshold", 0, 1),
		PrefixPaddingMS:          t.integerOrNil("prefix_padding_ms", 0, MaxPrefixPaddingMS),
	}
}

func readInterruption(i object) Interruption {
	return Interruption{i.integerOrNil("min_interruption_ms", MinMinInterruptionMS, MaxMinInterruptionMS)}
}

func readNudges(n object) Nudges {
	return Nudges{
		Enabled:      n.boolean("enabled"),
		IntervalSecs: n.integerOrNil("interval_secs", MinNudgeSecs, int(MaxTimeout.Seconds())),
	}
}

func readWebhook(w object) Webhook {
	w.require("url", "events")
	hook := Webhook{URL: w.text("url", MaxURLChars),
		Events: choices(w, "events", WebhookChatStarted, WebhookChatEnded, WebhookToolCall)}
	if raw, ok := w.get("url"); ok && kindOf(raw) == "string" {
		if problem := webhookProblem(hook.URL); problem != "" {
			w.note("url", "wrong_value", problem)
		}
	}
	return hook
}

// badAddress returns what is wrong with the address in a URL: it cannot be that
// of a server, or it is a public one without encryption. It returns "" for a host
// name, which is checked when it is called.
func badAddress(u *url.URL) string {
	ip, err := netip.ParseAddr(strings.TrimSuffix(u.Hostname(), "."))
	if err != nil {
		return ""
	}
	encrypted := map[string]string{"http": "https", "ws": "wss"}[u.Scheme]
	switch to := addresses.NewTable(nil).At(netip.AddrPortFrom(ip, 0)); {
	case to.Kind == addresses.Special:
		return to.String()
	case to.Kind == addresses.Public && encrypted != "":
		return fmt.Sprintf("%s; without encryption only private addresses are allowed: use %s", to, encrypted)
	}
	return ""
}
