package sheet

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	utf16 "golang.org/x/text/encoding/unicode"

	"parley/appliance/contract"
)

const utf8Mark = "\ufeff"

var (
	errWorkbook = errors.New("this is a workbook of a spreadsheet: save the sheet as CSV (UTF-8) and take that file")
	errNotText  = errors.New("this is no text in UTF-8, UTF-16 or Windows-1252: save the sheet as CSV (UTF-8)")
)

// decode returns the text of a file: UTF-8, UTF-16 with a byte order mark ("Unicode text" of
// Excel), or Windows-1252 ("CSV" of Excel in Western Europe and America), with line feeds as
// line ends. The warning is empty for Unicode.
func decode(data []byte) (text, warning string, err error) {
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")), bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0")):
		return "", "", errWorkbook // xlsx and ods, xls
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		data, err = utf16.UTF16(utf16.LittleEndian, utf16.ExpectBOM).NewDecoder().Bytes(data)
		if err != nil {
			return "", "", errNotText
		}
	case bytes.IndexByte(data, 0) >= 0:
		return "", "", errNotText
	}
	text = strings.TrimPrefix(string(data), utf8Mark)
	if !utf8.Valid(data) {
		if text, err = charmap.Windows1252.NewDecoder().String(text); err != nil || hasUndefined(text) {
			return "", "", errNotText
		}
		warning = fmt.Sprintf("the file is not UTF-8 and is read as Windows-1252; look whether %q is right, or save "+
			"the sheet as CSV (UTF-8)", foreignWord(text))
	}
	if !strings.Contains(text, "\n") { // "CSV (Macintosh)" of Excel
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	return text, warning, nil
}

// hasUndefined reports whether a text has characters of bytes that Windows-1252 leaves undefined.
func hasUndefined(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r == utf8.RuneError || r > '~' && unicode.IsControl(r)
	})
}

// foreignWord returns the first word that is not ASCII.
func foreignWord(text string) string {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && r < 0x80 }) {
		if strings.ContainsFunc(word, func(r rune) bool { return r >= 0x80 }) {
			return contract.Clip(word)
		}
	}
	return ""
}
