package reply

import (
	"strings"
	"testing"

	"parley/appliance/engine"
)

func TestAContinuedAnswerRepeatsNothing(t *testing.T) {
	const said = "Good morning. The museum opens at ten"
	for _, c := range []struct{ said, pieces, want string }{
		{said, "The| museum| opens| at| ten| o'clock.", "o'clock."},
		{said, "The museum opens at ten.", ""},
		{said, "Good morning! The museum opens at ten o'clock. It", "o'clock. It"},
		{said, "o'|clock.", "o'clock."},
		{said, "the Museum|, it opens", "the Museum, it opens"},
		{said, "The muse|ums are closed.", "The museums are closed."},
		{said, "The museum opens at ten|th", "The museum opens at tenth"},
		{said, "The museum", ""},
		{said, "", ""},
		{"", "The museum opens.", "The museum opens."},
		{"I’m here", "I'm here| for you.", "for you."},
		{"Um zehn", "Um zehn. Dann um elf.", "Dann um elf."},
	} {
		var got strings.Builder
		r := newRepetition(c.said, func(p engine.Part) error { got.WriteString(p.Text); return nil })
		for piece := range strings.SplitSeq(c.pieces, "|") {
			if err := r.take(engine.Part{Text: piece}); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.rest(); err != nil || got.String() != c.want {
			t.Errorf("after %q, %q goes on with %q, want %q (%v)", c.said, c.pieces, got.String(), c.want, err)
		}
	}
}
