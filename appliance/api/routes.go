package api

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// routes is every way into the box, in the order in which the descriptions
// have them: what people come for is first.
func (a *API) routes() []route {
	return slices.Concat([]route{
		{"GET", "/v0/evi/chat", describe.Token, unread, whileItLasts, storing, a.chat, chatSays()},
		{"GET", "/v0/assistant/chat", describe.Token, unread, whileItLasts, storing, a.chat, olderChatSays()},
		{"GET", "/v0/evi/chat/{id}/connect", describe.Token, unread, whileItLasts, storesNothing, a.connect,
			connectSays()},
		{"POST", "/v0/evi/chat/{id}/send", describe.Account, recordBody, normal, storesNothing, a.send, sendSays()},
		{"GET", "/v0/evi/chat/{id}/turns", describe.Account, unread, quick, storesNothing, a.turns, describe.Operation{
			ID:      "listTurns",
			Section: "Live chats",
			Summary: "How long the stages of a live chat's turns took",
			More: "The newest hundred that were answered aloud, the oldest first. They are gone with the chat. An " +
				"answer is prepared while the silence that ends a turn is still waited for, so some of its stages " +
				"come before the end of the turn.",
			Answers: ok(contract.ReturnTurns{}),
			Refuses: []int{404},
		}},
		{"POST", callPath, describe.Token, offerBody, normal, storing, a.ofCalls(a.call), callSays()},
		{"PATCH", callPath + "/calls/{id}", describe.Token, offerBody, normal, storesNothing, a.ofCalls(a.changeCall),
			changeCallSays()},
		{"DELETE", callPath + "/calls/{id}", describe.Token, unread, normal, storesNothing, a.ofCalls(a.endCall),
			endCallSays()},
		{"POST", "/oauth2-cc/token", describe.Client, tokenBody, normal, storesNothing, a.makeToken, describe.Operation{
			ID:      "createToken",
			Section: "Access",
			Summary: "Make an access token",
			More: "For 30 minutes it opens live chats, speech and the list of voices, and nothing else: what a " +
				"page in a browser needs, which then need not hold the key.",
			Form:    tokenAsked{},
			Example: `{"grant_type":"client_credentials"}`,
			Answers: append(ok(tokenMade{}), describe.Answer{Status: 400, Value: tokenRefused{}},
				describe.Answer{Status: 401, Value: tokenRefused{}}),
			Refuses: []int{413},
		}},
		{"GET", "/ca.crt", describe.Anybody, unread, quick, storesNothing, a.authority, describe.Operation{
			ID:      "authority",
			Section: "Access",
			Summary: "The certificate that clients of this box have to trust",
			More: "Of a box that made its own certificate. Compare its fingerprint with the one that the box " +
				"shows at its start.",
			Answers: plain("application/x-x509-ca-cert"),
			Refuses: []int{404},
		}},
		{"GET", "/v0/evi/language-models", describe.Account, unread, quick, storesNothing, a.languageModels,
			describe.Operation{
				ID:      "listLanguageModels",
				Section: "Language models",
				Summary: "What this box can serve",
				Answers: ok(contract.ReturnLanguageModels{}),
			}},
	},
		a.historyRoutes(),
		a.ttsRoutes(),
		versionedRoutes("/v0/evi/configs", a.configs(),
			versionedWords{"Config", "Configs", "PostedConfig", "PostedConfigVersion", "PostedName",
				`{"name":"Museum guide","evi_version":"4-mini","prompt":{"text":"You show visitors around. Answer ` +
					`briefly."}}`, `{"evi_version":"4-mini","version_description":"without a prompt"}`}),
		versionedRoutes("/v0/evi/prompts", a.prompts(),
			versionedWords{"Prompt", "Prompts", "PostedPrompt", "PostedPromptVersion", "PostedName",
				`{"name":"Museum guide","text":"You show visitors around. Answer briefly."}`,
				`{"text":"You show children around.","version_description":"for children"}`}),
		versionedRoutes("/v0/evi/tools", a.tools(),
			versionedWords{"Tool", "Tools", "PostedUserDefinedTool", "PostedUserDefinedToolVersion",
				"PostedUserDefinedToolName",
				`{"name":"opening_hours","description":"When the museum is ` +
					`open","parameters":"{\"type\":\"object\",\"properties\":{\"day\":{\"type\":\"string\"}}}"}`,
				`{"parameters":"{\"type\":\"object\"}"}`}),
		a.voiceRoutes(),
		a.lexiconRoutes(),
		a.pluginRoutes(),
		a.keyRoutes(),
		a.kioskRoutes(),
		a.aliasRoutes(),
		a.webhookRoutes(),
		a.packRoutes(),
		a.healthRoutes(),
		a.pageRoutes(),
		a.speakerRoutes(),
		[]route{
			{"GET", "/{$}", describe.Anybody, unread, quick, storesNothing, a.front, describe.Operation{
				ID:      "about",
				Section: "The box",
				Summary: "What this is, for people",
				More:    "For a browser (Accept: text/html) it is the console.",
				Answers: []describe.Answer{{Status: 200, Media: "text/plain", Also: []string{"text/html"}},
					unchanged()},
			}},
			{"GET", "/healthz", describe.Anybody, unread, quick, storesNothing, a.health, describe.Operation{
				ID:      "health",
				Section: "The box",
				Summary: "Whether the box runs",
				Answers: ok(state{}),
			}},
			{"GET", "/readyz", describe.Anybody, unread, quick, storesNothing, a.readiness, describe.Operation{
				ID:      "ready",
				Section: "The box",
				Summary: "Whether a conversation could start",
				Answers: append(ok(state{}),
					describe.Answer{Status: 503, Says: "Not yet; missing says why", Value: state{}}),
			}},
			{"GET", "/metrics", describe.Operator, unread, normal, storesNothing, a.metrics, describe.Operation{
				ID:      "metrics",
				Section: "The box",
				Summary: "Figures of the whole box, for Prometheus",
				More:    "They hold nothing that was said.",
				Answers: plain("text/plain"),
			}},
			{"GET", "/docs", describe.Anybody, unread, quick, storesNothing, a.document(func(d documents) document {
				return d.page
			}), describe.Operation{
				ID:      "docs",
				Section: "The box",
				Summary: "This interface, to read",
				Answers: append(plain("text/html"), unchanged()),
			}},
			{"GET", "/openapi.json", describe.Anybody, unread, quick, storesNothing,
				a.document(func(d documents) document {
					return d.openAPI
				}), describe.Operation{
					ID:      "openapi",
					Section: "The box",
					Summary: "The paths in OpenAPI 3.1",
					Answers: append(plain("application/json"), unchanged()),
				}},
			{"GET", "/asyncapi.json", describe.Anybody, unread, quick, storesNothing,
				a.document(func(d documents) document {
					return d.asyncAPI
				}), describe.Operation{
					ID:      "asyncapi",
					Section: "The box",
					Summary: "The sockets in AsyncAPI 3.0",
					Answers: append(plain("application/json"), unchanged()),
				}},
		},
	)
}

