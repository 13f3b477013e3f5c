package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"parley/appliance/config"
	"parley/appliance/contract"
)

type answersTryCmd struct {
	Question string `arg:"" help:"What a visitor says."`
	Chat     string `name:"config" xor:"where" placeholder:"NAME" help:"Id or name of the config."`
	File     string `xor:"where" placeholder:"FILE" predictor:"file" help:"Try this sheet (CSV) instead."`
	Before   string `placeholder:"TEXT" help:"What the visitor said before."`
	JSON     bool   `name:"json" help:"Print JSON."`
}

func (answersTryCmd) Help() string {
	return `Examples:

  parley answers try --config Museum "how late can we stay?"

  parley answers try --config Museum --before "When are you open?" "and on Sundays?"

  parley answers try --file museum.csv "can I bring my dog?"

It shows the answer that the box gives and how sure it is, and the other answers that come near. Nothing is stored.`
}

// Validate checks the arguments.
func (cmd *answersTryCmd) Validate() error {
	switch {
	case cmd.Chat == "" && cmd.File == "":
		return errors.New("there are no answers to try: give --config or --file")
	case cmd.Question != "" && strings.TrimSpace(cmd.Question) == "":
		return errors.New("the question is empty")
	}
	return nil
}

// Run asks the box and prints what it decides.
func (cmd *answersTryCmd) Run(ctx context.Context, c *console, cfg config.Config, all *answersCmd) error {
	var items []contract.AnswerItem
	if cmd.File != "" {
		var err error
		if items, err = c.readSheet(cmd.File); err != nil {
			return err
		}
	}
	return all.with(ctx, cfg, func(b answersBox) error {
		try := contract.PostedTry{Text: cmd.Question, Before: cmd.Before}
		if cmd.File != "" {
			try.Answers = &contract.Answers{Items: items}
		} else {
			found, err := b.config(ctx, cmd.Chat)
			if err != nil {
				return err
			}
			if found.Answers == nil {
				return noAnswers(found)
			}
			try.ConfigID, items = found.ID, found.Answers.Items
		}
		var result contract.ReturnTry
		if err := b.request(ctx, http.MethodPost, "/v0/box/answers/try", try, &result); err != nil {
			return err
		}
		if cmd.JSON {
			return c.json(result)
		}
		return printTry(c, result, items)
	})
}

// printTry prints a decision as a table, the answer that is given first.
func printTry(c *console, result contract.ReturnTry, items []contract.AnswerItem) error {
	says := map[string]string{}
	for _, item := range items {
		says[item.ID] = item.Say
	}
	row := func(mark, id string, score float64) []string {
		return []string{mark, id, fmt.Sprintf("%3.0f %%", 100*score), says[id]}
	}
	first := []string{"none", "", "", "No answer fits."}
	if result.AnswerID != nil {
		first = row("says", *result.AnswerID, result.Score)
	}
	rows := [][]string{first}
	for _, other := range result.Others {
		rows = append(rows, row("next", other.AnswerID, other.Score))
	}
	return c.table(rows...)
}
