package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/plugins/sandbox"
)

// Origin is where a call of a plugin comes from.
type Origin struct {
	Account string // the account's id; plugins store values by account
	Chat    string // the chat's id; empty if there is none
	// Caller identifies the caller across chats; empty if it is unknown. Plugins get a hash
	// of it.
	Caller string
	// Conversation is that of the chat; nil if there is none. A plugin sees what it was
	// granted of it.
	Conversation sandbox.Conversation
	// OnLog is called with each line that the plugin logs. It may be nil.
	OnLog func(Line)
}

// pluginCaller returns the caller's id for a plugin: the same in each chat, and another one
// for each plugin, so that two plugins cannot compare them.
func (w Origin) pluginCaller(plugin string) string {
	if w.Caller == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(plugin + "\x00" + w.Account + "\x00" + w.Caller))
	return hex.EncodeToString(sum[:16])
}

// Call runs a tool with parameters, a JSON object, with the permissions that its plugin has
// now. The error is an ErrNoTool, an ErrBroken, an ErrStopped, a *sandbox.Fault, or comes
// from the store; its text is fit for users and contains no secret.
func (s *Registry) Call(ctx context.Context, from Origin, tool string, parameters json.RawMessage) (sandbox.Result,
	error) {
	return s.call(ctx, from, "", tool, parameters, false)
}

// CallHook runs a hook of a plugin. The errors are those of Call, and ErrNotInstalled.
func (s *Registry) CallHook(ctx context.Context, from Origin, name, hook string,
	parameters json.RawMessage) (sandbox.Result, error) {
	return s.call(ctx, from, name, hook, parameters, false)
}

// Try runs a tool or a hook of a plugin for the operator, even if the plugin is paused. The
// outcome is not counted.
func (s *Registry) Try(ctx context.Context, from Origin, name, tool string,
	parameters json.RawMessage) (sandbox.Result, error) {
	if len(parameters) > 0 && !json.Valid(parameters) {
		return sandbox.Result{}, &sandbox.Fault{Kind: sandbox.Unready,
			Message: fmt.Sprintf("the parameters of %s are not JSON, such as {\"place\": \"Zoo\"}", tool)}
	}
	return s.call(ctx, from, name, tool, parameters, true)
}

// call finds the plugin, by its name or else by the tool, and runs it. If the plugin is
// replaced meanwhile, the new version is run.
func (s *Registry) call(ctx context.Context, from Origin, name, tool string, parameters json.RawMessage, try bool) (
	r sandbox.Result, err error) {
	for range 10 {
		now, err := s.current(ctx)
		if err != nil {
			return r, err
		}
		p := now.tools[tool]
		if name != "" {
			p, err = now.find(name)
		} else if p == nil {
			err = ErrNoTool{tool}
		}
		if err != nil {
			return r, err
		}
		if r, err = s.callWithBreaker(ctx, p, from, tool, parameters, try); !errors.Is(err, errReplaced) {
			return r, err
		}
	}
	return r, errReplaced
}

// errPanicked is the error of a call that did not return because the box panicked.
var errPanicked = errors.New("internal error of the box")

// callWithBreaker runs a plugin behind its breaker.
func (s *Registry) callWithBreaker(
	ctx context.Context, p *plugin, from Origin, tool string, parameters json.RawMessage, try bool,
) (r sandbox.Result, err error) {
	if p.stopped != "" {
		return r, ErrStopped{p.Name, p.stopped}
	}
	if try {
		return s.run(ctx, p, from, tool, parameters)
	}
	begun := time.Now()
	trial, err := p.breaker.enter(p, begun)
	if err != nil {
		s.observe(p, tool, "broken", 0)
		return r, err
	}
	err = errPanicked
	defer func() {
		outcome, blamed, why := "answered", false, ""
		if fault, ok := errors.AsType[*sandbox.Fault](err); ok {
			outcome, blamed, why = string(fault.Kind), fault.Blames(), err.Error()
		} else if err != nil {
			outcome, why = "error", err.Error()
		}
		// The outcome counts for the plugin even if the chat is over by now.
		s.countOutcome(context.WithoutCancel(ctx), p, trial, err == nil, blamed, why)
		s.observe(p, tool, outcome, time.Since(begun))
	}()
	return s.run(ctx, p, from, tool, parameters)
}

func (s *Registry) observe(p *plugin, tool, outcome string, took time.Duration) {
	if s.Observe != nil {
		s.Observe(p.Name, tool, outcome, took)
	}
}

// run runs a plugin and writes its log.
func (s *Registry) run(ctx context.Context, p *plugin, from Origin, tool string,
	parameters json.RawMessage) (sandbox.Result, error) {
	m, err := p.module.acquire(ctx)
	if err != nil {
		return sandbox.Result{}, loadError(p, err)
	}
	defer p.module.release()
	note := func(level, text string) Line {
		l := Line{time.Now(), level, tool, from.Chat, p.redactor.Replace(text)}
		s.logs.add(p.Name, l)
		return l
	}
	said := func(l sandbox.Line) {
		line := note(l.Level, l.Text)
		if from.OnLog != nil {
			from.OnLog(line)
		}
	}
	c := sandbox.Call{
		Tool:         tool,
		Parameters:   parameters,
		Account:      from.Account,
		Chat:         from.Chat,
		Caller:       from.pluginCaller(p.Name),
		Settings:     p.settings,
		Granted:      p.Granted,
		Conversation: from.Conversation,
		Log:          said,
	}
	if p.Granted.Storage > 0 {
		c.Storage = storage{s.Records, p.Name, from.Account}
	}
	r, err := m.Call(ctx, c)
	if fault, ok := errors.AsType[*sandbox.Fault](err); ok {
		err = &sandbox.Fault{Kind: fault.Kind, Message: p.redactor.Replace(fault.Message)}
		note("error", fmt.Sprintf("%s: %s", fault.Kind, fault.Message))
	}
	return r, err
}

// loadError turns the error of a module that cannot be loaded into one of the plugin.
func loadError(p *plugin, err error) error {
	if unfit, ok := errors.AsType[sandbox.ErrUnfit](err); ok {
		return ErrStopped{p.Name, unfit.Why}
	}
	return err
}
