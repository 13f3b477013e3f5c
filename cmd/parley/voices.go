package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/voice"
	"parley/appliance/voices"
	"parley/store"
)

// voicesCmd lists, designs, saves and deletes voices, whether or not the box runs.
type voicesCmd struct {
	JSON    bool   `name:"json" help:"Print JSON."`
	Account string `placeholder:"NAME" predictor:"account" help:"Account with saved voices, besides the library."`

	List   voicesListCmd   `cmd:"" help:"List the voices with their properties; show or delete one."`
	Design voicesDesignCmd `cmd:"" help:"Design a voice from a description; hear or save it."`
	Alias  voicesAliasCmd  `cmd:"" help:"Let a voice stand in for a name that the box does not have."`

	Settings kong.Plugins `embed:"" settings:"data packs engines.voice engines.threads voices.aliases"`
	Loudness kong.Plugins `embed:"" settings:"speech.loudness_lufs"`
}

// boxVoices returns the voices of the box of the data folder, or only the library if
// there is none, or it cannot be read.
func (c *console) boxVoices(ctx context.Context, cfg config.Config) voices.Voices {
	s, err := store.Join(ctx, cfg.Data)
	if err != nil {
		return voices.Voices{Config: cfg}
	}
	c.closers = append(c.closers, s.Close)
	return voices.Voices{Config: cfg, Records: s}
}

// accountVoices returns the voices of an account, which must exist if it is named.
func (c *console) accountVoices(ctx context.Context, cfg config.Config, name string) (voices.Account, error) {
	if name == "" {
		return voices.Account{Voices: c.boxVoices(ctx, cfg)}, nil
	}
	s, err := c.openStore(ctx, cfg)
	if err != nil {
		return voices.Account{}, err
	}
	id, err := accountID(ctx, s, name)
	return voices.Account{Voices: voices.Voices{Config: cfg, Records: s}, ID: id}, err
}

func (v *voicesCmd) requireAccount() error {
	if v.Account == "" {
		return misuse{errors.New("name the account of the voice with --account (parley keys list shows the accounts)")}
	}
	return nil
}

type voicesListCmd struct {
	Name   string `arg:"" optional:"" predictor:"voice" help:"Show only this voice, or what stands in for it."`
	Delete bool   `help:"Delete this saved voice of the account."`
}

func (voicesListCmd) Help() string {
	return "Examples:\n\n  parley voices list\n\n  parley voices list --account default --json | jq -r '.[] | " +
		"select(.provider == \"CUSTOM_VOICE\") | .name'\n\n  parley voices list \"Old sailor\" --delete " +
		"--account default\n\nA voice that the newest version of a config uses cannot be deleted. " +
		"parley say --voice NAME plays one."
}

// Validate checks the combination of flags.
func (cmd *voicesListCmd) Validate() error {
	if cmd.Delete && cmd.Name == "" {
		return errors.New("give the name of the voice to delete: parley voices list NAME --delete")
	}
	return nil
}

// Run lists the voices, or deletes one.
func (cmd *voicesListCmd) Run(ctx context.Context, c *console, cfg config.Config, v *voicesCmd) error {
	if cmd.Delete {
		if err := v.requireAccount(); err != nil {
			return err
		}
	}
	a, err := c.accountVoices(ctx, cfg, v.Account)
	if err != nil {
		return err
	}
	if cmd.Delete {
		if err := a.DeleteVoice(ctx, a.ID, cmd.Name); err != nil {
			return err
		}
		return c.print(v.JSON, map[string]string{"deleted": cmd.Name}, "%s is deleted.\n", cmd.Name)
	}
	all, err := cmd.find(ctx, a)
	if err != nil {
		return err
	}
	head := []string{"NAME", "ID", "LANGUAGE", "GENDER", "STYLE", "MODEL"}
	return list(c, v.JSON, all, head, func(r contract.ReturnVoice) []string {
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
		return []string{r.Name, r.ID, tag(contract.TagAccent, contract.TagLanguage), tag(contract.TagGender),
			tag(contract.TagStyle), model}
	})
}

// find returns all voices, or the one that is named.
func (cmd *voicesListCmd) find(ctx context.Context, a voices.Account) ([]contract.ReturnVoice, error) {
	if cmd.Name == "" {
		return a.List(ctx)
	}
	one, err := a.Find(ctx, cmd.Name)
	if err != nil {
		return nil, err
	}
	return []contract.ReturnVoice{one.ReturnVoice}, nil
}

