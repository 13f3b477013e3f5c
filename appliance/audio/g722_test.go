package audio

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// vocal returns a second of what codecs meet: a hum, a hiss, clipped noise, and silence.
func vocal(rateHz int) []float32 {
	rnd := rand.New(rand.NewPCG(1, 2))
	pcm := make([]float32, rateHz)
	for i := range pcm {
		at := float64(i) / float64(rateHz)
		noise := rnd.Float64()*2 - 1
		switch {
		case at < 0.4:
			for k := 1.0; k < 20; k++ {
				pcm[i] += float32(0.3 / k * math.Sin(2*math.Pi*k*(120+40*at)*at))
			}
		case at < 0.6:
			pcm[i] = float32(noise * at / 4)
		case at < 0.8:
			pcm[i] = float32(max(-1, min(1, 3*noise)))
		}
	}
	return pcm
}

// The encoder and the decoder are exactly those of ffmpeg.
func TestG722IsExact(t *testing.T) {
	pcm := vocal(16000)
	raw := make([]byte, 2*len(pcm))
	for i, x := range pcm {
		v := int16Of(x)
		pcm[i] = float32(v) / (1 << 15)
		binary.LittleEndian.PutUint16(raw[2*i:], uint16(v))
	}
	in := filepath.Join(t.TempDir(), "in.raw")
	if err := os.WriteFile(in, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	want := ffmpeg(t, "out.g722", "-f s16le -ar 16000 -ac 1 -i "+in+" -c:a g722 -f g722 OUT")
	e := g722Encoder{bands: newG722Bands()}
	got := e.encode(nil, pcm)
	if !bytes.Equal(got, want[:min(len(got), len(want))]) {
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("octet %d of %d (%d) is %#02x, want %#02x", i, len(got), len(want), got[i], want[i])
			}
		}
		t.Errorf("%d octets, want %d", len(got), len(want))
	}
	wantPCM, _ := ffmpegDecode(t, want, "in.g722")
	d := g722Decoder{bands: newG722Bands()}
	gotPCM := d.decode(nil, want)
	for i := range gotPCM {
		if gotPCM[i] != wantPCM[i] {
			t.Fatalf("sample %d is %v, want %v", i, gotPCM[i], wantPCM[i])
		}
	}
}
