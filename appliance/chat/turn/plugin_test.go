package turn

import (
	"slices"
	"testing"
	"time"

	"parley/appliance/contract"
)

// hours returns a plugin with one tool and all hooks.
func hours(description string) Plugin {
	return Plugin{
		Name:   "hours",
		OnTurn: true,
		OnEnd:  true,
		Tools: []Tool{{
			Name:        "opening_hours",
			Description: description,
			Parameters:  `{"type":"object"}`,
			Fallback:    "Nobody knows.",
			OnBox:       true,
			Plugin:      "hours",
			Limit:       2 * time.Second,
			FromPlugin:  true,
		}},
	}
}

func TestAPluginRunsAToolOfItsName(t *testing.T) {
	stored := Tool{
		Name:        "opening_hours",
		Description: "mine",
		Parameters:  `{"type":"object"}`,
		Stored:      true,
	}
	sent := stored
	sent.Stored = false // by the client, in session_settings
	s := Settings{Tools: []Tool{stored}}.WithPlugins([]Plugin{hours("theirs")})
	if got := s.Tools; len(got) != 1 || !got[0].OnBox || got[0].Plugin != "hours" || got[0].Description != "mine" ||
		got[0].Fallback != "Nobody knows." || got[0].Limit != 2*time.Second {
		t.Errorf("%+v", got)
	}
	if len(s.TurnHooks)+len(s.EndHooks) > 0 {
		t.Errorf("a developer's tool of the same name enables the plugin's hooks: %v %v", s.TurnHooks, s.EndHooks)
	}
	if got := s.WithPlugins(nil).Tools; len(got) != 1 || got[0].OnBox || got[0].Plugin != "" {
		t.Errorf("without the plugin: %+v", got)
	}
	if got := (Settings{Tools: []Tool{sent}}).WithPlugins([]Plugin{hours("theirs")}).Tools; got[0].OnBox {
		t.Errorf("the box runs a tool of the client: %+v", got)
	}
}

func TestPluginToolsFollowThePlugins(t *testing.T) {
	s := Settings{Tools: hours("old").Tools}.WithPlugins([]Plugin{hours("new")})
	if len(s.Tools) != 1 || s.Tools[0].Description != "new" || !slices.Equal(s.TurnHooks, []string{"hours"}) ||
		!slices.Equal(s.EndHooks, []string{"hours"}) {
		t.Errorf("%+v", s)
	}
	if s = s.WithPlugins(nil); s.Tools != nil || s.TurnHooks != nil {
		t.Errorf("%+v", s)
	}
	// Tools for every chat are added when their plugin is installed. A config's own tool of the same name
	// comes first.
	s = Settings{Plugins: []string{"hours", "missing"}, Tools: []Tool{weather()}}
	if s = s.WithPlugins([]Plugin{hours("x")}); len(s.Tools) != 2 || s.Tools[1].Name != "opening_hours" {
		t.Errorf("%+v", s.Tools)
	}
	if s = s.WithPlugins([]Plugin{hours("y")}); len(s.Tools) != 2 || s.Tools[1].Description != "y" {
		t.Errorf("%+v", s.Tools)
	}
	if s = s.WithPlugins(nil); len(s.Tools) != 1 {
		t.Errorf("%+v", s.Tools)
	}
}

// A client that sends its tools does not know those of the box.
func TestAClientsToolsDoNotReplacePluginTools(t *testing.T) {
	b := begin(t, func(s *Settings) {
		s.Plugins = []string{"hours"}
		*s = s.WithPlugins([]Plugin{hours("x")})
		s.TurnHooks = nil
	})
	b.after(SettingsRequested{Message: contract.SessionSettings{
		Tools: []contract.Tool{{Name: "lamp", Parameters: `{"type":"object"}`}}}})
	if got := b.state.settings.Tools; len(got) != 2 || got[0].Name != "lamp" || got[0].OnBox ||
		got[1].Plugin != "hours" {
		t.Fatalf("%+v", got)
	}
	b.after(SettingsRequested{Message: contract.SessionSettings{
		Tools: []contract.Tool{{Name: "lamp", Parameters: `{}`},
			{Name: "opening_hours", Description: "In short.", Parameters: `{"type":"object"}`}}}})
	if got := b.state.settings.Tools; len(got) != 2 || got[1].Description != "In short." || got[1].Plugin != "hours" ||
		!got[1].OnBox {
		t.Fatalf("%+v", got)
	}
}

// A change between two turns is in force from the next turn on, and drops a prepared answer.
func TestAnInstalledPluginIsInForceInTheNextTurn(t *testing.T) {
	b := begin(t, func(s *Settings) { s.Plugins = []string{"hours"} })
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second},
		Transcribed{Utterance: 1, Revision: 1, Transcript: says("When do you open?")})
	p := hours("x")
	p.OnTurn = false
	want(t, b.after(PluginsChanged{Plugins: []Plugin{p}}), "cancel 1")
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}), "prepare 2: When do you open?", "user: When do you open?")
	want(t, b.after(calls(2, "a", "opening_hours")), `tool_call opening_hours {"day":"today"}`,
		`run 2: opening_hours {"day":"today"}`)
	want(t, b.after(PluginsChanged{Plugins: []Plugin{p}})) // nothing new
	want(t, b.after(PluginsChanged{}))                     // removed during its call, which goes on
	want(t, b.after(ToolAnswered{CallID: "a", OnBox: true, Content: "At ten."}), "tool_response opening_hours: At ten.",
		"go on 2: At ten.")
	if got := b.state.settings.Tools; got != nil {
		t.Errorf("%+v", got)
	}
}

// A tool's own limit applies if it is shorter than the box's.
func TestAToolsOwnLimitApplies(t *testing.T) {
	b := begin(t, func(s *Settings) {
		s.Tools, s.Filler = hours("x").Tools, 0
	})
	b.after(Typed{Text: "When?"}, calls(1, "a", "opening_hours"))
	want(t, b.wait(2*time.Second).after(Tick{}))
	want(t, b.wait(toolGrace).after(Tick{}), "tool_error opening_hours: Nobody knows.", "stop tool 1",
		"go on 1: Nobody knows.")
}
