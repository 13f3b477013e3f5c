package packs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"parley/internal/progress"
)

// maxDownloads bounds the parallel downloads: registries limit the rate of each
// connection, and small machines cannot run more package clients.
const maxDownloads = 4

// Pull fetches packs that are missing or damaged in dir. Valid files stay, and what an
// interrupted pull fetched is not fetched again. A pack appears in dir whole or not at
// all.
func Pull(ctx context.Context, dir string, packs []Pack, tell progress.Func) error {
	tell = tell.Serial()
	if missing, err := Missing(ctx, dir, packs); err != nil || len(missing) == 0 {
		return err // also if dir is read-only
	}
	unlock, err := lock(dir)
	if err != nil {
		return err
	}
	defer unlock()
	missing, err := Missing(ctx, dir, packs) // another process may have pulled meanwhile
	if err != nil {
		return err
	}
	p := puller{
		dir:     dir,
		temp:    filepath.Join(dir, stageName, "temp"),
		report:  tell,
		clients: clients{tools: filepath.Join(filepath.Dir(dir), "toolchain", "bin")},
	}
	if err := os.RemoveAll(p.temp); err != nil { // left by a killed pull
		return err
	}
	defer os.RemoveAll(p.temp)
	for _, s := range missing {
		if err := p.plan(ctx, s); err != nil {
			return err
		}
	}
	if err := checkSpace(dir, p.space()); err != nil {
		return err
	}
	return p.work(ctx)
}

// PullSystem installs those of the packs that belong to the operating system and are missing.
func PullSystem(ctx context.Context, packs []Pack, tell progress.Func) error {
	p := puller{report: tell.Serial()}
	for _, pack := range packs {
		if pack.System == nil || inspectSystem(pack, systemRoot).Status == Ready {
			continue
		}
		if err := p.plan(ctx, State{Pack: pack}); err != nil {
			return err
		}
	}
	return nil
}

// puller is one pull.
type puller struct {
	dir, temp string
	report    progress.Func
	clients   clients
	jobs      []*job
	downloads []*download
}

// job is a pack to be assembled.
type job struct {
	stage *stage
	valid map[string]recordFile
	total int64 // bytes to download
	done  atomic.Int64
	left  atomic.Int32 // remaining downloads
}

// download is one source of a job.
type download struct {
	*job
	index     int
	folder    atomic.Pointer[string] // folder of the running client; nil if none runs
	unpacking atomic.Bool            // the client is done, and its archive is being extracted
}

func (d *download) source() Source { return d.stage.build.Sources[d.index] }

// plan adds a pack to the pull. A pack of the operating system is installed at once: that
// may ask for a password, or fail early.
func (p *puller) plan(ctx context.Context, state State) error {
	if state.Pack.System != nil {
		p.report(progress.Event{Name: state.Pack.Name, Step: progress.Installing, Total: state.Pack.Bytes()})
		if err := installSystem(ctx, state.Pack, p.clients); err != nil {
			return err
		}
		p.report(progress.Event{Name: state.Pack.Name, Step: progress.Done, Total: state.Pack.Bytes()})
		return nil
	}
	if _, ok := state.Pack.Build(); !ok || state.Pack.Custom {
		return &ErrNotReady{States: []State{state}}
	}
	stage, err := openStage(p.dir, state)
	if err != nil {
		return fmt.Errorf("pack %s: %w", state.Pack.Name, err)
	}
	j := &job{stage: stage, valid: state.valid}
	for _, i := range stage.missingSources(state.valid) {
		d := &download{job: j, index: i}
		p.downloads = append(p.downloads, d)
		j.total += d.source().Bytes
		j.left.Add(1)
	}
	p.jobs = append(p.jobs, j)
	return nil
}

// space returns how many bytes the pull needs on the disk: the files, and three times the
// archives that are fetched in parallel (the archive, and its copy in npm's cache or its
// unpacked form in Go's).
func (p *puller) space() int64 {
	var files int64
	var archives []int64
	for _, d := range p.downloads {
		files += partBytes(d.source().Parts, d.valid)
		archives = append(archives, d.source().Bytes)
	}
	slices.Sort(archives)
	slices.Reverse(archives)
	for _, a := range archives[:min(maxDownloads, len(archives))] {
		files += 3 * a
	}
	return files
}

func partBytes(takes []Part, good map[string]recordFile) int64 {
	var n int64
	for _, t := range missingParts(takes, good) {
		if t.Unpack != nil {
			n += partBytes(t.Unpack, good)
		} else {
			n += t.Bytes
		}
	}
	return n
}

// work runs the pull. The first failure stops it; what other clients have finished by
// then stays.
func (p *puller) work(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxDownloads)
	over := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		p.watch(over)
	}()
	for _, j := range p.jobs {
		if j.left.Load() == 0 { // all parts are there, but not assembled
			group.Go(func() error { return p.finish(ctx, j) })
		}
	}
	for _, d := range p.downloads {
		group.Go(func() error {
			if err := p.fetch(ctx, d); err != nil {
				return fmt.Errorf("pack %s: %w", d.stage.pack.Name, err)
			}
			d.done.Add(d.source().Bytes)
			if d.left.Add(-1) > 0 {
				return nil
			}
			return p.finish(ctx, d.job)
		})
	}
	err := group.Wait()
	close(over)
	<-watched
	return err
}

// finish installs a job's pack.
func (p *puller) finish(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	name, size := j.stage.pack.Name, j.stage.pack.Bytes()
	p.report(progress.Event{
		Name:  name,
		Step:  progress.Checking,
		Done:  size,
		Total: size,
	})
	if err := j.stage.finish(ctx, p.dir); err != nil {
		return err
	}
	p.report(progress.Event{
		Name:  name,
		Step:  progress.Done,
		Done:  size,
		Total: size,
	})
	return nil
}
