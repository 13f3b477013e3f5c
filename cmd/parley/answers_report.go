package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"parley/appliance/answers/sheet"
	"parley/appliance/config"
	"parley/appliance/contract"
)

type answersReportCmd struct {
	Chat string `name:"config" required:"" placeholder:"NAME" help:"Id or name of the config."`
	From string `placeholder:"TIME" help:"Only from this time on: a date, such as 2030-01-31, or RFC 3339."`
	To   string `placeholder:"TIME" help:"Only before this time."`
	JSON bool   `name:"json" xor:"form" help:"Print JSON."`
	CSV  bool   `name:"csv" xor:"form" help:"Print the unanswered questions as a sheet, to be filled in."`
}

func (answersReportCmd) Help() string {
	return `Examples:

  parley answers report --config Museum

  parley answers report --config Museum --from 2030-01-01 --to 2030-02-01 --json

  parley answers report --config Museum --csv > unanswered.csv

It shows how often each answer was given, and the questions that none fitted: similar ones together, the newest ` +
		`first. With --csv the questions are rows of a sheet: write into the column say what is to be said to them, ` +
		`and move them to the sheet of the config. Chats without a stored history do not count.`
}

// Validate checks the times.
func (cmd *answersReportCmd) Validate() error {
	for flag, value := range map[string]string{"--from": cmd.From, "--to": cmd.To} {
		_, noDate := time.Parse(time.DateOnly, value)
		_, noTime := time.Parse(time.RFC3339, value)
		if value != "" && noDate != nil && noTime != nil {
			return fmt.Errorf("%s %.80q is not allowed: use a date such as 2030-01-31, or RFC 3339", flag, value)
		}
	}
	return nil
}

// Run prints the report.
func (cmd *answersReportCmd) Run(ctx context.Context, c *console, cfg config.Config, all *answersCmd) error {
	return all.with(ctx, cfg, func(b answersBox) error {
		found, err := b.config(ctx, cmd.Chat)
		if err != nil {
			return err
		}
		query := url.Values{"config_id": {found.ID}}
		for name, value := range map[string]string{"from": cmd.From, "to": cmd.To} {
			if value != "" {
				query.Set(name, value)
			}
		}
		var report contract.ReturnAnswersReport
		if err := b.request(ctx, http.MethodGet, "/v0/box/answers/report?"+query.Encode(), nil, &report); err != nil {
			return err
		}
		switch {
		case cmd.JSON:
			return c.json(report)
		case cmd.CSV:
			return sheet.WriteQuestions(c.out, report.Unanswered)
		}
		return printReport(c, report)
	})
}

func printReport(c *console, report contract.ReturnAnswersReport) error {
	slices.SortStableFunc(report.Given, func(a, b contract.ReportedAnswer) int { return b.Count - a.Count })
	rows := [][]string{{"ANSWER", "GIVEN", "LAST"}}
	for _, a := range report.Given {
		rows = append(rows, []string{a.AnswerID, strconv.Itoa(a.Count), lastDay(a.LastOn)})
	}
	if err := c.table(rows...); err != nil {
		return err
	}
	if report.UnansweredCount == 0 {
		_, err := fmt.Fprintln(c.out, "\nEvery question had an answer.")
		return err
	}
	fmt.Fprintf(c.out, "\n%d questions had no answer:\n\n", report.UnansweredCount)
	rows = [][]string{{"ASKED", "LAST", "QUESTION"}}
	for _, q := range report.Unanswered {
		rows = append(rows, []string{strconv.Itoa(q.Count), lastDay(q.LastOn), q.Text})
		for _, other := range q.Texts {
			rows = append(rows, []string{"", "", "  " + other})
		}
	}
	return c.table(rows...)
}

func lastDay(ms int64) string {
	if ms == 0 {
		return "never"
	}
	return day(ms)
}
