package importer

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// zipped writes a ZIP file.
func zipped(t *testing.T, write func(z *zip.Writer) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "saved.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, err := range []error{write(z), z.Close(), f.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// entry adds a file to a ZIP file.
func entry(z *zip.Writer, name, text string) error {
	w, err := z.Create(name)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

// What a ZIP file must not do is a line of the report, and the rest is read.
func TestHostileZIPFiles(t *testing.T) {
	b := newBox(t)
	path := zipped(t, func(z *zip.Writer) error {
		for name, text := range map[string]string{
			"saved/chats.json": chatRecord(1, 9), "../../etc/cron.d/x": chatRecord(2, 9), "/abs.json": chatRecord(3, 9),
			`..\up.json`: chatRecord(4, 9), "__MACOSX/._chats.json": "x", ".DS_Store": "x",
			"saved/inner.zip":   "PK\x03\x04",
			"saved/picture.png": "\x89PNG", "saved/empty.json": "",
		} {
			if err := entry(z, name, text); err != nil {
				return err
			}
		}
		link := &zip.FileHeader{Name: "saved/link.json"}
		link.SetMode(os.ModeSymlink | 0o777)
		w, err := z.CreateHeader(link)
		if err == nil {
			_, err = io.WriteString(w, "/etc/passwd")
		}
		return err
	})
	r := b.load(path)
	b.want(r, kindChat, 1)
	for _, line := range []string{
		"../../etc/cron.d/x: its name leads out", "/abs.json: its name leads out", "up.json: its name leads out",
		"saved/link.json: it is a link", "inner.zip: it is neither JSON", "picture.png: it is neither JSON",
		"saved/empty.json: it is empty", "2 files that operating systems add",
	} {
		b.wantLine(r, line)
	}
}

// A ZIP file that unpacks to far more than its size is not unpacked.
func TestZIPBombs(t *testing.T) {
	b := newBox(t)
	path := zipped(t, func(z *zip.Writer) error {
		if err := entry(z, "a.json", chatRecord(1, 9)); err != nil {
			return err
		}
		h := &zip.FileHeader{Name: "bomb.json", Method: zip.Store, UncompressedSize64: 1 << 40}
		_, err := z.CreateRaw(h)
		return err
	})
	r := b.load(path)
	b.want(r, kindChat, 1)
	b.wantLine(r, "bomb.json: the ZIP file holds more than 200 times its own size")
}

// Links are not followed, and what cannot be read is a line.
func TestHostileFolders(t *testing.T) {
	b := newBox(t)
	dir := files(t, map[string]string{
		"a.json": chatRecord(1, 9), "deep.json": strings.Repeat("[", 1_000_000), "page.html": "<html>not found</html>",
		"error.json": `{"code":"not_found","message":"x"}`, "list.json": `[{"name":"a","size":1},{"name":"b"}]`,
		"nothing.json": `{"total_pages":0,"configs_page":[]}`, "job.json": `{"job_id":"1","state":{}}`,
		"ansi.json": "[" + strings.Replace(eventRecord(1, 0), "number 0", "caf\xe9 \x80", 1) + "]",
	})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	r := b.load(dir)
	b.want(r, kindChat, 1)
	for _, line := range []string{
		"link.json: it is a link", "deep.json: byte 42: lists and objects are nested more than 40 deep",
		"page.html: it is neither JSON", "error.json: it holds no record", "list.json: 2 entries are no records",
		"analysis job (job.json)", "ansi.json: it is not UTF-8",
	} {
		b.wantLine(r, line)
	}
	if strings.Contains(lines(r), "nothing.json") {
		t.Errorf("an empty page is reported:\n%s", lines(r))
	}
	if got := b.texts(1); len(got) != 1 || got[0] != "café €" {
		t.Errorf("the text is %q", got)
	}
}

// repeated is a reader of a text so many times.
type repeated struct {
	text  string
	times int
	at    int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) && r.times > 0 {
		c := copy(p[n:], r.text[r.at:])
		n, r.at = n+c, r.at+c
		if r.at == len(r.text) {
			r.at, r.times = 0, r.times-1
		}
	}
	if n == 0 {
		err = io.EOF
	}
	return n, err
}

// A file of any length, and a value of any length, takes little memory.
func TestLongFilesTakeLittleMemory(t *testing.T) {
	const mib = 1 << 20
	long := strings.Repeat("x", mib)
	for name, in := range map[string]struct {
		begin string
		then  repeated
	}{
		"one list":      {"[1", repeated{text: `,{"id":"` + long + `"}`, times: 60}},
		"one object":    {`{"a":1`, repeated{text: `,"b":{"c":"` + long + `"}`, times: 60}},
		"one text":      {`{"a":"`, repeated{text: long, times: 60}},
		"one name":      {`{"`, repeated{text: long, times: 60}},
		"one number":    {`[`, repeated{text: "1", times: mib / 2}},
		"short fields":  {`{"a":1`, repeated{text: `,"b":1`, times: mib / 2}},
		"short entries": {`[1`, repeated{text: `,1`, times: mib / 2}},
		"nested lists":  {`[[1`, repeated{text: `],[1`, times: mib / 2}},
	} {
		t.Run(name, func(t *testing.T) {
			runs, most := int64(0), uint64(0)
			s := &scanner{
				in:      utf8Reader(io.MultiReader(strings.NewReader(in.begin), &in.then)),
				found:   func(*node, int64, int) (bool, bool) { return false, true },
				nextRun: func() int64 { runs++; return runs },
			}
			done := make(chan bool)
			go func() {
				defer close(done)
				_, _ = s.values() // some files end in the middle
			}()
			for ended := false; !ended; {
				select {
				case <-done:
					ended = true
				case <-time.After(5 * time.Millisecond):
				}
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
			if most > 50*mib {
				t.Errorf("it took %d MiB", most/mib)
			}
		})
	}
}

// FuzzScan: no file stops the scanner, and what it finds can be written as JSON and be
// found again.
func FuzzScan(f *testing.F) {
	for _, text := range []string{
		chatRecord(1, 9), "[" + eventRecord(1, 0) + "," + eventRecord(1, 1) + "]", promptRecord(1, 0, "n"),
		`{"a":[1,{"b":null}],"c":"\u00e9\ud83d\ude00"} [NaN, -Infinity] {"x":"` + "\xe9" + `"}`, "{\n{\n[", `[[[[`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		scan := func(data []byte) (found []string) {
			runs := int64(0)
			s := &scanner{
				in: utf8Reader(bytes.NewReader(data)),
				found: func(n *node, _ int64, _ int) (bool, bool) {
					_, _ = n.jsonText("metadata")
					n.millis("timestamp")
					shapeOf(n)
					found = append(found, string(n.appendJSON(nil, true)))
					return false, false
				},
				nextRun: func() int64 { runs++; return runs },
			}
			_, _ = s.values() // it may be damaged
			return found
		}
		for _, one := range scan(data) {
			if again := scan([]byte(one)); len(again) != 1 || again[0] != one {
				t.Fatalf("%q was found as %q", one, again)
			}
		}
	})
}
