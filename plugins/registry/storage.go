package registry

import (
	"context"
	"errors"
	"fmt"

	"parley/plugins/sandbox"
	"parley/store"
)

// storage is the key-value space of a plugin for one account.
type storage struct {
	records         *store.Store
	plugin, account string
}

func (k storage) Get(ctx context.Context, key string) ([]byte, bool, error) {
	return k.records.PluginValue(ctx, k.plugin, k.account, key)
}

func (k storage) Set(ctx context.Context, key string, value []byte, quota int64) error {
	err := k.records.SetPluginValue(ctx, k.plugin, k.account, key, value, quota)
	if full, ok := errors.AsType[store.ErrPluginFull](err); ok {
		return fmt.Errorf("%w: %w", sandbox.ErrFull, full)
	}
	return err
}

func (k storage) Delete(ctx context.Context, key string) error {
	return k.records.DeletePluginValue(ctx, k.plugin, k.account, key)
}

func (k storage) Keys(ctx context.Context, prefix string, most int) ([]string, error) {
	return k.records.PluginKeys(ctx, k.plugin, k.account, prefix, most)
}
