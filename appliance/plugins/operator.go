package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/appliance/metrics"
	"parley/plugins/registry"
	"parley/plugins/sandbox"
)

// Operator manages the plugins of the box for its operator, over HTTP.
type Operator struct {
	registry *registry.Registry
	figures  *metrics.Metrics
}

// Operator returns the interface of the operator. figures has the numbers of calls.
func (p *Plugins) Operator(figures *metrics.Metrics) Operator {
	return Operator{p.registry, figures}
}

func (b Operator) InstalledPlugins(ctx context.Context) ([]contract.ReturnPlugin, error) {
	list, err := b.registry.List(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]contract.ReturnPlugin, 0, len(list))
	for _, i := range list {
		all = append(all, Record(i))
	}
	return all, nil
}

func (b Operator) InstalledPlugin(ctx context.Context, name string) (contract.ReturnPlugin, error) {
	i, err := b.registry.Show(ctx, name)
	if err != nil {
		return contract.ReturnPlugin{}, contractError(err)
	}
	return Record(i), nil
}

func (b Operator) offer(ctx context.Context, from io.ReadSeeker, tag string) (registry.Offer, error) {
	p, err := registry.ReadFrom(from, tag)
	if err != nil {
		return registry.Offer{}, err
	}
	return b.registry.Examine(ctx, p)
}

func (b Operator) ExaminePlugin(ctx context.Context, from io.ReadSeeker, tag string) (contract.PluginOffer, error) {
	o, err := b.offer(ctx, from, tag)
	if err != nil {
		return contract.PluginOffer{}, contractError(err)
	}
	m := o.Package.Manifest
	told := contract.PluginOffer{
		Name:          m.Name,
		Version:       m.Version,
		Description:   m.Description,
		License:       m.License,
		Digest:        o.Package.Digest(),
		Signed:        o.Signed,
		OtherSigner:   o.OtherSigner,
		Asks:          permissions(o.Asks),
		UnsetSettings: append([]string{}, o.Unset...),
	}
	if o.Installed != nil {
		told.InstalledVersion = o.Installed.Version
	}
	return told, nil
}

func (b Operator) InstallPlugin(ctx context.Context, name string, from io.ReadSeeker,
	how contract.PluginChoice) (contract.ReturnPlugin, error) {
	o, err := b.offer(ctx, from, how.Tag)
	if err != nil {
		return contract.ReturnPlugin{}, contractError(err)
	}
	choice := registry.Choice{Grant: how.Grant, OtherSigner: how.OtherSigner}
	its := o.Package.Manifest.Name
	switch {
	case name == "":
		err = b.registry.Install(ctx, o, choice)
	case name != its:
		err = registry.ErrConflict{Why: fmt.Sprintf("the path names the plugin %.80q, and this is %s", name, its)}
	default:
		err = b.registry.Upgrade(ctx, o, choice)
	}
	if err != nil {
		return contract.ReturnPlugin{}, contractError(err)
	}
	return b.InstalledPlugin(ctx, its)
}

func (b Operator) ChangePlugin(ctx context.Context, name string, c contract.PostedPluginChange) (contract.ReturnPlugin,
	error) {
	values := map[string]*string{}
	for _, s := range c.Settings {
		values[s.Name] = &s.Value
	}
	for _, unset := range c.Unset {
		values[unset] = nil
	}
	var err error
	if len(c.Revoke) > 0 {
		err = b.registry.Revoke(ctx, name, c.Revoke)
	}
	if err == nil && len(c.Grant) > 0 {
		err = b.registry.Grant(ctx, name, c.Grant)
	}
	if err == nil && len(values) > 0 {
		err = b.registry.Set(ctx, name, values)
	}
	if err != nil {
		return contract.ReturnPlugin{}, contractError(err)
	}
	return b.InstalledPlugin(ctx, name)
}

func (b Operator) RemovePlugin(ctx context.Context, name string) error {
	return contractError(b.registry.Remove(ctx, name))
}

