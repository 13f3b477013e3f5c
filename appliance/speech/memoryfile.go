package speech

import (
	"errors"
	"fmt"
	"io"
)

// blockBytes is how much a file in memory grows by: of a slice that doubles, two would
// be held while it is copied.
const blockBytes = 256 << 10

// MemoryFile is a file in memory that is written from its beginning to its end, but for
// its header, to which its writer may go back. It is an io.WriteSeeker and an
// io.WriterTo. One goroutine uses it.
type MemoryFile struct {
	all [][]byte // each of sheet bytes but the last
	at  int64    // where the next is written
	end int64
}

// Len is how many bytes it has.
func (s *MemoryFile) Len() int { return int(s.end) }

func (s *MemoryFile) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i, from := int(s.at/blockBytes), int(s.at%blockBytes)
		if i == len(s.all) {
			s.all = append(s.all, make([]byte, blockBytes))
		}
		done := copy(s.all[i][from:], p)
		p, s.at = p[done:], s.at+int64(done)
	}
	s.end = max(s.end, s.at)
	return n, nil
}

// Seek goes to a place of what was written.
func (s *MemoryFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += s.at
	case io.SeekEnd:
		offset += s.end
	default:
		return 0, fmt.Errorf("sheets: whence is %d", whence)
	}
	if offset < 0 || offset > s.end {
		return 0, errors.New("sheets: a place outside of what was written")
	}
	s.at = offset
	return offset, nil
}

// WriteTo writes all of it.
func (s *MemoryFile) WriteTo(w io.Writer) (written int64, err error) {
	for _, b := range s.all {
		n, err := w.Write(b[:min(s.end-written, blockBytes)])
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}
