package store

import (
	"context"
	"errors"
	"fmt"
)

// valueOverhead is counted for each entry besides its key and value, so that many empty
// entries count too.
const valueOverhead = 32

// ErrPluginFull means that a plugin's storage would exceed its limit.
type ErrPluginFull struct{ Need, Most int64 }

func (e ErrPluginFull) Error() string {
	return fmt.Sprintf(
		"its storage would hold %d bytes with that (an entry counts its key, its value and %d), and %d are allowed",
		e.Need, valueOverhead, e.Most)
}

// PluginValue returns the value that a plugin stores for an account under a key; ok is
// false if there is none.
func (s *Store) PluginValue(ctx context.Context, plugin, accountID, key string) (stored []byte, ok bool, err error) {
	stored, err = value[[]byte](ctx, s.read, `
		SELECT v.value FROM plugin p CROSS JOIN account a CROSS JOIN plugin_value v ON v.plugin = p.num AND v.account
		  = a.num
		 WHERE p.name = ? AND a.id = ? AND v.key = ?`, plugin, accountID, key)
	if errors.Is(err, ErrNotFound) {
		return nil, false, nil
	}
	return stored, err == nil, explain("reading the storage of the plugin "+plugin, err)
}

// PluginKeys returns at most limit keys that begin with prefix, in order.
func (s *Store) PluginKeys(ctx context.Context, plugin, accountID, prefix string, limit int) ([]string, error) {
	keys, err := query(ctx, s.read, scanText, `
		SELECT v.key FROM plugin p CROSS JOIN account a CROSS JOIN plugin_value v ON v.plugin = p.num AND v.account =
		  a.num
		 WHERE p.name = ?1 AND a.id = ?2 AND v.key >= ?3 AND substr(v.key, 1, length(?3)) = ?3 ORDER BY v.key LIMIT ?4`,
		plugin, accountID, prefix, limit)
	return keys, explain("listing the storage of the plugin "+plugin, err)
}

// SetPluginValue stores a value for a plugin and an account. The error is ErrPluginFull
// if the plugin would then store more than limit bytes for the account, ErrNotFound if
// there is no such plugin or account.
func (s *Store) SetPluginValue(ctx context.Context, plugin, accountID, key string, content []byte, limit int64) error {
	if content == nil {
		content = []byte{}
	}
	return s.changeValues(ctx, plugin, accountID, func(ctx context.Context, c conn, p, a int64) error {
		before, err := sizeOf(ctx, c, p, a, key)
		if err != nil {
			return err
		}
		size := int64(len(key)+len(content)) + valueOverhead
		all, err := value[int64](ctx, c, `
			INSERT INTO plugin_space (plugin, account, bytes) VALUES (?, ?, ?)
			    ON CONFLICT (plugin, account) DO UPDATE SET bytes = bytes + excluded.bytes RETURNING bytes`, p, a,
			size-before)
		if err != nil {
			return err
		}
		if all > limit && size > before {
			return ErrPluginFull{all, limit}
		}
		return execute(ctx, c, `
			INSERT INTO plugin_value (plugin, account, key, value) VALUES (?, ?, ?, ?)
			    ON CONFLICT (plugin, account, key) DO UPDATE SET value = excluded.value`, p, a, key, content)
	})
}

// DeletePluginValue deletes the value under a key, if there is one.
func (s *Store) DeletePluginValue(ctx context.Context, plugin, accountID, key string) error {
	return s.changeValues(ctx, plugin, accountID, func(ctx context.Context, c conn, p, a int64) error {
		before, err := sizeOf(ctx, c, p, a, key)
		if err != nil || before == 0 {
			return err
		}
		if _, err = c.ExecContext(ctx, `DELETE FROM plugin_value WHERE plugin = ? AND account = ? AND key = ?`, p, a,
			key); err != nil {
			return err
		}
		return changeOne(ctx, c, `UPDATE plugin_space SET bytes = bytes - ? WHERE plugin = ? AND account = ?`, before,
			p, a)
	})
}

// PluginBytes returns how many bytes a plugin stores for all accounts.
func (s *Store) PluginBytes(ctx context.Context, plugin string) (int64, error) {
	n, err := value[int64](ctx, s.read,
		`SELECT coalesce(sum(s.bytes), 0) FROM plugin p JOIN plugin_space s ON s.plugin = p.num WHERE p.name = ?`,
		plugin)
	return n, explain("measuring the storage of the plugin "+plugin, err)
}

// changeValues is change with the numbers of the plugin and the account. It notifies
// nobody.
func (s *Store) changeValues(ctx context.Context, plugin, accountID string,
	do func(ctx context.Context, c conn, plugin, account int64) error) error {
	return s.change(ctx, "changing the storage of the plugin "+plugin, func(ctx context.Context, c conn) error {
		type pair struct{ plugin, account int64 }
		n, err := first(ctx, c, func(row scanner) (n pair, err error) { return n, row.Scan(&n.plugin, &n.account) },
			`SELECT p.num, a.num FROM plugin p CROSS JOIN account a WHERE p.name = ? AND a.id = ?`, plugin, accountID)
		if err != nil {
			return err
		}
		return do(ctx, c, n.plugin, n.account)
	})
}

// sizeOf returns the size of the entry under a key, 0 if there is none.
func sizeOf(ctx context.Context, c conn, plugin, account int64, key string) (int64, error) {
	return value[int64](ctx, c, `
		SELECT coalesce((SELECT octet_length(key) + octet_length(value) + ? FROM plugin_value WHERE plugin = ? AND
		  account = ? AND key = ?), 0)`,
		valueOverhead, plugin, account, key)
}
