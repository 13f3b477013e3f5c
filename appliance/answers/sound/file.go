package sound

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"slices"

	"parley/appliance/engine"
)

// A file of stored sound is a header of 16 bytes, and then mono samples of 16 bits, all little-endian: the
// magic, the sample rate in Hz, the number of samples, and the CRC-32C of these two and the samples. Uncompressed
// sound takes 44 kB a second at 22,050 Hz. It is read in a fraction of a millisecond, and no decoder sees the
// content of a damaged file.
const (
	fileMagic  = "PaS1"
	fileHeader = 16
	// fileFormat is incremented when the content of files changes.
	fileFormat = 1
	// maxRateHz is more than any voice has; see engine.Synthesizer.
	maxRateHz = 96000
)

var errDamaged = errors.New("the file is damaged")

// fileSize returns the size of the file of this many samples.
func fileSize(samples int) int64 { return fileHeader + 2*int64(samples) }

// encode returns the content of the file of a speech. Samples beyond [-1, 1] are cut off.
func encode(s engine.Speech) []byte {
	b := make([]byte, 0, fileSize(len(s.PCM)))
	b = append(b, fileMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(s.RateHz))   //nolint:gosec // at most maxRateHz
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.PCM))) //nolint:gosec // Save refuses more
	b = append(b, 0, 0, 0, 0)
	for _, x := range s.PCM {
		v := math.RoundToEven(float64(min(max(x, -1), 1)) * math.MaxInt16)
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(v))) //nolint:gosec // two's complement
	}
	binary.LittleEndian.PutUint32(b[12:], sumOf(b))
	return b
}

// decode returns the speech in a file, or errDamaged.
func decode(b []byte) (engine.Speech, error) {
	if len(b) < fileHeader || string(b[:4]) != fileMagic || sumOf(b) != binary.LittleEndian.Uint32(b[12:]) {
		return engine.Speech{}, errDamaged
	}
	rate, samples := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
	if rate == 0 || rate > maxRateHz || int64(len(b)) != fileSize(int(samples)) {
		return engine.Speech{}, errDamaged
	}
	s := engine.Speech{RateHz: int(rate), PCM: make([]float32, 0, samples)}
	for at := fileHeader; at < len(b); at += 2 {
		v := int16(binary.LittleEndian.Uint16(b[at:])) //nolint:gosec // two's complement
		s.PCM = append(s.PCM, float32(v)/math.MaxInt16)
	}
	return s, nil
}

// sumOf returns the CRC-32C of a file.
func sumOf(b []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(b[4:12], table), table, b[fileHeader:])
}

// pieceLengths returns how the samples of a speech are cut into pieces, as a voice would: the first lasts a
// quarter of a second, and each further one twice as long as the one before, up to a second. The sound is there
// at once, but a piece is also what an interruption can drop, and a message to the client.
func pieceLengths(samples, rateHz int) []int {
	var all []int
	for next := max(rateHz/4, 1); samples > 0; next = min(2*next, rateHz) {
		n := min(next, samples)
		all = append(all, n)
		samples -= n
	}
	return slices.Clip(all)
}
