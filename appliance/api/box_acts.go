package api

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

func aboutActs() descriptions {
	list := append(pageQuery(),
		moment("since", "Only acts at or after this time:"),
		moment("until", "Only acts before this time:"),
		parameter("who", "Only acts of this key, session or user: a part of its id or name; or of this kind of actor.",
			describe.String()),
		parameter("what", "Only acts of this name, such as key.create, or with this first part, such as key.",
			describe.String()),
		parameter("outcome", "Only acts with this outcome.", describe.Enum(store.Outcomes()...)),
		parameter("search", "Only acts with this in one of their texts.", describe.String()),
		parameter("format", "csv answers with all selected acts as a table; so does Accept: text/csv.",
			describe.Enum("json", "csv")))
	return inSection("The box", descriptions{
		"GET /v0/box/acts": {
			ID:      "listActs",
			Summary: "Read the audit log",
			Description: "Who changed what on the box, when, from where, and with which outcome. Newest first. " +
				"No request deletes from it.",
			Query:   list,
			Answers: []describe.Answer{{Status: 200, Value: contract.ReturnPagedActs{}, Also: []string{"text/csv"}}},
		},
	})
}

// moment describes a time in a query, which readMoment parses.
func moment(name, says string) describe.Parameter {
	return parameter(name, says+" RFC 3339, a date (from midnight, in the time zone of the box), or Unix "+
		"milliseconds.", describe.String())
}

func (a *API) listActs(w http.ResponseWriter, r *http.Request, _ caller) error {
	q := r.URL.Query()
	f, err := readActFilter(q)
	if err != nil {
		return err
	}
	switch format := q.Get("format"); {
	case format == "csv" || format == "" && strings.HasPrefix(r.Header.Get("Accept"), "text/csv"):
		return a.actsAsCSV(w, r, f)
	case format != "" && format != "json":
		return contract.ErrInvalid{Field: "format",
			Why: fmt.Sprintf("%.80q is not allowed; expected json or csv", format)}
	}
	page, err := readPage(q)
	if err != nil {
		return err
	}
	found, total, err := a.Records.ActPage(r.Context(), f, page)
	if err != nil {
		return err
	}
	answer := contract.ReturnPagedActs{Paging: paging(page, total), ActsPage: make([]contract.ReturnAct, len(found))}
	for i, one := range found {
		answer.ActsPage[i] = actRecord(one)
	}
	if answer.Whats, err = a.Records.KindsOfActs(r.Context()); err != nil {
		return err
	}
	answer.Whats = append([]string{}, answer.Whats...) // never null
	return a.result(w, http.StatusOK, answer, nil)
}

func readActFilter(q url.Values) (f store.ActFilter, err error) {
	f.Who, f.What, f.Search = q.Get("who"), q.Get("what"), strings.TrimSpace(q.Get("search"))
	if outcome := store.Outcome(q.Get("outcome")); outcome != "" {
		if !slices.Contains(store.Outcomes(), outcome) {
			return f, contract.ErrInvalid{Field: "outcome",
				Why: fmt.Sprintf("%.80q is not allowed; expected done, refused or failed", outcome)}
		}
		f.Outcomes = []store.Outcome{outcome}
	}
	if f.SinceMS, err = readMoment(q, "since"); err != nil {
		return f, err
	}
	f.UntilMS, err = readMoment(q, "until")
	return f, err
}

// readMoment parses a time in a query and returns it in Unix milliseconds; 0 if it is
// absent.
func readMoment(q url.Values, name string) (int64, error) {
	text := q.Get(name)
	if text == "" {
		return 0, nil
	}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		return ms, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UnixMilli(), nil
	}
	at, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return 0, contract.ErrInvalid{Field: name, Why: fmt.Sprintf("%.80q is not allowed; expected a time such as "+
			"2030-01-31T12:00:00Z, a date such as 2030-01-31, or Unix milliseconds", text)}
	}
	return at.UnixMilli(), nil
}

func actRecord(one store.Act) contract.ReturnAct {
	return contract.ReturnAct{
		ID:        one.Num,
		CreatedOn: one.AtMS,
		Who:       actorRecord(one.Who),
		From:      one.From,
		What:      one.What,
		Object:    contract.ReturnThing(one.On),
		Text:      one.Text,
		Outcome:   string(one.Outcome),
		Reason:    one.Why,
		Times:     one.Times,
	}
}

func actorRecord(who store.Actor) contract.ReturnActor {
	return contract.ReturnActor{Kind: string(who.Kind), ID: who.ID, Name: who.Name, Role: who.Role}
}

// actsAsCSV answers with all selected acts as a table (RFC 4180).
func (a *API) actsAsCSV(w http.ResponseWriter, r *http.Request, f store.ActFilter) error {
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", `attachment; filename="parley-audit-`+a.now().Format(time.DateOnly)+`.csv"`)
	h.Set("Cache-Control", "no-store")
	table := csv.NewWriter(w)
	table.UseCRLF = true
	row := []string{"id", "time", "actor", "actor_id", "actor_name", "actor_role", "from", "what", "object",
		"object_id", "object_name", "text", "outcome", "reason", "times"}
	if err := table.Write(row); err != nil {
		return err
	}
	err := a.Records.Acts(r.Context(), f, func(one store.Act) error {
		row = append(row[:0], strconv.FormatInt(one.Num, 10), time.UnixMilli(one.AtMS).UTC().Format(time.RFC3339),
			string(one.Who.Kind), one.Who.ID, one.Who.Name, one.Who.Role, one.From, one.What, one.On.Kind, one.On.ID,
			one.On.Name, one.Text, string(one.Outcome), one.Why, strconv.Itoa(one.Times))
		for i, text := range row {
			row[i] = inertCell(text)
		}
		return table.Write(row)
	})
	table.Flush()
	return err
}

// inertCell puts an apostrophe before a text that a spreadsheet would take for a formula
// (https://owasp.org/www-community/attacks/CSV_Injection).
func inertCell(text string) string {
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}
