package source

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// level is the walk of one archive, which may be within another.
type level struct {
	*walk
	within string
	depth  int
	number int // entries so far
}

// problem visits a problem with the member of that name, or with the archive itself.
func (l *level) problem(name string, why *Error) error {
	return l.visit(Member{Name: l.full(name), Problem: why})
}

// full returns the path of a member from the outermost archive.
func (l *level) full(name string) string {
	if l.within == "" || name == "" {
		return l.within + name
	}
	return l.within + "/" + name
}

// damaged visits the problem that the archive cannot be read any further.
func (l *level) damaged(err error) error {
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	if isOurs(err) {
		return err
	}
	if errors.Is(err, errUnpacked) {
		return l.tooMuch()
	}
	if l.number == 0 {
		return l.problem("", fault("the archive is damaged: %.100s", plain(err)))
	}
	return l.problem("", fault("the archive is damaged after %d entries, and its rest is left out: %.100s", l.number,
		plain(err)))
}

// plain describes an error of the packages that unpack.
func plain(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends too early"
	}
	return err.Error()
}

// tooMuch visits the problem that the archive unpacks to more than allowed, and ends the
// walk.
func (l *level) tooMuch() error {
	return l.end(fault("the archive unpacks to more than %s, and its rest is left out", size(l.Bytes)))
}

// count counts an entry, and ends the walk if there are too many.
func (l *level) count() error {
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	l.number++
	if l.entries++; l.entries <= l.Entries {
		return nil
	}
	return l.end(fault("the archive has more than %d entries, and its rest is left out", l.Entries))
}

// end visits a problem with the archive and ends the walk.
func (l *level) end(why *Error) error {
	if err := l.problem("", why); err != nil {
		return err
	}
	return errEnd
}

// member unpacks one member from content, visits it and removes it again. The name is as
// memberName returns it, and declared is the size that the archive gives.
func (l *level) member(name string, declared int64, content io.Reader) error {
	tooLarge := fault("the entry has more than the %s that a file may have", size(l.Member))
	if declared > l.Member {
		return l.problem(name, tooLarge)
	}
	limit, over := l.Member, error(tooLarge)
	if left := l.Bytes - l.bytes; left < limit {
		limit, over = left, errUnpacked
	}
	if declared > limit {
		return l.tooMuch()
	}
	temporary, err := os.MkdirTemp(l.folder, "member-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	file := filepath.Join(temporary, "file")
	n, err := save(l.ctx, file, content, limit, over)
	l.bytes += n
	switch problem, ok := errors.AsType[*Error](err); {
	case l.ctx.Err() != nil:
		return context.Cause(l.ctx)
	case ok:
		return l.problem(name, problem)
	case errors.Is(err, errUnpacked):
		return l.tooMuch()
	case err != nil && isOurs(err):
		return err
	case err != nil:
		return l.problem(name, fault("the entry is damaged: %.100s", plain(err)))
	}
	return l.unpacked(Member{
		Name: l.full(name),
		Path: file,
		Size: n,
	})
}

// unpacked visits a member, or walks it if it is an archive.
func (l *level) unpacked(m Member) error {
	archive, err := IsArchive(m.Path)
	switch {
	case err != nil:
		return err
	case !archive:
		return l.visit(m)
	case l.depth >= maxDepth:
		return l.visit(Member{
			Name:    m.Name,
			Problem: fault("an archive in an archive in an archive is not unpacked"),
		})
	}
	return l.archive(m.Path, m.Name, l.depth+1)
}
