package store

import "context"

// ConfigOf is a config of an account.
type ConfigOf struct{ Account, ID string }

// RecentConfigs returns at most limit configs of an account, or of all if accountID is
// empty: first those used by chats, by the newest chat, then the unused ones, newest
// first.
func (s *Store) RecentConfigs(ctx context.Context, accountID string, limit int) ([]ConfigOf, error) {
	// A chat's num grows with time and is the last column of the index of chats by config.
	list, err := query(ctx, s.read, func(row scanner) (c ConfigOf, err error) {
		return c, row.Scan(&c.Account, &c.ID)
	}, `
		SELECT a.id, r.id
		  FROM account a CROSS JOIN resource r ON r.account = a.num AND r.kind = 'config' AND r.newest IS NOT NULL
		 WHERE ?1 = '' OR a.id = ?1
		 ORDER BY (SELECT max(c.num) FROM chat c WHERE c.account = r.account AND c.config = r.id) DESC NULLS LAST,
		  r.num DESC
		 LIMIT ?2`, accountID, limit)
	return list, explain("listing the configs used last", err)
}
