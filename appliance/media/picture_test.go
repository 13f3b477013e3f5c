package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// quarters is a picture of 96x64 pixels: red and green above, blue and white below.
const quarters = "-f lavfi -i color=red:s=48x32:r=5:d=1 -f lavfi -i color=lime:s=48x32:r=5:d=1 " +
	"-f lavfi -i color=blue:s=48x32:r=5:d=1 -f lavfi -i color=white:s=48x32:r=5:d=1 " +
	"-filter_complex [0][1]hstack[a];[2][3]hstack[b];[a][b]vstack "

// corners returns the first letters of the colours of a frame's quarters, row by row.
func corners(f Frame) (letters string) {
	for _, at := range [][2]int{{1, 1}, {3, 1}, {1, 3}, {3, 3}} {
		i := 3 * (at[1]*f.Height/4*f.Width + at[0]*f.Width/4)
		red, green, blue := f.RGB[i] > 128, f.RGB[i+1] > 128, f.RGB[i+2] > 128
		switch {
		case red && green && blue:
			letters += "W"
		case red:
			letters += "R"
		case green:
			letters += "G"
		case blue:
			letters += "B"
		}
	}
	return letters
}

// onlyFrame returns the one frame of a picture and its quarters.
func onlyFrame(t *testing.T, r *Reader, path string) (Frame, string) {
	t.Helper()
	var all []Frame
	letters := ""
	if err := r.Frames(t.Context(), path, 3, func(f Frame) error {
		all, letters = append(all, f), corners(f)
		return nil
	}); err != nil || len(all) != 1 || all[0].Number != 0 || all[0].Time != 0 {
		t.Fatalf("%s: %d frames, %v", path, len(all), err)
	}
	return all[0], letters
}

// A picture of any kind, also one that moves, is one frame, whatever the name of its file says.
func TestPictureIsOneFrame(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"a.png":  "-frames:v 1",
		"a.jpg":  "-frames:v 1 -q:v 2",
		"a.webp": "-frames:v 1 -c:v libwebp",
		"a.bmp":  "-frames:v 1",
		"a.tiff": "-frames:v 1",
		"a.gif":  "-frames:v 5",
		"a.apng": "-frames:v 5 -plays 0",
	} {
		renamed := written(t, "named.mp4", contentOf(t, made(t, name, quarters+args+" OUT")))
		r := Reader{Urgent: true}
		info, err := r.Probe(t.Context(), renamed)
		if err != nil || info != (Info{Kind: Picture, Width: 96, Height: 64, jpeg: name == "a.jpg"}) {
			t.Errorf("%s: %+v, %v", name, info, err)
			continue
		}
		f, letters := onlyFrame(t, &r, renamed)
		if letters != "RGBW" || f.Width != 96 || f.Height != 64 || f.Scale != 1 {
			t.Errorf("%s: %dx%d, scale %v, %s", name, f.Width, f.Height, f.Scale, letters)
		}
	}
}

// exif returns the block of a JPEG file that says how the picture is to be turned.
func exif(orientation uint16) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte("Exif\x00\x00II*\x00"), 8)
	b = le.AppendUint16(b, 1) // entries
	b = le.AppendUint16(b, 0x112)
	b = le.AppendUint16(b, 3)
	b = le.AppendUint32(b, 1)
	b = le.AppendUint32(b, uint32(orientation))
	b = le.AppendUint32(b, 0)
	return append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(b)+2)), b...)
}

// Pictures of phones are turned as their EXIF block says; so are their size and boxes.
func TestPictureIsTurnedAsItsCameraWasHeld(t *testing.T) {
	t.Parallel()
	plain := contentOf(t, made(t, "a.jpg", quarters+"-frames:v 1 -q:v 2 OUT"))
	for orientation, want := range []string{
		1: "RGBW", 2: "GRWB", 3: "WBGR", 4: "BWRG", 5: "RBGW", 6: "BRWG", 7: "WGBR", 8: "GWRB",
	} {
		if want == "" {
			continue
		}
		path := written(t, "a.jpg", bytes.Join([][]byte{plain[:2], exif(uint16(orientation)), plain[2:]}, nil))
		r := Reader{Urgent: true}
		f, got := onlyFrame(t, &r, path)
		width, height := 96, 64
		if orientation > 4 {
			width, height = 64, 96
		}
		if got != want || f.Width != width || f.Height != height {
			t.Errorf("orientation %d: %s of %dx%d, want %s of %dx%d", orientation, got, f.Width, f.Height,
				want, width, height)
		}
		if info, err := r.Probe(t.Context(), path); err != nil || info.Width != width || info.Height != height {
			t.Errorf("orientation %d: %+v, %v", orientation, info, err)
		}
	}
}

