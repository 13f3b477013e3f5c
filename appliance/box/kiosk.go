package box

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/store"
)

// lookUp limits how long the database may take to find the kiosk's account.
const lookUp = 2 * time.Second

// KioskChat returns the account and the config that the settings name for chats at
// the box's own microphone.
func KioskChat(ctx context.Context, records *store.Store, k config.Kiosk) (account string,
	settings contract.ConnectSettings, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookUp)
	defer cancel()
	a, err := records.Account(ctx, k.Account)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("kiosk.account: there is no account %.80q: parley keys list shows those that are",
			k.Account)
	}
	if err == nil && k.Config != "" {
		if settings.ConfigID, err = ConfigID(ctx, records, a, k.Config); err != nil {
			err = fmt.Errorf("kiosk.config_id: %w", err)
		}
	}
	return a.ID, settings, err
}

// ConfigID returns the id of an account's config, given its id or its name. The
// error says what there is.
func ConfigID(ctx context.Context, s *store.Store, a store.Account, named string) (string, error) {
	ids, err := s.ResourceIDs(ctx, a.ID, store.KindConfig, named)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", fmt.Errorf("account %s has no config whose id or name is %.80q; GET /v0/evi/configs lists them",
			a.Name, named)
	case len(ids) == 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("several configs are called %.80q: give the id of one", named)
}
