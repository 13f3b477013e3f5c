package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance"
	"parley/appliance/config"
	"parley/store"
)

// hubCmd runs the hub of several boxes, and controls it.
type hubCmd struct {
	Run     hubRunCmd     `cmd:"" default:"withargs" hidden:"" help:"Run the hub (without a word behind hub)."`
	Boxes   hubBoxesCmd   `cmd:"" help:"List, add and remove the boxes of a hub; make the file with which one joins."`
	Rollout hubRolloutCmd `cmd:"" help:"Roll a config, a plugin or a setting out to boxes; list, stop, continue."`
}

func (hubCmd) Help() string {
	return `Examples:

  parley hub --data /var/lib/parley-hub --listen 0.0.0.0:8080

  parley hub boxes museum-3 --add --groups museum > museum-3.join

  parley hub rollout config Guide --to group:museum --canary 1

  parley hub --reader warehouse > warehouse.creds

A hub has no models: it is the NATS server that boxes join, stores what they send up, and has the console and the ` +
		`API over all of them. On a fresh folder it makes its keys and certificates itself. parley hub run --help ` +
		`has its flags, and docs/fleet.md describes it.`
}

// hubRunCmd runs the hub.
type hubRunCmd struct {
	ServerConfig string `placeholder:"DIR" predictor:"dir" help:"Write what a stock nats-server needs (-c), and end."`
	Reader       string `placeholder:"NAME" xor:"end" help:"Print the credentials of a reader of all facts, and end."`
	RemoveReader string `placeholder:"NAME" xor:"end" help:"Remove such a reader, and end."`

	Settings kong.Plugins `embed:"" settings:"data listen origins tls tls.names hub.name hub.listen"`
	Door     kong.Plugins `embed:"" settings:"hub.server hub.keep hub.door hub.door_group"`
	Stored   kong.Plugins `embed:"" settings:"retention.keep log.level log.format"`
}

func (hubRunCmd) Help() string { return hubCmd{}.Help() + "\n\nparley hub run is parley hub." }

// Run runs the hub until ctx ends.
func (cmd *hubRunCmd) Run(ctx context.Context, c *console, cfg config.Config) error {
	log := c.logger(cfg.Log)
	if cmd.ServerConfig != "" {
		if err := appliance.WriteServerConfig(ctx, cfg, cmd.ServerConfig, log); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.out, "%[1]s has what a stock server needs:\n  nats-server -c %[1]s/nats-server.conf\n"+
			"Then run the hub with --hub-server tls://HOST:PORT, as boxes reach that server.\n", cmd.ServerConfig)
		return err
	}
	if cmd.Reader != "" {
		file, err := appliance.AddFleetReader(ctx, cfg, cmd.Reader, log)
		if err != nil {
			return err
		}
		_, err = c.out.Write(file)
		return err
	}
	if cmd.RemoveReader != "" {
		return appliance.RemoveFleetReader(ctx, cfg, cmd.RemoveReader, log)
	}
	logRemarks(cfg, log)
	banner := banner{cfg, c.out}
	err := appliance.RunHub(ctx, cfg, appliance.Console{
		Log:      log,
		Terminal: onTerminal(c.out),
		Service:  isService(c.environ),
		Ready: func(r appliance.Ready) {
			banner.hub(r)
			c.notifyStarted(log, "answers at "+r.URL)
		},
	})
	if errors.Is(err, appliance.ErrRestart) {
		log.Info("restarting")
		return startAgain(c.environ)
	}
	return err
}

// hubFlags are those of the commands for a running hub.
type hubFlags struct {
	boxFlags `set:"asked=hub"`

	JSON   bool   `name:"json" help:"Print JSON."`
	Listen string `hidden:"" setting:"listen"`

	Settings kong.Plugins `embed:"" settings:"data"`
}

// hubKeyLife is when the temporary key expires, in case the command is killed.
const hubKeyLife = 10 * time.Minute

// with calls do with the hub, and closes it.
func (f hubFlags) with(ctx context.Context, cfg config.Config, do func(apiBox) error) error {
	f.asks = aHub
	box, closeBox, err := f.open(ctx, cfg, temporaryKey{
		label: "parley hub",
		life:  hubKeyLife,
		role:  store.OperatorKey,
	})
	if err != nil {
		return err
	}
	return errors.Join(do(box), closeBox())
}
