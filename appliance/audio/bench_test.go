package audio

import "testing"

// BenchmarkDecode measures how much faster than real time each container decodes.
func BenchmarkDecode(b *testing.B) {
	for _, c := range containers {
		switch c.file {
		case "live.webm", "a.opus", "a.wav", "stereo.mp3", "low24.mp3":
		default:
			continue
		}
		b.Run(c.file, func(b *testing.B) {
			data := voice(b, c.file, c.args)
			n := 0
			for b.Loop() {
				pcm, err := DecodeAll(data, 16000)
				if err != nil {
					b.Fatal(err)
				}
				n += len(pcm)
			}
			b.ReportMetric(float64(n)/16000/b.Elapsed().Seconds(), "x-realtime")
		})
	}
}
