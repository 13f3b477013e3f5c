package api

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// BoxPlugins looks after the plugins that are installed on the box, for its
// operator. Errors are of the contract.
type BoxPlugins interface {
	InstalledPlugins(ctx context.Context) ([]contract.ReturnPlugin, error)
	InstalledPlugin(ctx context.Context, name string) (contract.ReturnPlugin, error)
	// ExaminePlugin says what a plugin asks for, and changes nothing. What is read
	// is a module that carries its manifest, or the tar of an OCI layout.
	ExaminePlugin(ctx context.Context, from io.ReadSeeker, tag string) (contract.PluginOffer, error)
	// InstallPlugin installs it, or where name is not empty has it take the place
	// of that one.
	InstallPlugin(ctx context.Context, name string, from io.ReadSeeker, how PluginChoice) (contract.ReturnPlugin, error)
	ChangePlugin(ctx context.Context, name string, c contract.PostedPluginChange) (contract.ReturnPlugin, error)
	RemovePlugin(ctx context.Context, name string) error
	CallPlugin(ctx context.Context, account, name string, c contract.PostedPluginCall) (contract.PluginCalled, error)
	// PluginLog is the newest lines of its log, at most so many.
	PluginLog(ctx context.Context, name string, most int) ([]contract.PluginLogLine, error)
	// FollowPlugin tells these, one by one, and then what comes, until ctx ends or
	// the plugin is gone.
	FollowPlugin(ctx context.Context, name string, most int, tell func(any) error) error
	PluginFigures(ctx context.Context, name string) ([]contract.PluginFigures, error)
}

// PluginChoice is how somebody wants a plugin installed.
type PluginChoice struct {
	Tag         string
	Grant       []string
	OtherSigner bool
}

// pluginBody is the largest plugin that is taken: a module of 64 MiB, which is the
// most, with what lies beside it in a tar.
const pluginBody = 80 << 20

// mostLogLines is how many lines of a log one answer holds: about all of it.
const mostLogLines = 10_000

func (a *API) pluginRoutes() []route {
	const path = "/v0/box/plugins"
	const one = path + "/{name}"
	upload := func(id, summary, more string, query []describe.Parameter, answers []describe.Answer) describe.Operation {
		return describe.Operation{
			ID:      id,
			Section: "Plugins of the box",
			Summary: summary,
			More:    more,
			Query:   query,
			Upload:  "application/octet-stream",
			Answers: answers,
			Refuses: []int{409},
		}
	}
	says := section("Plugins of the box")
	tag := describe.Parameter{Name: "tag", Says: "Of an OCI layout that holds several images, the one that is meant.",
		Schema: describe.Text()}
	choice := []describe.Parameter{
		tag,
		{Name: "grant",
			Says:   "What it may do, by the names that examining it tells, or all; once for each. Without it, nothing.",
			Schema: describe.Text()},
	}
	other := describe.Parameter{Name: "other_signer",
		Says:   "Take it also where somebody else has signed it than what is installed.",
		Schema: describe.Flag().Or(false)}
	lines := describe.Parameter{Name: "lines", Says: "The newest so many.",
		Schema: describe.Number(1, mostLogLines).Or(100)}
	const form = "The body is a module that carries its manifest, or the tar of an OCI image layout."
	return []route{
		{"GET", path, describe.Operator, unread, normal, storesNothing, a.ofShelf(a.listPlugins),
			says(describe.Operation{ID: "listPlugins", Summary: "The plugins that are installed",
				Answers: ok([]contract.ReturnPlugin{})})},
		{"POST", "/v0/box/plugin-offers", describe.Operator, pluginBody, bulk, storesNothing,
			a.ofShelf(a.examinePlugin),
			upload("examinePlugin", "What a plugin asks for", form+" Nothing is changed.", []describe.Parameter{tag},
				ok(contract.PluginOffer{}))},
		{"POST", path, describe.Operator, pluginBody, bulk, storing, a.ofShelf(a.installPlugin),
			upload("installPlugin", "Install a plugin", form, choice, made(contract.ReturnPlugin{}))},
		{"GET", one, describe.Operator, unread, normal, storesNothing, a.ofShelf(a.getPlugin),
			says(describe.Operation{ID: "getPlugin", Summary: "One plugin", Answers: ok(contract.ReturnPlugin{})})},
		{"PUT", one, describe.Operator, pluginBody, bulk, storing, a.ofShelf(a.upgradePlugin),
			upload("upgradePlugin", "Put another version in its place",
				form+" What is installed goes on until the new one has passed the tests that came along with it.",
				append(choice, other), ok(contract.ReturnPlugin{}))},
		{"PATCH", one, describe.Operator, recordBody, normal, storing, a.ofShelf(reading(a.changePlugin)),
			says(describe.Operation{
				ID:      "changePlugin",
				Summary: "Let it do more or less, or tell it settings",
				More: "What is revoked is revoked first, then what is granted is granted, then the settings are set. " +
					"Secrets are never told again.",
				Body:    "PostedPluginChange",
				Example: `{"grant":["storage"],"settings":[{"name":"city","value":"Ulm"}]}`,
				Answers: ok(contract.ReturnPlugin{}),
				Refuses: []int{409},
			})},
		{"DELETE", one, describe.Operator, unread, normal, storesNothing, a.ofShelf(a.removePlugin),
			says(describe.Operation{ID: "removePlugin", Summary: "Remove it with all that it keeps",
				Answers: ok(confirmation{})})},
		{"POST", one + "/call", describe.Operator, recordBody, bulk, storesNothing, a.ofShelf(reading(a.callPlugin)),
			says(describe.Operation{
				ID:      "callPlugin",
				Summary: "Call a tool of it",
				More:    "As a chat of the key's account would. That the tool fails is told in error.",
				Body:    "PostedPluginCall",
				Example: `{"parameters":"{\"place\":\"museum\"}"}`,
				Answers: ok(contract.PluginCalled{}),
			})},
		{"GET", one + "/logs", describe.Operator, unread, normal, storesNothing, a.ofShelf(a.pluginLog),
			says(describe.Operation{
				ID:      "pluginLog",
				Summary: "What it wrote into its log",
				Query:   []describe.Parameter{lines},
				Answers: ok([]contract.PluginLogLine{}),
			})},
		{"GET", one + "/logs/events", describe.Operator, unread, normal, storesNothing, a.ofShelf(a.followPlugin),
			says(describe.Operation{
				ID:      "followPluginLog",
				Summary: "What it writes into its log, as it does",
				More:    "Server-sent events: the data of each is a PluginLogLine. The newest lines come first.",
				Query:   []describe.Parameter{lines},
				Answers: plain("text/event-stream"),
			})},
		{"GET", one + "/figures", describe.Operator, unread, normal, storesNothing, a.ofShelf(a.pluginFigures),
			says(describe.Operation{ID: "pluginFigures",
				Summary: "How often its tools and hooks were called, and how long that took",
				Answers: ok([]contract.PluginFigures{})})},
	}
}

