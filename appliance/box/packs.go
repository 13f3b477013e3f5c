package box

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engines"
	"parley/firmware/packs"
	"parley/internal/disk"
	"parley/internal/progress"
)

// Packs lists, fetches and removes the packs of a running box, one pull at a time.
// It implements api.BoxPacks.
type Packs struct {
	cfg  config.Config
	stop context.Context // ends with the box
	find func(names ...string) ([]packs.Pack, error)

	mu      sync.Mutex
	newest  *packPull // nil before the first pull
	running sync.WaitGroup
}

// NewPacks returns the packs of a box. Pulls end with ctx.
func NewPacks(ctx context.Context, cfg config.Config) *Packs {
	return &Packs{cfg: cfg, stop: ctx, find: func(names ...string) ([]packs.Pack, error) {
		return packs.Find(cfg.Packs, names...)
	}}
}

// Wait waits until the running pull has ended, after the context of the box has.
func (b *Packs) Wait() { b.running.Wait() }

// Packs lists all packs: their state, and which of them the box uses.
func (b *Packs) Packs(ctx context.Context) (contract.ReturnPacks, error) {
	states, err := packs.Verify(ctx, b.cfg.Packs, append(packs.BuiltIn(), packs.Custom(b.cfg.Packs)...), false)
	if err != nil {
		return contract.ReturnPacks{}, err
	}
	r := contract.ReturnPacks{Folder: b.cfg.Packs, ReadOnly: b.readOnly(),
		Packs: make([]contract.ReturnPack, len(states))}
	if r.Free, err = disk.Free(disk.Nearest(b.cfg.Packs)); err != nil {
		return r, err
	}
	inUse := engines.Needs(b.cfg)
	for i, s := range states {
		r.Packs[i] = contract.ReturnPack{
			Name:    s.Pack.Name,
			Kind:    string(s.Pack.Kind),
			Does:    s.Pack.Summary,
			Version: s.Pack.Version,
			Licence: s.Pack.Licence,
			Bytes:   s.Pack.Bytes(),
			Status:  string(s.Status),
			Why:     s.Why,
			InUse:   slices.Contains(inUse, s.Pack.Name),
			Own:     s.Pack.Custom,
			System:  s.Pack.System != nil,
		}
	}
	if p := b.pull(); p != nil {
		state, _ := p.now()
		r.Pull = &state
	}
	return r, nil
}

func (b *Packs) pull() *packPull {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.newest
}

// readOnly returns why the box cannot change its packs, and "" if it can.
func (b *Packs) readOnly() string {
	if unix.Access(disk.Nearest(b.cfg.Packs), unix.W_OK|unix.X_OK) == nil {
		return ""
	}
	return fmt.Sprintf("the user that runs the box cannot write to %s; as the user that owns it, run: parley "+
		"packs pull NAME --packs %s", b.cfg.Packs, b.cfg.Packs)
}

// changeable finds a pack that the box can fetch or remove by itself.
func (b *Packs) changeable(name string) (packs.Pack, error) {
	found, err := b.find(name)
	if _, none := errors.AsType[*packs.ErrNoPack](err); none {
		return packs.Pack{}, contract.ErrNotFound{What: "pack", ID: name}
	}
	if err != nil {
		return packs.Pack{}, err
	}
	if system := found[0].System; system != nil {
		return packs.Pack{}, contract.ErrConflict{Why: fmt.Sprintf("%s belongs to the operating system; on the "+
			"box, run as root: apt-get install (or remove) %s", name, system.Packages[0])}
	}
	if why := b.readOnly(); why != "" {
		return packs.Pack{}, contract.ErrConflict{Why: why}
	}
	return found[0], nil
}

