package sheet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"pgregory.net/rapid"

	utf16 "golang.org/x/text/encoding/unicode"

	"parley/appliance/contract"
)

var museum = []contract.AnswerItem{
	{ID: "hours", Ask: []string{"When are you open?", "opening times"}, Say: "From ten to six, \"daily\"."},
	{ID: "cafe", Ask: []string{"Where's the café?"}, Say: "Behind the stairs;\nit is open till five."},
}

const inQuotes = "\"From ten to six, \"\"daily\"\".\""

func TestSheetsOfSpreadsheetsAreRead(t *testing.T) {
	const behind = "\"Behind the stairs;\nit is open till five.\""
	plain := "id,ask,say\nhours,When are you open?," + inQuotes + "\nhours,opening times,\n" +
		"cafe,Where's the café?," + behind + "\n"
	semicolons := "id;ask;say\nhours;When are you open?;" + inQuotes + "\nhours;opening times;\n" +
		"cafe;Where's the café?;" + behind + "\n"
	otherIDs := strings.NewReplacer("\nhours,When", "\nHours ,When", "\ncafe", "\nCafé")
	for name, text := range map[string]string{
		"plain":             plain,
		"byte order mark":   utf8Mark + plain,
		"CRLF":              strings.ReplaceAll(plain, "\n", "\r\n"),
		"CR":                strings.ReplaceAll(plain, "\n", "\r"),
		"no last line end":  strings.TrimSuffix(plain, "\n"),
		"semicolons":        semicolons,
		"named separator":   "sep=;\r\n" + semicolons,
		"tabs":              strings.ReplaceAll(strings.ReplaceAll(plain, ",", "\t"), "six\t", "six,"),
		"UTF-16 with tabs":  encoded(t, utf16.LittleEndian, semicolons),
		"UTF-16, the other": encoded(t, utf16.BigEndian, plain),
		"empty rows":        strings.ReplaceAll(plain, "\nhours", "\n\n,,\n , ,\nhours") + "\n,,\n",
		"padded rows":       strings.Replace(strings.ReplaceAll(plain, "times,", "times,,,"), "say", "say,,", 1),
		"capitals":          strings.Replace(plain, "id,ask,say", " ID ,Ask,SAY", 1),
		"rows apart": "id,ask,say\nhours,When are you open?," + inQuotes + "\ncafe,Where's the café?," + behind +
			"\nhours,opening times,\n",
		"no id below":  strings.Replace(plain, "\nhours,opening", "\n,opening", 1),
		"say repeated": strings.Replace(plain, "times,", "times,"+inQuotes, 1),
		"say below":    strings.NewReplacer("open?,"+inQuotes, "open?,", "times,", "times,"+inQuotes).Replace(plain),
		"two ways in a cell": strings.Replace(plain, "When are you open?,"+inQuotes+"\nhours,opening times,",
			"\"When are you open?\r\n\nopening times\","+inQuotes, 1),
		"columns turned": "say,id,ask\n" + inQuotes + ",hours,When are you open?\n,hours,opening times\n" + behind +
			",cafe,Where's the café?\n",
		"id in other writing": otherIDs.Replace(plain),
	} {
		items, _, err := Read([]byte(text))
		if err != nil || !reflect.DeepEqual(items, museum) {
			t.Errorf("%s: %v, %q", name, err, items)
		}
	}
}

