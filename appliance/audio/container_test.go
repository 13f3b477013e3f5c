package audio

import (
	"bytes"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/internal/packtest"
)

// containers are streams as ffmpeg writes them, of a recording of a voice, to a pipe where that
// affects the format.
var containers = []struct {
	file, args string
	format     string
	minSNR     float64 // against ffmpeg's own decoding, in dB
}{
	{"a.webm", "-c:a libopus -b:a 32k OUT", "webm", 45},
	{"stereo.webm", "-ac 2 -ar 48000 -c:a libopus -b:a 64k OUT", "webm", 45},
	{"live.webm", "-c:a libopus -b:a 32k -f webm -live 1 -cluster_time_limit 5000 OUT", "webm", 45},
	{"lowdelay.webm", "-c:a libopus -application lowdelay -frame_duration 2.5 -f webm OUT", "webm", 45},
	{"a.mkv", "-c:a libopus -frame_duration 60 OUT", "webm", 45},
	{"a.opus", "-c:a libopus -b:a 32k OUT", "ogg", 45},
	{"stereo.ogg", "-ac 2 -c:a libopus -b:a 96k -f ogg OUT", "ogg", 45},
	{"paged.ogg", "-c:a libopus -page_duration 20000 -f ogg OUT", "ogg", 45},
	{"vorbis.ogg", "-c:a libvorbis -q:a 4 -ar 44100 OUT", "ogg", 55},
	{"vorbis2.ogg", "-c:a libvorbis -ac 2 -ar 48000 -page_duration 20000 OUT", "ogg", 55},
	{"vorbis22.ogg", "-c:a libvorbis -ar 22050 OUT", "ogg", 55},
	{"vorbis.webm", "-c:a libvorbis -ar 48000 -ac 2 OUT", "webm", 55},
	{"vorbis.mkv", "-c:a libvorbis -ar 16000 OUT", "webm", 55},
	{"a.wav", "-c:a pcm_s16le OUT", "wav", 60},
	{"u8.wav", "-c:a pcm_u8 OUT", "wav", 60},
	{"s24.wav", "-c:a pcm_s24le -ar 44100 -ac 2 OUT", "wav", 60},
	{"s32.wav", "-c:a pcm_s32le -ar 48000 OUT", "wav", 60},
	{"f32.wav", "-c:a pcm_f32le OUT", "wav", 60},
	{"f64.wav", "-c:a pcm_f64le -ar 22050 OUT", "wav", 60},
	{"alaw.wav", "-c:a pcm_alaw OUT", "wav", 60},
	{"mulaw.wav", "-c:a pcm_mulaw OUT", "wav", 60},
	{"six.wav", "-c:a pcm_s16le -af pan=5.1|FL=c0|FR=0.5*c0|FC=c0|LFE=0.2*c0|BL=c0|BR=c0 OUT", "wav", 0},
	{"rf64.wav", "-c:a pcm_s16le -rf64 always OUT", "wav", 60},
	{"a.mp3", "-c:a libmp3lame -ar 44100 -b:a 128k OUT", "mp3", 55},
	{"stereo.mp3", "-c:a libmp3lame -ar 48000 -ac 2 -b:a 192k OUT", "mp3", 55},
	{"vbr.mp3", "-c:a libmp3lame -ar 44100 -q:a 4 OUT", "mp3", 55},
	{"bare.mp3", "-c:a libmp3lame -ar 32000 -b:a 64k -id3v2_version 0 -write_xing 0 OUT", "mp3", 55},
	{"low16.mp3", "-c:a libmp3lame -ar 16000 -b:a 24k OUT", "mp3", 55},
	{"low24.mp3", "-c:a libmp3lame -ar 24000 -b:a 64k OUT", "mp3", 55},
	{"low11.mp3", "-c:a libmp3lame -ar 11025 -b:a 24k OUT", "mp3", 55},
	{"low12.mp3", "-c:a libmp3lame -ar 12000 -ac 2 -b:a 64k OUT", "mp3", 55},
	{"low22even.mp3", "-c:a libmp3lame -ar 22050 -b:a 32k OUT", "mp3", 55},
	{"low22odd.mp3", "-c:a libmp3lame -ar 22050 -b:a 64k OUT", "mp3", 55},
	{"low22wide.mp3", "-c:a libmp3lame -ar 22050 -ac 2 -b:a 160k OUT", "mp3", 40},
	{"low8.mp3", "-c:a libmp3lame -ar 8000 OUT", "mp3", 55},
	{"a.mp2", "-c:a mp2 -ar 44100 OUT", "mpeg", 55},
	{"low22vbr.mp3", "-c:a libmp3lame -ar 22050 -q:a 6 OUT", "mp3", 55},
	{"a.m4a", "-c:a aac -ar 44100 -movflags +faststart OUT", "mp4", 55},
	{"stereo.mp4", "-c:a aac -ar 48000 -ac 2 -movflags +faststart OUT", "mp4", 55},
	{"live.mp4", "-c:a aac -ar 48000 " + fragments + " OUT", "mp4", 55},
	{"live44.mp4", "-c:a aac -ar 44100 -ac 2 " + fragments + " OUT", "mp4", 55},
	{"absolute.mp4", "-c:a aac -ar 48000 -movflags +frag_keyframe+empty_moov -frag_duration 250000 OUT", "mp4", 55},
	{"live16.mp4", "-c:a aac -ar 16000 " + fragments + " OUT", "mp4", 55},
	{"opus.mp4", "-c:a libopus -b:a 32k -strict -2 " + fragments + " OUT", "mp4", 45},
	{"film.mp4", "-f lavfi -i testsrc=s=64x64:r=5 -shortest -map 1:v -map 0:a -c:v mpeg4 -c:a aac -ar 48000 " +
		fragments + " OUT", "mp4", 55},
	{"film.mov", "-f lavfi -i testsrc=s=64x64:r=5 -shortest -map 1:v -map 0:a -c:v mpeg4 -c:a aac -ar 48000 " +
		"-movflags +faststart OUT", "mp4", 55},
	{"a.aac", "-c:a aac -ar 44100 OUT", "aac", 55},
}