type voicesDesignCmd struct {
	Description string `arg:"" optional:"" help:"What the voice is like; docs/voices.md lists the words."`
	Generation  string `placeholder:"ID" help:"Save the voice of this generation instead."`
	Save        string `placeholder:"NAME" help:"Save it for the account instead of playing it."`
	Candidate   int    `default:"0" help:"Which voice for the description: 0 to 4."`
	Seed        int64  `default:"0" help:"Another seed gives other voices."`
	Text        string `placeholder:"WORDS" default:"${voice_sample}" help:"Text to speak."`
	Out         string `short:"o" placeholder:"FILE" predictor:"file" help:"Write wav, mp3 or pcm; - is stdout."`
}

func (voicesDesignCmd) Help() string {
	return `Examples:

  parley voices design "a deep, gravelly old sailor"

  parley voices design "a bright young British woman" --candidate 2 --out guide.wav

  parley voices design "a deep, gravelly old sailor" --save "Old sailor" --account default

  parley voices design --generation 795c949a-1510-4a80-9646-7d0863b023ab --save Guide --account default

With --json it prints the voice's recipe and does not play it.`
}

// Validate checks the combination of flags.
func (cmd *voicesDesignCmd) Validate() error {
	switch {
	case (cmd.Description == "") == (cmd.Generation == ""):
		return errors.New("give either a description or --generation")
	case cmd.Generation != "" && cmd.Save == "":
		return errors.New("--generation needs --save")
	case cmd.Candidate < 0 || cmd.Candidate > 4:
		return fmt.Errorf("--candidate %d is not allowed: use 0 to 4", cmd.Candidate)
	case cmd.Save != "":
		body, _ := json.Marshal(contract.PostedVoice{GenerationID: "any", Name: cmd.Save}) // of strings: it cannot fail
		_, err := contract.Parse[contract.PostedVoice](body)
		return err
	}
	_, err := formatOfName(cmd.Out)
	return err
}

// Run designs the voice.
func (cmd *voicesDesignCmd) Run(ctx context.Context, c *console, cfg config.Config, v *voicesCmd) error {
	if err := c.runAsOwnerWith(cfg, cmd.Out, os.O_WRONLY|os.O_CREATE); err != nil {
		return err
	}
	if cmd.Save != "" {
		if err := v.requireAccount(); err != nil {
			return err
		}
	}
	a, err := c.accountVoices(ctx, cfg, v.Account)
	if err != nil {
		return err
	}
	if cmd.Generation != "" {
		saved, err := a.SaveVoice(ctx, a.ID, contract.PostedVoice{GenerationID: cmd.Generation, Name: cmd.Save})
		return cmd.saved(c, v, saved, err)
	}
	r, err := a.Design(cmd.Description, cmd.Candidate, cmd.Seed)
	switch {
	case err != nil:
		return err
	case cmd.Save != "":
		saved, err := a.Save(ctx, cmd.Save, r)
		return cmd.saved(c, v, saved, err)
	case v.JSON:
		return c.json(r)
	}
	if cmd.Out != "-" {
		if err := c.json(r); err != nil {
			return err
		}
	}
	return cmd.speak(ctx, c, cfg, r)
}

func (cmd *voicesDesignCmd) saved(c *console, v *voicesCmd, saved contract.ReturnVoice, err error) error {
	if err != nil {
		return err
	}
	return c.print(v.JSON, saved, "%s is saved: %s\n", saved.Name, saved.ID)
}

// speak speaks with the voice of a recipe.
func (cmd *voicesDesignCmd) speak(ctx context.Context, c *console, cfg config.Config, r voice.Recipe) error {
	say := sayCmd{Out: cmd.Out}
	out, err := say.openSpeaker(ctx) // before the seconds that loading takes
	if err != nil {
		return err
	}
	opened, err := engines.Open(ctx, cfg, engines.OnDemandVoices, c.quietLogger(cfg.Log))
	if err != nil {
		return err
	}
	defer opened.Close()
	speaks, err := opened.RecipeVoice(ctx, r)
	if err != nil {
		return err
	}
	said, err := engine.SpeakWhole(ctx, speaks, cmd.Text, engine.SpeakOptions{Urgency: engine.Request.Urgency()})
	if err != nil {
		return err
	}
	if len(said.PCM) == 0 {
		return misuse{errors.New("there is nothing in this text that can be spoken")}
	}
	if out, err = say.openFile(c, out); err != nil {
		return err
	}
	pcm := audio.Resample(said.PCM, said.RateHz, contract.OutputRateHz)
	for _, o := range out {
		err = errors.Join(err, o.Write(pcm), o.Close())
	}
	return err
}