func encoded(t *testing.T, order utf16.Endianness, text string) string {
	t.Helper()
	out, err := utf16.UTF16(order, utf16.UseBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWarningsSayWhatWasAssumed(t *testing.T) {
	western, err := charmap.Windows1252.NewEncoder().String("id;ask;say\na;Where’s the café?;für “5 €”\n")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"id,ask,say\na,b,c\n": "",
		western:               `not UTF-8.*"Where’s"`,
		"id,ask,say,Notes,,\na,b,c,call Ms M,,\nd,e,f,,,": `"Notes"`,
		"ask,say\nWhere's the café?,Here.\n":              `missing.*"wheres-the-cafe" \(row 2\)`,
		"id,ask,say\nOpening_Hours,b,c\n":                 `"Opening_Hours" is now "opening-hours" \(row 2\)`,
		"id,ask,say\n開館,何時？,九時。\n":                        `"開館" is now "answer"`,
	} {
		_, warnings, err := Read([]byte(text))
		all := strings.Join(warnings, "\n")
		if err != nil || (want == "") != (all == "") || !regexp.MustCompile(want).MatchString(all) {
			t.Errorf("%q: %v, %q", text, err, all)
		}
	}
}

// Without ids, an answer begins where another text is said.
func TestIDsAreMadeFromQuestions(t *testing.T) {
	items, _, err := Read([]byte("ask,say\nOpen?,Yes.\nopen now?,\nare you open,Yes.\nOpen?,No.\n!,Well.\n"))
	want := []contract.AnswerItem{
		{ID: "open", Ask: []string{"Open?", "open now?", "are you open"}, Say: "Yes."},
		{ID: "open-2", Ask: []string{"Open?"}, Say: "No."},
		{ID: "answer", Ask: []string{"!"}, Say: "Well."},
	}
	if err != nil || !reflect.DeepEqual(items, want) {
		t.Errorf("%v, %q", err, items)
	}
}

func TestWhatIsNotAllowedIsToldWithItsRow(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n) }
	ways := func(n int) string { return strings.Repeat("a,b,\n", n) }
	answers := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "a%d,b,c\n", i)
		}
		return b.String()
	}
	for text, want := range map[string]string{
		"": "is empty", "\n\n": "is empty",
		"PK\x03\x04…":                                      "workbook",
		"a\x00b\x00":                                       "no text",
		"id,ask,say\na,b,\x81\n":                           "no text",
		"When are you open?,From ten\n":                    `row 1: has the columns`,
		"id,ask,say,Ask\na,b,c,d":                          "row 1: the column ask is there twice",
		"\n\nid;question;say\n":                            `row 3: has the columns ["id" "question" "say"]`,
		"id,ask,say\na,b,From ten, daily":                  `row 2: has 4 cells, and the header 3: "daily"`,
		"id,ask,say\na,b,\"c\nd\"\n\n\na,Say \"hello\",\n": `row 5: bare "`,
		"id,ask,say\na,b,\"c\nd,e,f":                       `row 2: `,
		"id,ask,say\na,b,c\n\n,\n a ,d,e\n":                "row 5, say: differs from row 2",
		"id,ask,say\na,,c\n":                               `row 2, ask: is empty`,
		"id,ask,say\na,b,c\nd,e, \nd,f,":                   `row 3, say: is empty`,

		"id,ask,say\na," + long(201) + ",c":               "row 2, ask: has 201 characters; at most 200 are allowed",
		"id,ask,say\na,b," + long(1001):                   "row 2, say: has 1001 characters; at most 1000 are allowed",
		"id,ask,say\n" + strings.Repeat("a", 65) + ",b,c": "row 2, id: \"aaa",
		"id,ask,say\na,b\x07,c":                           "row 2, ask: has the control character U+0007",
		"id,ask,say\na,b,c\x07":                           "row 2, say: has the control character U+0007",

		"id,ask,say\na,b,c\n" + ways(50):                          `row 52, ask: is way 51 to ask for "a"; at most 50`,
		"id,ask,say\n" + answers(501) + ",x,y\nnew,z,\n":          "row 502: begins answer 501; at most 500",
		"id,ask,say\n" + strings.Repeat("a,"+long(201)+",\n", 12): "and 3 more problems",
	} {
		items, _, err := Read([]byte(text))
		if err == nil || items != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
	allowed := "id,ask,say\na,b,c\n" + ways(49) + answers(499)
	if items, _, err := Read([]byte(allowed)); err != nil || len(items) != 500 || len(items[0].Ask) != 50 {
		t.Errorf("as much as is allowed: %v", err)
	}
	if _, _, err := Read([]byte("id,ask,say\na," + long(200) + "," + long(1000))); err != nil {
		t.Error(err)
	}
}

// A formula in a sheet is what the box was asked or says, and a spreadsheet evaluates none.
func TestNoCellIsAFormula(t *testing.T) {
	items := []contract.AnswerItem{
		{ID: "-1", Ask: []string{"=1+1", "+49", "@home", "-", "'=1", "''=1", "'quoted'"}, Say: "=HYPERLINK(\"x\")"},
	}
	var out bytes.Buffer
	if err := Write(&out, items); err != nil {
		t.Fatal(err)
	}
	if formula := regexp.MustCompile(`(?m)(^|,)"?[=+@-]`).FindString(out.String()); formula != "" {
		t.Errorf("%q in %s", formula, out.String())
	}
	if got, _, err := Read(out.Bytes()); err != nil || !reflect.DeepEqual(got, items) {
		t.Errorf("%v, %q", err, got)
	}
}

