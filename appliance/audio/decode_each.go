package audio

import (
	"bufio"
	"fmt"
	"io"
	"time"
)

// maxWhole bounds what DecodeEach reads whole: an hour of 128 kbit/s has 58 MB.
const maxWhole = 64 << 20

// DecodeEach is DecodeUpTo for a file that is large for the memory: emit gets the samples as
// they are decoded, each valid until it returns. WAV, MP3 and FLAC are read as they are decoded.
// The other formats are read whole, and have an error if they are larger than 64 MiB.
func DecodeEach(file io.Reader, outHz int, longest time.Duration, emit func(pcm []float32) error) error {
	samples := 0
	upTo := func(pcm []float32) error {
		if samples += len(pcm); samples > Samples(longest, outHz) {
			return tooLong(Samples(longest, outHz), outHz)
		}
		return emit(pcm)
	}
	in := bufio.NewReader(file)
	head, _ := in.Peek(in.Size()) // a shorter file is all there is
	switch format := Sniff(head); format {
	case "flac":
		return decodeFLAC(in, outHz, upTo)
	case "wav", "mp3":
		return decodePieces(in, NewContainer(outHz), upTo)
	default:
		data, err := io.ReadAll(io.LimitReader(in, maxWhole+1))
		if err != nil {
			return err
		}
		if len(data) > maxWhole {
			return fmt.Errorf("audio: %s of more than %d MiB is not decoded here", format, maxWhole>>20)
		}
		return decodeWhole(data, outHz, upTo)
	}
}
