package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"parley/appliance/analysis"
	"parley/appliance/batch/source"
	"parley/appliance/contract"
)

// errPanicked is the error of an analysis that panicked.
var errPanicked = errors.New("the analysis panicked")

const (
	internalFault = "the box failed while it analysed this file; its log says why"
	diskFull      = "the disk of the box is full"
	accountFull   = "this account has no disk space left on the box (limits.disk_per_account)"
)

// text analyses a text of the request.
func (r *jobRun) text(ctx context.Context, out *result, t namedText) error {
	return r.measure(ctx, out, t.name, analysis.Source{Text: t.text})
}

// url fetches a URL and analyses the file.
func (r *jobRun) url(ctx context.Context, out *result, url string) error {
	limits := source.DefaultLimits()
	if limits.Bytes = min(limits.Bytes, r.spaceLeft); limits.Bytes <= 0 {
		return r.notFetched(out, url, accountFull)
	}
	if err := os.MkdirAll(r.folder.sources(), 0o700); err != nil {
		return err
	}
	path := r.folder.source(out.n)
	if err := os.RemoveAll(path); err != nil { // of a run that was interrupted
		return err
	}
	name, err := r.Fetcher.Fetch(ctx, url, path, limits)
	if fault, ok := errors.AsType[*source.Error](err); ok {
		return r.notFetched(out, url, fault.Why)
	}
	if errors.Is(err, source.ErrDiskFull) {
		out.failed = diskFull
		r.boxFault(out, source.Name(url), diskFull, err)
		return nil
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	r.stored(info.Size())
	err = r.file(ctx, out, name, path)
	if err == nil && !r.Settings.KeepSources {
		// Otherwise the downloads of a thousand URLs would be on the disk together.
		r.stored(-info.Size())
		err = os.Remove(path)
	}
	return err
}

// stored counts n more bytes on the disk.
func (r *jobRun) stored(n int64) { r.spaceLeft, r.bytes = r.spaceLeft-n, r.bytes+n }

// notFetched records that a URL has no file.
func (r *jobRun) notFetched(out *result, url, why string) error {
	out.failed = why
	out.fail(source.Name(url), why)
	r.tally.files++
	return nil
}

// file analyses a file, or each member of an archive.
func (r *jobRun) file(ctx context.Context, out *result, name, path string) error {
	archive, err := source.IsArchive(path)
	if errors.Is(err, os.ErrNotExist) { // a restored backup has no programs, and no downloads
		out.fail(name, "the file is not on the box any more")
		r.tally.files++
		return nil
	}
	if err != nil {
		return err
	}
	if !archive {
		return r.measure(ctx, out, name, analysis.Source{Path: path})
	}
	scratch := r.folder.scratch()
	if err := errors.Join(os.RemoveAll(scratch), os.Mkdir(scratch, 0o700)); err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	err = source.Walk(ctx, path, scratch, source.DefaultBounds(), func(m source.Member) error {
		if m.Problem != nil {
			out.fail(cmp.Or(m.Name, name), m.Problem.Why)
			r.tally.files++
			return nil
		}
		return r.measure(ctx, out, m.Name, analysis.Source{Path: m.Path})
	})
	if errors.Is(err, source.ErrDiskFull) {
		r.boxFault(out, name, diskFull, err)
		return nil
	}
	return err
}

// measure analyses one medium. What is wrong with it, or with its analysis, becomes an
// error of the result. The returned error ends the job.
func (r *jobRun) measure(ctx context.Context, out *result, name string, from analysis.Source) error {
	report, err := r.analyse(ctx, out, from)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		r.tally.files++
		for _, problem := range report.Problems {
			out.fail(name, problem)
		}
		return out.add(ctx, contract.InferencePrediction{File: name, Models: report.Models})
	}
	if err := out.dropFaces(); err != nil {
		return err
	}
	if errors.Is(err, errNoSpace) {
		r.tally.files++
		out.fail(name, accountFull)
		return nil
	}
	if fault, ok := errors.AsType[*analysis.Error](err); ok {
		r.tally.files++
		out.fail(name, fault.Why)
		return nil
	}
	why := internalFault
	if missing, ok := errors.AsType[*analysis.ErrMissing](err); ok {
		why = missing.Error()
	}
	r.boxFault(out, name, why, err)
	return nil
}

// boxFault adds an error about a file that was not analysed because of a fault of the box.
func (r *jobRun) boxFault(out *result, file, why string, err error) {
	r.log.Error("a file of an analysis job was not analysed", "source", out.n, "err", err)
	r.tally.boxFaults++
	r.tally.boxFault = cmp.Or(r.tally.boxFault, why)
	out.fail(file, why)
}

// analyse calls the analyser, and returns errPanicked if it panics.
func (r *jobRun) analyse(ctx context.Context, out *result, from analysis.Source) (report analysis.Report, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("the analysis of a file panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: %v", errPanicked, p)
		}
	}()
	request := analysis.Request{
		Models:        *r.request.Models,
		Transcription: r.request.Transcription,
		Speakers:      r.request.Speakers(),
	}
	if face := r.request.Models.Face; face != nil && face.SaveFaces {
		request.SaveFace = out.saveFace
	}
	return r.analyser.Analyse(ctx, from, request)
}