// PullPack starts to fetch a pack.
func (b *Packs) PullPack(ctx context.Context, name string) (contract.PackPull, error) {
	pack, err := b.changeable(name)
	if err != nil {
		return contract.PackPull{}, err
	}
	if pack.Custom {
		return contract.PackPull{}, contract.ErrConflict{Why: "the operator added " + name + ", so it cannot be " +
			"fetched; add it again with parley packs add"}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.newest != nil && b.newest.going() {
		state, _ := b.newest.now()
		return state,
			contract.ErrConflict{Why: fmt.Sprintf("%s is being fetched; wait for it, or cancel it", state.Name)}
	}
	missing, err := packs.Missing(ctx, b.cfg.Packs, []packs.Pack{pack})
	if err != nil {
		return contract.PackPull{}, err
	}
	if len(missing) == 0 {
		return contract.PackPull{}, contract.ErrConflict{Why: name + " is installed and intact"}
	}
	if b.stop.Err() != nil {
		return contract.PackPull{}, contract.ErrUnavailable{Why: "the box is stopping"}
	}
	b.newest = startPull(b.stop, name, &b.running, func(ctx context.Context, tell progress.Func) error {
		err := packs.Pull(ctx, b.cfg.Packs, []packs.Pack{pack}, tell)
		if err != nil {
			err = errors.Join(err, packs.DropPartial(b.cfg.Packs, pack))
		}
		return err
	})
	state, _ := b.newest.now()
	return state, nil
}

// WatchPull calls tell with the progress of the newest pull until it has ended.
func (b *Packs) WatchPull(ctx context.Context, tell func(any) error) error {
	p := b.pull()
	if p == nil {
		return nil
	}
	for {
		state, changed := p.now()
		if err := tell(state); err != nil || state.EndedOn != 0 {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// CancelPull ends the running pull.
func (b *Packs) CancelPull(ctx context.Context) (contract.PackPull, error) {
	p := b.pull()
	if p == nil || !p.going() {
		return contract.PackPull{}, contract.ErrConflict{Why: "no pack is being fetched"}
	}
	p.cancel(errCancelled)
	select {
	case <-p.over:
	case <-ctx.Done():
		return contract.PackPull{}, context.Cause(ctx)
	}
	state, _ := p.now()
	return state, nil
}

// RemovePack deletes a pack that the box does not use.
func (b *Packs) RemovePack(_ context.Context, name string) error {
	pack, err := b.changeable(name)
	if err != nil {
		return err
	}
	if slices.Contains(engines.Needs(b.cfg), name) {
		return contract.ErrConflict{Why: fmt.Sprintf("the box uses %s; choose another pack in the settings, restart "+
			"the box, and then remove it", name)}
	}
	err = packs.Remove(b.cfg.Packs, pack)
	if locked, ok := errors.AsType[*packs.ErrLocked](err); ok {
		return contract.ErrConflict{Why: locked.Error()}
	}
	if errors.Is(err, packs.ErrAbsent) {
		return contract.ErrNotFound{What: "installed pack", ID: name}
	}
	return err
}

// errCancelled is the cause of a pull that CancelPull ended.
var errCancelled = errors.New("it was cancelled")

// packPull is one pull of a pack.
type packPull struct {
	cancel context.CancelCauseFunc
	over   chan struct{} // closed when the pull has ended

	mu      sync.Mutex
	state   contract.PackPull
	changed chan struct{} // closed at the next change of state
}

// startPull runs pull on a goroutine until it is done, ctx ends, or it is cancelled.
func startPull(ctx context.Context, name string, running *sync.WaitGroup,
	pull func(context.Context, progress.Func) error) *packPull {
	ctx, cancel := context.WithCancelCause(ctx)
	p := &packPull{
		cancel:  cancel,
		over:    make(chan struct{}),
		changed: make(chan struct{}),
		state: contract.PackPull{
			Name:      name,
			State:     "going",
			Step:      string(progress.Downloading),
			StartedOn: time.Now().UnixMilli(),
		},
	}
	running.Go(func() {
		defer close(p.over)
		defer cancel(nil)
		err := pull(ctx, func(e progress.Event) {
			p.change(func(s *contract.PackPull) { s.Step, s.Done, s.Total = string(e.Step), e.Done, e.Total })
		})
		p.change(func(s *contract.PackPull) {
			s.EndedOn, s.State = time.Now().UnixMilli(), "done"
			switch {
			case err != nil && errors.Is(context.Cause(ctx), errCancelled):
				s.State = "cancelled"
			case err != nil:
				s.State, s.Error = "failed", err.Error()
			}
		})
	})
	return p
}

func (p *packPull) change(do func(*contract.PackPull)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.state
	if do(&p.state); p.state == before {
		return
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// now returns the state of the pull, and a channel that is closed when it changes.
func (p *packPull) now() (contract.PackPull, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state, p.changed
}

func (p *packPull) going() bool {
	state, _ := p.now()
	return state.EndedOn == 0
}
