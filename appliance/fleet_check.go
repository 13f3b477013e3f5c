package appliance

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parley/appliance/contract"
	"parley/appliance/engines"
	"parley/appliance/text"
	"parley/appliance/voice"
	"parley/fleet"
	"parley/plugins/manifest"
	"parley/plugins/registry"
	"parley/store"
)

// Check implements agent.Host with the checks of the API, of the voices and of the settings.
func (m *member) Check(ctx context.Context, w fleet.Want, plugins []store.WantedPlugin) error {
	if _, err := m.cfg.WithHub(w.Settings); err != nil {
		return err
	}
	tools, err := m.pluginTools(ctx, plugins)
	if err != nil {
		return err
	}
	library := engines.Library(m.cfg)
	for _, account := range w.Accounts {
		c := wantCheck{account, library, tools}
		if err := c.check(); err != nil {
			return fmt.Errorf("account %q: %w", account.Name, err)
		}
	}
	return nil
}

// pluginTools returns the tools that plugins will have, by id: those of the box's own plugins and
// of the wanted ones.
func (m *member) pluginTools(ctx context.Context, wanted []store.WantedPlugin) (map[string]string, error) {
	managed, err := m.records.Managed(ctx)
	if err != nil {
		return nil, err
	}
	tools := map[string]string{}
	for _, t := range m.plugins.PluginTools() {
		if !managed[t.Plugin] {
			tools[t.ID] = t.Name
		}
	}
	for _, p := range wanted {
		var has manifest.Manifest
		if err := json.Unmarshal([]byte(p.Manifest), &has); err != nil {
			return nil, fmt.Errorf("plugin %q: its manifest: %w", p.Name, err)
		}
		for _, t := range has.Tools {
			tools[registry.ToolID(p.Name, t.Name)] = t.Name
		}
	}
	return tools, nil
}

// Pronunciation implements agent.Host.
func (m *member) Pronunciation(word, spoken string) (store.Pronunciation, error) {
	e, err := text.NewEntry(word, spoken)
	return store.Pronunciation{Key: e.Key, Word: word, Spoken: spoken}, err
}

// wantCheck checks what the hub wants of one account.
type wantCheck struct {
	account fleet.Account
	library []voice.Base
	tools   map[string]string // names of the tools of plugins, by id
}

func (c wantCheck) check() error {
	if err := contract.CheckAccountName(c.account.Name); err != nil {
		return err
	}
	for _, k := range c.account.Keys {
		if err := contract.CheckKeyLabel(k.Label); err != nil {
			return fmt.Errorf("key %s: %w", k.ID, err)
		}
		if len(k.APIHash) != hashBytes || len(k.SecretHash) != hashBytes {
			return fmt.Errorf("key %s: its hashes have %d and %d bytes; SHA-256 has %d", k.ID, len(k.APIHash),
				len(k.SecretHash), hashBytes)
		}
	}
	for _, p := range c.account.Prompts {
		if _, err := contract.Parse[contract.PostedPromptVersion](p.Content); err != nil {
			return resourceError("prompt", p, err)
		}
	}
	for _, t := range c.account.Tools {
		if _, err := contract.Parse[contract.PostedUserDefinedToolVersion](t.Content); err != nil {
			return resourceError("tool", t, err)
		}
		if err := checkToolName(t.Name); err != nil {
			return resourceError("tool", t, err)
		}
	}
	for _, v := range c.account.Voices {
		if err := c.checkRecipe(v); err != nil {
			return fmt.Errorf("voice %q: %w", v.Name, err)
		}
	}
	for _, r := range c.account.Configs {
		if err := c.checkConfig(r); err != nil {
			return resourceError("config", r, err)
		}
	}
	return nil
}

// hashBytes is the length of SHA-256.
const hashBytes = 32

func resourceError(kind string, r fleet.Resource, err error) error {
	return fmt.Errorf("version %d of the %s %q (%s): %w", r.Version, kind, r.Name, r.ID, err)
}

