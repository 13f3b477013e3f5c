package terminal

import (
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"
)

func TestWrappedTextKeepsItsWordsAndItsWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-z世é/.-]{1,12}`)).Draw(t, "words")
		width := rapid.IntRange(1, 60).Draw(t, "width")
		text := strings.Join(words, " ")
		lines := Wrap(text, width)
		if got := strings.Fields(strings.Join(lines, " ")); !slices.Equal(got, strings.Fields(text)) {
			t.Fatalf("the words became %q", got)
		}
		for _, l := range lines {
			if runewidth.StringWidth(l) > width && strings.Contains(l, " ") {
				t.Fatalf("%q is wider than %d", l, width)
			}
		}
	})
}

func TestWrapWithoutAWidthIsOneLine(t *testing.T) {
	if got := Wrap("a  b\nc", 0); !slices.Equal(got, []string{"a b c"}) {
		t.Errorf("got %q", got)
	}
}

func sample() *Table {
	t := &Table{Head: []string{"NAME", "STATUS", "WHAT IT IS"}}
	t.Add("moonshine", "ready", "Speech to text for English, quick enough for one core")
	t.Add("voice-joe", "missing", "A voice")
	return t
}

func TestATableFitsIntoTheTerminal(t *testing.T) {
	for width, want := range map[int]string{
		0: "NAME       STATUS   WHAT IT IS\n" +
			"moonshine  ready    Speech to text for English, quick enough for one core\n" +
			"voice-joe  missing  A voice\n",
		50: "NAME       STATUS   WHAT IT IS\n" +
			"moonshine  ready    Speech to text for English,\n" +
			"                    quick enough for one core\n" +
			"voice-joe  missing  A voice\n",
		30: "moonshine\n" +
			"  STATUS      ready\n" +
			"  WHAT IT IS  Speech to text\n" +
			"              for English,\n" +
			"              quick enough for\n" +
			"              one core\n" +
			"voice-joe\n" +
			"  STATUS      missing\n" +
			"  WHAT IT IS  A voice\n",
	} {
		var b strings.Builder
		if err := sample().Write(&b, width); err != nil || b.String() != want {
			t.Errorf("%d columns: %v\n%s\nwant\n%s", width, err, b.String(), want)
		}
	}
}

func TestARowWithoutAHeadIsAParagraphWhereItIsNarrow(t *testing.T) {
	var b strings.Builder
	table := &Table{}
	table.Add("problem", "libraries", "libespeak-ng.so.1 is not there")
	if err := table.Write(&b, 24); err != nil || b.String() != "problem libraries\nlibespeak-ng.so.1 is not\nthere\n" {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestACellDoesNotSteerTheTerminal(t *testing.T) {
	var b strings.Builder
	table := &Table{}
	table.Add("a\x1b[2Jb\nc")
	if err := table.Write(&b, 0); err != nil || b.String() != "a [2Jb c\n" {
		t.Errorf("%v, %q", err, b.String())
	}
}
