package speech

import (
	"bytes"
	"fmt"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// mp3StreamEncoder makes one stream of all chunks.
type mp3StreamEncoder struct {
	made bytes.Buffer
	w    *audio.MP3Writer
}

func newMP3StreamEncoder() (encoder, error) {
	c := &mp3StreamEncoder{}
	w, err := audio.NewMP3Writer(&c.made, contract.OutputRateHz)
	if err != nil {
		return nil, mp3Unavailable(err)
	}
	c.w = w
	return c, nil
}

func (m *mp3StreamEncoder) encode(pcm []float32, end bool) ([]byte, error) {
	err := m.w.Write(pcm)
	if err == nil && end {
		err = m.w.Close()
	}
	data := bytes.Clone(m.made.Bytes())
	m.made.Reset()
	return data, err
}

// mp3FileEncoder makes a file of each chunk.
type mp3FileEncoder struct{ files *audio.MP3Files }

func newMP3FileEncoder() (encoder, error) {
	files, err := audio.NewMP3Files(contract.OutputRateHz)
	if err != nil {
		return nil, mp3Unavailable(err)
	}
	return mp3FileEncoder{files}, nil
}

func (m mp3FileEncoder) encode(pcm []float32, end bool) ([]byte, error) {
	if len(pcm) == 0 {
		return nil, nil
	}
	return m.files.Next(pcm, end)
}

// mp3Unavailable is the error on a machine without LAME.
func mp3Unavailable(err error) error {
	return contract.ErrUnavailable{
		Why: fmt.Sprintf("format mp3, the default: %v; wav and pcm work", err)}
}
