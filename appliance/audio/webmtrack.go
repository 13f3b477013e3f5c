package audio

import (
	"errors"
	"fmt"
	"strings"
)

// The elements of a TrackEntry that are parsed (RFC 9559, 5.1.4).
const (
	mkvTrackEntry   = 0xAE
	mkvTrackNumber  = 0xD7
	mkvCodecID      = 0x86
	mkvCodecPrivate = 0x63A2
	mkvEncodings    = 0x6D80
)

// mkvTrack is the track to play.
type mkvTrack struct {
	number uint64
	head   opusHead
	vorbis []byte // the headers of a Vorbis track; nil: it is Opus
}

// findTrack chooses the first Opus or Vorbis track of a Tracks element.
func findTrack(body []byte) (found *mkvTrack, err error) {
	var codecs []string
	err = ebmlEach(body, func(id uint32, entry []byte) error {
		if id != mkvTrackEntry || found != nil {
			return nil
		}
		t, codec, err := readTrack(entry)
		found = t
		codecs = append(codecs, codec)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case found == nil && len(codecs) == 0:
		return nil, errors.New("it has no tracks")
	case found == nil:
		return nil, fmt.Errorf("its tracks are %.200s; only Opus (A_OPUS) and Vorbis (A_VORBIS) are supported",
			strings.Join(codecs, ", "))
	}
	return found, nil
}

// readTrack returns the track of a TrackEntry, nil if it is neither Opus nor Vorbis.
func readTrack(entry []byte) (*mkvTrack, string, error) {
	t := &mkvTrack{}
	var codec string
	var private []byte
	encoded := false
	err := ebmlEach(entry, func(id uint32, data []byte) error {
		switch id {
		case mkvTrackNumber:
			t.number = ebmlUint(data)
		case mkvCodecID:
			codec = strings.TrimRight(string(data), "\x00")
		case mkvCodecPrivate:
			private = data
		case mkvEncodings:
			encoded = true
		}
		return nil
	})
	if err != nil || codec != "A_OPUS" && codec != "A_VORBIS" {
		return nil, fmt.Sprintf("%q", codec), err
	}
	if encoded {
		return nil, codec,
			errors.New("the track is compressed or encrypted once more (ContentEncodings), which is not supported")
	}
	if codec == "A_VORBIS" {
		t.vorbis = append([]byte{}, private...)
		return t, codec, nil
	}
	t.head = opusHead{channels: 1, gain: 1} // the default without a CodecPrivate
	if len(private) > 0 {
		t.head, err = parseOpusHead(private)
	}
	return t, codec, err
}

// play decodes a block of the track (RFC 9559, 10): track number, time, flags, then one or more
// packets. discardNS is the length of sound at the end to discard.
func (w *webmParser) play(block []byte, discardNS int64, to *sink) error {
	_, n, err := ebmlVint(block)
	if err != nil || len(block) < n+3 {
		return fmt.Errorf("block of %d bytes is too short for its header", len(block))
	}
	packets, err := unlace(block[n+2], block[n+3:])
	if err != nil {
		return err
	}
	discardNS = min(max(discardNS, 0), int64(opusMaxPacketMS)*1e6) // at most the last packet
	for i, packet := range packets {
		drop := 0
		if i == len(packets)-1 {
			drop = int((discardNS*opusHz + 5e8) / 1e9)
		}
		if w.track.vorbis != nil {
			err = w.vorbis.decode(packet, to)
		} else {
			err = w.opus.decode(packet, drop, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unlace splits a block's body into packets, by the lacing in its flags (RFC 9559, 10.3).
func unlace(flags byte, b []byte) ([][]byte, error) {
	lacing := flags >> 1 & 3
	if lacing == 0 {
		return [][]byte{b}, nil
	}
	if len(b) == 0 {
		return nil, errors.New("laced block without a count")
	}
	count := int(b[0]) + 1
	b = b[1:]
	var sizes []int
	var err error
	switch lacing {
	case 1:
		sizes, b, err = xiphSizes(count-1, b)
	case 3:
		sizes, b, err = ebmlSizes(count-1, b)
	default:
		if len(b)%count != 0 {
			return nil, fmt.Errorf("laced block of %d bytes does not divide by %d packets", len(b), count)
		}
		for range count - 1 {
			sizes = append(sizes, len(b)/count)
		}
	}
	if err != nil {
		return nil, err
	}
	packets := make([][]byte, 0, count)
	for _, n := range sizes {
		if n < 0 || n > len(b) {
			return nil, fmt.Errorf("laced packet of %d bytes in %d that are left", n, len(b))
		}
		packets, b = append(packets, b[:n]), b[n:]
	}
	return append(packets, b), nil // the last one has the rest
}

func xiphSizes(n int, b []byte) (sizes []int, rest []byte, err error) {
	for range n {
		size := 0
		for {
			if len(b) == 0 {
				return nil, nil, errors.New("laced block ends in its sizes")
			}
			c := int(b[0])
			size, b = size+c, b[1:]
			if c < 255 {
				break
			}
		}
		sizes = append(sizes, size)
	}
	return sizes, b, nil
}

// ebmlSizes parses a first size and then the differences, which are numbers of variable length
// minus the middle of their range.
func ebmlSizes(n int, b []byte) (sizes []int, rest []byte, err error) {
	size := 0
	for i := range n {
		v, m, err := ebmlVint(b)
		if err != nil || v > 1<<32 {
			return nil, nil, errors.New("laced block is damaged in its sizes")
		}
		if b = b[m:]; i == 0 {
			size = int(v)
		} else {
			size += int(v) - (1<<(7*m-1) - 1)
		}
		sizes = append(sizes, size)
	}
	return sizes, b, nil
}
