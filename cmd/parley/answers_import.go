package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
)

type answersImportCmd struct {
	File    string  `arg:"" predictor:"file" help:"Sheet (CSV) with the columns id, ask and say; - reads stdin."`
	Chat    string  `name:"config" required:"" placeholder:"NAME" help:"Id or name of the config."`
	Mode    string  `enum:"first,only," default:"" placeholder:"MODE" help:"first (else the model) or only."`
	Unknown *string `placeholder:"TEXT" help:"What is said if no answer fits, with --mode only."`
	DryRun  bool    `help:"Show what would change, and save nothing."`
	JSON    bool    `name:"json" help:"Print JSON."`
}

func (answersImportCmd) Help() string {
	return `Examples:

  parley answers import museum.csv --config Museum

  parley answers import museum.csv --config Museum --mode only --unknown "Please ask at the desk."

  parley answers import museum.csv --config Museum --dry-run

It saves a new version of the config, in which the answers of the sheet replace the earlier ones; the next chat uses ` +
		`it. The mode and the text of --unknown stay as they are unless they are given. A row is one way to ask, and ` +
		`what is said stands in the first row of an answer. It reads what spreadsheets save: commas, semicolons or ` +
		`tabs, UTF-8, UTF-16 or Windows-1252. docs/answers.md says how to write answers.`
}

// answersChange is what an import changes.
type answersChange struct {
	ConfigID  string                     `json:"config_id"`
	Version   int                        `json:"version"` // that was saved, or the newest if none was
	Saved     bool                       `json:"saved"`
	New       []string                   `json:"new"`
	Changed   []string                   `json:"changed"`
	Gone      []string                   `json:"gone"`
	Same      int                        `json:"same"`
	Conflicts []contract.AnswersConflict `json:"conflicts"`
}

// Run saves the answers and prints what has changed.
func (cmd *answersImportCmd) Run(ctx context.Context, c *console, cfg config.Config, all *answersCmd) error {
	items, err := c.readSheet(cmd.File)
	if err != nil {
		return err
	}
	return all.with(ctx, cfg, func(b answersBox) error {
		before, err := b.config(ctx, cmd.Chat)
		if err != nil {
			return err
		}
		next := before.Next()
		next.Answers, err = cmd.answers(before.Answers, items)
		if err != nil {
			return err
		}
		change := compareAnswers(before.Answers, next.Answers)
		change.ConfigID, change.Version = before.ID, before.Version
		if !cmd.DryRun && !reflect.DeepEqual(before.Answers, next.Answers) {
			next.VersionDescription = cutDescription("Approved answers of " + filepath.Base(cmd.File))
			var saved contract.ReturnConfig
			if err := b.request(ctx, http.MethodPost, configsPath+"/"+before.ID, next, &saved); err != nil {
				return err
			}
			change.Version, change.Saved = saved.Version, true
		}
		if !cmd.JSON {
			cmd.print(c, before.Name, change, items)
		}
		var incomplete string
		change.Conflicts, incomplete, err = b.conflicts(ctx, c, *next.Answers)
		if err == nil && cmd.JSON {
			err = c.json(change)
		}
		printConflicts(c, change.Conflicts, incomplete)
		if err == nil && change.Saved {
			next := fmt.Sprintf("Try it: parley answers try --config %q %q", before.Name, items[0].Ask[0])
			if incomplete == atHub {
				next = fmt.Sprintf("Roll it out: parley hub rollout config %q --to all", before.Name)
			}
			fmt.Fprintln(c.err, next)
		}
		state := "nothing was saved"
		if change.Saved {
			state = fmt.Sprintf("version %d is saved", change.Version)
			if err != nil {
				err = fmt.Errorf("%s, but not checked for conflicts: %w", state, err)
			}
		}
		return orInterrupted(ctx, err, state, "")
	})
}

// answers returns the answers of the next version: the mode and the text for unknown questions
// are those of the version before unless they are given.
func (cmd *answersImportCmd) answers(before *contract.Answers, items []contract.AnswerItem) (*contract.Answers, error) {
	next := contract.Answers{Items: items}
	if before != nil {
		next.Mode, next.Unknown = before.Mode, before.Unknown
	}
	if cmd.Mode != "" {
		next.Mode = contract.AnswersMode(cmd.Mode)
	}
	if cmd.Unknown != nil {
		next.Unknown = *cmd.Unknown
	}
	if next.Mode == contract.AnswersOnly && strings.TrimSpace(next.Unknown) == "" {
		return nil, misuse{errors.New("--mode only needs --unknown TEXT: it is said if no answer fits")}
	}
	return &next, nil
}

