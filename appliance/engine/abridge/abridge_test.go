package abridge

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// shop is an entry as programs write it: codes and links besides the requested facts.
const shop = `{"id":"%08x-%04x-4a1b-9c2d-%012x","name":"Shop %d","order_number":"B-%d","status":"open",` +
	`"price":%d.5,"opening":{"sunday":%v},"url":"https://shops.example/%x","note":null,"about":"%s"}`

func shops(n int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	about := strings.Repeat("We are glad that you are here. ", 8)
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(shop, rng.Uint32(), rng.Uint32N(1<<16), rng.Uint64N(1<<48),
			i, 4000+i, 10+i, i == 23, rng.Uint64(), about))
	}
	return `{"request_id":"` + strings.Repeat("0f9a", 8) + `","shops":[` + strings.Join(all, ",") + `]}`
}

func TestWhatIsShortStaysAsItIs(t *testing.T) {
	for _, content := range []string{"At ten.", `{"id": "7b0c", "url": "https://a.example"}`, ""} {
		if got := Text(content, Question{Words: "When?"}, 600, tokens); got != content {
			t.Errorf("%q became %q", content, got)
		}
	}
}

// filled is JSON with so much irrelevant data that it has to be shortened.
func filled(fields string) string {
	return `{` + fields + `,"filler":"` + strings.Repeat("So it goes. ", 400) + `"}`
}

const (
	codesOfIts = `"product_id":"7b0c1d22-9a41-4f0e-8a55-0e1f2a3b4c5d",` +
		`"cart_id":"8b0c1d22-9a41-4f0e-8a55-0e1f2a3b4c5d","tracking_number":"1Z999AA10123456784"`
	pairs = `"attributes":[{"key":"color","value":"red"},{"key":"size","value":"XL"}],"id":"vienna",`
)