// A video that a phone took upright is upright.
func TestVideoIsTurnedAsItsCameraWasHeld(t *testing.T) {
	t.Parallel()
	b := contentOf(t, made(t, "flat.mp4", quarters+"-c:v libx264 -pix_fmt yuv420p OUT"))
	// The matrix of the track's header: right becomes down, and down becomes left.
	matrix := b[bytes.Index(b, []byte("tkhd"))+44:][:36]
	for i, v := range []int32{0, 1 << 16, 0, -1 << 16, 0, 0, 0, 0, 1 << 30} {
		binary.BigEndian.PutUint32(matrix[4*i:], uint32(v))
	}
	path := written(t, "turned.mp4", b)
	r := Reader{Urgent: true}
	info, err := r.Probe(t.Context(), path)
	if err != nil || info.Kind != Video || info.Width != 64 || info.Height != 96 {
		t.Errorf("%+v, %v", info, err)
	}
	frames := 0
	if err := r.Frames(t.Context(), path, 1, func(f Frame) error {
		frames++
		if got := corners(f); got != "BRWG" || f.Width != 64 || f.Height != 96 {
			t.Errorf("%s of %dx%d", got, f.Width, f.Height)
		}
		return nil
	}); err != nil || frames != 1 {
		t.Errorf("%d frames, %v", frames, err)
	}
}

// A large picture is made smaller, and says how much.
func TestLargePictureIsScaledDown(t *testing.T) {
	t.Parallel()
	path := made(t, "large.jpg", "-f lavfi -i color=red:s=8192x200:r=1:d=1 -frames:v 1 OUT")
	f, _ := onlyFrame(t, &Reader{Urgent: true}, path)
	if f.Width != 4096 || f.Height != 100 || f.Scale != 2 || len(f.RGB) != 3*4096*100 {
		t.Errorf("%dx%d, scale %v, %d bytes", f.Width, f.Height, f.Scale, len(f.RGB))
	}
}

// A picture of which a part is missing or spoiled is an error of the file. One whose other content
// is odd is read.
func TestDamagedPictureIsAnErrorAndAnOddOneIsNot(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.jpg", "a.png", "a.gif", "a.tiff", "a.bmp"} {
		path := made(t, name, "-f lavfi -i mandelbrot=s=320x240 -frames:v 1 OUT")
		whole := contentOf(t, path)
		spoiled := bytes.Clone(whole)
		copy(spoiled[len(spoiled)/2:], make([]byte, 200))
		segment := func(marker byte, content string) []byte {
			b := append([]byte{0xff, marker, 0, byte(len(content) + 2)}, content...)
			return bytes.Join([][]byte{whole[:2], b, whole[2:]}, nil)
		}
		wrong, odd := [][]byte{whole[:len(whole)/5], whole[:len(whole)*9/10]}, [][]byte{whole, append(whole, "more"...)}
		if name == "a.jpg" {
			wrong = append(wrong, spoiled)
			odd = append(odd, segment(0xe1, "Exif\x00\x00XX*\x00\xff\xff"), whole[:len(whole)-2],
				segment(0xe1, "Exif\x00\x00II*\x00\x08\x00\x00\x00\xff\xff\x12\x01\x63\x00\xff\xff\xff\xff"),
				segment(0xe2, "ICC_PROFILE\x00\x05\x02x"), segment(0xee, "abc"), segment(0xfe, "\xff\x00\xff"))
		}
		if name == "a.gif" {
			wrong = nil // the ffmpeg of Debian 13 shows what there is of a truncated GIF, that of Debian 12 refuses it
		}
		for i, content := range odd {
			if err := all(t.Context(), written(t, name, content)); err != nil {
				t.Errorf("%s, odd %d: %v", name, i, err)
			}
		}
		for i, content := range wrong {
			err := all(t.Context(), written(t, name, content))
			if fault := (*Error)(nil); !errors.As(err, &fault) || !strings.Contains(fault.Why, "damaged") {
				t.Errorf("%s, wrong %d: %v, want an error of the file", name, i, err)
			}
		}
	}
}
