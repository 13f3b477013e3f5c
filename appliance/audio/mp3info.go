package audio

import (
	"bytes"
	"encoding/binary"
)

// mp3Info is the first frame of a file, which has information in place of sound: how many
// frames follow, and how many samples at both ends are padding. It is the "Info" header that
// LAME and players agree on; without it players guess the length from the bitrate and begin
// with 23 ms of silence.
type mp3Info struct {
	frames  int    // that follow; 0: not known yet
	before  int    // padding samples before the sound
	behind  int    // and after it
	soundOf uint16 // the checksum of the frames that follow
}

// mp3Head is the header of every frame: MPEG 1, layer III, without a checksum,
// 96 kbit/s (7), 48 kHz (1), mono (3), as ISO 11172-3, 2.4.1.3, has it.
var mp3Head = [4]byte{0xff, 0xfb, 0x70 | 1<<2, 0xc0}

// mp3SideInfo is the length of a mono frame's side information. It is zero here, so that a
// player that ignores the header plays a frame of silence.
const mp3SideInfo = 17

// frame returns the header as a frame.
func (f mp3Info) frame() []byte {
	be := binary.BigEndian
	b := make([]byte, 0, mp3FrameLen)
	b = append(b, mp3Head[:]...)
	b = append(b, make([]byte, mp3SideInfo)...)
	b = append(b, "Info"...)
	all := (f.frames + 1) * mp3FrameLen
	if f.frames > 0 {
		b = be.AppendUint32(b, 1|2|4) // frames, bytes and a table for seeking
		b = be.AppendUint32(b, uint32(f.frames))
		b = be.AppendUint32(b, uint32(all))
		for i := range 100 {
			b = append(b, byte(i*256/100)) // at a constant bitrate, position is proportional to time
		}
	} else {
		b = be.AppendUint32(b, 0)
	}
	b = append(b, "LAME3.100"...)
	b = append(b, 1, 0)                   // a constant bitrate, unknown low-pass
	b = append(b, make([]byte, 4+2+2)...) // no peak, no gains
	b = append(b, 0, mp3BitsPerSecond/1000)
	b = append(b, byte(f.before>>4), byte(f.before<<4|f.behind>>8), byte(f.behind))
	b = append(b, 0, 0, 0, 0) // no source, no gain, no preset
	if f.frames == 0 {
		all = 0
	}
	b = be.AppendUint32(b, uint32(all))
	b = be.AppendUint16(b, f.soundOf)
	b = be.AppendUint16(b, crc16(0, b))
	return append(b, bytes.Repeat([]byte{0}, mp3FrameLen-len(b))...)
}

// crc16 continues the checksum of the header: the polynomial 0x8005, reflected, starting at 0.
func crc16(sum uint16, b []byte) uint16 {
	for _, v := range b {
		sum ^= uint16(v)
		for range 8 {
			carry := sum & 1
			sum >>= 1
			if carry != 0 {
				sum ^= 0xa001
			}
		}
	}
	return sum
}