func TestALongAnswerIsShortenedToWhatIsAskedFor(t *testing.T) {
	list := shops(60)
	many := "{" + lines(200, func(i int) string {
		return fmt.Sprintf(`"f%d":"part %d",`, i, i)
	}) + `"headroom":"Up to B7"}`
	rooms := lines(80, func(i int) string { return fmt.Sprintf(`{"room":"R%d","beds":%d}`, i, i%4) })
	table := "room,beds,price\n" + lines(200, func(i int) string { return fmt.Sprintf("R%d,%d,%d", i, i%4, 80+i) })
	page := "<html><head><script>var a = 1</script></head><body>" + lines(90, func(i int) string {
		return fmt.Sprintf("<p class='x'>Hall %d shows <b>painting</b> %d.</p>", i, i*i)
	}) + "</body></html>"
	trains := "<trains>" + lines(90, func(i int) string {
		return fmt.Sprintf("<train><to>Town%d</to><platform>%d</platform></train>", i, i)
	}) + "</trains>"
	rules := "# Rules\n\n" + lines(90, func(i int) string { return fmt.Sprintf("- Rule %d: quiet after %d.", i, i) })
	house := `{"text":"` + strings.Repeat("The house is old. ", 400) + "The key lies under the mat. " +
		strings.Repeat("It rains a lot. ", 400) + `"}`
	for name, c := range map[string]struct{ content, words, arguments, has, not string }{
		"a list":               {list, "What shops are there?", "", "Shop 0|more", "-4a1b-|https|0f9a|null"},
		"how many":             {list, "How many shops are there?", "", "60 in all", ""},
		"what is true":         {list, "Which of them is open on Sunday?", "", `"Shop 23"|"sunday":true`, "-4a1b-"},
		"one of them":          {list, "What does shop 41 cost?", "", `"name":"Shop 41"|51.5`, ""},
		"a number":             {list, "What is the order number of shop 5?", "", "B-4005", "https"},
		"a link":               {list, "Send me the link to shop 5.", "", "https://shops.example/", ""},
		"by its arguments":     {list, "And that one?", `{"shop":"Shop 52"}`, `"name":"Shop 52"|62.5`, ""},
		"pairs":                {filled(pairs + codesOfIts), "What color is it?", "", `"color"|XL|vienna`, "7b0c|1Z99"},
		"a code":               {filled(codesOfIts), "What's the tracking number?", "", "1Z999AA10123456784", "7b0c"},
		"a code as argument":   {filled(codesOfIts), "What is it?", `{"product_id":"x"}`, "7b0c", "8b0c"},
		"nothing but a code":   {`["` + strings.Repeat("a1B2c3D4", 900) + `"]`, "What is it?", "", ellipsis, ""},
		"a text of JSON":       {fmt.Sprintf("%q", list), "What does shop 41 cost?", "", "51.5", ""},
		"a field of two words": {many, "What is the head room?", "", "Up to B7", ""},
		"in JSON":              {fmt.Sprintf(`{"body":%q}`, list), "What does shop 41 cost?", "", "51.5", ""},
		"cut by who sent it":   {list[:len(list)-100], "What does shop 41 cost?", "", "51.5", ""},
		"values in lines":      {rooms, "How many beds has R61?", "", `"R61"`, ""},
		"a table":              {table, "What does R150 cost?", "", "room,beds,price\n|R150,2,230|more lines", ""},
		"a page":               {page, "What does hall 77 show?", "", "Hall 77 shows painting 5929.", "<|var a|class"},
		"XML":                  {trains, "Where does the train to Town66 leave?", "", "to: Town66; platform: 66", "<"},
		"markdown":             {rules, "What is rule 71?", "", "# Rules|Rule 71: quiet after 71.", ""},
		"within a long text":   {house, "Where does the key lie?", "", "The key lies under the mat.|" + ellipsis, ""},
	} {
		for _, budget := range []int{600, 200} {
			got := Text(c.content, Question{c.words, c.arguments}, budget, tokens)
			if n := tokens(got); n > budget {
				t.Errorf("%s: %d tokens of %d", name, n, budget)
			}
			for want := range strings.SplitSeq(c.has, "|") {
				if !strings.Contains(got, want) {
					t.Errorf("%s, in %d tokens: %q is missing in\n%s", name, budget, want, got)
				}
			}
			for not := range strings.SplitSeq(c.not, "|") {
				if not != "" && strings.Contains(got, not) {
					t.Errorf("%s, in %d tokens: %q is still there in\n%s", name, budget, not, got)
				}
			}
		}
	}
}

func lines(n int, line func(i int) string) string {
	var all []string
	for i := range n {
		all = append(all, line(i))
	}
	return strings.Join(all, "\n")
}

// entriesLeft matches the mark at the end of a list.
var entriesLeft = regexp.MustCompile(`^… (\d+) more$`)

// The shown entries of a list and the number in its mark add up to all of it.
func TestTheMarkOfAListCountsWhatIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(20, 120).Draw(t, "entries")
		got := Text(shops(n), Question{Words: "What is there?"}, rapid.IntRange(100, 400).Draw(t, "budget"), tokens)
		var answer struct{ Shops []any }
		if err := json.Unmarshal([]byte(got), &answer); err != nil || len(answer.Shops) == 0 {
			t.Fatalf("%v: %s", err, got)
		}
		if len(answer.Shops) == n {
			return
		}
		left := 0
		last, _ := answer.Shops[len(answer.Shops)-1].(string)
		if _, err := fmt.Sscanf(last, "… %d more", &left); err != nil || !entriesLeft.MatchString(last) {
			t.Fatalf("the list ends in %q", last)
		}
		if shown := len(answer.Shops) - 1; shown+left != n {
			t.Errorf("%d are shown and %d left, of %d", shown, left, n)
		}
	})
}

