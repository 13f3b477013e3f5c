package contract

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestNumbersAreDialledWithoutTheirSeparators(t *testing.T) {
	for text, want := range map[string]string{
		"100":                 "100",
		" +49 (0)30 123-45 ":  "+493012345",
		"(030) 123/45.6":      "030123456",
		"**620":               "**620",
		"#31#0301":            "#31#0301",
		"desk-2":              "desk-2",
		"sip:desk@pbx.lan":    "sip:desk@pbx.lan",
		"sip:030-12@10.0.0.1": "sip:030-12@10.0.0.1",
		"12-34":               "1234",
	} {
		if got, err := ParsePhoneNumber(text); err != nil || got != want {
			t.Errorf("%q is dialled as %q, %v; want %q", text, got, err, want)
		}
	}
	bad := []string{"", " ", "()", "12 a 34", "100\r\nTo: x", "<sip:a@b>", "é", strings.Repeat("1", 300)}
	for _, text := range bad {
		if got, err := ParsePhoneNumber(text); err == nil {
			t.Errorf("%q is dialled as %q", text, got)
		}
	}
}

func TestErrorsOfACallNameTheField(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                           "to: missing",
		`{"to":"100"}`:                 "config_id: missing",
		`{"to":7,"config_id":"a"}`:     "to: expected a string",
		`{"to":"a b","config_id":"a"}`: "to: ",
		`{"to":"1","config_id":" "}`:   "config_id: empty",
		`{"to":"1","config_id":"a","session_settings":{"variables":7}}`:        "session_settings.variables: ",
		`{"to":"1","config_id":"a","trunk":"` + strings.Repeat("x", 65) + `"}`: "trunk: 65 characters",
	} {
		if _, err := Parse[PostedPhoneCall]([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
	for body, want := range map[string]string{
		`{}`: "to: missing", `{"to":"1","brief":"Hello."}`: "brief: it is only said in an attended",
		`{"to":"1","ring_secs":4}`: "ring_secs: 4 is out of range; allowed: 5 to 120",
	} {
		if _, err := Parse[PostedPhoneTransfer]([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
	got, err := Parse[PostedPhoneTransfer]([]byte(`{"to":"0 30-1","attended":true,"brief":" A guest. "}`))
	want := PostedPhoneTransfer{To: "0301", Attended: true, Brief: "A guest.", RingSecs: DefaultRingSecs}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTheConfigsOfTheDocumentationOfTelephonesAreValid(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "phone.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(text, -1)
	for _, block := range blocks {
		if !bytes.Contains(block[1], []byte("evi_version")) {
			continue
		}
		if _, err := Parse[PostedConfig](block[1]); err != nil {
			t.Errorf("%s: %v", block[1], err)
		}
	}
	if len(blocks) < 3 {
		t.Errorf("found %d blocks", len(blocks))
	}
}
