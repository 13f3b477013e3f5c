package media

import (
	"bufio"
	"context"
	"encoding/json"
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
	Type        string `json:"codec_type"`
	Codec       string `json:"codec_name"`
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
	for _, d := range s.SideData {
		if quarter := int(math.Round(d.Rotation / 90)); quarter%2 != 0 {
			return s.Height, s.Width
		}
	}
	return s.Width, s.Height
}

// probe asks ffprobe what a file holds.
func probe(ctx context.Context, f *os.File) (Info, error) {
	p, err := ffprobe(ctx, f,
		"-show_entries", "format=format_name,duration:format_tags=major_brand:"+
			"stream=codec_type,codec_name,width,height,channels,avg_frame_rate,duration:"+
			"stream_disposition=attached_pic:stream_side_data=rotation")
	if err != nil {
		return Info{}, err
	}
	info := Info{Duration: p.duration()}
	pictures := 0
	for _, s := range p.Streams {
		switch {
		case s.Type == "audio" && !info.HasSound && s.Channels > 0:
			info.HasSound, info.channels = true, s.Channels
		case s.Type == "video" && s.Disposition.Cover == 0 && s.Width > 0 && s.Height > 0:
			if pictures++; pictures == 1 {
				info.Width, info.Height = s.displayed()
				info.FrameRate = ratio(s.AverageRate)
			}
		}
	}
	switch {
	case pictures == 0 && !info.HasSound:
		return Info{}, faultf("the file has neither pictures nor sound that the box can decode")
	case pictures == 0:
		info.Kind = Sound
	case p.isPicture():
		return probePicture(ctx, f, pictures)
	default:
		info.Kind = Video
	}
	return info, info.check()
}

// probePicture decodes a picture to know its size and rotation, which are not in all headers.
func probePicture(ctx context.Context, f *os.File, pictures int) (Info, error) {
	if pictures > 1 { // a HEIC file of tiles, which this ffmpeg does not join
		return Info{}, faultf("the picture consists of %d parts; send it as JPEG", pictures)
	}
	p, err := ffprobe(ctx, f,
		"-select_streams", "V:0", "-read_intervals", "%+#1",
		"-show_entries", "frame=width,height:frame_side_data=rotation:stream=width,height:stream_side_data=rotation")
	if err != nil {
		return Info{}, err
	}
	if len(p.Frames) == 0 || len(p.Streams) == 0 {
		return Info{}, faultf("the picture is damaged")
	}
	shape := p.Frames[0]
	if len(shape.SideData) == 0 {
		shape.SideData = p.Streams[0].SideData
	}
	info := Info{Kind: Picture}
	info.Width, info.Height = shape.displayed()
	return info, info.check()
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
	brands := []string{"avif", "avis", "heic", "heix", "heim", "heis", "mif1", "msf1"}
	return strings.HasSuffix(p.Format.Name, "_pipe") && p.Format.Name != "yuv4mpegpipe" ||
		p.Format.Name == "gif" || p.Format.Name == "apng" ||
		slices.Contains(brands, strings.TrimSpace(p.Format.Tags.Brand))
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

// ffprobe runs ffprobe and parses its answer.
func ffprobe(ctx context.Context, f *os.File, args ...string) (p probed, err error) {
	j := job{program: "ffprobe", args: append(args, "-of", "json"), cpu: baseCPU, input: f}
	var text []byte
	err = j.run(ctx, func(out io.Reader, _ *bufio.Reader) (err error) {
		text, err = io.ReadAll(io.LimitReader(out, maxProbe+1))
		if len(text) > maxProbe {
			return faultf("the file has too many streams")
		}
		return err
	})
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("ffprobe: %w", err)
	}
	return p, nil
}
