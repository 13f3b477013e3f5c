package source

import (
	"archive/tar"
	"io"
)

// tar walks a tar stream.
func (l *level) tar(from io.Reader) error {
	r := tar.NewReader(from)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return l.damaged(err)
		}
		if err := l.count(); err != nil {
			return err
		}
		if err := l.tarEntry(r, h); err != nil {
			return err
		}
	}
}

func (l *level) tarEntry(r *tar.Reader, h *tar.Header) error {
	name, wrong := memberName(h.Name)
	switch {
	case wrong != nil:
		return l.problem(name, wrong)
	case name == "" || h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
		return nil
	case h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink:
		return l.problem(name, fault("the entry is a link, which is not followed"))
	case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeGNUSparse:
		return l.problem(name, fault("the entry is no file (tar type %q)", h.Typeflag))
	}
	return l.member(name, h.Size, r)
}
