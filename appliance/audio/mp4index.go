package audio

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/abema/go-mp4"
)

// mp4MaxSkip is how much an edit list may cut at the beginning, in seconds: encoders need 20 to
// 130 ms, and larger cuts are meant for pictures.
const mp4MaxSkip = 1

// mp4MaxBoxes is how many boxes of an index or a fragment are parsed. A track has fifteen, and
// each takes time however small it is.
const mp4MaxBoxes = 1 << 11

// mp4Walk calls each with the boxes of data, from the outside in. Boxes of mp4Opens are entered
// afterwards.
func mp4Walk(data []byte, each func(h *mp4.ReadHandle) error) (err error) {
	defer mp4Recover(&err)
	seen := 0
	_, err = mp4.ReadBoxStructure(bytes.NewReader(data), func(h *mp4.ReadHandle) (any, error) {
		if seen++; seen > mp4MaxBoxes {
			return nil, fmt.Errorf("more than %d boxes", mp4MaxBoxes)
		}
		if err := each(h); err != nil || !mp4Opens(h.BoxInfo.Type.String()) {
			return nil, err
		}
		return h.Expand()
	})
	return err
}

// mp4Track is the track to play: how its samples are decoded, and where they are.
type mp4Track struct {
	id     uint32
	opus   bool
	head   opusHead // of Opus
	config []byte   // AudioSpecificConfig of AAC
	skip   float64  // seconds to skip at the beginning

	defaults map[uint32]uint32 // default sample size of each track's fragments
	table    mp4Table          // samples of the index
	runs     []mp4Run          // samples of the current fragment, after those of the table
}

// mp4Entry is the index of one track.
type mp4Entry struct {
	id        uint32
	sound     bool
	timescale uint32
	mediaTime int64
	codec     string // of the first sample entry
	config    []byte
	opus      *mp4.DOps
	kind      byte // of the elementary stream (ISO 14496-1, table 5)
	// The sample tables: whole boxes without their headers.
	sizes, chunks, chunks64, perChunk []byte
}

// readMP4Index chooses the first AAC or Opus track of an index. brand is the box before it,
// which distinguishes QuickTime from MP4; it may be empty.
func readMP4Index(brand, moov []byte) (*mp4Track, error) {
	var entries []*mp4Entry
	defaults := map[uint32]uint32{}
	data := append(append([]byte(nil), brand...), moov...)
	err := mp4Walk(data, func(h *mp4.ReadHandle) error {
		switch h.BoxInfo.Type {
		case mp4.BoxTypeTrak():
			entries = append(entries, &mp4Entry{})
		case mp4.BoxTypeTrex():
			var trex mp4.Trex
			err := mp4Unmarshal(data, h, &trex)
			defaults[trex.TrackID] = trex.DefaultSampleSize
			return err
		}
		if len(entries) == 0 {
			return nil
		}
		return entries[len(entries)-1].read(data, h)
	})
	if err != nil {
		return nil, fmt.Errorf("its index (moov) is damaged: %w", err)
	}
	return chooseMP4(entries, defaults)
}

// mp4Opens reports whether the children of a box are parsed.
func mp4Opens(kind string) bool {
	switch kind {
	case "moov", "trak", "mdia", "minf", "stbl", "stsd", "edts", "mvex", "mp4a", "Opus", "wave", "moof", "traf":
		return true
	}
	return false
}

// chooseMP4 returns the first playable track.
func chooseMP4(entries []*mp4Entry, defaults map[uint32]uint32) (*mp4Track, error) {
	var seen []string
	for _, e := range entries {
		t, err := e.track()
		switch {
		case err != nil:
			return nil, err
		case t != nil:
			t.defaults = defaults
			return t, nil
		case len(seen) < 8:
			seen = append(seen, e.name())
		}
	}
	if len(seen) == 0 {
		return nil, errors.New("it has no tracks")
	}
	return nil, fmt.Errorf("its tracks are %s; only sound in AAC or Opus is supported", strings.Join(seen, ", "))
}

func (e *mp4Entry) name() string {
	switch {
	case e.codec == "mp4a" && e.kind != 0:
		return fmt.Sprintf("mp4a of kind %#02x", e.kind)
	case e.codec == "enca":
		return "encrypted sound"
	case !e.sound:
		return "no sound"
	}
	return fmt.Sprintf("%q", e.codec)
}

