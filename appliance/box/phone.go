package box

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/store"
)

// PhoneChat returns the account and the config of an extension. The error names the
// extension and the setting that is wrong.
func PhoneChat(ctx context.Context, records *store.Store, e config.Extension) (account string,
	settings contract.ConnectSettings, err error) {
	a, err := extensionAccount(ctx, records, e)
	if err != nil {
		return "", settings, fmt.Errorf("phone.extensions: %s: account: %w", e.Number, err)
	}
	if e.Config != "" {
		if settings.ConfigID, err = ConfigID(ctx, records, a, e.Config); err != nil {
			return "", settings, fmt.Errorf("phone.extensions: %s: config: %w", e.Number, err)
		}
	}
	return a.ID, settings, nil
}

// extensionAccount returns the account of an extension: the box's first if it names none.
func extensionAccount(ctx context.Context, records *store.Store, e config.Extension) (store.Account, error) {
	if e.Account != "" {
		a, err := records.Account(ctx, e.Account)
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("there is no account %.80q: parley keys list shows those that are", e.Account)
		}
		return a, err
	}
	all, err := records.Accounts(ctx)
	if err == nil && len(all) == 0 {
		err = errors.New("the box has none: parley keys create makes one")
	}
	if err != nil {
		return store.Account{}, err
	}
	return all[0], nil
}

// maxHoldMusic bounds the file of the music, which lies in memory: 3 minutes are 35 MB.
const maxHoldMusic = 3 * time.Minute

// HoldMusic returns what callers hear who wait for a person, at contract.OutputRateHz; nil is silence.
func HoldMusic(p config.Phone) ([]float32, error) {
	switch p.HoldMusic {
	case config.Off, "":
		return nil, nil
	case config.HoldMusicOn:
		return audio.Tune(contract.OutputRateHz), nil
	}
	data, err := os.ReadFile(p.HoldMusic)
	if err != nil {
		return nil, fmt.Errorf("phone.hold_music: %w", err)
	}
	pcm, err := audio.DecodeUpTo(data, contract.OutputRateHz, maxHoldMusic)
	if err != nil {
		return nil, fmt.Errorf("phone.hold_music: %s: %w", p.HoldMusic, err)
	}
	return pcm, nil
}