// ofShelf refuses where the box has no plugins.
func (a *API) ofShelf(handle handler) handler {
	return where(func() bool { return a.BoxPlugins != nil }, "this box has no plugins", handle)
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
	return a.uploaded(r, func(f io.ReadSeeker) error {
		o, err := a.BoxPlugins.ExaminePlugin(r.Context(), f, r.URL.Query().Get("tag"))
		return a.result(w, http.StatusOK, o, err)
	})
}

func (a *API) installPlugin(w http.ResponseWriter, r *http.Request, _ caller) error {
	return a.placePlugin(w, r, "", http.StatusCreated)
}

func (a *API) upgradePlugin(w http.ResponseWriter, r *http.Request, _ caller) error {
	return a.placePlugin(w, r, r.PathValue("name"), http.StatusOK)
}

func (a *API) placePlugin(w http.ResponseWriter, r *http.Request, name string, status int) error {
	how, err := pluginChoice(r.URL.Query())
	if err != nil {
		return err
	}
	return a.uploaded(r, func(f io.ReadSeeker) error {
		p, err := a.BoxPlugins.InstallPlugin(r.Context(), name, f, how)
		return a.result(w, status, p, err)
	})
}

func pluginChoice(q url.Values) (PluginChoice, error) {
	how := PluginChoice{Tag: q.Get("tag"), Grant: q["grant"]}
	if text := q.Get("other_signer"); text != "" {
		var err error
		if how.OtherSigner, err = strconv.ParseBool(text); err != nil {
			return how, contract.ErrInvalid{Field: "other_signer",
				Why: strconv.Quote(contract.Clip(text)) + " is not allowed; use true or false"}
		}
	}
	return how, nil
}

// uploaded writes the body into a file that has no name, for do to read: a plugin
// is too large to hold in memory twice.
func (a *API) uploaded(r *http.Request, do func(io.ReadSeeker) error) error {
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
	p, err := a.BoxPlugins.ChangePlugin(r.Context(), r.PathValue("name"), c)
	return a.result(w, http.StatusOK, p, err)
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
	most, err := readNumber(r.URL.Query(), "lines", 100, 1, mostLogLines)
	if err != nil {
		return err
	}
	lines, err := a.BoxPlugins.PluginLog(r.Context(), r.PathValue("name"), most)
	return a.result(w, http.StatusOK, lines, err)
}

func (a *API) followPlugin(w http.ResponseWriter, r *http.Request, by caller) error {
	most, err := readNumber(r.URL.Query(), "lines", 100, 1, mostLogLines)
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	if _, err := a.BoxPlugins.InstalledPlugin(r.Context(), name); err != nil {
		return err
	}
	return a.follow(w, r, by, func(ctx context.Context, send func(any) error) error {
		return a.BoxPlugins.FollowPlugin(ctx, name, most, send)
	})
}

func (a *API) pluginFigures(w http.ResponseWriter, r *http.Request, _ caller) error {
	all, err := a.BoxPlugins.PluginFigures(r.Context(), r.PathValue("name"))
	return a.result(w, http.StatusOK, all, err)
}
