package audio

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/abema/go-mp4"
)

// mp4Sample is the position of a frame of sound, from the beginning of the file.
type mp4Sample struct {
	at   int64
	size int
}

// mp4Run is consecutive samples, all of one size if sizes is nil.
type mp4Run struct {
	at    int64
	count uint32
	size  uint32
	sizes []uint32
}

// length returns the size of the samples in bytes.
func (r *mp4Run) length() int64 {
	if r.sizes == nil {
		return int64(r.count) * int64(r.size)
	}
	sum := int64(0)
	for _, n := range r.sizes {
		sum += int64(n)
	}
	return sum
}

// first returns the first of the samples.
func (r *mp4Run) first() mp4Sample {
	if r.sizes == nil {
		return mp4Sample{r.at, int(r.size)}
	}
	return mp4Sample{r.at, int(r.sizes[0])}
}

// drop removes the first of the samples.
func (r *mp4Run) drop() {
	r.at += int64(r.first().size)
	r.count--
	if r.sizes != nil {
		r.sizes = r.sizes[1:]
	}
}

// mp4Table is the samples of an index (ISO 14496-12, 8.7): chunks of some samples each. They
// are counted, not expanded: a few bytes can stand for billions.
type mp4Table struct {
	remaining mp4Run // samples not yet in a chunk
	chunks    []uint64
	perChunk  []mp4PerChunk
	chunk     uint32 // number of the next chunk, from 1
	open      mp4Run // the rest of the previous chunk
}

// mp4PerChunk is how many samples the chunks have from a number on.
type mp4PerChunk struct{ first, samples uint32 }

// next returns the run with the next samples, nil after the last.
func (t *mp4Table) next() (*mp4Run, error) {
	for t.open.count == 0 {
		if len(t.chunks) == 0 || t.remaining.count == 0 {
			return nil, nil
		}
		for len(t.perChunk) > 1 && t.perChunk[1].first <= t.chunk {
			t.perChunk = t.perChunk[1:]
		}
		if len(t.perChunk) == 0 || t.perChunk[0].first > t.chunk {
			return nil, fmt.Errorf("its index does not say how many samples chunk %d has", t.chunk)
		}
		at := t.chunks[0]
		if at > 1<<48 {
			return nil, fmt.Errorf("chunk %d is at byte %d", t.chunk, at)
		}
		t.open = t.remaining
		t.open.at, t.open.count = int64(at), min(t.perChunk[0].samples, t.remaining.count)
		if t.remaining.sizes != nil {
			t.open.sizes, t.remaining.sizes = t.remaining.sizes[:t.open.count], t.remaining.sizes[t.open.count:]
		}
		t.remaining.count -= t.open.count
		t.chunks = t.chunks[1:]
		t.chunk++
	}
	return &t.open, nil
}

// samples parses the sample tables of a track without the library, which takes a microsecond for
// each number: the tables grow with the file.
func (e *mp4Entry) samples(t *mp4Table) error {
	if e.sizes == nil { // all its samples come in fragments
		return nil
	}
	head := mp4Numbers(e.sizes, 4) // the common size, if any, and the number of samples
	if len(head) < 2 {
		return fmt.Errorf("box \"stsz\" of %d bytes is too short", len(e.sizes))
	}
	t.remaining = mp4Run{count: head[1], size: head[0]}
	if head[0] == 0 {
		t.remaining.sizes = head[2:]
		if uint64(head[1]) > uint64(len(t.remaining.sizes)) {
			return fmt.Errorf("box \"stsz\" says %d samples and has the sizes of %d", head[1], len(t.remaining.sizes))
		}
	}
	t.chunk = 1
	for per := mp4Numbers(e.perChunk, 8); len(per) >= 3; per = per[3:] {
		t.perChunk = append(t.perChunk, mp4PerChunk{per[0], per[1]})
	}
	for _, at := range mp4Numbers(e.chunks, 8) {
		t.chunks = append(t.chunks, uint64(at))
	}
	for at := mp4Numbers(e.chunks64, 8); len(at) >= 2; at = at[2:] {
		t.chunks = append(t.chunks, uint64(at[0])<<32|uint64(at[1]))
	}
	return nil
}

// mp4Numbers returns the 32-bit numbers of a box from a byte of its body on.
func mp4Numbers(body []byte, from int) []uint32 {
	body = body[min(from, len(body)):]
	numbers := make([]uint32, len(body)/4)
	for i := range numbers {
		numbers[i] = binary.BigEndian.Uint32(body[4*i:])
	}
	return numbers
}

