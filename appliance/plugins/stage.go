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
