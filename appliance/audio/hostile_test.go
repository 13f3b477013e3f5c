package audio

import (
	"bytes"
	"testing"
	"time"
	"runtime"
	"slices"
)

func TestHostileTimes(t *testing.T) {
	const size = 16 << 20
	head := append([]byte("OpusHead\x01\x01\x00\x00\x80\xbb\x00\x00\x00\x00"), 0)
	var links []byte
	for i := uint32(0); len(links) < size; i++ {
		links = appendOggPage(links, oggPage{flags: oggFirst, serial: i, segments: []byte{19}, body: head})
		links = appendOggPage(links, oggPage{serial: i, sequence: 1, segments: []byte{8}, body: []byte("OpusTags")})
	}
	wh := webmHead(track(1, "A_OPUS"))
	big := make([]byte, size-44)
	for name, data := range map[string][]byte{
		"links": links,
		"tracks": bytes.Repeat(wh, size/len(wh)),
		"voids": slices.Concat(wh, bytes.Repeat([]byte{0xEC, 0x80}, size/2)),
		"wavs": bytes.Repeat(EncodeWAV(nil, 8000), size/44),
		"junk": append([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), make([]byte, size)...),
		"id3": bytes.Repeat([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), size/10),
		"zeros mp3": append([]byte{0xff, 0xfb, 0x90, 0}, big...),
		"mp3 heads": bytes.Repeat(append([]byte{0xff, 0xf3, 0x14, 0xc4}, make([]byte, 20)...), size/24),
		"ogg empty pages": bytes.Repeat(appendOggPage(nil, oggPage{serial: 1}), size/27),
	} {
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		start := time.Now()
		pcm, err := NewContainer(16000).Decode(data)
		runtime.ReadMemStats(&b)
		t.Logf("%-16s %8v %d samples, %d MB allocated, err %.120v", name, time.Since(start).Round(time.Millisecond), len(pcm), (b.TotalAlloc-a.TotalAlloc)>>20, err)
		start = time.Now()
		d := NewContainer(16000)
		for i := 0; i < len(data)/16; i++ { d.Decode(data[i:i+1]) }
		t.Logf("%-16s bytewise 1 MiB %8v", name, time.Since(start).Round(time.Millisecond))
	}
	// a large block, byte by byte
	blk := slices.Concat(wh, el(mkvCluster, unknownSize), []byte{mkvSimpleBlock}, vint(mkvMaxBlock-1, 4), block(1, 0, make([]byte, mkvMaxBlock-5)))
	start := time.Now()
	d := NewContainer(16000)
	for i := range blk { d.Decode(blk[i:i+1]) }
	t.Log("large block bytewise", time.Since(start))
}
