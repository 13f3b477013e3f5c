package api

import (
	"strings"

	"parley/store"
)

// act is the entry of a route in the table of administrative acts.
type act struct {
	what string // stable name
	kind string // of the object, whose id or name is in the path
	text string // a sentence without a subject
}

// boxRead is the act of reading what only operators may read. Only refusals of it are
// recorded.
const boxRead = "box.read"

// acts returns the administrative acts by method and path. Administrative is what
// changes the box, its data or what an assistant does, also with a client's key, and
// what reveals a secret. Conversing, speaking and measuring are not. A test has every
// changing route either here or in its list of the others.
func acts() map[string]act {
	all := map[string]act{
		"DELETE /v0/evi/chat_groups/{id}": {"chats.delete", "chat group", "deleted a chat group with its chats"},
		"DELETE /v0/batch/jobs/{id}":      {"job.delete", "job", "deleted an analysis job with its results"},

		"POST /v0/tts/voices":                 {"voice.save", "voice", "saved a voice"},
		"DELETE /v0/tts/voices":               {"voice.delete", "voice", "deleted a voice"},
		"PUT /v0/box/lexicon":                 {"lexicon.replace", "lexicon", "replaced all pronunciations"},
		"PUT /v0/box/lexicon/{word}":          {"lexicon.set", "word", "set the pronunciation of a word"},
		"DELETE /v0/box/lexicon/{word}":       {"lexicon.delete", "word", "deleted the pronunciation of a word"},
		"PUT /v0/box/voice-aliases/{name}":    {"voice_alias.set", "voice alias", "set the alias of a voice"},
		"DELETE /v0/box/voice-aliases/{name}": {"voice_alias.delete", "voice alias", "deleted the alias of a voice"},

		"POST /v0/box/plugins":             {"plugin.install", "plugin", "installed a plugin"},
		"PUT /v0/box/plugins/{name}":       {"plugin.upgrade", "plugin", "replaced the files of a plugin"},
		"PATCH /v0/box/plugins/{name}":     {"plugin.change", "plugin", "changed a plugin"},
		"DELETE /v0/box/plugins/{name}":    {"plugin.remove", "plugin", "removed a plugin and its data"},
		"POST /v0/box/plugins/{name}/call": {"plugin.call", "plugin", "tried a tool of a plugin"},

		"POST /v0/box/keys":                 {"key.create", "key", "created a key"},
		"DELETE /v0/box/keys/{id}":          {"key.revoke", "key", "revoked a key"},
		"POST /v0/box/keys/{id}/regenerate": {"key.renew", "key", "gave a key new secrets"},
		"GET /v0/box/signing-keys/{name}":   {"signing_key.read", "account", "read the key that signs webhooks"},
		"POST /v0/box/signing-keys/{name}":  {"signing_key.renew", "account", "replaced the key that signs webhooks"},

		"POST /v0/box/kiosk-codes":     {"screen.code", "screen", "made a code that pairs a screen"},
		"POST /v0/box/kiosks":          {"screen.pair", "screen", "paired a screen with a code"},
		"DELETE /v0/box/kiosks/{id}":   {"screen.revoke", "screen", "unpaired a screen"},
		"POST /v0/box/sessions":        {"session.sign_in", "session", "signed in to the console"},
		"DELETE /v0/box/sessions/{id}": {"session.end", "session", "signed a browser out of the console"},
		"PUT /v0/box/password":         {"console.password", "box", "set the console's password"},
		"POST /v0/box/setup":           {"box.set_up", "box", "set the box up"},
		"POST /v0/box/restart":         {"box.restart", "box", "restarted the box"},
		"PATCH /v0/box/operator":       {"session.account", "account", "chose another account for the session"},

		"POST /v0/box/fleet/boxes":                  {"fleet.add", "fleet box", "added a box to the hub"},
		"PATCH /v0/box/fleet/boxes/{name}":          {"fleet.groups", "fleet box", "changed the groups of a box"},
		"DELETE /v0/box/fleet/boxes/{name}":         {"fleet.remove", "fleet box", "removed a box from the hub"},
		"POST /v0/box/fleet/boxes/{name}/join":      {"fleet.join", "fleet box", "made new credentials for a box"},
		"POST /v0/box/fleet/rollouts":               {"fleet.rollout", "roll-out", "began a roll-out"},
		"POST /v0/box/fleet/rollouts/{id}/stop":     {"fleet.stop", "roll-out", "stopped a roll-out"},
		"POST /v0/box/fleet/rollouts/{id}/continue": {"fleet.continue", "roll-out", "continued a roll-out early"},

		"POST /v0/box/webhooks/retry":  {"webhooks.retry", "webhooks", "made undelivered webhooks due again"},
		"POST /v0/box/webhooks/forget": {"webhooks.forget", "webhooks", "deleted undelivered webhooks"},
		"POST /v0/box/webhooks/test":   {"webhooks.test", "webhooks", "sent an example to a receiver of webhooks"},

		"POST /v0/box/packs/{name}/pull": {"pack.pull", "pack", "began to fetch a pack"},
		"DELETE /v0/box/packs/{name}":    {"pack.remove", "pack", "removed a pack"},
		"DELETE /v0/box/pack-pull":       {"pack.cancel", "pack", "stopped fetching a pack"},

		"POST /v0/box/diagnosis":                 {"box.diagnose", "box", "ran the checks of parley doctor"},
		"POST /v0/box/kiosk/start":               {"speaker.start", "speaker", "began a conversation at the speaker"},
		"POST /v0/box/kiosk/stop":                {"speaker.stop", "speaker", "ended the conversation at the speaker"},
		"POST /v0/box/phone/calls":               {"call.place", "call", "called a number"},
		"DELETE /v0/box/phone/calls/{id}":        {"call.end", "call", "hung up a call"},
		"POST /v0/box/phone/calls/{id}/transfer": {"call.transfer", "call", "transferred a call"},
	}
	for _, kind := range []store.Kind{store.KindConfig, store.KindPrompt, store.KindTool} {
		one := string(kind)
		list := "/v0/evi/" + one + "s"
		single, version := list+"/{id}", list+"/{id}/version/{version}"
		for route, verb := range map[string]act{
			"POST " + list:      {"create", one, "created a " + one},
			"POST " + single:    {"version", one, "saved a new version of a " + one},
			"PATCH " + single:   {"rename", one, "renamed a " + one},
			"DELETE " + single:  {"delete", one, "deleted a " + one + " with all its versions"},
			"PATCH " + version:  {"describe", one, "changed the description of a " + one},
			"DELETE " + version: {"delete_version", one, "deleted a version of a " + one},
		} {
			verb.what = one + "." + verb.what
			all[route] = verb
		}
	}
	return all
}

// actOf returns the administrative act of a route; its what is empty if it is none.
func actOf(all map[string]act, r row) act {
	if found, ok := all[r.method+" "+r.path]; ok || r.access != byOperator || r.method != "GET" {
		return found
	}
	return act{boxRead, "route", "asked for " + strings.TrimPrefix(r.path, "/v0/box/")}
}