func checkToolName(name string) error {
	body, err := json.Marshal(map[string]string{"name": name})
	if err != nil {
		return err
	}
	_, err = contract.ParsePostedToolName(body)
	return err
}

// checkRecipe checks that the box has the voices of which a voice is made.
func (c wantCheck) checkRecipe(v fleet.Voice) error {
	var r voice.Recipe
	if err := json.Unmarshal(v.Recipe, &r); err != nil {
		return fmt.Errorf("recipe: %w", err)
	}
	if len(r.Parts) == 0 {
		return fmt.Errorf("recipe: it names no voice")
	}
	for i, p := range r.Parts {
		if !slices.ContainsFunc(c.library, func(b voice.Base) bool { return b.ID == p.Voice }) {
			return fmt.Errorf("recipe.parts[%d]: this box does not have the voice %.60q; install its pack (parley "+
				"packs)", i, p.Voice)
		}
	}
	return nil
}

// checkConfig checks a config and that all is there that it uses.
func (c wantCheck) checkConfig(r fleet.Resource) error {
	posted, err := contract.Parse[contract.PostedConfigVersion](r.Content)
	if err != nil {
		return err
	}
	if len(r.Answers) > 0 {
		var all contract.Answers
		if err := json.Unmarshal(r.Answers, &all); err != nil {
			return fmt.Errorf("answers: %w", err)
		}
	}
	if p := posted.Prompt; p != nil && p.ID != "" && find(c.account.Prompts, p.ID, p.Version) == nil {
		return fmt.Errorf("prompt: the hub does not send the %s", versionText("prompt", p.ID, p.Version))
	}
	if err := c.checkVoice(posted.Voice); err != nil {
		return err
	}
	return c.checkTools(posted)
}

// checkVoice checks that the box or the want has the voice of a config.
func (c wantCheck) checkVoice(ref *contract.VoiceRef) error {
	if ref == nil {
		return nil
	}
	sent := slices.ContainsFunc(c.account.Voices, func(v fleet.Voice) bool {
		return v.ID == ref.ID || ref.ID == "" && store.FoldedName(v.Name) == store.FoldedName(ref.Name)
	})
	if sent && ref.Provider != contract.VoiceLibrary {
		return nil
	}
	named := cmp.Or(ref.ID, ref.Name)
	if b, ok := voice.Find(c.library, strings.TrimSpace(named)); ok && ref.Provider != contract.VoiceCustom &&
		(ref.ID == "" || ref.ID == b.ID) {
		return nil
	}
	return fmt.Errorf("voice: this box does not have %.60q; install its pack (parley packs), or save the voice on "+
		"the hub", cmp.Or(ref.Name, ref.ID))
}

// checkTools checks that all tools of a config are there, under different names.
func (c wantCheck) checkTools(posted contract.PostedConfigVersion) error {
	used := map[string]bool{}
	for _, t := range posted.BuiltinTools {
		used[string(t.Name)] = true
	}
	for i, ref := range posted.Tools {
		name, ok := c.tools[ref.ID]
		if t := find(c.account.Tools, ref.ID, ref.Version); t != nil {
			name, ok = t.Name, true
		}
		if !ok {
			return fmt.Errorf("tools[%d]: the hub does not send the %s, and no plugin of this box has it", i,
				versionText("tool", ref.ID, ref.Version))
		}
		if used[name] {
			return fmt.Errorf("tools[%d]: another tool of the config is also named %q; a model calls tools by their "+
				"names", i, name)
		}
		used[name] = true
	}
	return nil
}

// find returns the version of a resource that a reference means; nil if it is not there.
func find(all []fleet.Resource, id string, version *int) (found *fleet.Resource) {
	for i, r := range all {
		if r.ID == id && (version == nil && (found == nil || found.Version < r.Version) ||
			version != nil && *version == r.Version) {
			found = &all[i]
		}
	}
	return found
}

func versionText(kind, id string, version *int) string {
	if version == nil {
		return fmt.Sprintf("%s %s", kind, id)
	}
	return fmt.Sprintf("version %d of the %s %s", *version, kind, id)
}
