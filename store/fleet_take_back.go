package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// takeBack makes the hub manage what the box has exactly as the hub wants it: a box that left the fleet kept what was
// the hub's, and may come back. Nothing is lost, since nothing differs. What differs was changed on the box, and stays
// in the way.
func takeBack(ctx context.Context, c conn, w Want) error {
	var resources, voices, keys, plugins [][]string
	for _, a := range w.Accounts {
		for _, v := range a.Resources {
			resources = append(resources, []string{v.ID, a.Name, string(v.Kind), v.Name, jsonText(v.Number), v.Content,
				v.Description, v.Answers})
		}
		for _, v := range a.Voices {
			voices = append(voices, []string{v.ID, a.Name, v.Name, v.Recipe})
		}
		for _, k := range a.Keys {
			keys = append(keys, []string{k.ID, a.Name, fmt.Sprintf("%X", k.APIHash), fmt.Sprintf("%X", k.SecretHash)})
		}
	}
	for _, p := range w.Plugins {
		settings := map[string]string{}
		for _, s := range p.Settings {
			settings[s.Name] = s.Value
		}
		plugins = append(plugins, []string{p.Name, p.Digest, p.Granted, jsonText(settings)})
	}
	for _, t := range []struct {
		statement string
		wanted    [][]string
	}{
		{`UPDATE resource SET managed = 1 WHERE managed = 0
		     AND EXISTS (SELECT 1 FROM json_each(?1) w WHERE w.value ->> 0 = resource.id
		         AND w.value ->> 1 = (SELECT name FROM account WHERE num = resource.account)
		         AND w.value ->> 2 = resource.kind AND w.value ->> 3 = resource.name)
		     AND NOT EXISTS (SELECT 1 FROM resource_version v WHERE v.resource = resource.num
		         AND NOT EXISTS (SELECT 1 FROM json_each(?1) w WHERE w.value ->> 0 = resource.id
		             AND w.value ->> 4 = CAST(v.version AS TEXT) AND w.value ->> 5 = v.content
		             AND w.value ->> 6 = v.description AND w.value ->> 7 = coalesce(v.answers, '')))`, resources},
		{`UPDATE voice SET managed = 1 WHERE managed = 0 AND EXISTS (SELECT 1 FROM json_each(?) w
		   WHERE w.value ->> 0 = voice.id AND w.value ->> 1 = (SELECT name FROM account WHERE num = voice.account)
		     AND w.value ->> 2 = voice.name AND w.value ->> 3 = voice.recipe)`, voices},
		{`UPDATE key SET managed = 1 WHERE managed = 0 AND revoked_ms IS NULL AND EXISTS (SELECT 1 FROM json_each(?) w
		   WHERE w.value ->> 0 = key.id AND w.value ->> 1 = (SELECT name FROM account WHERE num = key.account)
		     AND w.value ->> 2 = hex(api_hash) AND w.value ->> 3 = hex(secret_hash))`, keys},
		{`UPDATE plugin SET managed = 1 WHERE managed = 0 AND EXISTS (SELECT 1 FROM json_each(?) w
		   WHERE w.value ->> 0 = plugin.name AND w.value ->> 1 = plugin.digest AND w.value ->> 2 = plugin.granted
		     AND (SELECT count(*) FROM json_each(w.value ->> 3)) =
		         (SELECT count(*) FROM plugin_setting s WHERE s.plugin = plugin.num AND s.sealed IS NULL)
		     AND NOT EXISTS (SELECT 1 FROM plugin_setting s WHERE s.plugin = plugin.num AND s.sealed IS NULL
		         AND NOT EXISTS (SELECT 1 FROM json_each(w.value ->> 3) x
		             WHERE x.key = s.name AND x.value = s.value)))`,
			plugins},
	} {
		if err := execute(ctx, c, t.statement, jsonText(t.wanted)); err != nil {
			return err
		}
	}
	return nil
}

// jsonText returns numbers and strings, which always encode, as JSON.
func jsonText(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
