package media

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxProbe bounds the answer of ffprobe, in bytes: a stream has some 300.
const maxProbe = 1 << 20

// probed is the answer of ffprobe.
type probed struct {
	Streams []stream `json:"streams"`
	Frames  []shape  `json:"frames"`
	Format  struct {
		Name     string `json:"format_name"`
		Duration string `json:"duration"`
		Tags     struct {
			Brand string `json:"major_brand"`
		} `json:"tags"`
	} `json:"format"`
}

type stream struct {
	shape
	Index       int    `json:"index"`
	Type        string `json:"codec_type"`
	Codec       string `json:"codec_name"` // empty or unknown: ffmpeg cannot decode it
	Channels    int    `json:"channels"`
	AverageRate string `json:"avg_frame_rate"`
	Duration    string `json:"duration"`
	Disposition struct {
		Cover int `json:"attached_pic"`
	} `json:"disposition"`
}

// shape is the size of a picture, before its rotation.
type shape struct {
	Width    int `json:"width"`
	Height   int `json:"height"`
	SideData []struct {
		Rotation float64 `json:"rotation"` // degrees
	} `json:"side_data_list"`
}

// displayed returns the size after the rotation.
func (s shape) displayed() (width, height int) {
	for _, d := range s.SideData { // most of it says nothing of rotation
		if quarter := int(math.Round(d.Rotation / 90)); quarter%2 != 0 {
			return s.Height, s.Width
		}
	}
	return s.Width, s.Height
}

// probe asks ffprobe what a file holds. It decodes the first frame too: only that has the rotation
// of a JPEG, and shows that a picture is not damaged.
func (r *Reader) probe(ctx context.Context, f *os.File) (Info, error) {
	p, messages, err := r.ffprobe(ctx, f,
		"-read_intervals", "%+#1",
		"-show_entries", "format=format_name,duration:format_tags=major_brand:"+
			"stream=index,codec_type,codec_name,width,height,channels,avg_frame_rate,duration:"+
			"stream_disposition=attached_pic:stream_side_data=rotation:"+
			"frame=width,height:frame_side_data=rotation")
	switch fault := (*Error)(nil); {
	case errors.As(err, &fault) && isHEIF(f):
		return Info{}, faultf("HEIC and AVIF pictures of this kind cannot be read; convert them to JPEG")
	case err != nil:
		return Info{}, err
	}
	info := Info{Duration: p.duration()}
	var pictures []stream
	for _, s := range p.Streams {
		switch {
		case s.Type == "audio" && !info.HasSound && s.Channels > 0 && s.Codec != "" && s.Codec != "unknown":
			info.HasSound, info.sound, info.channels = true, s.Index, s.Channels
		case s.Type == "video" && s.Disposition.Cover == 0:
			pictures = append(pictures, s)
		}
	}
	switch {
	case len(pictures) == 0 && !info.HasSound:
		return Info{}, faultf("the file has neither pictures nor sound")
	case len(pictures) == 0:
		info.Kind = Sound
		return info, info.check()
	case !p.isPicture():
		info.Kind, info.FrameRate = Video, ratio(pictures[0].AverageRate)
	case len(pictures) > 1: // tiles, which ffmpeg does not join
		return Info{}, faultf("the picture consists of %d tiles; convert it to JPEG", len(pictures))
	default:
		info = Info{Kind: Picture, jpeg: pictures[0].Codec == "mjpeg"}
	}
	decoded := slices.IndexFunc(p.Frames, func(s shape) bool { return s.Width > 0 && s.Height > 0 })
	switch shape := pictures[0].shape; {
	case decoded >= 0:
		first := p.Frames[decoded]
		first.SideData = append(first.SideData, shape.SideData...)
		info.Width, info.Height = first.displayed()
	case strings.Contains(messages, "Picture size"): // what libavutil says of one that is too large
		return Info{}, faultf("the %s has more than %d million pixels, the most that are read",
			info.Kind, MaxPicturePixels/1_000_000)
	case info.Kind == Video:
		info.Width, info.Height = shape.displayed()
	}
	if info.Width <= 0 || info.Height <= 0 {
		return Info{}, faultf("the %s is damaged, or of a kind that ffmpeg cannot decode", info.Kind)
	}
	return info, info.check()
}

// isHEIF reports whether a file begins like a picture of a phone that ffmpeg may not read.
func isHEIF(f *os.File) bool {
	head := make([]byte, 12)
	_, err := f.ReadAt(head, 0)
	return err == nil && string(head[4:8]) == "ftyp" && slices.Contains(heifBrands(), string(head[8:]))
}

// heifBrands returns the brands of files of the format HEIF, which are pictures in the containers
// of videos.
func heifBrands() []string {
	return []string{"avif", "avis", "heic", "heix", "heim", "heis", "mif1", "msf1"}
}

// check returns an Error for a file that is beyond the limits.
func (i Info) check() error {
	pixels := MaxVideoPixels
	if i.Kind == Picture {
		pixels = MaxPicturePixels
	}
	switch {
	case i.Duration > MaxDuration:
		return tooLong(i.Kind)
	case i.Kind != Sound && i.Width > pixels/max(1, i.Height):
		return faultf("the %s has %d x %d pixels; at most %d million are read", i.Kind, i.Width, i.Height, pixels/1e6)
	case i.channels > maxChannels:
		return faultf("the %s has %d channels of sound; at most %d are read", i.Kind, i.channels, maxChannels)
	}
	return nil
}

func tooLong(k Kind) error {
	return faultf("the %s is longer than %d hours, the most that is read", k, int(MaxDuration.Hours()))
}

// isPicture reports whether the format is one of still or short looping pictures.
func (p probed) isPicture() bool {
	return strings.HasSuffix(p.Format.Name, "_pipe") || p.Format.Name == "gif" || p.Format.Name == "apng" ||
		slices.Contains(heifBrands(), p.Format.Tags.Brand)
}

// duration returns the length of the file, or 0 if it does not say.
func (p probed) duration() time.Duration {
	longest := seconds(p.Format.Duration)
	if longest == 0 {
		for _, s := range p.Streams {
			longest = max(longest, seconds(s.Duration))
		}
	}
	return longest
}

// seconds parses a number of seconds; 0: none.
func seconds(s string) time.Duration {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) {
		return 0
	}
	return time.Duration(min(v, (1000*time.Hour).Seconds()) * float64(time.Second)) // a header may claim centuries
}

// ratio parses a fraction such as 30000/1001; 0: none.
func ratio(s string) float64 {
	above, below, _ := strings.Cut(s, "/")
	a, errA := strconv.ParseFloat(above, 64)
	b, errB := strconv.ParseFloat(below, 64)
	if errA != nil || errB != nil || b == 0 {
		return 0
	}
	return a / b
}

// ffprobe runs ffprobe and returns its answer and its messages.
func (r *Reader) ffprobe(ctx context.Context, f *os.File, args ...string) (p probed, messages string, err error) {
	j := job{program: "ffprobe", args: append(args, "-of", "json"), cpu: baseCPU, urgent: r.Urgent, input: f}
	var text []byte
	messages, err = j.run(ctx, func(out io.Reader, _ *bufio.Reader) (err error) {
		text, err = io.ReadAll(io.LimitReader(out, maxProbe+1))
		if len(text) > maxProbe {
			return faultf("the file has too many streams")
		}
		return err
	})
	if err != nil {
		return p, messages, err
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, messages, fmt.Errorf("ffprobe: %w", err)
	}
	return p, messages, nil
}