// fragments makes ffmpeg write MP4 as a browser's recorder does.
const fragments = "-movflags +frag_keyframe+empty_moov+default_base_moof -frag_duration 250000"

func voice(t testing.TB, file, args string) []byte {
	return ffmpeg(t, file, "-i "+packtest.Recording(t, "vm-intro")+" -t 1.5 "+args)
}

func TestContainersDecodeLikeFFmpeg(t *testing.T) {
	for _, c := range containers {
		t.Run(c.file, func(t *testing.T) {
			data := voice(t, c.file, c.args)
			if got := Sniff(data); got != c.format {
				t.Errorf("sniffed as %q; want %q", got, c.format)
			}
			reference, rateHz := ffmpegDecode(t, data, c.file)
			for _, outHz := range []int{16000, rateHz} {
				got, err := DecodeAll(data, outHz)
				if err != nil {
					t.Fatal(err)
				}
				want := Resample(reference, rateHz, outHz)
				if d := math.Abs(float64(len(got)-len(want))) / float64(outHz); d > 0.002 {
					t.Errorf("at %d Hz: %d samples; ffmpeg has %d", outHz, len(got), len(want))
				}
				s := snr(got, want)
				if s < c.minSNR {
					t.Errorf("at %d Hz: %.1f dB against ffmpeg; want %.0f or more", outHz, s, c.minSNR)
				}
				t.Logf("%d Hz: %.1f dB, %+d samples", outHz, s, len(got)-len(want))
			}
		})
	}
}

func TestPieceSizesDoNotMatter(t *testing.T) {
	var whole [][]byte
	var want [][]float32
	for _, c := range containers {
		data := voice(t, c.file, "-t 0.4 "+c.args)
		pcm, err := DecodeAll(data, 16000)
		if err != nil {
			t.Fatal(err)
		}
		bytewise, err := decodeCut(data, 16000, func(int) int { return 1 })
		if err != nil || !slices.Equal(bytewise, pcm) {
			t.Errorf("%s: byte by byte: %d samples, other than the %d of the whole (%v)", c.file, len(bytewise),
				len(pcm), err)
		}
		whole, want = append(whole, data), append(want, pcm)
	}
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(containers)-1).Draw(t, "container")
		most := rapid.SampledFrom([]int{7, 100, 5000}).Draw(t, "most")
		got, err := decodeCut(whole[i], 16000, func(rest int) int {
			return rapid.IntRange(1, min(most, rest)).Draw(t, "cut")
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want[i]) {
			t.Fatalf("%s: %d samples, other than the %d of the whole", containers[i].file, len(got), len(want[i]))
		}
	})
}

