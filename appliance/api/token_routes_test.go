package api

import (
	"encoding/json"
	"strings"
	"testing"

	"parley/appliance/contract"
)

// tokenRoutes lists what a visitor's browser may do: talk, and request speech.
// None of them lists, changes or deletes what others said or what the operator
// set.
var tokenRoutes = map[string]bool{
	"GET /v0/evi/chat":                      true,
	"GET /v0/assistant/chat":                true,
	"GET /v0/evi/chat/{id}/connect":         true, // of a chat whose opener allowed it
	"POST /v0/evi/chat/webrtc":              true,
	"PATCH /v0/evi/chat/webrtc/calls/{id}":  true,
	"DELETE /v0/evi/chat/webrtc/calls/{id}": true,
	"GET /v0/tts/stream/input":              true,
	"POST /v0/tts":                          true,
	"POST /v0/tts/file":                     true,
	"POST /v0/tts/stream/json":              true,
	"POST /v0/tts/stream/file":              true,
	"GET /v0/tts/generations/{id}/file":     true,
	"POST /v0/tts/voice_conversion/json":    true,
	"POST /v0/tts/voice_conversion/file":    true,
	"GET /v0/tts/voices":                    true,
}

// Every visitor can have a token. A route that is added later is closed to it.
func TestAnAccessTokenOpensItsListAndNothingElse(t *testing.T) {
	a, rows := echoAPI(t)
	opened := map[string]bool{}
	for _, rt := range rows {
		name := rt.method + " " + rt.path
		for _, whose := range []string{"client", "operator"} {
			w := try(a, rt, "", 0, "Authorization", "Bearer "+whose+" token")
			switch {
			case rt.access == byAnyone || rt.access == byLink || rt.access == bySecret:
				continue // needs no token
			case tokenRoutes[name]:
				opened[name] = true
				if w.Code != 200 {
					t.Errorf("%s with the token of a key of a %s: %d %s, want 200", name, whose, w.Code, w.Body)
				}
				continue
			}
			var p problem
			of := contract.OpenAIError{}
			err := json.Unmarshal(w.Body.Bytes(), &p)
			if rt.access == byBearer {
				err = json.Unmarshal(w.Body.Bytes(), &of)
				p = problem{Code: *of.Error.Code, Message: of.Error.Message}
			}
			if err != nil || w.Code != 403 || p.Code != "forbidden" ||
				!strings.Contains(p.Message, "access token") || !strings.Contains(p.Message, "API key") {
				t.Errorf("%s with a token of a key of a %s: %d %s, want 403 and \"API key\"", name, whose, w.Code,
					w.Body)
			}
		}
		if w := try(a, rt, "access_token=client+token", 0); rt.isSocket() && rt.access != byAnyone &&
			tokenRoutes[name] != (w.Code == 200) {
			t.Errorf("%s with a token in the query: %d %s", name, w.Code, w.Body)
		}
	}
	if len(opened) != len(tokenRoutes) {
		t.Errorf("there are rows for %d of the %d routes of a token: %v", len(opened), len(tokenRoutes), opened)
	}
}