// anyAnswers generates answers that a config may have, with line feeds as line ends.
func anyAnswers() *rapid.Generator[[]contract.AnswerItem] {
	char := rapid.OneOf(rapid.SampledFrom([]rune(`,;"'=+-@ ab`)), rapid.Rune())
	text := func(most int, extra string) *rapid.Generator[string] {
		kept := func(r rune) bool {
			return strings.ContainsRune(extra, r) || !unicode.IsControl(r) && utf8.ValidRune(r)
		}
		any := rapid.StringOfN(rapid.OneOf(char.Filter(kept), rapid.SampledFrom([]rune("a"+extra))), 1, most, -1)
		return any.Filter(isFull)
	}
	id := rapid.StringMatching(`[a-z0-9-]{1,64}`)
	return rapid.Custom(func(t *rapid.T) []contract.AnswerItem {
		items := []contract.AnswerItem{}
		for _, id := range rapid.SliceOfNDistinct(id, 0, 5, rapid.ID[string]).Draw(t, "ids") {
			items = append(items, contract.AnswerItem{
				ID:  id,
				Ask: rapid.SliceOfN(text(20, ""), 1, 4).Draw(t, "ask"),
				Say: text(40, "\n\t\v").Draw(t, "say"),
			})
		}
		return items
	})
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := anyAnswers().Draw(t, "items")
		if err := accepted(items); err != nil {
			t.Fatalf("the generator is wrong: %v", err)
		}
		var out bytes.Buffer
		if err := Write(&out, items); err != nil {
			t.Fatal(err)
		}
		got, warnings, err := Read(out.Bytes())
		if err != nil || len(warnings) > 0 || !reflect.DeepEqual(got, items) {
			t.Fatalf("%v, %q, got %q of %q, want %q", err, warnings, got, out.String(), items)
		}
	})
}

// accepted returns the error with which a config with these answers is refused.
func accepted(items []contract.AnswerItem) error {
	body, err := json.Marshal(contract.PostedConfigVersion{
		EVIVersion: contract.EVI4Mini,
		Answers:    &contract.Answers{Items: items},
	})
	if err == nil {
		_, err = contract.Parse[contract.PostedConfigVersion](body)
	}
	return err
}

// Whatever is read may be in a config, and stays the same when it is written and read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte("id,ask,say\na,b,\"c\nd\"\n,e,\n\nÄ b,f,g\n"))
	f.Add([]byte("sep=;\r\nASK;say;x\r\n'=1;\"\"\"c\"\"\";1\r\n?;d\r\n"))
	f.Add([]byte("\xff\xfei\x00d\x00"))
	f.Add([]byte("ask\tsay\xe9\rb\tc\r"))
	f.Fuzz(func(t *testing.T, data []byte) {
		items, _, err := Read(data)
		if err != nil {
			return
		}
		if err := accepted(items); err != nil {
			t.Fatalf("%q is read, and refused in a config: %v", items, err)
		}
		var out bytes.Buffer
		if err := Write(&out, items); err != nil {
			t.Fatal(err)
		}
		again, warnings, err := Read(out.Bytes())
		if err != nil || len(warnings) > 0 || !reflect.DeepEqual(again, items) {
			t.Fatalf("%v, %q, %q became %q", err, warnings, items, again)
		}
	})
}

// A sheet with all that a stranger can put into a request of 8 MB takes neither minutes nor gigabytes.
func TestHostileSheetsAreReadQuickly(t *testing.T) {
	var header, cells strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&header, ",c%d", i)
		cells.WriteString(",x")
	}
	begun := time.Now()
	items, warnings, err := Read([]byte("id,ask,say" + header.String() + "\na,when?,now." + cells.String()))
	if err != nil || len(items) != 1 || len(warnings) != 1 || len(warnings[0]) > 1000 {
		t.Errorf("many columns: %d answers, %d warnings, %v", len(items), len(warnings), err)
	}
	_, _, err = Read([]byte("id,ask,say" + strings.Repeat("\na,b,c,d", 1_000_000)))
	if all, ok := errors.AsType[Problems](err); !ok || len(all) != mostProblems {
		t.Errorf("many problems: %d of them", len(all))
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