func decodeCut(data []byte, outHz int, cut func(rest int) int) (out []float32, err error) {
	d := NewContainer(outHz)
	for len(data) > 0 {
		n := cut(len(data))
		pcm, err := d.Decode(data[:n:n])
		out = append(out, pcm...)
		if err != nil {
			return out, err
		}
		data = data[n:]
	}
	pcm, err := d.Flush()
	return append(out, pcm...), err
}

func TestSoundIsReturnedBlockByBlock(t *testing.T) {
	for _, c := range []struct {
		file, args string
		late       float64 // seconds that may be buffered at any time
	}{
		{"live.webm", "-c:a libopus -f webm -live 1 -cluster_time_limit 5000 OUT", 0.045},
		{"paged.ogg", "-c:a libopus -page_duration 20000 -f ogg OUT", 0.085},
		{"a.wav", "-c:a pcm_s16le OUT", 0.015},
		{"bare.mp3", "-c:a libmp3lame -ar 32000 -b:a 64k -write_xing 0 OUT", 0.120},
		{"live.mp4", "-c:a aac -ar 48000 " + fragments + " OUT", 0.045},
	} {
		data := voice(t, c.file, c.args)
		whole, err := DecodeAll(data, 16000)
		if err != nil {
			t.Fatal(err)
		}
		seconds := float64(len(whole)) / 16000
		d := NewContainer(16000)
		out, longest := 0, 0.0
		for i := range data {
			pcm, err := d.Decode(data[i : i+1])
			if err != nil {
				t.Fatal(err)
			}
			out += len(pcm)
			if at := float64(i) / float64(len(data)); at > 0.2 && at < 0.9 && strings.HasSuffix(c.file, "wav") {
				longest = max(longest, at*seconds-float64(out)/16000)
			}
			if len(pcm) > 0 && i > len(data)/2 {
				longest = max(longest, float64(len(pcm))/16000)
			}
		}
		if longest > c.late {
			t.Errorf("%s: %.0f ms of sound come at once", c.file, 1000*longest)
		}
	}
}

func TestPreSkipAndEndAreHonoured(t *testing.T) {
	for _, file := range []string{"a.opus", "a.webm", "a.mp3"} {
		in := ffmpeg(t, "in.wav", "-f lavfi -i sine=440:r=48000:d=1.2345 -c:a pcm_s16le OUT")
		if err := os.WriteFile(t.TempDir()+"/in.wav", in, 0o600); err != nil {
			t.Fatal(err)
		}
		data := ffmpeg(t, file, "-f lavfi -i sine=440:r=48000:d=1.2345 OUT")
		got, err := DecodeAll(data, 48000)
		if err != nil {
			t.Fatal(err)
		}
		if want := int(1.2345 * 48000); math.Abs(float64(len(got)-want)) > 48 {
			t.Errorf("%s: %d samples; %d went in", file, len(got), want)
		}
		if want, _ := DecodeAll(in, 48000); snr(got, want) < 20 {
			t.Errorf("%s: the sound is out of place: %.1f dB", file, snr(got, want))
		}
	}
}

func TestConsecutiveStreamsAreOne(t *testing.T) {
	for _, c := range []struct{ file, args string }{
		{"a.opus", "-c:a libopus OUT"},
		{"live.webm", "-c:a libopus -f webm -live 1 OUT"},
		{"a.webm", "-c:a libopus OUT"},
		{"a.m4a", "-c:a aac -ar 44100 -movflags +faststart OUT"},
		{"live.mp4", "-c:a aac -ar 48000 " + fragments + " OUT"},
		{"absolute.mp4", "-c:a aac -ar 48000 -movflags +frag_keyframe+empty_moov -frag_duration 250000 OUT"},
		{"opus.mp4", "-c:a libopus -strict -2 " + fragments + " OUT"},
		{"a.wav", "-c:a pcm_s16le OUT"},
		{"odd.wav", "-c:a pcm_u8 -t 0.500125 OUT"},
	} {
		one := voice(t, c.file, "-t 1 "+c.args)
		first, err := DecodeAll(one, 16000)
		if err != nil {
			t.Fatal(err)
		}
		both, err := DecodeAll(append(bytes.Clone(one), one...), 16000)
		if err != nil {
			t.Fatalf("%s: %v", c.file, err)
		}
		if d := len(both) - 2*len(first); d < -1 || d > 1 {
			t.Errorf("%s: %d samples twice are %d", c.file, len(first), len(both))
		}
	}
}

