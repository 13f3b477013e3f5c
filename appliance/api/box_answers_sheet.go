package api

import (
	"math"
	"mime"
	"net/http"

	"parley/appliance/answers/sheet"
	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

func aboutAnswersSheet() descriptions {
	return inSection("Approved answers", descriptions{
		"GET /v0/box/answers/sheet": {
			ID:      "getAnswersSheet",
			Summary: "Get the approved answers of a config as a sheet",
			Description: "CSV in UTF-8 with a byte order mark. The columns are id, ask and say; a row is one way to " +
				"ask. A cell that a spreadsheet would take for a formula has an apostrophe in front, which reading " +
				"the sheet removes. The mode and the answer to unknown questions are not in it.",
			Query: []describe.Parameter{
				{Name: "config_id", Description: "The config.", Schema: describe.String(), Required: true},
				parameter("config_version", "Its version; default: the newest.", describe.Integer(0, math.MaxInt32)),
			},
			Answers: ofType("text/csv"),
			Errors:  []int{404},
		},
		"POST /v0/box/answers/sheet": {
			ID:      "readAnswersSheet",
			Summary: "Read a sheet of approved answers",
			Description: "Reads CSV as spreadsheets save it (commas, semicolons or tabs; UTF-8, UTF-16 or " +
				"Windows-1252), and answers with its items, as a config takes them. Nothing is stored. The error " +
				"names rows and columns.",
			Upload:  "text/csv",
			Answers: ok(contract.ReturnAnswersSheet{}),
		},
	})
}

func (a *API) answersSheet(w http.ResponseWriter, r *http.Request, by caller) error {
	q := r.URL.Query()
	id := q.Get("config_id")
	if id == "" {
		return contract.ErrInvalid{Field: "config_id", Why: "missing"}
	}
	version, err := readNumber(q, "config_version", store.Newest, 0, math.MaxInt32)
	if err != nil {
		return err
	}
	configs := Configs{a.Records, a.versions, installedTools{a.Plugins}}
	config, err := configs.Config(r.Context(), by.AccountID, id, &version)
	if err != nil {
		return notFound(err, "config", id)
	}
	var items []contract.AnswerItem
	if config.Answers != nil {
		items = config.Answers.Items
	}
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition",
		mime.FormatMediaType("attachment", map[string]string{"filename": config.Name + ".csv"}))
	h.Set("Cache-Control", "no-store")
	return sheet.Write(w, items)
}

func (a *API) readAnswersSheet(w http.ResponseWriter, r *http.Request, _ caller) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	items, warnings, err := sheet.Read(body)
	if err != nil {
		return contract.ErrInvalid{Field: "sheet", Why: err.Error()}
	}
	return a.result(w, http.StatusOK, contract.ReturnAnswersSheet{
		Items:    items,
		Warnings: append([]string{}, warnings...),
	}, nil)
}
