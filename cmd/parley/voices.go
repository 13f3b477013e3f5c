package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/voice"
	"parley/appliance/voices"
	"parley/cmd/parley/terminal"
)

// voicesCmd shows, makes, saves and deletes voices, while the box runs or not.
type voicesCmd struct {
	JSON    bool   `name:"json" help:"Print JSON."`
	Account string `placeholder:"NAME" help:"Whose saved voices, besides the library: an account of the box in --data."`

	List   voicesListCmd   `cmd:"" help:"List the voices, and what they are like."`
	Play   voicesPlayCmd   `cmd:"" help:"Hear a voice."`
	Design voicesDesignCmd `cmd:"" help:"Make a voice of a description, and hear it."`
	Save   voicesSaveCmd   `cmd:"" help:"Save a voice of a description, or of a generation, for an account."`
	Delete voicesDeleteCmd `cmd:"" help:"Delete a saved voice of an account."`
	Alias  voicesAliasCmd  `cmd:"" help:"Have a voice stand in for one that the box does not have."`

	Settings kong.Plugins `embed:"" settings:"data packs engines.voice engines.threads speech.loudness_lufs voices.aliases"`
}

// open finds the voices of the account, if one is named, and closes what that
// takes.
func (v *voicesCmd) open(ctx context.Context, c *console, parsed *kong.Context, saved bool,
	do func(voices.Account) error) error {
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	if v.Account == "" {
		if saved {
			return misuse{
				errors.New("voices: whose voice? Name the account with --account (parley keys list shows them)")}
		}
		return v.told(do(voices.Account{Voices: voices.Voices{Config: withBoxAliases(ctx, cfg)}}))
	}
	s, err := boxRecords(ctx, cfg)
	if err != nil {
		return fmt.Errorf("voices: %w", err)
	}
	defer s.Close()
	a, err := account(ctx, s, v.Account)
	if err != nil {
		return err
	}
	return v.told(do(voices.Account{Voices: voices.Voices{Config: cfg, Records: s}, ID: a.ID}))
}

// told says whose fault an error is.
func (v *voicesCmd) told(err error) error {
	if err == nil {
		return nil
	}
	_, invalid := errors.AsType[contract.ErrInvalid](err)
	_, missing := errors.AsType[contract.ErrNotFound](err)
	_, unspeakable := errors.AsType[engine.ErrCannotSay](err)
	if err = fmt.Errorf("voices: %w", err); invalid || missing || unspeakable {
		return misuse{err}
	}
	return err
}

type voicesListCmd struct{}

// Help shows the command in use.
func (voicesListCmd) Help() string {
	return "Examples:\n\n  parley voices list\n\n  parley voices list --account default --json | jq -r '.[] | " +
		"select(.provider == \"CUSTOM_VOICE\") | .name'"
}

// Run lists them.
func (cmd *voicesListCmd) Run(ctx context.Context, c *console, parsed *kong.Context, v *voicesCmd) error {
	return v.open(ctx, c, parsed, false, func(a voices.Account) error {
		all, err := a.List(ctx)
		if err != nil {
			return err
		}
		if v.JSON {
			return c.json(append([]contract.ReturnVoice{}, all...))
		}
		t := &terminal.Table{Head: []string{"NAME", "ID", "LANGUAGE", "GENDER", "STYLE", "MODEL"}}
		for _, r := range all {
			tag := func(tags ...contract.VoiceTag) string {
				var words []string
				for _, t := range tags {
					words = append(words, r.Tags[t]...)
				}
				return strings.Join(words, " ")
			}
			model := tag(contract.TagModel)
			if r.Provider == contract.VoiceCustom {
				model = "saved"
			}
			t.Add(r.Name, r.ID, tag(contract.TagAccent, contract.TagLanguage), tag(contract.TagGender),
				tag(contract.TagStyle), model)
		}
		return c.table(t)
	})
}

// sample is what a voice says to be heard.
const sample = "Good morning. The pool on the second floor is open every day, from seven until ten at night."

// heard is how a voice is heard.
type heard struct {
	Text string `placeholder:"WORDS" default:"${voice_sample}" help:"What it says."`
	Out  string `short:"o" placeholder:"FILE" help:"Write a file (wav, mp3 or pcm, by its name) instead of playing; - is standard output."`
}

// speak has the voice of a recipe speak.
func (h heard) speak(ctx context.Context, c *console, a voices.Account, r voice.Recipe) error {
	format, err := formatOfName(h.Out)
	if err != nil {
		return err
	}
	out, err := (&sayCmd{Out: h.Out}).speaker(ctx) // before the seconds that loading takes
	if err != nil {
		return err
	}
	opened, err := engines.Open(ctx, a.Voices.Config, engines.Designing, c.quietLogger(a.Voices.Config.Log))
	if err != nil {
		return err
	}
	defer opened.Close()
	speaks, err := opened.Speaker(ctx, r)
	if err != nil {
		return err
	}
	said, err := engine.SpeakWhole(ctx, speaks, h.Text, engine.SpeakOptions{Urgency: engine.Request.Urgency()})
	if err != nil {
		return err
	}
	if len(said.PCM) == 0 {
		return misuse{errors.New("there is nothing in this text that can be spoken")}
	}
	if h.Out != "" {
		f, err := c.openSaid(h.Out, format)
		if err != nil {
			return err
		}
		out = append(out, f)
	}
	pcm := audio.Resample(said.PCM, said.RateHz, contract.OutputRateHz)
	for _, o := range out {
		err = errors.Join(err, o.Write(pcm), o.Close())
	}
	return err
}