func TestUnsupportedFormatsAreNamed(t *testing.T) {
	for _, c := range []struct{ file, args, name, says string }{
		{"lossless.m4a", "-c:a alac OUT", "mp4", "\"alac\""},
		{"mp3.mp4", "-c:a libmp3lame -ar 44100 OUT", "mp4", "mp4a of kind 0x6b"},
		{"pcm.mov", "-c:a pcm_s16le OUT", "mp4", "\"sowt\""},
		{"silent.mp4", "-f lavfi -i testsrc=s=64x64:r=5 -map 1:v -c:v mpeg4 OUT", "mp4", "no sound"},
		{"a.wv", "OUT", "wavpack", "WavPack"},
		{"a.wma", "OUT", "wma", "Windows Media"},
		{"a.avi", "-c:a libmp3lame OUT", "wav", "AVI"},
		{"a.flv", "-ar 44100 -c:a libmp3lame OUT", "flv", "Flash"},
		{"a.aiff", "OUT", "aiff", "AIFF"},
		{"a.au", "OUT", "au", "Sun AU"},
		{"speex.oga", "-c:a libspeex -ar 16000 OUT", "ogg", "Speex"},
		{"flac.mkv", "-c:a flac OUT", "webm", "A_FLAC"},
		{"aac.mkv", "-c:a aac OUT", "webm", "A_AAC"},
		{"adpcm.wav", "-c:a adpcm_ms OUT", "wav", "Microsoft ADPCM"},
		{"gsm.wav", "-c:a libgsm_ms -ar 8000 OUT", "wav", "GSM"},
		{"six.opus", "-ac 6 -c:a libopus OUT", "ogg", "6 channels"},
	} {
		data := voice(t, c.file, c.args)
		if got := Sniff(data); got != c.name {
			t.Errorf("%s: sniffed as %q; want %q", c.file, got, c.name)
		}
		if _, err := DecodeAll(data, 16000); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v; want one that says %q", c.file, err, c.says)
		}
	}
	if _, err := DecodeAll([]byte("#!AMR\n<\x91\x17\x16\xbe\x66"), 16000); err == nil ||
		!strings.Contains(err.Error(), "AMR") {
		t.Errorf("AMR: %v", err)
	}
	_, err := DecodeAll([]byte("hello, is this sound?"), 16000)
	if err == nil || !strings.Contains(err.Error(), "linear16") || !strings.Contains(err.Error(), "WebM") {
		t.Errorf("text: error %v; want one that lists the supported formats", err)
	}
}

func TestFLACDecodesLikeFFmpeg(t *testing.T) {
	for file, args := range map[string]string{
		"a.flac": "OUT", "stereo.flac": "-ac 2 -ar 44100 -sample_fmt s32 OUT",
		"six.flac": "-af pan=5.1|FL=c0|FR=0.5*c0|FC=c0|LFE=0.2*c0|BL=c0|BR=c0 -ar 48000 OUT",
		"low.flac": "-ar 8000 -compression_level 12 OUT",
	} {
		data := voice(t, file, args)
		reference, rateHz := ffmpegDecode(t, data, file)
		if file == "six.flac" { // the reference is the mean of the six, and the output as loud as c0
			reference = scaled(reference, 6/(1+0.5+1+0.2+1+1))
		}
		got, err := DecodeAll(data, rateHz)
		if err != nil || len(got) != len(reference) || snr(got, reference) < 60 {
			t.Errorf("%s: %d samples of %d at %.1f dB, %v", file, len(got), len(reference), snr(got, reference), err)
		}
		for n := len(data) * 2 / 5; n < len(data); n += max(1, len(data)/50) { // cut off anywhere
			part, err := DecodeAll(data[:n], rateHz)
			if err != nil || len(part) == 0 || snr(part, reference[:len(part)]) < 60 {
				t.Errorf("%s: %d samples of %d bytes of %d, %v", file, len(part), n, len(data), err)
			}
		}
		if _, err := DecodeAll(data[:50], rateHz); err == nil {
			t.Errorf("%s: its header alone gives no error", file)
		}
		for i := 0; i < len(data); i += max(1, len(data)/40) { // nothing in it makes it fall over
			broken := bytes.Clone(data)
			broken[i] ^= 0x55
			_, _ = DecodeAll(broken, 16000)
		}
	}
}