// For any input, the result is valid, has at most the allowed tokens, is JSON if the input was, and
// is always the same.
func TestWhateverAToolAnswersItFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		isJSON := rapid.Bool().Draw(t, "json")
		content := ""
		if isJSON {
			b, _ := json.Marshal(value(4).Draw(t, "value"))
			content = string(b)
		} else {
			pieces := []string{"", "<a ", "[", `{"a":`, "\xff", "日本語。", "x,1\n", "<b>y</b>", "&amp;", "a1B2", `"`}
			content = strings.Repeat(rapid.SampledFrom(pieces).Draw(t, "piece"),
				rapid.IntRange(0, 3000).Draw(t, "times")) +
				rapid.StringOfN(rapid.Rune(), 0, 500, -1).Draw(t, "text") +
				string(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "bytes"))
		}
		q := Question{
			rapid.SampledFrom([]string{"", "How many are there?", "What is the number and the link of a?"}).Draw(t,
				"question"),
			rapid.SampledFrom([]string{"", "{}", "[", `{"a":"b"}`}).Draw(t, "arguments"),
		}
		budget := rapid.IntRange(32, 700).Draw(t, "budget")
		got := Text(content, q, budget, tokens)
		if got == content {
			return
		}
		if n := tokens(got); n > budget || !utf8.ValidString(got) {
			t.Fatalf("%d tokens of %d: %q", n, budget, got)
		}
		if again := Text(content, q, budget, tokens); again != got {
			t.Fatalf("%q, and then %q", got, again)
		}
		if isJSON && budget > 150 && !json.Valid([]byte(got)) {
			t.Fatalf("no JSON: %s", got)
		}
	})
}

func value(depth int) *rapid.Generator[any] {
	written := rapid.StringMatching(`[a-f0-9]{40}|https://a\.example/[a-z]{30}|([a-z]{2,9} ){40}`)
	leaf := rapid.OneOf(rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.Bool().AsAny(), rapid.String().AsAny(),
		written.AsAny(), rapid.Just[any](nil))
	if depth == 0 {
		return leaf
	}
	names := rapid.StringMatching(`[a-zA-Z_]{1,12}`)
	return rapid.OneOf(leaf, rapid.SliceOfN(value(depth-1), 0, 30).AsAny(),
		rapid.MapOfN(names, value(depth-1), 0, 12).AsAny())
}

// The longest input takes half a second, and two minutes are a hundred times that with the race
// detector on a busy machine; quadratic time would take hours.
func TestTheLongestAnswersTakeBoundedTime(t *testing.T) {
	for name, content := range map[string]string{
		"a list":       shops(1000),
		"numbers":      "[" + strings.Repeat("1,", 200_000) + "1]",
		"nested":       strings.Repeat(`{"a":[`, 50_000) + strings.Repeat("]}", 50_000),
		"never closed": strings.Repeat("[", 400_000),
		"one line":     strings.Repeat("word ", 30_000),
		"one word":     strings.Repeat("x", 400_000),
		"sentences":    strings.Repeat("This is one. ", 30_000),
		"tags":         strings.Repeat("<a><b", 80_000),
		"comments":     strings.Repeat("<!-- ", 80_000),
		"wrapped":      fmt.Sprintf("%q", fmt.Sprintf("%q", shops(500))),
		"long texts": `["` + strings.Repeat("The house is old. ", 30_000) + `","` + strings.Repeat("x", 400_000) +
			`"]`,
		"many long names": `{` + strings.Repeat(`"`+strings.Repeat("k", 900)+`":1,`, 400) + `"a":1}`,
	} {
		begun := time.Now()
		q := Question{Words: "How many of the old houses in town are open on Sunday, and what do they cost?"}
		if n := tokens(Text(content, q, 600, tokens)); n > 600 {
			t.Errorf("%s: %d tokens", name, n)
		}
		took := time.Since(begun)
		t.Log(name, len(content), took)
		if took > 2*time.Minute {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func BenchmarkText(b *testing.B) {
	content := shops(18) // 8 KB
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		Text(content, Question{Words: "Which of them is open on Sunday?"}, 600, tokens)
	}
}
