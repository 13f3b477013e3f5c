package audio

import (
	"bytes"
	"encoding/binary"
)

// Whole reports whether data is a recording from its beginning to its end, as
// clients send it that mistake the stream for an upload: a WAV file of which
// nothing is missing, or an Ogg stream with its last page. Formats that do not
// tell where they end are never whole.
func Whole(data []byte) bool {
	switch {
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WAVE":
		size := int64(binary.LittleEndian.Uint32(data[4:8]))
		return size > 36 && size != 0xFFFFFFFF && size+8 <= int64(len(data))
	case bytes.HasPrefix(data, []byte("OggS")):
		return hasLastPage(data)
	}
	return false
}

// hasLastPage walks the pages of an Ogg stream.
func hasLastPage(data []byte) bool {
	for {
		page, size, err := parseOggPage(data)
		if err != nil || size == 0 {
			return false
		}
		if page.flags&oggLast != 0 {
			return true
		}
		data = data[size:]
	}
}
