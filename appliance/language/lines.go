package language

// lines are what an assistant says without thinking, in one language.
type lines struct {
	// working says that something is being looked up; the second text is for later steps.
	working []string
	// sorry is said when a tool has failed, and broken when an answer was cut off or did not come.
	sorry, broken string
	// done is said when a tool has done its work and has nothing to tell.
	done string
	// again asks the user to repeat what was not understood.
	again string
	// thinking is said before a late answer to a question, and wait before any other late answer. Neither
	// agrees or refuses.
	thinking, wait []string
	// nudges ask a silent user to go on.
	nudges  []string
	goodbye string
	telephone
}

// Working says that something is being looked up, for the nth time in an answer (from 1).
func (l Language) Working(nth int) string { return linesOf(l).working[pick(nth, 2)] }

// Sorry says that a requested action did not work.
func (l Language) Sorry() string { return linesOf(l).sorry }

// Done says that a requested action was done.
func (l Language) Done() string { return linesOf(l).done }

// AnswerFailed says that an answer cannot be given or completed.
func (l Language) AnswerFailed() string { return linesOf(l).broken }

// SayAgain asks the user to repeat what was not understood.
func (l Language) SayAgain() string { return linesOf(l).again }

// Quick says that the user was heard when an answer is late, after a question or after anything else. nth
// chooses one of several texts.
func (l Language) Quick(question bool, nth int) string {
	if question {
		return linesOf(l).thinking[nth&1]
	}
	return linesOf(l).wait[nth&1]
}

// Nudge asks a silent user to go on, for the nth time (from 1).
func (l Language) Nudge(nth int) string { return linesOf(l).nudges[pick(nth, 3)] }

// Goodbye ends a call.
func (l Language) Goodbye() string { return linesOf(l).goodbye }

// pick returns the index of the nth of n entries; the last one for every later nth.
func pick(nth, n int) int { return min(max(nth, 1), n) - 1 }

// linesOf returns the lines of a language; the English ones if it has none.
func linesOf(l Language) lines {
	if l.lines.sorry == "" {
		return languages["en"].lines
	}
	return l.lines
}
