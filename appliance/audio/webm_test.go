package audio

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// opusPackets returns the packets of a voice, 20 ms each, and their sound at 16 kHz without
// pre-skip.
func opusPackets(t testing.TB) (packets [][]byte, pcm []float32) {
	t.Helper()
	link := &oggLink{tagged: true}
	var pages oggPages
	at := 0
	err := pages.feed(voice(t, "a.opus", "-t 1 -c:a libopus -b:a 24k OUT"), func(p oggPage) error {
		if at++; at <= 2 {
			return nil
		}
		more, err := link.packets(p)
		for _, m := range more {
			packets = append(packets, bytes.Clone(m))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	dec, err := newOpusDecoder(16000, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packets {
		out, err := dec.decode(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range out {
			pcm = append(pcm, bounded(v))
		}
	}
	return packets, pcm
}

const unknownSize = -1

// el writes an element; size unknownSize leaves it open.
func el(id uint32, size int, body ...[]byte) []byte {
	var b []byte
	for shift := 24; shift >= 0; shift -= 8 {
		if c := byte(id >> shift); c != 0 || len(b) > 0 {
			b = append(b, c)
		}
	}
	all := slices.Concat(body...)
	if size == unknownSize {
		b = append(b, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	} else {
		b = append(b, vint(len(all), 4)...)
	}
	return append(b, all...)
}

// vint writes a number in n bytes.
func vint(v, n int) []byte {
	full := binary.BigEndian.AppendUint64(nil, uint64(v)|1<<(7*n))
	return full[8-n:]
}

func webmHead(tracks ...[]byte) []byte {
	return slices.Concat(
		el(ebmlHeader, 0, el(ebmlDocType, 0, []byte("webm"))),
		el(mkvSegment, unknownSize, el(0x1549A966, 0, el(0x4D80, 0, []byte("a test"))), el(mkvTracks, 0, tracks...)))
}

func track(number byte, codec string) []byte {
	return el(mkvTrackEntry, 0, el(mkvTrackNumber, 0, []byte{number}), el(mkvCodecID, 0, []byte(codec)))
}

func block(number, flags byte, body ...[]byte) []byte {
	return append([]byte{0x80 | number, 0, 0, flags}, slices.Concat(body...)...)
}

func TestWebMOfBrowsers(t *testing.T) {
	packets, want := opusPackets(t)
	video := el(mkvSimpleBlock, 0, block(1, 0x80, make([]byte, 3*mkvMaxBlock)))
	clusterTime := el(0xE7, 0, []byte{0})
	for name, write := range map[string]func() []byte{
		"open clusters": func() []byte {
			b := webmHead(track(1, "A_OPUS"))
			for c := range slices.Chunk(packets, 10) {
				b = append(b, el(mkvCluster, unknownSize, clusterTime)...)
				for _, p := range c {
					b = append(b, el(mkvSimpleBlock, 0, block(1, 0x80, p))...)
				}
			}
			return append(b, el(0x1C53BB6B, 0, make([]byte, 20))...) // Cues
		},
		"beside video": func() []byte {
			b := append(webmHead(track(1, "V_VP8"), track(2, "A_OPUS")),
				el(mkvCluster, unknownSize, clusterTime, video)...)
			for i, p := range packets {
				b = append(b, el(mkvSimpleBlock, 0, block(2, 0x80, p))...)
				if i == 7 {
					b = append(b, video...)
				}
			}
			return b
		},
		"block groups, closed clusters, padding": func() []byte {
			b := webmHead(track(5, "A_OPUS"))
			for c := range slices.Chunk(packets, 7) {
				body := [][]byte{clusterTime, el(ebmlVoid, 0, make([]byte, 30))}
				for _, p := range c {
					body = append(body, el(mkvBlockGroup, 0, el(mkvBlock, 0, block(5, 0, p)), el(0x9B, 0, []byte{20})))
				}
				b = append(b, el(mkvCluster, 0, body...)...)
			}
			return b
		},
		"Xiph lacing": func() []byte {
			return laced(packets, 1, func(c [][]byte) (sizes []byte) {
				for _, p := range c[:len(c)-1] {
					for n := len(p); ; n -= 255 {
						sizes = append(sizes, byte(min(n, 255)))
						if n < 255 {
							break
						}
					}
				}
				return sizes
			})
		},
		"EBML lacing": func() []byte {
			return laced(packets, 3, func(c [][]byte) (sizes []byte) {
				for i, p := range c[:len(c)-1] {
					if i == 0 {
						sizes = append(sizes, vint(len(p), 2)...)
					} else {
						sizes = append(sizes, vint(len(p)-len(c[i-1])+8191, 2)...)
					}
				}
				return sizes
			})
		},
		"a recorder begun anew": func() []byte {
			half := len(packets) / 2
			b := append(webmHead(track(1, "A_OPUS")), el(mkvCluster, unknownSize, clusterTime)...)
			for i, p := range packets {
				if i == half { // the encoder continues, so the decoder's state differs at the seam
					b = append(b, webmHead(track(1, "A_OPUS"))...)
					b = append(b, el(mkvCluster, unknownSize, clusterTime)...)
				}
				b = append(b, el(mkvSimpleBlock, 0, block(1, 0, p))...)
			}
			return b
		},
	} {
		data := write()
		r := rand.New(rand.NewPCG(1, 2))
		got, err := decodeCut(data, 16000, func(rest int) int { return 1 + r.IntN(min(rest, 3000)) })
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.Contains(name, "anew") {
			if len(got) != len(want) || !slices.Equal(got[:len(got)/3], want[:len(got)/3]) {
				t.Errorf("%s: %d samples; want %d", name, len(got), len(want))
			}
		} else if !slices.Equal(got, want) {
			t.Errorf("%s: %d samples, other than the %d of the packets", name, len(got), len(want))
		}
	}
}

func laced(packets [][]byte, lacing byte, sizes func([][]byte) []byte) []byte {
	b := append(webmHead(track(1, "A_OPUS")), el(mkvCluster, unknownSize)...)
	for c := range slices.Chunk(packets, 6) {
		body := append([]byte{byte(len(c) - 1)}, sizes(c)...)
		b = append(b, el(mkvSimpleBlock, 0, block(1, lacing<<1, append([][]byte{body}, c...)...))...)
	}
	return b
}

func TestDamagedWebMIsNamed(t *testing.T) {
	packets, _ := opusPackets(t)
	cluster := el(mkvCluster, unknownSize)
	head := webmHead(track(1, "A_OPUS"))
	simple := func(b ...[]byte) []byte { return el(mkvSimpleBlock, 0, b...) }
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"a track longer than its list": {slices.Concat(el(ebmlHeader, 0),
			el(mkvSegment, unknownSize, el(mkvTracks, 0, el(mkvTrackEntry, 0, make([]byte, 9))[:8]))), "longer than"},
		"a block before the tracks": {slices.Concat(el(ebmlHeader, 0), el(mkvSegment, unknownSize), cluster,
			simple(block(1, 0, packets[0]))), "before the list"},
		"no opus":         {webmHead(track(1, "V_VP9"), track(2, "A_PCM/INT/LIT")), "A_PCM/INT/LIT"},
		"an empty packet": {slices.Concat(head, cluster, simple(block(1, 0))), "empty packet"},
		"a packet that is none": {slices.Concat(head, cluster, simple(block(1, 0, []byte{0xff, 0xff, 0xff}))),
			"opus"},
		"a block without a head": {slices.Concat(head, cluster, simple([]byte{0x81})), "too short"},
		"a block of nothing":     {slices.Concat(head, cluster, simple()), "no track number"},
		"a huge block": {slices.Concat(head, cluster, []byte{mkvSimpleBlock}, vint(mkvMaxBlock+1, 4),
			[]byte{0x81}), "at most"},
		"a huge list of tracks": {slices.Concat(el(ebmlHeader, 0), el(mkvSegment, unknownSize),
			[]byte{0x16, 0x54, 0xAE, 0x6B}, vint(1<<27, 4)), "at most"},
		"an open block": {slices.Concat(head, cluster, []byte{mkvSimpleBlock, 0xff}), "has no size"},
		"lacing beyond its block": {slices.Concat(head, cluster, simple(block(1, 2, []byte{1, 200, 1, 2}))),
			"laced packet"},
		"uneven fixed lacing": {slices.Concat(head, cluster, simple(block(1, 4, []byte{1, 1, 2, 3}))),
			"does not divide"},
		"another document": {el(ebmlHeader, 0, el(ebmlDocType, 0, []byte("office"))), "office"},
		"no element":       {append(el(ebmlHeader, 0), 0, 0, 0, 0), "no element"},
		"a compressed track": {
			webmHead(el(mkvTrackEntry, 0, el(mkvCodecID, 0, []byte("A_OPUS")), el(mkvEncodings, 0))),
			"ContentEncodings"},
		"a track of many channels": {
			webmHead(el(mkvTrackEntry, 0, el(mkvCodecID, 0, []byte("A_OPUS")),
				el(mkvCodecPrivate, 0, []byte("OpusHead\x01\x06\x00\x00\x00\x00\x00\x00\x00\x00\x01")))), "6 channels"},
		"an end before there are tracks": {el(ebmlHeader, 0, el(ebmlDocType, 0, []byte("webm"))),
			"before its list of tracks"},
	} {
		if _, err := DecodeAll(c.data, 16000); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v; want one that says %q", name, err, c.says)
		}
	}
}
