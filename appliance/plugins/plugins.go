// Package plugins connects the registry of plugins to chats, to the API and to the box's
// operator, and calls the hooks for the end of chats.
package plugins

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/metrics"
	"parley/plugins/manifest"
	"parley/plugins/registry"
	"parley/plugins/sandbox"
	"parley/store"
)

// Plugins are the plugins of the box.
type Plugins struct {
	registry *registry.Registry
	limiter  *semaphore.Weighted
	log      *slog.Logger
	notify   atomic.Pointer[func()] // called after a change; nil before OnChange
}

// Exporter returns the registry, for a hub that sends plugins to boxes.
func (p *Plugins) Exporter() *registry.Registry { return p.registry }

// Open opens the registry with the installed plugins, and watches it for changes, by other
// processes too.
func Open(cfg config.Config, records *store.Store, figures *metrics.Metrics, log *slog.Logger) *Plugins {
	p := &Plugins{limiter: semaphore.NewWeighted(maxConcurrentCalls), log: log}
	parts := registryParts(cfg, records, log)
	parts.Observe, parts.Changed = figures.Plugin, p.changed
	p.registry = registry.Open(parts)
	var states []string
	for _, s := range registry.States() {
		states = append(states, string(s))
	}
	figures.WatchPlugins(states, p.states)
	p.registry.Watch()
	return p
}

// OnChange sets the function that is called after every change.
func (p *Plugins) OnChange(notify func()) { p.notify.Store(&notify) }

// Close closes the plugins. No chat may be live.
func (p *Plugins) Close() {
	if err := p.registry.Close(); err != nil {
		p.log.Error("cannot close the plugins", "err", err)
	}
}

// lookupTimeout bounds one query of the installed plugins.
const lookupTimeout = 5 * time.Second

// states returns the states of all plugins, for the metrics.
func (p *Plugins) states() map[string]string {
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	list, err := p.registry.List(ctx)
	if err != nil {
		p.log.Warn("cannot read the states of the plugins", "err", err)
	}
	all := make(map[string]string, len(list))
	for _, i := range list {
		all[i.Name] = string(i.State)
	}
	return all
}

// changed notifies the live chats of a change.
func (p *Plugins) changed() {
	if notify := p.notify.Load(); notify != nil {
		(*notify)()
	}
}

// running returns the plugins that can be called. If the database cannot be read, it logs
// the error and returns none.
func (p *Plugins) running() []registry.Running {
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	all, err := p.registry.Running(ctx)
	if err != nil {
		p.log.Error("cannot read the installed plugins", "err", err)
	}
	return all
}

// PluginTools implements api.Plugins.
func (p *Plugins) PluginTools() []contract.ReturnUserDefinedTool {
	var all []contract.ReturnUserDefinedTool
	for _, r := range p.running() {
		for _, t := range r.Manifest.Tools {
			all = append(all, contract.ReturnUserDefinedTool{
				ToolType:        contract.RecordFunction,
				ID:              registry.ToolID(r.Name, t.Name),
				VersionType:     contract.VersionFixed,
				Name:            t.Name,
				Parameters:      string(t.Parameters),
				Description:     t.Description,
				FallbackContent: t.FallbackContent,
				VersionDescription: fmt.Sprintf("Of the plugin %s %s, which the box runs; read-only here.", r.Name,
					r.Version),
				Plugin:     r.Name,
				CreatedOn:  r.ChangedMS,
				ModifiedOn: r.ChangedMS,
			})
		}
	}
	return all
}