type voicesPlayCmd struct {
	Name     string `arg:"" help:"Name or id of the voice."`
	Describe string `placeholder:"WORDS" help:"How it speaks: whispering, excited, slowly."`
	heard    `embed:""`
}

// Help shows the command in use.
func (voicesPlayCmd) Help() string {
	return "Examples:\n\n  parley voices play heart\n\n  parley voices play emma --describe \"sad, slowly\" --out " +
		"emma.wav"
}

// Run plays it.
func (cmd *voicesPlayCmd) Run(ctx context.Context, c *console, parsed *kong.Context, v *voicesCmd) error {
	return v.open(ctx, c, parsed, false, func(a voices.Account) error {
		found, err := a.Find(ctx, cmd.Name)
		if err != nil {
			return err
		}
		return cmd.speak(ctx, c, a, found.Recipe.Said(voice.Direct(cmd.Describe)))
	})
}

// asDesigned is which voice of a description is meant.
type asDesigned struct {
	Candidate int   `default:"0" help:"Which of the voices that the description makes: 0 to 4 (0)."`
	Seed      int64 `default:"0" help:"Another seed makes other voices (0)."`
}

func (d asDesigned) design(a voices.Account, description string) (voice.Recipe, error) {
	if d.Candidate < 0 || d.Candidate > 4 {
		return voice.Recipe{}, contract.ErrInvalid{Field: "candidate",
			Why: fmt.Sprintf("%d is not allowed: use 0 to 4", d.Candidate)}
	}
	return a.Design(description, d.Candidate, d.Seed)
}

type voicesDesignCmd struct {
	Description string `arg:"" help:"What the voice is like; docs/voices.md has the words."`
	asDesigned  `embed:""`
	heard       `embed:""`
}

// Help shows the command in use.
func (voicesDesignCmd) Help() string {
	return "Examples:\n\n  parley voices design \"a deep, gravelly old sailor\"\n\n  parley voices design \"a bright " +
		"young British woman\" --candidate 2 --out guide.wav\n\n  parley voices design \"a calm man\" --json\n\nWith " +
		"--json it prints what the voice is made of, and is not heard."
}

// Run makes it.
func (cmd *voicesDesignCmd) Run(ctx context.Context, c *console, parsed *kong.Context, v *voicesCmd) error {
	return v.open(ctx, c, parsed, false, func(a voices.Account) error {
		r, err := cmd.design(a, cmd.Description)
		if err != nil {
			return err
		}
		if v.JSON {
			return c.json(r)
		}
		if _, err := formatOfName(cmd.Out); err != nil {
			return err
		}
		if cmd.Out != "-" {
			made, err := json.Marshal(r)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.out, "%s\n", made)
		}
		return cmd.speak(ctx, c, a, r)
	})
}

type voicesSaveCmd struct {
	Name       string `arg:"" help:"Its name."`
	Describe   string `placeholder:"WORDS" help:"Save the voice that parley voices design makes of this."`
	Generation string `placeholder:"ID" help:"Save the voice of this generation."`
	asDesigned `embed:""`
}

// Help shows the command in use.
func (voicesSaveCmd) Help() string {
	return "Examples:\n\n  parley voices save \"Old sailor\" --describe \"a deep, gravelly old sailor\" --account " +
		"default\n\n  parley voices save Guide --generation 795c949a-1510-4a80-9646-7d0863b023ab --account default"
}

// Run saves it.
func (cmd *voicesSaveCmd) Run(ctx context.Context, c *console, parsed *kong.Context, v *voicesCmd) error {
	if (cmd.Describe == "") == (cmd.Generation == "") {
		return misuse{errors.New("voices: save which voice? Give --describe, or --generation, and not both")}
	}
	if _, err := contract.Parse[contract.PostedVoice](
		mustJSON(map[string]string{"generation_id": "x", "name": cmd.Name})); err != nil {
		return misuse{fmt.Errorf("voices: %w", err)}
	}
	return v.open(ctx, c, parsed, true, func(a voices.Account) error {
		saved, err := cmd.save(ctx, a)
		if err != nil {
			return err
		}
		if v.JSON {
			return c.json(saved)
		}
		_, err = fmt.Fprintf(c.out, "%s is saved: %s\n", saved.Name, saved.ID)
		return err
	})
}

func (cmd *voicesSaveCmd) save(ctx context.Context, a voices.Account) (contract.ReturnVoice, error) {
	if cmd.Generation != "" {
		return a.SaveGeneration(ctx, cmd.Name, cmd.Generation)
	}
	r, err := cmd.design(a, cmd.Describe)
	if err != nil {
		return contract.ReturnVoice{}, err
	}
	return a.Save(ctx, cmd.Name, r)
}

func mustJSON(v map[string]string) []byte {
	raw, _ := json.Marshal(v) // of strings: it cannot fail
	return raw
}

type voicesDeleteCmd struct {
	Name string `arg:"" help:"Its name."`
}

// Help shows the command in use.
func (voicesDeleteCmd) Help() string {
	return "Example:\n\n  parley voices delete \"Old sailor\" --account default\n\nOne that the newest version of a " +
		"config names is not deleted."
}

// Run deletes it.
func (cmd *voicesDeleteCmd) Run(ctx context.Context, c *console, parsed *kong.Context, v *voicesCmd) error {
	return v.open(ctx, c, parsed, true, func(a voices.Account) error {
		if err := a.Delete(ctx, cmd.Name); err != nil {
			return err
		}
		if v.JSON {
			return c.json(map[string]string{"deleted": cmd.Name})
		}
		_, err := fmt.Fprintf(c.out, "%s is deleted.\n", cmd.Name)
		return err
	})
}
