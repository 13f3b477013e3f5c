package box

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
	"time"

	"parley/firmware/packs"
	"parley/internal/layout"
	"parley/internal/progress"
	"parley/store"
)

// HasPassword reports whether the box with its data in a folder has a password for the console.
// A folder without a box has none.
func HasPassword(ctx context.Context, data string) (bool, error) {
	records, err := store.Join(ctx, data)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, _, err = records.ConsolePassword(ctx)
	none := errors.Is(err, store.ErrNotFound)
	if none {
		err = nil
	}
	return !none && err == nil, errors.Join(err, records.Close())
}

// SetPassword sets the password of the console of a box, running or not, and ends its sessions.
// It creates the database of a new box; the files belong to the owner of the folder.
func SetPassword(ctx context.Context, data, password string) (ended int64, err error) {
	records, err := store.Join(ctx, data)
	if errors.Is(err, store.ErrNotFound) {
		if err := os.MkdirAll(data, layout.DataMode); err != nil {
			return 0, fmt.Errorf("creating the data folder: %w", err)
		}
		records, err = store.Open(ctx, data, slog.New(slog.DiscardHandler))
	}
	if err != nil {
		return 0, err
	}
	ended, err = records.SetConsolePassword(ctx, password, "", time.Now())
	return ended, errors.Join(err, records.Close(), giveToOwner(data))
}

// FinishSetUp notes that the box with its data in a folder is set up, which closes the first visit of
// its console. A folder without a box has nothing to note.
func FinishSetUp(ctx context.Context, data string) error {
	records, err := store.Join(ctx, data)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(records.FinishSetUp(ctx, time.Now()), records.Close())
}

// PullAsOwner fetches packs that are missing. What root fetches belongs to the owner of the folder,
// so that the box can change it later.
func PullAsOwner(ctx context.Context, dir string, chosen []packs.Pack, tell progress.Func) error {
	missing, err := packs.Missing(ctx, dir, chosen)
	if err != nil || len(missing) == 0 {
		return err
	}
	return errors.Join(packs.Pull(ctx, dir, chosen, tell), giveToOwner(dir))
}

// giveToOwner gives what root has in a folder to the owner of the folder. It follows no links:
// the owner may have put some there.
func giveToOwner(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 || owner.Uid == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if of, ok := info.Sys().(*syscall.Stat_t); !ok || of.Uid != 0 {
			return nil
		}
		return root.Lchown(path, int(owner.Uid), int(owner.Gid))
	})
	return errors.Join(err, root.Close())
}