func TestFLACInOggDecodesLikeFFmpeg(t *testing.T) {
	for file, args := range map[string]string{"a.oga": "-c:a flac OUT", "stereo.ogg": "-ac 2 -ar 44100 -c:a flac OUT"} {
		data := voice(t, file, args)
		reference, rateHz := ffmpegDecode(t, data, file)
		got, err := DecodeAll(data, rateHz)
		if err != nil || len(got) != len(reference) || snr(got, reference) < 60 {
			t.Errorf("%s: %d samples of %d at %.1f dB, %v", file, len(got), len(reference), snr(got, reference), err)
		}
		for i := 0; i < len(data); i += max(1, len(data)/40) {
			broken := bytes.Clone(data)
			broken[i] ^= 0x55
			if _, err := DecodeAll(broken, 16000); err == nil {
				t.Errorf("%s: byte %d of %d is damaged, without an error", file, i, len(data))
			}
			_, _ = DecodeAll(data[:i], 16000)
		}
	}
}

// The error for a truncated file does not suggest to write it differently.
func TestTruncatedMP4IsReported(t *testing.T) {
	data := voice(t, "late.m4a", "-c:a aac OUT")
	index := bytes.LastIndex(data, []byte("moov")) - 4
	for _, n := range []int{index / 2, index, index + 4, len(data) - 1} {
		if _, err := DecodeAll(data[:n], 16000); !errors.Is(err, errNoIndex) {
			t.Errorf("%d bytes of %d: %v", n, len(data), err)
		}
	}
}

func TestMissingMP3LibraryErrorSaysWhatToInstall(t *testing.T) {
	if _, err := openMPG123("nobody", 1); err == nil || !strings.Contains(err.Error(), "apt-get install libmpg123-0") {
		t.Errorf("%v", err)
	}
}

// ffmpeg, when it writes to a pipe, gives a tag with a picture the length 0.
func TestTagWithoutLengthIsSkipped(t *testing.T) {
	sound := voice(t, "a.mp3", "-c:a libmp3lame -id3v2_version 0 OUT")
	want, err := DecodeAll(sound, 16000)
	if err != nil {
		t.Fatal(err)
	}
	const text, picture = "TSSE\x00\x00\x00\x03\x00\x00\x03me", 300_000
	for name, tag := range map[string]string{
		"2.4":           "ID3\x04\x00\x00\x00\x00\x00\x00" + text + "APIC\x00\x12\x27\x60\x00\x00",
		"2.3":           "ID3\x03\x00\x00\x00\x00\x00\x00" + text + "APIC\x00\x04\x93\xe0\x00\x00",
		"with a length": "ID3\x03\x00\x00\x00\x12\x27\x60",
	} {
		data := slices.Concat([]byte(tag), bytes.Repeat([]byte{0xff, 0xfb}, picture/2), sound)
		for _, size := range []int{1, 777, len(data)} {
			d := NewContainer(16000)
			var got []float32
			for piece := range slices.Chunk(data, size) {
				pcm, err := d.Decode(piece)
				if err != nil {
					t.Fatalf("%s in pieces of %d: %v", name, size, err)
				}
				got = append(got, pcm...)
			}
			if rest, err := d.Flush(); err != nil || !slices.Equal(append(got, rest...), want) {
				t.Errorf("%s in pieces of %d: %d samples, want %d; %v", name, size, len(got), len(want), err)
			}
		}
	}
}

// Bytes that never become a frame are not buffered without end.
func TestMP3WithoutFramesEnds(t *testing.T) {
	tag := []byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f") // claims 256 MiB
	for name, endless := range map[string][]byte{
		"tag at the beginning": tag,
		"tag later":            slices.Concat(voice(t, "a.mp3", "-c:a libmp3lame -id3v2_version 0 OUT"), tag),
		"silence":              {0xff, 0xfb, 0x90, 0x00},
	} {
		d := NewContainer(16000)
		_, err := d.Decode(endless)
		for fed := 0; err == nil && fed < 64<<20; fed += 1 << 16 {
			_, err = d.Decode(make([]byte, 1<<16))
		}
		if err == nil {
			t.Errorf("%s: 64 MiB are no error", name)
		}
	}
}

