package speech

import (
	"bytes"
	"fmt"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// mp3Coder makes one stream of all chunks.
type mp3Coder struct {
	made bytes.Buffer
	w    *audio.MP3Writer
}

func newMP3Coder() (coder, error) {
	c := &mp3Coder{}
	w, err := audio.NewMP3Writer(&c.made, contract.OutputRateHz)
	if err != nil {
		return nil, noEncoder(err)
	}
	c.w = w
	return c, nil
}

func (c *mp3Coder) next(pcm []float32, end bool) ([]byte, error) {
	err := c.w.Write(pcm)
	if err == nil && end {
		err = c.w.Close()
	}
	data := bytes.Clone(c.made.Bytes())
	c.made.Reset()
	return data, err
}

// mp3Files makes a file of each chunk.
type mp3Files struct{ files *audio.MP3Files }

func newMP3Files() (coder, error) {
	files, err := audio.NewMP3Files(contract.OutputRateHz)
	if err != nil {
		return nil, noEncoder(err)
	}
	return mp3Files{files}, nil
}

func (c mp3Files) next(pcm []float32, end bool) ([]byte, error) {
	if len(pcm) == 0 {
		return nil, nil
	}
	return c.files.Next(pcm, end)
}

// noEncoder is said of a machine that has no LAME.
func noEncoder(err error) error {
	return contract.ErrUnavailable{
		Why: fmt.Sprintf("format mp3, which holds where none is asked for: %v; wav and pcm work", err)}
}
