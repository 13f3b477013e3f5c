package importer

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// utf8Reader returns a reader of the text of a file as UTF-8, without a byte order mark.
// PowerShell writes UTF-16.
func utf8Reader(r io.Reader) *bufio.Reader {
	in := bufio.NewReaderSize(r, 64<<10)
	head, _ := in.Peek(3) // a shorter file has no mark, or is empty
	var from encoding.Encoding
	switch {
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		_, _ = in.Discard(3) // what Peek has returned is there
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		from = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case len(head) > 1 && head[1] == 0:
		from = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case len(head) > 1 && head[0] == 0:
		from = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	if from == nil {
		return in
	}
	return bufio.NewReaderSize(from.NewDecoder().Reader(in), 64<<10)
}

// looksLikeJSON reports whether a file's first character begins an object or a list.
func looksLikeJSON(in *bufio.Reader) bool {
	const most = 4 << 10 // of white space before it
	head, _ := in.Peek(most)
	head = bytes.TrimLeft(head, " \t\r\n,")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

// fromWindows1252 returns a text as UTF-8. It is Latin-1 but for 32 bytes.
func fromWindows1252(text []byte) []byte {
	const others = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ" // 0x80 to 0x9f
	table := []rune(others)
	var out []byte
	for _, b := range text {
		r := rune(b)
		if b >= 0x80 && b < 0xa0 {
			r = table[b-0x80]
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}
