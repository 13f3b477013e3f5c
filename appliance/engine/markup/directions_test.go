package markup

import (
	"strings"
	"testing"
)

func TestStageDirectionsAreNotSpoken(t *testing.T) {
	for in, want := range map[string]string{
		"*waves happily* Hello!":                         "Hello!",
		"Hello! *waves happily*":                         "Hello!",
		"*smiles*":                                       "",
		"Well *laughs*, yes.":                            "Well, yes.",
		"(chuckles) That is a good one.":                 "That is a good one.",
		"That is a good one. (chuckles softly)":          "That is a good one.",
		"[sighs] We are closed.":                         "We are closed.",
		"*clears throat* Good evening.":                  "Good evening.",
		"(clears his throat) Good evening.":              "Good evening.",
		"*she smiles warmly* Come in.":                   "Come in.",
		"*softly laughs* Of course.":                     "Of course.",
		"*adjusts the microphone* Can you hear me?":      "Can you hear me?",
		"*twirls around* Ta-da!":                         "Ta-da!",
		"*in a low voice* It is a secret.":               "It is a secret.",
		"(with a smile) Welcome.":                        "Welcome.",
		"*lächelt* Gern.":                                "Gern.",
		"(rires) Bien sûr.":                              "Bien sûr.",
		"*nods* *smiles* Yes.":                           "Yes.",
		"*thinks* Hm, yes.":                              "Hm, yes.",
		"*typing* One moment.":                           "One moment.",
		"*wags tail* Woof!":                              "Woof!",
		"*Looks around the hall* It is full.":            "It is full.",
		"*a warm smile* Welcome.":                        "Welcome.",
		"Oh, *gasps*! Really?":                           "Oh,! Really?",
		"*Waves* are high today.":                        "*Waves* are high today.",
		"*Tickets cost ten euros* today.":                "*Tickets cost ten euros* today.",
		"We are open. *Guests only* please.":             "We are open. *Guests only* please.",
		"Please *smile*.":                                "Please *smile*.",
		"We give free *hugs*.":                           "We give free *hugs*.",
		"Are there *weekends* off? *yes*":                "Are there *weekends* off? *yes*",
		"*very* important":                               "*very* important",
		"It is *always* open.":                           "It is *always* open.",
		"Take (the red one) home.":                       "Take (the red one) home.",
		"Breakfast (includes coffee) is free.":           "Breakfast (includes coffee) is free.",
		"The bar (closes at six) is downstairs.":         "The bar (closes at six) is downstairs.",
		"The museum *opens at nine*, not ten.":           "The museum *opens at nine*, not ten.",
		"Sound *waves* travel.":                          "Sound *waves* travel.",
		"Remember: *dogs are not allowed*.":              "Remember: *dogs are not allowed*.",
		"*Tickets* are sold here.":                       "*Tickets* are sold here.",
		"*This is important.*":                           "*This is important.*",
		"**waves** are high.":                            "**waves** are high.",
		"2 * 3 * 4 is 24.":                               "2 * 3 * 4 is 24.",
		"a*b*c":                                          "a*b*c",
		"Please press (1) or [2].":                       "Please press (1) or [2].",
		"*Smile* is the name of the shop.":               "*Smile* is the name of the shop.",
		"The word (a noun) is old.":                      "The word (a noun) is old.",
		"* First point\n* Second point":                  "* First point\n* Second point",
		"It costs ten euros (plus tax).":                 "It costs ten euros (plus tax).",
		"You can (of course) come with your dog (small)": "You can (of course) come with your dog (small)",
	} {
		var d Directions
		if got := strings.TrimSpace(d.Without(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A direction may extend over the end of a sentence, or be cut where a sentence is.
func TestAStageDirectionOverSeveralSentences(t *testing.T) {
	var d Directions
	got := d.Without("*She waves. ") + d.Without("Then she bows.* Hello!") + d.Without(" It is *very* late.")
	if strings.TrimSpace(got) != "Hello! It is *very* late." {
		t.Errorf("%q", got)
	}
}
