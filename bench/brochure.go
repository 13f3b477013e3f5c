package bench

import (
	"fmt"
	"strings"
)

const (
	// knownTokens and longTokens are how long the prompts of newcomers are: one
	// as operators write them, and a page and a half.
	knownTokens, longTokens = 600, 1500
)

// A long answer, and the wish for it.
const (
	storyteller = "You tell stories to people who cannot sleep. Tell long ones, of many plain sentences, with a " +
		"landscape, a journey and an animal in each."
	storyWish = "Please tell me a long story about a small boat on a wide river."
)

// brochure is a prompt as an operator writes one, of about so many tokens: who
// speaks, how, and facts. Those of two numbers differ from the first words on,
// so that nothing of one helps with the other.
func brochure(number, tokens int) string {
	letters := tokens * 18 / 5 // as the default model reads such a text
	names := []string{"Amber", "Birch", "Cedar", "Dune", "Elm", "Fern", "Garnet", "Heath", "Ivory", "Juniper",
		"Kestrel", "Lark", "Maple", "Nettle", "Opal", "Pine"}
	what := []string{"reading room", "pool", "tea house", "gift shop", "bakery", "garden", "concert hall", "workshop",
		"cinema", "gallery", "library", "sauna", "laundry", "play room", "bar", "roof terrace", "bicycle store",
		"chapel", "wine cellar", "barber"}
	which := []string{"old", "new", "small", "quiet", "large"}
	days := []string{"every day", "on weekdays", "at the weekend", "on Mondays", "but for Tuesdays"}
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s House, number %d, is a hotel, and you are its voice on the phone and at the desk. "+
		"Everything you write is spoken aloud: answer in one short sentence. If you do not know something, say so.\n",
		names[number%len(names)], names[(number/len(names)+7)%len(names)], number)
	for i := 0; out.Len() < letters; i++ {
		fmt.Fprintf(&out, "The %s %s is on floor %d, open %s from %d in the morning, and a visit costs %d dollars.\n",
			which[(i+number)%len(which)], what[(i*7+number)%len(what)], 1+(i+number)%9, days[(i*3+number)%len(days)],
			6+i%5, 3+(i*5+number)%40)
	}
	return out.String()[:letters]
}
