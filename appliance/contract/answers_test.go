package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// withAnswers returns the body of a config's version with approved answers.
func withAnswers(answers string) []byte {
	return fmt.Appendf(nil, `{"evi_version":"4-mini","answers":%s}`, answers)
}

// listOf returns a JSON list of n entries.
func listOf(n int, entry func(i int) string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = entry(i)
	}
	return "[" + strings.Join(entries, ",") + "]"
}

func quote(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// oneAnswer returns answers with one item. The field has the value; the others are right.
func oneAnswer(field, value string) string {
	fields := map[string]string{"id": `"hours"`, "ask": `["When?"]`, "say": `"At ten."`}
	fields[field] = value
	return fmt.Sprintf(`{"items":[{"id":%s,"ask":%s,"say":%s}]}`, fields["id"], fields["ask"], fields["say"])
}

func TestAnswersAreReadAsTheyWereSent(t *testing.T) {
	for name, answers := range map[string]string{
		"all fields": `{"mode":"only","unknown":" Ask at the desk.\n","items":[{"id":"opening-hours-2",` +
			`"ask":[" When? ","When?","时间"],"say":"At {{time}}.\n\tEvery day."},{"id":"b","ask":["x"],"say":"y"}]}`,
		"no items":           `{"items":[]}`,
		"the longest id":     oneAnswer("id", quote(strings.Repeat("z", MaxAnswerIDChars))),
		"the longest say":    oneAnswer("say", quote(strings.Repeat("語", MaxSayChars))),
		"the longest ask":    oneAnswer("ask", "["+quote(strings.Repeat("😀", MaxAskChars))+"]"),
		"as many ways":       oneAnswer("ask", listOf(MaxWaysToAsk, func(int) string { return `"When?"` })),
		"the longest unkown": `{"unknown":` + quote(strings.Repeat("é", MaxUnknownChars)) + `,"items":[]}`,
		"as many items": `{"mode":"first","items":` + listOf(MaxAnswerItems, func(i int) string {
			return fmt.Sprintf(`{"id":"a-%d","ask":["?"],"say":"!"}`, i)
		}) + `}`,
	} {
		c, err := Parse[PostedConfigVersion](withAnswers(answers))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := json.Marshal(c.Record().Answers)
		if err != nil || string(got) != answers {
			t.Errorf("%s: %s, %v, want %s", name, got, err, answers)
		}
	}
	for _, none := range []string{`null`, `{"items":[],"mode":null,"unknown":null,"more":1}`} {
		c, err := Parse[PostedConfigVersion](withAnswers(none))
		if err != nil || none == `null` && c.Answers != nil || none != `null` && len(c.Answers.Items) != 0 {
			t.Errorf("%s: %+v, %v", none, c.Answers, err)
		}
	}
}

func TestAnswersThatDoNotFitAreRefusedWithTheirPath(t *testing.T) {
	item := func(id string) string { return `{"id":` + id + `,"ask":["When?"],"say":"At ten."}` }
	for _, c := range []struct{ answers, field, why string }{
		{`[]`, "answers", "expected an object, got a list"},
		{`"x"`, "answers", "expected an object"},
		{`{}`, "answers.items", "missing"},
		{`{"items":{}}`, "answers.items", "expected a list, got an object"},
		{`{"items":[7]}`, "answers.items[0]", "expected an object, got 7"},
		{`{"items":[],"mode":"always"}`, "answers.mode", "allowed: first, only"},
		{`{"items":[],"mode":1}`, "answers.mode", "expected a string"},
		{`{"items":[],"mode":"only"}`, "answers.unknown", "missing"},
		{`{"items":[],"mode":"only","unknown":" \t"}`, "answers.unknown", "missing"},
		{`{"items":[],"unknown":[]}`, "answers.unknown", "expected a string, got a list"},
		{`{"items":[],"unknown":"\u0007"}`, "answers.unknown", "U+0007"},
		{`{"items":[],"unknown":` + quote(strings.Repeat("é", MaxUnknownChars+1)) + `}`, "answers.unknown",
			"301 characters; at most 300"},
		{`{"items":` + listOf(MaxAnswerItems+1, func(i int) string { return item(quote(fmt.Sprint(i))) }) + `}`,
			"answers.items", "501 entries; at most 500"},
		{`{"items":[` + item(`"a"`) + `,null,` + item(`"b"`) + `,` + item(`"a"`) + `]}`, "answers.items[3].id",
			`"a" is the id of answers.items[0] already`},
		{oneAnswer("id", `null`), "answers.items[0].id", "missing"},
		{oneAnswer("id", `""`), "answers.items[0].id", "empty"},
		{oneAnswer("id", `7`), "answers.items[0].id", "expected a string, got 7"},
		{oneAnswer("id", `"Hours"`), "answers.items[0].id", `'H'`},
		{oneAnswer("id", `"a b"`), "answers.items[0].id", `' '`},
		{oneAnswer("id", `"a\u0000"`), "answers.items[0].id", `'\x00'`},
		{oneAnswer("id", `"ä"`), "answers.items[0].id", `'ä'`},
		{oneAnswer("id", quote(strings.Repeat("z", MaxAnswerIDChars+1))), "answers.items[0].id", "65 characters"},
		{oneAnswer("say", `null`), "answers.items[0].say", "missing"},
		{oneAnswer("say", `"\n "`), "answers.items[0].say", "empty"},
		{oneAnswer("say", `true`), "answers.items[0].say", "expected a string, got true"},
		{oneAnswer("say", `"a\u0000b"`), "answers.items[0].say", "U+0000"},
		{oneAnswer("say", quote(strings.Repeat("語", MaxSayChars+1))), "answers.items[0].say", "1001 characters"},
		{oneAnswer("ask", `null`), "answers.items[0].ask", "missing"},
		{oneAnswer("ask", `"When?"`), "answers.items[0].ask", "expected a list"},
		{oneAnswer("ask", `[]`), "answers.items[0].ask", "empty"},
		{oneAnswer("ask", listOf(MaxWaysToAsk+1, func(int) string { return `"?"` })), "answers.items[0].ask",
			"51 entries; at most 50"},
		{oneAnswer("ask", `["a",null]`), "answers.items[0].ask[1]", "expected a string, got null"},
		{oneAnswer("ask", `["a",["b"]]`), "answers.items[0].ask[1]", "expected a string, got a list"},
		{oneAnswer("ask", `["a","b","\u00a0 "]`), "answers.items[0].ask[2]", "empty"},
		{oneAnswer("ask", `["a\u0000b"]`), "answers.items[0].ask[0]", "U+0000"},
		{oneAnswer("ask", `["a\nb"]`), "answers.items[0].ask[0]", "U+000A"},
		{oneAnswer("ask", `["a",`+quote(strings.Repeat("😀", MaxAskChars+1))+`]`), "answers.items[0].ask[1]",
			"201 characters; at most 200"},
	} {
		_, err := Parse[PostedConfigVersion](withAnswers(c.answers))
		invalid, is := errors.AsType[ErrInvalid](err)
		if !is || invalid.Field != c.field || !strings.Contains(invalid.Why, c.why) {
			t.Errorf("%.80s: %v, want %s: …%s…", c.answers, err, c.field, c.why)
		}
	}
}

func TestAnswersThatAreNotJSONAreMalformed(t *testing.T) {
	for name, answers := range map[string]string{
		"not UTF-8":        oneAnswer("say", `"x"`)[:30] + "\xff" + oneAnswer("say", `"x"`)[30:],
		"a lone surrogate": oneAnswer("ask", `["\ud83d"]`),
		"no end":           `{"items":[`,
		"a control byte":   strings.Replace(oneAnswer("say", `"At ten."`), "At ten", "At\x00ten", 1),
	} {
		_, err := Parse[PostedConfigVersion](withAnswers(answers))
		if _, is := errors.AsType[ErrMalformed](err); !is {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// However much is wrong with the largest body, its error stays short.
func TestErrorsOfManyAnswersAreShort(t *testing.T) {
	ways := listOf(MaxWaysToAsk, func(int) string { return `"\u0000"` })
	answers := `{"items":` + listOf(MaxAnswerItems, func(int) string {
		return `{"id":"` + strings.Repeat("Ä", 100) + `","ask":` + ways + `}`
	}) + `}`
	_, err := Parse[PostedConfigVersion](withAnswers(answers))
	if n := utf8.RuneCountInString(fmt.Sprint(err)); err == nil || n > 100_000 {
		t.Errorf("an error of %d characters", n)
	}
}

func TestATryHasAConfigOrAnswers(t *testing.T) {
	answers := oneAnswer("say", `"x"`)
	for body, field := range map[string]string{
		`{"config_id":"c","text":"When?"}`:                                    "",
		`{"config_id":"c","config_version":0,"text":"When?","before":"Why?"}`: "",
		`{"answers":` + answers + `,"text":"When?"}`:                          "",
		`{"text":"When?"}`: "config_id",
		`{"config_id":"c","answers":` + answers + `,"text":"?"}`:                     "answers",
		`{"config_version":1,"answers":` + answers + `,"text":"?"}`:                  "config_id",
		`{"config_id":"c","text":" "}`:                                               "text",
		`{"config_id":"c","text":"a\u0000"}`:                                         "text",
		`{"config_id":"c","text":"a","before":"\u0001"}`:                             "before",
		`{"answers":{"items":[{"id":"A","ask":["x"],"say":"y"}]},"text":"x"}`:        "answers.items[0].id",
		`{"config_id":"c","text":` + quote(strings.Repeat("é", MaxTryChars+1)) + `}`: "text",
	} {
		_, err := Parse[PostedTry]([]byte(body))
		invalid, _ := errors.AsType[ErrInvalid](err)
		if invalid.Field != field || (err == nil) != (field == "") {
			t.Errorf("%.80s: %v, want %q", body, err, field)
		}
	}
	bodies := Bodies()
	if !slices.ContainsFunc(bodies, func(b Body) bool { return b.Name == "PostedTry" }) {
		t.Error("the body is not described")
	}
}