// versionedRoutes are the ways to configs, to prompts and to tools.
func versionedRoutes[R any](path string, v versioned[R], t versionedWords) []route {
	one, version := path+"/{id}", path+"/{id}/version/{version}"
	var record R
	page := v.page(contract.Paging{}, nil)
	list := append(pageQuery(), describe.Parameter{Name: "restrict_to_most_recent",
		Says: "Only the newest version of each.", Schema: describe.Flag().Or(true)})
	named := append(list, describe.Parameter{Name: "name", Says: "Only what has this name.", Schema: describe.Text()})
	return []route{
		{"GET", path, describe.Account, unread, normal, storesNothing, v.list,
			t.says("list"+t.many, "List "+strings.ToLower(t.many),
				describe.Operation{Query: named, More: t.beside(), Answers: ok(page)})},
		{"POST", path, describe.Account, recordBody, normal, storing, v.create,
			t.says("create"+t.one, "Make a "+strings.ToLower(t.one), describe.Operation{
				Body:    t.first,
				Example: t.firstExample,
				Answers: made(record),
				Refuses: t.finds(),
			})},
		{"GET", one, describe.Account, unread, normal, storesNothing, v.versions,
			t.says("list"+t.one+"Versions", "List the versions", describe.Operation{Query: list, Answers: ok(page)})},
		{"POST", one, describe.Account, recordBody, normal, storing, v.addVersion,
			t.says("create"+t.one+"Version", "Make a new version", describe.Operation{
				Body:    t.next,
				Example: t.nextExample,
				Answers: made(record),
				Refuses: t.fixed(),
			})},
		{"PATCH", one, describe.Account, recordBody, normal, storing, v.rename,
			t.says("update"+t.one+"Name", "Give it another name", describe.Operation{
				Body:    t.name,
				Example: `{"name":"guide_2"}`,
				Answers: plain("text/plain"),
				Refuses: t.fixed(),
			})},
		{"DELETE", one, describe.Account, unread, normal, storesNothing, v.delete,
			t.says("delete"+t.one, "Delete it with all versions",
				describe.Operation{Answers: ok(confirmation{}), Refuses: t.fixed()})},
		{"GET", version, describe.Account, unread, normal, storesNothing, v.get,
			t.says("get"+t.one+"Version", "Get a version", describe.Operation{Answers: ok(record)})},
		{"PATCH", version, describe.Account, recordBody, normal, storing, v.describe,
			t.says("update"+t.one+"Description", "Describe a version anew", describe.Operation{
				Body:    "PostedVersionDescription",
				Example: `{"version_description":"for children"}`,
				Answers: ok(record),
				Refuses: t.fixed(),
			})},
		{"DELETE", version, describe.Account, unread, normal, storesNothing, v.deleteVersion,
			t.says("delete"+t.one+"Version", "Delete a version",
				describe.Operation{Answers: ok(confirmation{}), Refuses: t.fixed()})},
	}
}