// Installed implements chat.Plugins.
func (p *Plugins) Installed() []turn.Plugin {
	var all []turn.Plugin
	for _, r := range p.running() {
		one := turn.Plugin{Name: r.Name, OnEnd: slices.Contains(r.Manifest.Hooks, manifest.OnChatEnd)}
		for _, t := range r.Manifest.Tools {
			one.Tools = append(one.Tools, turn.Tool{
				Name:        t.Name,
				Description: t.Description,
				Parameters:  string(t.Parameters),
				Fallback:    t.FallbackContent,
				OnBox:       true,
				Plugin:      r.Name,
				Limit:       t.Timeout,
				FromPlugin:  true,
			})
		}
		if slices.Contains(r.Manifest.Hooks, manifest.OnTurn) {
			if one.OnTurn = r.Granted.Conversation.Sees(manifest.Transcript); !one.OnTurn {
				p.log.Warn(
					"a plugin has the hook on_turn but no permission to read the conversation; it is not called. "+
						"Grant it with: parley plugin set "+r.Name+" --grant conversation", "plugin", r.Name)
			}
		}
		all = append(all, one)
	}
	return all
}

// Run runs a tool of a plugin for a chat.
func (p *Plugins) Run(ctx context.Context, r reply.ToolRun) (content string, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.Tool.Limit+startTimeout)
	defer cancel()
	who := registry.Origin{
		Account:      r.Account,
		Chat:         r.ChatID,
		Caller:       cmp.Or(r.CustomSessionID, r.GroupID),
		Conversation: conversation(r.Conversation.History),
	}
	return p.call(ctx, func() (sandbox.Result, error) {
		return p.registry.Call(ctx, who, r.Tool.Name, json.RawMessage(r.Arguments))
	})
}

// startTimeout is how long a call may wait for a free slot or instance. A chat gives up the
// call by as much later.
const startTimeout = 500 * time.Millisecond

// maxConcurrentCalls bounds the plugin calls that chats make at once, including those that
// wait for a server. It is the maximum number of chats on a small box.
const maxConcurrentCalls = 8

// call makes a call when fewer than maxConcurrentCalls are running.
func (p *Plugins) call(ctx context.Context, do func() (sandbox.Result, error)) (content string, err error) {
	if err := p.limiter.Acquire(ctx, 1); err != nil {
		return "", fmt.Errorf("%d plugin calls are running, which is the maximum: %w", maxConcurrentCalls,
			context.Cause(ctx))
	}
	defer p.limiter.Release(1)
	result, err := do()
	return result.Content, err
}

// maxAdvice bounds the answer of on_turn in bytes: as many as a user may write at once,
// some thousand words.
const maxAdvice = 8 << 10

// Advise implements reply.Advisers: it calls on_turn.
func (p *Plugins) Advise(ctx context.Context, q reply.Question) (turn.Advice, error) {
	sees, err := p.registry.Sees(ctx, q.Plugin)
	if err != nil {
		return turn.Advice{}, err
	}
	if !sees.Sees(manifest.Transcript) { // it was revoked a moment ago
		return turn.Advice{}, nil
	}
	asked, err := json.Marshal(turnCall(q, sees.Sees(manifest.Expression)))
	if err != nil {
		return turn.Advice{}, err
	}
	who := registry.Origin{
		Account:      q.Account,
		Chat:         q.ChatID,
		Caller:       cmp.Or(q.CustomSessionID, q.GroupID),
		Conversation: conversation(q.Conversation.History),
	}
	// A user waits for this call, for no longer than turn.AdviceLimit, so it bypasses the
	// limiter.
	said, err := p.registry.CallHook(ctx, who, q.Plugin, manifest.OnTurn, asked)
	if err != nil {
		return turn.Advice{}, err
	}
	return advice(said.Content)
}

// advice parses the answer of on_turn.
func advice(content string) (turn.Advice, error) {
	if content == "" {
		return turn.Advice{}, nil
	}
	if len(content) > maxAdvice {
		return turn.Advice{}, fmt.Errorf("on_turn answered with %d bytes; at most %d are allowed", len(content),
			maxAdvice)
	}
	var a *contract.TurnAdvice
	if err := json.Unmarshal([]byte(content), &a); err != nil || a == nil {
		return turn.Advice{}, errors.Join(errors.New(`on_turn did not answer with nothing, or with JSON such as `+
			`{"context": "…"} or {"answer": "…"}`), err)
	}
	return turn.Advice{Context: a.Context, Answer: a.Answer}, nil
}