// compareAnswers returns which answers differ.
func compareAnswers(before, after *contract.Answers) answersChange {
	change := answersChange{New: []string{}, Changed: []string{}, Gone: []string{}}
	old := map[string]contract.AnswerItem{}
	if before != nil {
		for _, item := range before.Items {
			old[item.ID] = item
		}
	}
	for _, item := range after.Items {
		was, known := old[item.ID]
		switch delete(old, item.ID); {
		case !known:
			change.New = append(change.New, item.ID)
		case !reflect.DeepEqual(was, item):
			change.Changed = append(change.Changed, item.ID)
		default:
			change.Same++
		}
	}
	if before != nil {
		for _, item := range before.Items {
			if _, gone := old[item.ID]; gone {
				change.Gone = append(change.Gone, item.ID)
			}
		}
	}
	return change
}

// cutDescription cuts the description of a version to what is allowed.
func cutDescription(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), contract.MaxVersionDescriptionChars)])
}

func (cmd *answersImportCmd) print(c *console, name string, change answersChange, items []contract.AnswerItem) {
	ways := 0
	for _, item := range items {
		ways += len(item.Ask)
	}
	what := fmt.Sprintf("is as before (version %d)", change.Version)
	switch {
	case change.Saved:
		what = fmt.Sprintf("has a new version, %d", change.Version)
	case cmd.DryRun:
		what = "is not changed (--dry-run)"
	}
	fmt.Fprintf(c.out, "%s %s: %d answers with %d ways to ask\n", name, what, len(items), ways)
	for _, part := range []struct {
		name string
		ids  []string
	}{{"new", change.New}, {"changed", change.Changed}, {"gone", change.Gone}} {
		if len(part.ids) > 0 {
			fmt.Fprintf(c.out, "%-8s %s\n", part.name, strings.Join(part.ids, ", "))
		}
	}
	if change.Same > 0 {
		fmt.Fprintf(c.out, "%-8s %d\n", "the same", change.Same)
	}
}

const (
	// answersPatience bounds the wait for the box to prepare new answers: 25,000 ways to ask
	// take minutes, and a box that talks to people takes longer. It goes on without the command.
	answersPatience = 10 * time.Minute
	// boxPatience is how long the box itself waits before it answers that it is not ready. An
	// earlier answer means that it cannot be.
	boxPatience = 4 * time.Second
	// atHub is why a hub has not compared all answers.
	atHub = "a hub has no models, so only questions with the same words were found: boxes compare them by meaning"
)

// conflicts returns the answers that seem to be asked for alike, after the box has prepared them
// all. incomplete says why it has not.
func (b answersBox) conflicts(ctx context.Context, c *console, answers contract.Answers) (
	found []contract.AnswersConflict, incomplete string, err error) {
	begun, told := time.Now(), false
	for {
		asked := time.Now()
		var check contract.ReturnAnswersCheck
		err := b.request(ctx, http.MethodPost, "/v0/box/answers/check", contract.PostedAnswersCheck{Answers: &answers},
			&check)
		switch {
		case err != nil:
			return nil, "", err
		case check.Complete:
			return check.Conflicts, "", nil
		case b.isHub(ctx):
			return check.Conflicts, atHub, nil
		case time.Since(asked) < boxPatience:
			return check.Conflicts, "the box cannot compare questions yet: its models are being loaded, or the pack " +
				"embed is missing (parley packs pull embed); a hub has no models, and its boxes compare them", nil
		case time.Since(begun) > answersPatience:
			return check.Conflicts, "the box is still preparing the answers", nil
		case !told:
			told = true
			fmt.Fprintln(c.err, "The box is preparing the answers. Ctrl-C does not stop that.")
		}
	}
}

// isHub reports whether it is a hub. With a client's key, which may not ask, it is false.
func (b answersBox) isHub(ctx context.Context) bool {
	return b.request(ctx, http.MethodGet, "/v0/box/fleet", nil, nil) == nil
}

func printConflicts(c *console, all []contract.AnswersConflict, incomplete string) {
	const shown = 20
	for _, one := range all[:min(len(all), shown)] {
		if len(one.Items) == 2 {
			fmt.Fprintf(c.err, "conflict: %q (%s) is like %q (%s)\n", one.Items[0].Ask, one.Items[0].AnswerID,
				one.Items[1].Ask, one.Items[1].AnswerID)
		}
	}
	if more := len(all) - shown; more > 0 {
		fmt.Fprintf(c.err, "and %d more conflicts\n", more)
	}
	if incomplete != "" {
		fmt.Fprintln(c.err, incomplete)
	}
}
