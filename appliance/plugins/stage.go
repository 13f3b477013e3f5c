package plugins

import (
	"context"

	"parley/plugins/registry"
	"parley/store"
)

// Stage checks plugins that a hub wants, and puts their files in place: see [registry.Registry.Stage].
func (p *Plugins) Stage(ctx context.Context, all []registry.Wanted) ([]store.WantedPlugin, func(), error) {
	return p.registry.Stage(ctx, all)
}

// Tidy removes the files of plugins that are not installed any more.
func (p *Plugins) Tidy(ctx context.Context) {
	if err := p.registry.Tidy(ctx); err != nil && ctx.Err() == nil {
		p.log.Warn("cannot look for files that belong to no plugin", "err", err)
	}
}