func TestTooLongPiecesAreRefused(t *testing.T) {
	var tooLong *ErrTooLong
	d, err := NewLinear16(16000, 1, 16000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decode(make([]byte, 2*16000*601)); !errors.As(err, &tooLong) {
		t.Errorf("10 min 1 s in one piece: error %v; want ErrTooLong", err)
	}
	// Silence in Opus packets of one byte that claim a duration of 60 ms.
	page := oggPage{serial: 1, granule: -1}
	head := append([]byte("OpusHead\x01\x01\x00\x00\x80\xbb\x00\x00\x00\x00"), 0)
	bomb := appendOggPage(nil, oggPage{
		flags:    oggFirst,
		serial:   1,
		segments: []byte{19},
		body:     head,
	})
	bomb = appendOggPage(bomb, oggPage{
		serial:   1,
		sequence: 1,
		segments: []byte{8},
		body:     []byte("OpusTags"),
	})
	for i := range 200 {
		page.sequence = uint32(i + 2)
		page.segments, page.body = bytes.Repeat([]byte{1}, 255), bytes.Repeat([]byte{3 << 3}, 255)
		bomb = appendOggPage(bomb, page)
	}
	pcm, err := NewContainer(16000).Decode(bomb)
	if !errors.As(err, &tooLong) {
		t.Errorf("%d bytes of %d packets of 60 ms: error %v; want ErrTooLong", len(bomb), 200*255, err)
	}
	if most := int(MaxDecode.Seconds()) * 16000; len(pcm) > most {
		t.Errorf("%d samples; at most %d are given at once", len(pcm), most)
	}
}

func TestDecoderErrorIsFinal(t *testing.T) {
	d := NewContainer(16000)
	_, first := d.Decode([]byte("this is no sound at all"))
	_, second := d.Decode([]byte("OggS"))
	_, third := d.Flush()
	if first == nil || second != first || third != first {
		t.Errorf("errors %v, %v, %v; want the same three times", first, second, third)
	}
}

func TestEmptyStreamIsSilence(t *testing.T) {
	if pcm, err := NewContainer(16000).Flush(); err != nil || len(pcm) > 0 {
		t.Errorf("%d samples, %v", len(pcm), err)
	}
	if _, err := DecodeAll(nil, 16000); err == nil {
		t.Error("an empty file gives no error")
	}
}

// mp3FrameSize returns the length of the frame at the beginning of b, for a known rate (ISO
// 11172-3, 2.4.3.1; ISO 13818-3 for the lower rates).
func mp3FrameSize(b []byte, hz int) int {
	kbps, samples := [...]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}[b[2]>>4], 1152
	if hz < 32000 {
		kbps, samples = [...]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}[b[2]>>4], 576
	}
	return samples/8*1000*kbps/hz + int(b[2]>>1&1)
}

func TestMP3CanBeginAnywhere(t *testing.T) {
	for hz, args := range map[int]string{44100: "-ar 44100 -b:a 96k", 22050: "-ar 22050 -b:a 32k",
		16000: "-ar 16000 -b:a 24k"} {
		data := voice(t, "a.mp3", "-t 4 -c:a libmp3lame "+args+" -id3v2_version 0 -write_xing 0 OUT")
		whole, err := DecodeAll(data, hz)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for range 31 {
			at += mp3FrameSize(data[at:], hz)
		}
		part, err := DecodeAll(data[at:], hz)
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		missing := len(whole) - len(part)
		if s := snr(part[hz/2:], whole[missing+hz/2:]); s < 60 {
			t.Errorf("%s: half a second on, %.1f dB against the whole stream", args, s)
		}
		for i, v := range part[:hz/2] {
			if v > 1 || v < -1 {
				t.Fatalf("%s: sample %d is %v", args, i, v)
			}
		}
		junk := slices.Concat(data[:at], bytes.Repeat([]byte("junk"), 100), data[at:])
		if got, err := DecodeAll(junk, hz); err != nil || len(got) != len(whole) {
			t.Errorf("%s: with junk between two frames %d samples, %v; want %d", args, len(got), err, len(whole))
		}
	}
}