// read parses a box of a track.
func (e *mp4Entry) read(data []byte, h *mp4.ReadHandle) error {
	kind := h.BoxInfo.Type.String()
	if n := len(h.Path); e.codec == "" && n > 1 && h.Path[n-2] == mp4.BoxTypeStsd() {
		e.codec = kind
	}
	switch kind {
	case "tkhd":
		var b mp4.Tkhd
		err := mp4Unmarshal(data, h, &b)
		e.id = b.TrackID
		return err
	case "mdhd":
		var b mp4.Mdhd
		err := mp4Unmarshal(data, h, &b)
		e.timescale = b.Timescale
		return err
	case "hdlr":
		var b mp4.Hdlr
		err := mp4Unmarshal(data, h, &b)
		// QuickTime has a second one within minf, which is not the medium's.
		e.sound = e.sound || b.HandlerType == [4]byte{'s', 'o', 'u', 'n'}
		return err
	case "elst":
		return e.edit(data, h)
	case "esds":
		var b mp4.Esds
		err := mp4Unmarshal(data, h, &b)
		e.descriptors(b.Descriptors)
		return err
	case "dOps":
		e.opus = &mp4.DOps{}
		return mp4Unmarshal(data, h, e.opus)
	case "stsz":
		e.sizes = mp4Body(data, h)
	case "stco":
		e.chunks = mp4Body(data, h)
	case "co64":
		e.chunks64 = mp4Body(data, h)
	case "stsc":
		e.perChunk = mp4Body(data, h)
	}
	return nil
}

// edit finds the beginning of the first edit that plays something.
func (e *mp4Entry) edit(data []byte, h *mp4.ReadHandle) error {
	var b mp4.Elst
	if err := mp4Unmarshal(data, h, &b); err != nil {
		return err
	}
	for i := range b.Entries {
		if at := b.GetMediaTime(i); at >= 0 {
			e.mediaTime = at
			break
		}
	}
	return nil
}

// descriptors parses the descriptors of an elementary stream (ISO 14496-1, 7.2.6).
func (e *mp4Entry) descriptors(all []mp4.Descriptor) {
	for _, d := range all {
		switch {
		case d.DecoderConfigDescriptor != nil:
			e.kind = d.DecoderConfigDescriptor.ObjectTypeIndication
		case d.Tag == mp4.DecSpecificInfoTag:
			e.config = d.Data
		}
	}
}

// track returns the track to play, nil if it is not supported.
func (e *mp4Entry) track() (*mp4Track, error) {
	t := &mp4Track{id: e.id}
	switch {
	case !e.sound:
		return nil, nil
	case e.codec == "Opus" && e.opus != nil:
		o := e.opus
		if o.ChannelMappingFamily != 0 || o.OutputChannelCount < 1 || o.OutputChannelCount > 2 {
			return nil, fmt.Errorf("opus: %d channels with mapping family %d; allowed are 1 or 2 with family 0",
				o.OutputChannelCount, o.ChannelMappingFamily)
		}
		t.opus, t.head = true, opusHead{int(o.OutputChannelCount), int(o.PreSkip), opusGain(o.OutputGain)}
	case e.codec == "mp4a" && (e.kind == 0x40 || e.kind >= 0x66 && e.kind <= 0x68):
		if len(e.config) == 0 {
			return nil, errors.New("its AAC has no configuration (esds)")
		}
		t.config = e.config
		if e.timescale > 0 && e.mediaTime <= mp4MaxSkip*int64(e.timescale) {
			t.skip = float64(e.mediaTime) / float64(e.timescale)
		}
	default:
		return nil, nil
	}
	return t, e.samples(&t.table)
}

// mp4Body returns the content of a box, or nothing if the box claims to be longer than the
// data.
func mp4Body(data []byte, h *mp4.ReadHandle) []byte {
	from, to := h.BoxInfo.Offset+h.BoxInfo.HeaderSize, h.BoxInfo.Offset+h.BoxInfo.Size
	if from > to || to > uint64(len(data)) {
		return nil
	}
	return data[from:to]
}

func mp4Unmarshal(data []byte, h *mp4.ReadHandle, into mp4.IBox) error {
	return mp4Read(mp4Body(data, h), into, h.BoxInfo.Context)
}

func mp4Read(body []byte, into mp4.IBox, ctx mp4.Context) error {
	_, err := mp4.Unmarshal(bytes.NewReader(body), uint64(len(body)), into, ctx)
	if err != nil {
		return fmt.Errorf("box %q: %w", into.GetType(), err)
	}
	return nil
}

// mp4Recover converts a panic to an error: the library may not check everything in a damaged
// box.
func mp4Recover(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("damaged: %v", r)
	}
}
