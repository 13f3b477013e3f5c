package audio

import (
	"bytes"
	"encoding/binary"
)

// CompleteRecording reports whether data is a complete recording, as sent by clients that mistake the
// stream for an upload: a complete WAV file, an Ogg stream with its last page, or an MP4 file
// without fragments. Formats without an end marker are never whole.
func CompleteRecording(data []byte) bool {
	switch {
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WAVE":
		size := int64(binary.LittleEndian.Uint32(data[4:8]))
		return size > 36 && size != 0xFFFFFFFF && size+8 <= int64(len(data))
	case bytes.HasPrefix(data, []byte("OggS")):
		return hasLastPage(data)
	case len(data) >= 8 && string(data[4:8]) == "ftyp":
		return isMP4File(data)
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

// isMP4File walks the boxes of an MP4 file: it has an index without fragments, and sound, and
// ends with its last box.
func isMP4File(data []byte) bool {
	index, sound := false, false
	for len(data) > 0 {
		kind, head, size, err := mp4Head(data)
		if err != nil || size > int64(len(data)) {
			return false
		}
		switch kind {
		case "mdat":
			sound = true
		case "moov":
			index = !mp4Holds(data[head:size], "mvex")
		}
		data = data[size:]
	}
	return index && sound
}

// mp4Holds reports whether one of the boxes in b is of a kind.
func mp4Holds(b []byte, want string) bool {
	for {
		kind, _, size, err := mp4Head(b)
		if err != nil || size > int64(len(b)) {
			return false
		}
		if kind == want {
			return true
		}
		b = b[size:]
	}
}
