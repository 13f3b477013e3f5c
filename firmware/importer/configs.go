package importer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"parley/appliance/contract"
	"parley/store"
)

func (w *work) configs(ctx context.Context) error {
	w.models = map[contract.LanguageModelRef]int{}
	if err := w.resources(ctx, store.KindConfig, w.config); err != nil {
		return err
	}
	w.mapModels()
	return nil
}

// config makes the body of a config from its record: the record has the prompt and the
// tools whole, and the body refers to them.
func (w *work) config(ctx context.Context, record map[string]any, note func(string)) (any, string, error) {
	body := maps.Clone(record)
	for _, name := range []string{
		"id", "version", "created_on", "modified_on", "prompt", "tools", "voice", "builtin_tools",
	} {
		delete(body, name)
	}
	if p, is := record["prompt"].(map[string]any); is {
		body["prompt"] = reference(p)
		if err := w.addExpansion(ctx, p, body["prompt"].(map[string]any)); err != nil {
			return nil, "", err
		}
	}
	for _, name := range []string{"tools", "builtin_tools"} {
		list, _ := record[name].([]any)
		var kept []any
		for _, t := range list {
			if t, is := t.(map[string]any); is && name == "tools" {
				kept = append(kept, reference(t))
			} else if is {
				kept = append(kept, pick(t, "name", "fallback_content", "destinations"))
			}
		}
		if len(kept) > 0 {
			body[name] = kept
		}
	}
	if v, is := record["voice"].(map[string]any); is {
		body["voice"] = pick(v, "id", "name", "provider")
	}
	c, err := mended[contract.PostedConfigVersion](withoutName(body), note)
	if err != nil {
		return nil, "", err
	}
	if err := w.checkUses(ctx, c, note); err != nil {
		return nil, "", err
	}
	if m := c.LanguageModel; m != nil && (m.Provider != "" || m.Resource != "") {
		w.models[contract.LanguageModelRef{Provider: m.Provider, Resource: m.Resource}]++
	}
	description := c.VersionDescription
	c.VersionDescription = ""
	return c, description, nil
}

// withoutName removes the name, which only the first version of a config has.
func withoutName(body map[string]any) map[string]any {
	delete(body, "name")
	return body
}

// reference returns a reference to a prompt or a tool of which a config has the record.
func reference(record map[string]any) map[string]any {
	ref := pick(record, "id")
	if record["version_type"] != string(contract.VersionLatest) && record["version"] != nil {
		ref["version"] = record["version"]
	}
	return ref
}

// addExpansion adds the prompt expansion of a config to its reference to a prompt, where it
// is not that of the prompt.
func (w *work) addExpansion(ctx context.Context, prompt, ref map[string]any) error {
	own, is := prompt["prompt_expansion"].(map[string]any)
	if !is || own["enabled"] == nil {
		return nil
	}
	enabled, err := w.spool.number(ctx, `
		SELECT coalesce(body ->> '$.prompt_expansion.enabled', -1) FROM version
		 WHERE kind = 'prompt' AND id = ? AND version = ?`, prompt["id"], prompt["version"])
	if err == nil && (own["enabled"] == true) != (enabled == 1) {
		ref["prompt_expansion"] = own
	}
	return err
}

// checkUses notes the prompt and the tools of a config that are neither in the files nor on
// the box. The config is taken all the same, as one whose prompt was deleted.
func (w *work) checkUses(ctx context.Context, c contract.PostedConfigVersion, note func(string)) error {
	var refs []store.Ref
	if c.Prompt != nil {
		refs = append(refs, ref(store.KindPrompt, c.Prompt.ID, c.Prompt.Version))
	}
	for _, t := range c.Tools {
		refs = append(refs, ref(store.KindTool, t.ID, t.Version))
	}
	for _, r := range refs {
		found, err := w.spool.number(ctx, `
			SELECT count(*) FROM version WHERE kind = ?1 AND id = ?2 AND (?3 = -1 OR version = ?3)`,
			r.Kind, r.ID, r.Version)
		if err != nil || found > 0 {
			if err != nil {
				return err
			}
			continue
		}
		_, err = w.Store.VersionOf(ctx, w.Account.ID, r)
		if missing, is := errors.AsType[store.ErrMissing](err); is {
			note(fmt.Sprintf("it uses %s %s, which is neither in the files nor on the box", missing.What(), r.ID))
		} else if err != nil {
			return err
		}
	}
	return nil
}

func ref(kind store.Kind, id string, version *int) store.Ref {
	if version == nil {
		return store.Ref{Kind: kind, ID: id, Version: store.Newest}
	}
	return store.Ref{Kind: kind, ID: id, Version: *version}
}

// mapModels says which model of the box answers for those that configs name.
func (w *work) mapModels() {
	for _, named := range slices.SortedFunc(maps.Keys(w.models), func(a, b contract.LanguageModelRef) int {
		return w.models[b] - w.models[a]
	}) {
		if named.Provider == contract.ProviderCustom {
			w.report.mapped(Line{Kind: "language model", Name: named.Resource, Why: fmt.Sprintf(
				"%d versions of configs; the box asks this server, as the old service did", w.models[named])})
			continue
		}
		model, routed := w.Answers(contract.LanguageModel{Provider: named.Provider, Resource: named.Resource})
		why := "by a route of the settings"
		if !routed {
			why = "the default model, as no route leads to another"
		}
		w.report.mapped(Line{Kind: "language model", Name: string(named.Provider) + "/" + named.Resource, To: model,
			Why: fmt.Sprintf("%d versions of configs; %s", w.models[named], why)})
	}
}