// next returns the next sample, which done removes.
func (t *mp4Track) next() (s mp4Sample, ok bool, err error) {
	r, err := t.current()
	if r == nil || err != nil {
		return s, false, err
	}
	return r.first(), true, nil
}

// done removes the next sample.
func (t *mp4Track) done() {
	if r, err := t.current(); r != nil && err == nil {
		r.drop()
	}
}

// current returns the run with the next sample, first of the index and then of the fragments, nil
// after the last.
func (t *mp4Track) current() (*mp4Run, error) {
	if r, err := t.table.next(); r != nil || err != nil {
		return r, err
	}
	for len(t.runs) > 0 && t.runs[0].count == 0 {
		t.runs = t.runs[1:]
	}
	if len(t.runs) == 0 {
		return nil, nil
	}
	return &t.runs[0], nil
}

// mp4MaxSamples is how many samples a fragment may have, twenty minutes of AAC: each takes 20
// bytes of memory, but may take none of the stream. Each run counts as one more.
const mp4MaxSamples = 1 << 16

// fragment parses the sample list of a fragment (ISO 14496-12, 8.8), a moof at a position of
// the file.
func (t *mp4Track) fragment(moof []byte, at int64) error {
	if _, waits, err := t.next(); waits || err != nil {
		return errors.Join(errors.New("a fragment begins before the sound of the previous one is complete"), err)
	}
	t.runs = t.runs[:0]
	f := mp4Fragment{track: t, moof: at, end: at}
	err := mp4Walk(moof, func(h *mp4.ReadHandle) error {
		switch h.BoxInfo.Type {
		case mp4.BoxTypeTfhd():
			return f.head(moof, h)
		case mp4.BoxTypeTrun():
			return f.run(moof, h)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("its fragment (moof) is damaged: %w", err)
	}
	return nil
}

// mp4Fragment is a moof during parsing.
type mp4Fragment struct {
	track *mp4Track
	moof  int64 // its position
	base  int64 // the base of the track's runs
	end   int64 // of the previous run
	id    uint32
	size  uint32 // default size of samples
	count int64  // of samples and runs
}

// head starts the part of a track.
func (f *mp4Fragment) head(moof []byte, h *mp4.ReadHandle) error {
	var b mp4.Tfhd
	if err := mp4Unmarshal(moof, h, &b); err != nil {
		return err
	}
	f.id, f.size = b.TrackID, f.track.defaults[b.TrackID]
	if b.CheckFlag(mp4.TfhdDefaultSampleSizePresent) {
		f.size = b.DefaultSampleSize
	}
	switch {
	case b.CheckFlag(mp4.TfhdBaseDataOffsetPresent):
		if b.BaseDataOffset > 1<<48 {
			return fmt.Errorf("its samples are at byte %d", b.BaseDataOffset)
		}
		f.base = int64(b.BaseDataOffset)
	case b.CheckFlag(mp4.TfhdDefaultBaseIsMoof):
		f.base = f.moof
	default: // the first track's base is the moof, the others' the end of the previous one
		f.base = f.end
	}
	f.end = f.base
	return nil
}

// run parses samples of the current track.
func (f *mp4Fragment) run(moof []byte, h *mp4.ReadHandle) error {
	body := mp4Body(moof, h)
	if f.count++; len(body) >= 8 {
		f.count += int64(binary.BigEndian.Uint32(body[4:]))
	}
	if f.count > mp4MaxSamples {
		return fmt.Errorf("it has more than %d samples", mp4MaxSamples)
	}
	var b mp4.Trun
	if err := mp4Read(body, &b, mp4.Context{}); err != nil {
		return err
	}
	r := mp4Run{at: f.end, count: b.SampleCount, size: f.size}
	if b.CheckFlag(0x1) { // it has a data offset
		r.at = f.base + int64(b.DataOffset)
	}
	if b.CheckFlag(0x200) { // it has a size for each sample
		r.sizes = make([]uint32, 0, len(b.Entries))
		for _, e := range b.Entries {
			r.sizes = append(r.sizes, e.SampleSize)
		}
	}
	f.end = r.at + r.length()
	if f.id == f.track.id {
		f.track.runs = append(f.track.runs, r)
	}
	return nil
}
