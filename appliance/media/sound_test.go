package media

import (
	"math"
	"testing"
)

// soundOf returns the sound of a file.
func soundOf(t *testing.T, path string) (pcm []float32) {
	t.Helper()
	r := Reader{Urgent: true}
	if err := r.Sound(t.Context(), path, func(piece []float32) error {
		if len(piece) == 0 || len(piece) > SampleRate {
			t.Errorf("a piece of %d samples", len(piece))
		}
		pcm = append(pcm, piece...)
		return nil
	}); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return pcm
}

// level returns the root mean square of the sound between two times, in seconds.
func level(pcm []float32, from, to float64) float64 {
	part := pcm[min(len(pcm), int(from*SampleRate)):min(len(pcm), int(to*SampleRate))]
	sum := 0.0
	for _, v := range part {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(max(1, len(part))))
}

// Sound of any container, rate and number of channels is mono at 16 kHz, as long and as loud as it
// was. A sine of ffmpeg has an amplitude of 1/8.
func TestSoundHasItsLengthAndLevel(t *testing.T) {
	t.Parallel()
	const sine = 0.125 / math.Sqrt2
	for name, args := range map[string]string{
		"a.mp3":  "-ar 44100",
		"a.m4a":  "-ar 48000 -af pan=stereo|c0=c0|c1=c0",
		"a.webm": "-ar 48000 -c:a libopus -f webm -live 1",
		"a.wav":  "-ar 8000 -c:a pcm_mulaw",
		"b.wav":  "-ar 48000 -af pan=5.1|FC=c0 -c:a pcm_f32le",
	} {
		path := made(t, name, "-f lavfi -i sine=440:r=48000:d=2.5 "+args+" OUT")
		r := Reader{Urgent: true}
		if info, err := r.Probe(t.Context(), path); err != nil || info.Kind != Sound || !info.HasSound {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
		pcm := soundOf(t, path)
		if got := float64(len(pcm)) / SampleRate; math.Abs(got-2.5) > 0.1 {
			t.Errorf("%s: %v s", name, got)
		}
		if got := level(pcm, 0.2, 2.3); math.Abs(got-sine) > 0.1*sine {
			t.Errorf("%s: level %v, want %v", name, got, sine)
		}
	}
}

// Of two channels that cancel each other, one is heard.
func TestSoundOfCancellingChannelsIsHeard(t *testing.T) {
	t.Parallel()
	path := made(t, "inverted.wav", "-f lavfi -i sine=440:r=16000:d=2 -af pan=stereo|c0=c0|c1=-1*c0 OUT")
	if got := level(soundOf(t, path), 0.2, 2); got < 0.08 {
		t.Errorf("level %v", got)
	}
}

// The time of a sample is its time in the file: sound that begins later than the video, or that
// has a gap, is not moved.
func TestSoundIsAtItsTimeInTheVideo(t *testing.T) {
	t.Parallel()
	path := made(t, "late.mkv", counter("25", 3e9)+
		" -f lavfi -itsoffset 1 -i sine=440:r=48000:d=2 -c:v libx264 -c:a flac OUT")
	pcm := soundOf(t, path)
	if before, after := level(pcm, 0, 0.98), level(pcm, 1.02, 2.9); before > 0.001 || after < 0.08 {
		t.Errorf("level %v before its begin, %v after", before, after)
	}
	path = made(t, "gap.mkv", "-f lavfi -i sine=440:r=48000:d=3 "+
		`-af asetpts=PTS+gt(T\,1)*1/TB -c:a flac -fps_mode passthrough OUT`)
	pcm = soundOf(t, path)
	if first, gap, last := level(pcm, 0, 0.95), level(pcm, 1.1, 1.95), level(pcm, 2.1, 3.9); gap > 0.01 ||
		first < 0.08 || last < 0.08 {
		t.Errorf("levels %v, %v in the gap, %v", first, gap, last)
	}
}

// The picture of a record is not a video.
func TestCoverIsNoVideo(t *testing.T) {
	t.Parallel()
	cover := made(t, "cover.png", quarters+"-frames:v 1 OUT")
	for _, name := range []string{"a.mp3", "a.m4a"} {
		path := made(t, name, "-f lavfi -i sine=440:d=1 -i "+cover+
			" -map 0 -map 1 -c:v copy -disposition:v attached_pic OUT")
		r := Reader{Urgent: true}
		info, err := r.Probe(t.Context(), path)
		if err != nil || info.Kind != Sound || !info.HasSound || info.Width != 0 {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
		if got := level(soundOf(t, path), 0.1, 0.9); got < 0.08 {
			t.Errorf("%s: level %v", name, got)
		}
		if err := r.Frames(t.Context(), path, 3, func(Frame) error { return nil }); err == nil {
			t.Errorf("%s: it has frames", name)
		}
	}
}
