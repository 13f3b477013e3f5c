package api

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

// BoxPlugins manages the installed plugins. Its errors are those of package
// contract.
type BoxPlugins interface {
	InstalledPlugins(ctx context.Context) ([]contract.ReturnPlugin, error)
	InstalledPlugin(ctx context.Context, name string) (contract.ReturnPlugin, error)
	// ExaminePlugin returns what a plugin asks for and changes nothing. It reads
	// a module with an embedded manifest, or the tar of an OCI layout.
	ExaminePlugin(ctx context.Context, from io.ReadSeeker, tag string) (contract.PluginOffer, error)
	// InstallPlugin installs a plugin. If name is not empty, the plugin replaces
	// the one of that name.
	InstallPlugin(ctx context.Context, name string, from io.ReadSeeker,
		how contract.PluginChoice) (contract.ReturnPlugin, error)
	ChangePlugin(ctx context.Context, name string, c contract.PostedPluginChange) (contract.ReturnPlugin, error)
	RemovePlugin(ctx context.Context, name string) error
	CallPlugin(ctx context.Context, account, name string, c contract.PostedPluginCall) (contract.PluginCalled, error)
	// PluginLog returns the newest lines of a plugin's log, at most so many.
	PluginLog(ctx context.Context, name string, most int) ([]contract.PluginLogLine, error)
	// FollowPlugin calls send with these lines and then with new ones, until ctx
	// ends or the plugin is removed.
	FollowPlugin(ctx context.Context, name string, most int, send func(any) error) error
	PluginFigures(ctx context.Context, name string) ([]contract.PluginFigures, error)
}

// maxLogLines bounds the log lines in one answer: about a whole log.
const maxLogLines = 10_000

func aboutPlugins() descriptions {
	const form = "The body is a module with an embedded manifest, or the tar of an OCI image layout."
	tag := parameter("tag", "Which image of an OCI layout with several images.", describe.String())
	grant := parameter("grant",
		"The name of a permission to grant, as examining the plugin lists them, or all. Repeat it for several.",
		describe.String())
	lines := parameter("lines", "How many of the newest lines.", describe.Integer(1, maxLogLines).WithDefault(100))
	return inSection("Plugins of the box", descriptions{
		"GET /v0/box/plugins": {
			ID:      "listPlugins",
			Summary: "List the installed plugins",
			Answers: ok([]contract.ReturnPlugin{}),
		},
		"POST /v0/box/plugin-offers": {
			ID:          "examinePlugin",
			Summary:     "Examine a plugin",
			Description: form + " The answer lists what the plugin asks for. Nothing is changed.",
			Query:       []describe.Parameter{tag},
			Upload:      "application/octet-stream",
			Answers:     ok(contract.PluginOffer{}),
			Errors:      []int{409},
		},
		"POST /v0/box/plugins": {
			ID:          "installPlugin",
			Summary:     "Install a plugin",
			Description: form,
			Query:       []describe.Parameter{tag, grant},
			Upload:      "application/octet-stream",
			Answers:     created(contract.ReturnPlugin{}),
			Errors:      []int{409},
		},
		"GET /v0/box/plugins/{name}": {
			ID:      "getPlugin",
			Summary: "Get a plugin",
			Answers: ok(contract.ReturnPlugin{}),
		},
		"PUT /v0/box/plugins/{name}": {
			ID:          "upgradePlugin",
			Summary:     "Replace a plugin by another version",
			Description: form + " The installed version keeps running until the new one has passed its own tests.",
			Query: []describe.Parameter{
				tag,
				grant,
				parameter("other_signer", "Accept a plugin that another key has signed.",
					describe.Boolean().WithDefault(false)),
			},
			Upload:  "application/octet-stream",
			Answers: ok(contract.ReturnPlugin{}),
			Errors:  []int{409},
		},
		"PATCH /v0/box/plugins/{name}": {
			ID:      "changePlugin",
			Summary: "Change a plugin's permissions and settings",
			Description: "Permissions are revoked first, then granted, then the settings are set. Secrets are never " +
				"shown again.",
			Body:    "PostedPluginChange",
			Example: `{"grant":["storage"],"settings":[{"name":"city","value":"Ulm"}]}`,
			Answers: ok(contract.ReturnPlugin{}),
			Errors:  []int{409},
		},
		"DELETE /v0/box/plugins/{name}": {
			ID:      "removePlugin",
			Summary: "Remove a plugin and its data",
			Answers: ok(confirmation{}),
		},
		"POST /v0/box/plugins/{name}/call": {
			ID:          "callPlugin",
			Summary:     "Call a plugin's tool",
			Description: "Calls the tool like a chat of the key's account. If the tool fails, the answer has an error.",
			Body:        "PostedPluginCall",
			Example:     `{"parameters":"{\"place\":\"museum\"}"}`,
			Answers:     ok(contract.PluginCalled{}),
		},
		"GET /v0/box/plugins/{name}/logs": {
			ID:      "pluginLog",
			Summary: "Read a plugin's log",
			Query:   []describe.Parameter{lines},
			Answers: ok([]contract.PluginLogLine{}),
		},
		"GET /v0/box/plugins/{name}/logs/events": {
			ID:          "followPluginLog",
			Summary:     "Follow a plugin's log",
			Description: "Server-sent events whose data is a PluginLogLine each, starting with the newest lines.",
			Query:       []describe.Parameter{lines},
			Answers:     ofType("text/event-stream"),
		},
		"GET /v0/box/plugins/{name}/figures": {
			ID:      "pluginFigures",
			Summary: "Calls and durations of a plugin's tools and hooks",
			Answers: ok([]contract.PluginFigures{}),
		},
	})
}

