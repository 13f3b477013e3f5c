package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// entry is an entry of an archive.
type entry struct {
	name, content string
	link          bool
}

func zipOf(entries ...entry) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.link {
			h.SetMode(fs.ModeSymlink | 0o777)
		}
		f, _ := w.CreateHeader(h)
		_, _ = io.WriteString(f, e.content)
	}
	_ = w.Close()
	return b.Bytes()
}

func tarOf(entries ...entry) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o600, Size: int64(len(e.content))}
		switch {
		case e.link:
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, e.content, 0
		case strings.HasSuffix(e.name, "/"):
			h.Typeflag = tar.TypeDir
		}
		_ = w.WriteHeader(h)
		if !e.link {
			_, _ = io.WriteString(w, e.content)
		}
	}
	_ = w.Close()
	return b.Bytes()
}

func gzipOf(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content)
	_ = w.Close()
	return b.Bytes()
}

// walked walks an archive and returns what was visited, as "name=content" and
// "name: problem". It checks that nothing is left in the folder.
func walked(t *testing.T, content []byte, b Bounds) []string {
	t.Helper()
	file, folder := filepath.Join(t.TempDir(), "archive"), t.TempDir()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var seen []string
	err := Walk(t.Context(), file, folder, b, func(m Member) error {
		if m.Problem != nil {
			seen = append(seen, m.Name+": "+m.Problem.Why)
			return nil
		}
		if !strings.HasPrefix(m.Path, folder) {
			t.Errorf("%s is at %s", m.Name, m.Path)
		}
		text, err := os.ReadFile(m.Path)
		if int64(len(text)) != m.Size {
			t.Errorf("%s has %d bytes, not %d", m.Name, len(text), m.Size)
		}
		seen = append(seen, m.Name+"="+string(text[:min(len(text), 20)]))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
	return seen
}

// wantSeen compares visits with their expected beginnings.
func wantSeen(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestMembersAreReadFromEachFormat(t *testing.T) {
	entries := []entry{
		{name: "a.txt", content: "one"},
		{name: "deep/"},
		{name: "./deep/b.txt", content: "two"},
		{name: "__MACOSX/._a.txt", content: "x"},
		{name: "deep/.DS_Store", content: "x"},
		{name: ".git/config", content: "x"},
		{name: `win\c.txt`, content: "three"},
		{name: "a.txt", content: "again"},
		{name: "empty"},
	}
	for what, content := range map[string][]byte{
		"zip": zipOf(entries...), "tar": tarOf(entries...), "tar.gz": gzipOf(tarOf(entries...)),
	} {
		wantSeen(t, what, walked(t, content, DefaultBounds()), "a.txt=one", "deep/b.txt=two", "win/c.txt=three",
			"a.txt=again", "empty=")
	}
}

func TestOnlyArchivesAreArchives(t *testing.T) {
	for what, c := range map[string]struct {
		content []byte
		want    bool
	}{
		"zip":         {zipOf(entry{name: "a"}), true},
		"empty zip":   {zipOf(), true},
		"tar":         {tarOf(entry{name: "a"}), true},
		"tar.gz":      {gzipOf(tarOf(entry{name: "a"})), true},
		"gz":          {gzipOf([]byte(strings.Repeat("text ", 1000))), false},
		"damaged gz":  {[]byte("\x1f\x8b\x08"), false},
		"zeros":       {make([]byte, 4096), false},
		"text":        {[]byte(strings.Repeat("text ", 1000)), false},
		"nothing":     {nil, false},
		"cut tar":     {tarOf(entry{name: "a"})[:300], false},
		"empty files": {make([]byte, 10), false},
	} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := IsArchive(file); err != nil || got != c.want {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	if _, err := IsArchive("/nowhere"); err == nil {
		t.Error("a missing file is no error")
	}
}

func TestEntriesThatLeadOutAreProblems(t *testing.T) {
	entries := []entry{
		{name: "../up.txt", content: "x"},
		{name: "/etc/passwd", content: "x"},
		{name: `a\..\..\b`, content: "x"},
		{name: "link", content: "/etc/passwd", link: true},
		{name: strings.Repeat("long/", 300), content: ""},
		{name: "bell\a.txt", content: "shown without"},
		{name: "good.txt", content: "good"},
	}
	for what, content := range map[string][]byte{"zip": zipOf(entries...), "tar": tarOf(entries...)} {
		wantSeen(t, what, walked(t, content, DefaultBounds()), "../up.txt: the path of the entry contains ..",
			"/etc/passwd: the path of the entry begins with /", "a/../../b: the path of the entry contains ..",
			"link: the entry is a link", "long/long", "bell�.txt=shown", "good.txt=good")
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for kind, name := range map[byte]string{tar.TypeLink: "hard", tar.TypeFifo: "pipe", tar.TypeChar: "device"} {
		_ = w.WriteHeader(&tar.Header{Name: name, Typeflag: kind, Linkname: "/etc/passwd"})
	}
	_ = w.Close()
	for _, seen := range walked(t, b.Bytes(), DefaultBounds()) {
		if !strings.Contains(seen, ": the entry is ") {
			t.Error(seen)
		}
	}
}

func TestDamagedArchivesKeepWhatCameBefore(t *testing.T) {
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(i * i >> 7 * 31)
	}
	entries := []entry{{name: "a", content: "one"}, {name: "b", content: string(noise)}, {name: "c", content: "three"}}
	plain := tarOf(entries...)
	packed := gzipOf(plain)
	wantSeen(t, "cut tar.gz", walked(t, packed[:len(packed)/2], DefaultBounds()), "a=one",
		"b: the entry is damaged: it ends too early",
		": the archive is damaged after 2 entries, and its rest is left out: it ends too early")
	wantSeen(t, "cut tar", walked(t, plain[:50_000], DefaultBounds()), "a=one", "b: the entry is damaged",
		": the archive is damaged after 2 entries")
	zipped := zipOf(entries...)
	wantSeen(t, "cut zip", walked(t, zipped[:len(zipped)-100], DefaultBounds()), ": the archive is damaged: ")
	zipped[bytes.Index(zipped, []byte("PK\x07\x08"))+30+20] ^= 1
	zipped = slices.Clone(zipped)
	seen := walked(t, zipped, DefaultBounds())
	if len(seen) != 3 || !strings.HasPrefix(seen[0], "a=") || !strings.HasPrefix(seen[2], "c=three") {
		t.Errorf("one damaged member: %q", seen)
	}
	wantSeen(t, "no archive", walked(t, []byte("text"), DefaultBounds()), ": the file is not a zip")
}

// Offsets outside of the file are the fault of the archive, not of the disk.
func TestZipWithImpossibleOffsetsIsDamaged(t *testing.T) {
	b := zipOf(entry{name: "a", content: "one"}, entry{name: "b", content: "two"})
	central := bytes.Index(b, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(b[central+42:], 0xfffffff0)
	wantSeen(t, "member", walked(t, b, DefaultBounds()), "a: the entry is damaged", "b=two")
	binary.LittleEndian.PutUint32(b[len(b)-6:], 0xffff) // the offset of the directory
	wantSeen(t, "directory", walked(t, b, DefaultBounds()), "a: the entry is damaged", "b: the entry is damaged")
}

func TestUnreadableZipMembersAreProblems(t *testing.T) {
	b := zipOf(entry{name: "locked", content: "x"}, entry{name: "odd", content: "x"}, entry{name: "a", content: "one"})
	central := bytes.Index(b, []byte("PK\x01\x02"))
	b[central+8] |= 1 // encrypted
	odd := central + 4 + bytes.Index(b[central+4:], []byte("PK\x01\x02"))
	b[odd+10] = 14 // LZMA
	wantSeen(t, "zip", walked(t, b, DefaultBounds()), "locked: the entry is encrypted",
		"odd: the entry is packed by method 14", "a=one")
}

func TestDocumentsAndEmptyArchivesAreProblems(t *testing.T) {
	word := zipOf(entry{name: "_rels/.rels", content: "<x/>"}, entry{name: "[Content_Types].xml", content: "<x/>"},
		entry{name: "word/document.xml", content: "<x/>"})
	const document = "it is a document"
	wantSeen(t, "Word", walked(t, word, DefaultBounds()), ": "+document)
	wantSeen(t, "EPUB", walked(t, zipOf(entry{name: "mimetype", content: "application/epub+zip"},
		entry{name: "a.xhtml", content: "<x/>"}), DefaultBounds()), ": "+document)
	wantSeen(t, "within", walked(t, tarOf(entry{name: "a.docx", content: string(word)},
		entry{name: "a", content: "one"}), DefaultBounds()), "a.docx: "+document, "a=one")
	wantSeen(t, "empty", walked(t, zipOf(), DefaultBounds()), ": the archive has no files")
	wantSeen(t, "folders", walked(t, tarOf(entry{name: "a/"}, entry{name: ".b"}), DefaultBounds()),
		": the archive has no files")
}

func TestArchivesAreReadTwoDeep(t *testing.T) {
	third := tarOf(entry{name: "c", content: "three"})
	second := zipOf(entry{name: "b", content: "two"}, entry{name: "third.tar", content: string(third)})
	first := gzipOf(tarOf(entry{name: "x/second.zip", content: string(second)}, entry{name: "a", content: "one"}))
	wantSeen(t, "nested", walked(t, first, DefaultBounds()), "x/second.zip/b=two",
		"x/second.zip/third.tar: an archive in an archive in an archive", "a=one")
}

func TestBoundsHold(t *testing.T) {
	b := Bounds{Entries: 3, Member: 1000, Bytes: 2500, Ratio: 100}
	large, full := strings.Repeat("x", 2000), strings.Repeat("y", 1000)
	sized := []entry{{name: "large", content: large}, {name: "a", content: full}, {name: "b", content: "two"}}
	many := []entry{{name: "a/"}, {name: ".b"}, {name: "c", content: "three"}, {name: "d", content: "four"}}
	total := []entry{{name: "a", content: full}, {name: "b", content: full}, {name: "c", content: full}}
	for what, pack := range map[string]func(...entry) []byte{
		"zip": zipOf, "tar": tarOf, "tar.gz": func(e ...entry) []byte { return gzipOf(tarOf(e...)) },
	} {
		wantSeen(t, what, walked(t, pack(sized...), b), "large: the entry has more than the 1000 bytes", "a=yy",
			"b=two")
		wantSeen(t, what, walked(t, pack(many...), b), "c=three", ": the archive has more than 3 entries")
		wantSeen(t, what, walked(t, pack(total...), b), "a=yy", "b=yy", ": the archive unpacks to more than 2.441 KiB")
	}
	// What a nested archive takes counts for the outer one.
	inner := zipOf(total[:2]...)
	b.Entries, b.Bytes = 10, int64(len(inner))+1500
	wantSeen(t, "nested", walked(t, tarOf(entry{name: "in.zip", content: string(inner)}, total[2]), b), "in.zip/a=yy",
		"in.zip: the archive unpacks to more than")
}

// A few kilobytes that unpack to gigabytes end at the ratio, in flat memory.
func TestBombsEnd(t *testing.T) {
	zeros := make([]byte, 16<<20)
	bomb := zipOf(entry{name: "0", content: string(zeros)})
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	source, err := zip.NewReader(bytes.NewReader(bomb), int64(len(bomb)))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := w.Copy(source.File[0]); err != nil {
			t.Fatal(err)
		}
	}
	_ = w.Close()
	overlapping := overlap(bomb, 500)
	sparse := tarOf(entry{name: ".hidden", content: string(zeros)})
	stream := gzipOf(bytes.Repeat(sparse[:len(sparse)-1024], 5))
	bounds := DefaultBounds()
	bounds.Bytes = 40 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for what, content := range map[string][]byte{
		"copies": b.Bytes(), "overlapping": overlapping, "skipped": stream,
	} {
		seen := walked(t, content, bounds)
		if last := seen[len(seen)-1]; !strings.HasPrefix(last, ": the archive unpacks to more than 40 MiB") ||
			len(seen) > 3 {
			t.Errorf("%s: %q", what, seen)
		}
	}
	runtime.ReadMemStats(&after)
	// walked reads two members of two archives whole.
	if grown := int64(after.TotalAlloc-before.TotalAlloc) - 4*2*16<<20; grown > 16<<20 {
		t.Errorf("unpacking took %d MiB", grown>>20)
	}
}

// overlap returns a zip file whose n entries all share the content of the first one.
func overlap(b []byte, n int) []byte {
	central, end := bytes.Index(b, []byte("PK\x01\x02")), bytes.LastIndex(b, []byte("PK\x05\x06"))
	out := slices.Concat(b[:central], bytes.Repeat(b[central:end], n), b[end:])
	tail := out[len(out)-22:]
	binary.LittleEndian.PutUint16(tail[8:], uint16(n))
	binary.LittleEndian.PutUint16(tail[10:], uint16(n))
	binary.LittleEndian.PutUint32(tail[12:], uint32((end-central)*n))
	return out
}

func TestHugeZipDirectoriesAreNotRead(t *testing.T) {
	one := zipOf(entry{name: "a"})
	huge := overlap(one, 500_000)
	binary.LittleEndian.PutUint16(huge[len(huge)-12:], 5) // a lie
	record := make([]byte, 56)
	copy(record, "PK\x06\x06")
	binary.LittleEndian.PutUint64(record[32:], 1<<40)
	locator := make([]byte, 20)
	copy(locator, "PK\x06\x07")
	end := bytes.LastIndex(one, []byte("PK\x05\x06"))
	binary.LittleEndian.PutUint64(locator[8:], uint64(end))
	tail := slices.Clone(one[end:])
	binary.LittleEndian.PutUint16(tail[10:], 0xffff)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for what, content := range map[string][]byte{
		"lie": huge, "zip64": slices.Concat(one[:end], record, locator, tail),
	} {
		wantSeen(t, what, walked(t, content, DefaultBounds()), ": the archive has too large a directory")
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
		t.Errorf("opening took %d MiB", grown>>20)
	}
}

func TestWalkEndsWithItsContextAndItsVisitor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(file, tarOf(entry{name: "a"}, entry{name: "b"}), 0o600); err != nil {
		t.Fatal(err)
	}
	why := errors.New("the job was deleted")
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := 0
	err := Walk(ctx, file, t.TempDir(), DefaultBounds(), func(Member) error {
		calls++
		cancel(why)
		return nil
	})
	if !errors.Is(err, why) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	err = Walk(t.Context(), file, t.TempDir(), DefaultBounds(), func(Member) error { return fmt.Errorf("x: %w", why) })
	if !errors.Is(err, why) {
		t.Errorf("the error of visit: %v", err)
	}
	err = Walk(t.Context(), file, "/nowhere", DefaultBounds(), func(m Member) error {
		t.Errorf("visited %v", m)
		return nil
	})
	if err == nil {
		t.Error("a missing folder is no error")
	}
}
