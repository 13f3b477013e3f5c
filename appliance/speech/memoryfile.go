package speech

import (
	"fmt"
	"io"
)

// blockBytes is the step by which a file in memory grows. A slice that doubles would hold the
// file twice while it is copied.
const blockBytes = 256 << 10

// MemoryFile is a file in memory that is written sequentially, except for its header, to which
// the writer may seek back. It implements io.WriteSeeker and io.WriterTo. One goroutine uses
// it.
type MemoryFile struct {
	all [][]byte // each of blockBytes bytes
	at  int64    // position of the next write
	end int64
}

// Len returns the size in bytes.
func (f *MemoryFile) Len() int { return int(f.end) }

func (f *MemoryFile) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i, from := int(f.at/blockBytes), int(f.at%blockBytes)
		if i == len(f.all) {
			f.all = append(f.all, make([]byte, blockBytes))
		}
		done := copy(f.all[i][from:], p)
		p, f.at = p[done:], f.at+int64(done)
	}
	f.end = max(f.end, f.at)
	return n, nil
}

// Seek moves to a position within what was written.
func (f *MemoryFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.end
	default:
		return 0, fmt.Errorf("memory file: whence is %d; allowed are 0, 1 and 2", whence)
	}
	if offset < 0 || offset > f.end {
		return 0, fmt.Errorf("memory file: position %d is outside of the %d bytes written", offset, f.end)
	}
	f.at = offset
	return offset, nil
}

// WriteTo writes the whole file to w.
func (f *MemoryFile) WriteTo(w io.Writer) (written int64, err error) {
	for _, b := range f.all {
		n, err := w.Write(b[:min(f.end-written, blockBytes)])
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}