func (b Operator) CallPlugin(ctx context.Context, account, name string,
	c contract.PostedPluginCall) (contract.PluginCalled, error) {
	i, err := b.registry.Show(ctx, name)
	if err != nil {
		return contract.PluginCalled{}, contractError(err)
	}
	if c.Tool == "" {
		if len(i.Manifest.Tools) != 1 {
			return contract.PluginCalled{},
				contract.ErrInvalid{Field: "tool",
					Why: "missing; the plugin has not one tool, but " + fmt.Sprint(len(i.Manifest.Tools))}
		}
		c.Tool = i.Manifest.Tools[0].Name
	}
	if err := CheckParameters(i.Manifest, c.Tool, c.Parameters); err != nil {
		why := "do not fit the tool's schema: " + err.Error()
		return contract.PluginCalled{}, contract.ErrInvalid{Field: "parameters", Why: why}
	}
	r, err := b.registry.Try(ctx, registry.Origin{Account: account}, name, c.Tool, json.RawMessage(c.Parameters))
	told := contract.PluginCalled{Content: r.Content, Milliseconds: milliseconds(r.Took), MemoryBytes: r.Memory}
	fault, failed := errors.AsType[*sandbox.Fault](err)
	stopped, isStopped := errors.AsType[registry.ErrStopped](err)
	switch {
	case failed:
		told.Error = fault.Message
	case isStopped:
		told.Error = stopped.Error()
	case err != nil:
		return told, contractError(err)
	}
	return told, nil
}

func (b Operator) PluginLog(ctx context.Context, name string, most int) ([]contract.PluginLogLine, error) {
	lines, err := b.registry.Lines(ctx, name, most)
	if err != nil {
		return nil, contractError(err)
	}
	all := make([]contract.PluginLogLine, 0, len(lines))
	for _, l := range lines {
		all = append(all, logLine(l))
	}
	return all, nil
}

func logLine(l registry.Line) contract.PluginLogLine {
	return contract.PluginLogLine{
		OnMS:  l.Time.UnixMilli(),
		Level: l.Level,
		Tool:  l.Tool,
		Chat:  l.Chat,
		Text:  l.Text,
	}
}

// FollowPlugin calls tell with the lines of a plugin's log as they come, until the plugin
// is removed or ctx ends.
func (b Operator) FollowPlugin(ctx context.Context, name string, most int, tell func(any) error) error {
	err := b.registry.Follow(ctx, name, most, func(l registry.Line) error { return tell(logLine(l)) })
	if _, gone := errors.AsType[registry.ErrNotInstalled](err); gone {
		return nil
	}
	return err
}

// PluginFigures returns the figures of a plugin since the start of the box.
func (b Operator) PluginFigures(ctx context.Context, name string) ([]contract.PluginFigures, error) {
	if _, err := b.InstalledPlugin(ctx, name); err != nil {
		return nil, err
	}
	calls, err := b.figures.PluginCalls(name)
	if err != nil {
		return nil, err
	}
	all := make([]contract.PluginFigures, len(calls))
	for i, c := range calls {
		all[i] = contract.PluginFigures{
			Tool:     c.Tool,
			Results:  []contract.PluginResult{},
			MedianMS: milliseconds(c.Median),
			P95MS:    milliseconds(c.P95),
		}
		for _, result := range slices.Sorted(maps.Keys(c.Results)) {
			all[i].Results = append(all[i].Results, contract.PluginResult{Result: result, Calls: c.Results[result]})
		}
	}
	return all, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// contractError maps the errors of the registry to those of the contract.
func contractError(err error) error {
	gone, isGone := errors.AsType[registry.ErrNotInstalled](err)
	bad, isBad := errors.AsType[registry.ErrUnusable](err)
	conflict, isConflict := errors.AsType[registry.ErrConflict](err)
	unknown, isUnknown := errors.AsType[registry.ErrUnknown](err)
	switch {
	case isGone:
		return contract.ErrNotFound{What: "plugin", ID: gone.Name}
	case isBad:
		return contract.ErrInvalid{Field: "body", Why: bad.Why}
	case isConflict:
		return contract.ErrConflict{Why: strings.ReplaceAll(conflict.Why, "--other-signer", "other_signer=true")}
	case isUnknown:
		return contract.ErrInvalid{Field: unknown.Field, Why: unknown.Why}
	}
	return err
}