// ifPlugins answers 503 where the box has no plugins.
func (a *API) ifPlugins(handle handler) handler {
	return available(func() bool { return a.BoxPlugins != nil }, "this box has no plugins", handle)
}

func (a *API) listPlugins(w http.ResponseWriter, r *http.Request, _ caller) error {
	all, err := a.BoxPlugins.InstalledPlugins(r.Context())
	return a.result(w, http.StatusOK, all, err)
}

func (a *API) getPlugin(w http.ResponseWriter, r *http.Request, _ caller) error {
	p, err := a.BoxPlugins.InstalledPlugin(r.Context(), r.PathValue("name"))
	return a.result(w, http.StatusOK, p, err)
}

func (a *API) examinePlugin(w http.ResponseWriter, r *http.Request, _ caller) error {
	return a.withUpload(r, func(f io.ReadSeeker) error {
		o, err := a.BoxPlugins.ExaminePlugin(r.Context(), f, r.URL.Query().Get("tag"))
		return a.result(w, http.StatusOK, o, err)
	})
}

func (a *API) installPlugin(w http.ResponseWriter, r *http.Request, _ caller) error {
	return a.putPlugin(w, r, "", http.StatusCreated)
}

func (a *API) upgradePlugin(w http.ResponseWriter, r *http.Request, _ caller) error {
	return a.putPlugin(w, r, r.PathValue("name"), http.StatusOK)
}

func (a *API) putPlugin(w http.ResponseWriter, r *http.Request, name string, status int) error {
	how, err := pluginChoice(r.URL.Query())
	if err != nil {
		return err
	}
	return a.withUpload(r, func(f io.ReadSeeker) error {
		store.AmendAct(r.Context(), func(one *store.Act) {
			one.Text += listed("allowing", how.Grant)
		})
		p, err := a.BoxPlugins.InstallPlugin(r.Context(), name, f, how)
		return a.result(w, status, p, err)
	})
}

func pluginChoice(q url.Values) (contract.PluginChoice, error) {
	how := contract.PluginChoice{Tag: q.Get("tag"), Grant: q["grant"]}
	if text := q.Get("other_signer"); text != "" {
		var err error
		if how.OtherSigner, err = strconv.ParseBool(text); err != nil {
			return how, contract.ErrInvalid{Field: "other_signer",
				Why: strconv.Quote(contract.Clip(text)) + " is not allowed; use true or false"}
		}
	}
	return how, nil
}

// withUpload copies the body into an unnamed file and calls do with it. A plugin
// is too large to hold in memory twice.
func (a *API) withUpload(r *http.Request, do func(io.ReadSeeker) error) error {
	f, err := os.CreateTemp("", "parley-plugin-")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	if _, err := io.Copy(f, r.Body); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return do(f)
}

func (a *API) changePlugin(w http.ResponseWriter, r *http.Request, _ caller, c contract.PostedPluginChange) error {
	store.AmendAct(r.Context(), func(one *store.Act) {
		var names []string // never the values, which may be secrets
		for _, answer := range c.Settings {
			names = append(names, answer.Name)
		}
		one.Text += listed("allowing", c.Grant) + listed("no longer allowing", c.Revoke) +
			listed("setting", names) + listed("clearing", c.Unset)
	})
	p, err := a.BoxPlugins.ChangePlugin(r.Context(), r.PathValue("name"), c)
	return a.result(w, http.StatusOK, p, err)
}

// listed returns words such as ", allowing a, b" for the text of an act; nothing for no
// names.
func listed(verb string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", " + verb + " " + strings.Join(names, ", ")
}

func (a *API) removePlugin(w http.ResponseWriter, r *http.Request, _ caller) error {
	err := a.BoxPlugins.RemovePlugin(r.Context(), r.PathValue("name"))
	return a.result(w, http.StatusOK, confirmation{"plugin removed"}, err)
}

func (a *API) callPlugin(w http.ResponseWriter, r *http.Request, by caller, c contract.PostedPluginCall) error {
	called, err := a.BoxPlugins.CallPlugin(r.Context(), by.AccountID, r.PathValue("name"), c)
	return a.result(w, http.StatusOK, called, err)
}

func (a *API) pluginLog(w http.ResponseWriter, r *http.Request, _ caller) error {
	most, err := readNumber(r.URL.Query(), "lines", 100, 1, maxLogLines)
	if err != nil {
		return err
	}
	lines, err := a.BoxPlugins.PluginLog(r.Context(), r.PathValue("name"), most)
	return a.result(w, http.StatusOK, lines, err)
}

func (a *API) followPlugin(w http.ResponseWriter, r *http.Request, by caller) error {
	most, err := readNumber(r.URL.Query(), "lines", 100, 1, maxLogLines)
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	if _, err := a.BoxPlugins.InstalledPlugin(r.Context(), name); err != nil {
		return err
	}
	return a.streamEvents(w, r, by, func(ctx context.Context, send func(any) error) error {
		return a.BoxPlugins.FollowPlugin(ctx, name, most, send)
	})
}

func (a *API) pluginFigures(w http.ResponseWriter, r *http.Request, _ caller) error {
	all, err := a.BoxPlugins.PluginFigures(r.Context(), r.PathValue("name"))
	return a.result(w, http.StatusOK, all, err)
}
