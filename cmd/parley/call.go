package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/store"
)

// callCmd calls a number from a running box, and shows what happens.
type callCmd struct {
	Number string `arg:"" help:"Number to call, or a SIP address."`
	Chat   string `name:"config" required:"" placeholder:"NAME" help:"Id or name of the config of the conversation."`
	Trunk  string `placeholder:"NAME" help:"Trunk over which to call (the only one)."`
	Say    string `placeholder:"TEXT" help:"Say this as soon as the conversation begins."`
	JSON   bool   `name:"json" help:"Print JSON, one object a line."`

	boxFlags

	Account string `placeholder:"NAME" predictor:"account" help:"Account of the config (default)."`
	Listen  string `hidden:"" setting:"listen"`

	// Flags has no --config, which names the config of the conversation here.
	Flags kong.Plugins `embed:"" settings:"data"`
}

func (callCmd) Help() string {
	return `Examples:

  parley call +493012345 --config Reminder

  parley call 201 --config Reception --trunk desk --say "The museum closes in ten minutes." --json

The running box calls over SIP (settings phone.listen and phone.trunks). The command shows when the phone rings, ` +
		`who answers and what is said, and Ctrl-C hangs up. The exit code is 0 if a person or a mailbox answered, ` +
		`and 1 otherwise. The settings come from the data folder and from PARLEY_CONFIG.`
}

// Validate checks the arguments.
func (cmd *callCmd) Validate() error {
	if cmd.Number != "" { // else kong reports it
		if _, err := contract.ParsePhoneNumber(cmd.Number); err != nil {
			return err
		}
	}
	if cmd.Say != "" && strings.TrimSpace(cmd.Say) == "" {
		return errors.New("--say is empty")
	}
	return nil
}

const (
	// callKeyLife is when the temporary key expires, in case the command is killed: the
	// longest call has half an hour of chat, and up to four hours of two people.
	callKeyLife = 5 * time.Hour
	// callPoll is how often the command looks at its call: as often as a person notices.
	callPoll = 300 * time.Millisecond
	// hangUpTimeout is how long the command waits after Ctrl-C for the end of the call.
	hangUpTimeout = 5 * time.Second
)

// Run calls and follows the call to its end.
func (cmd *callCmd) Run(ctx context.Context, c *console, cfg config.Config) (err error) {
	opened, closeBox, err := cmd.open(ctx, cfg, temporaryKey{
		account: cmd.Account,
		label:   "parley call",
		life:    callKeyLife,
		role:    store.OperatorKey,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeBox()) }()

	box := &phoneBox{opened.asking("the call")}
	call, err := box.start(ctx, contract.PostedPhoneCall{
		Trunk:    cmd.Trunk,
		To:       cmd.Number,
		ConfigID: cmd.Chat,
		Account:  cmd.Account,
	})
	if err != nil {
		return err
	}
	f := &callFollower{
		console: c,
		json:    cmd.JSON,
		box:     box,
		say:     cmd.Say,
		begun:   time.Now(),
	}
	last, err := f.follow(ctx, call)
	if _, ok := errors.AsType[signalled](context.Cause(ctx)); ok {
		last, err = f.hangUp(ctx, last)
	}
	if err != nil {
		return err
	}
	return outcome(ctx, last)
}

// outcome returns the error of a call that nobody answered. Ctrl-C is a normal end of a
// call that was answered.
func outcome(ctx context.Context, call contract.PhoneCall) error {
	s, stopped := errors.AsType[signalled](context.Cause(ctx))
	answered := call.AnsweredOn != 0
	switch {
	case stopped && !(answered && s.signal == syscall.SIGINT):
		return interrupted{state: "the call is over"}
	case answered:
		return nil
	}
	return fmt.Errorf("%s: %s", call.To, unanswered(call))
}

// unanswered says why nobody answered a call.
func unanswered(call contract.PhoneCall) string {
	switch call.AnsweredBy {
	case contract.ByBusy:
		return "the line is busy"
	case contract.ByNobody:
		return "nobody answered"
	case contract.ByRejected:
		return "the call was rejected"
	case contract.ByWrongNumber:
		return "there is no such number"
	}
	if call.EndReason == "" {
		return "the call failed"
	}
	return strings.TrimSuffix(call.EndReason, ".")
}