// register also answers OPTIONS and, in JSON, for the methods that a path does not
// take and for the paths that there are not.
func (a *API) register(routes []route) {
	allowed, takes := map[string][]string{}, map[string]http.Header{}
	accepts := map[string]string{http.MethodPost: "Accept-Post", http.MethodPatch: "Accept-Patch"}
	for _, rt := range routes {
		a.mux.Handle(rt.method+" "+rt.path, a.gate(rt))
		allowed[rt.path] = append(allowed[rt.path], rt.method)
		if header := accepts[rt.method]; header != "" && strings.Contains(rt.says.Upload, "/") {
			if takes[rt.path] == nil {
				takes[rt.path] = http.Header{}
			}
			takes[rt.path].Set(header, strings.TrimSuffix(rt.says.Upload+", "+rt.says.Also, ", "))
		}
		if rt.method == http.MethodGet {
			allowed[rt.path] = append(allowed[rt.path], http.MethodHead)
		}
	}
	for path, methods := range allowed {
		slices.Sort(methods)
		a.mux.Handle(path, a.answering(func(w http.ResponseWriter, r *http.Request) error {
			if err := a.shares.address(r, false); err != nil {
				return err
			}
			w.Header().Set("Allow", strings.Join(methods, ", "))
			if r.Method == http.MethodOptions { // a client of WHIP asks so what is taken (RFC 9725, section 4.2)
				maps.Copy(w.Header(), takes[path])
				w.WriteHeader(http.StatusNoContent)
				return nil
			}
			return contract.ErrMethod{Method: r.Method, Allowed: methods}
		}))
	}
	a.mux.Handle("/", a.answering(func(_ http.ResponseWriter, r *http.Request) error {
		return cmp.Or(a.shares.address(r, false), error(contract.ErrNotFound{What: "path", ID: r.URL.Path}))
	}))
}
