package language

// lines are what an assistant says without having to think, in one language.
type lines struct {
	// working says that something is being looked up; the second where it takes
	// several steps.
	working []string
	// sorry is what is said when a tool has failed, and broken when an answer has
	// broken off, or none has come.
	sorry, broken string
	// again asks somebody to say once more what was not understood.
	again string
	// thinking is said before an answer to a question that takes time, and wait
	// before any other: neither agrees to anything, or refuses it.
	thinking, wait []string
	// nudges ask somebody who has fallen silent to go on.
	nudges  []string
	goodbye string
}

// Working says that something is being looked up, for the nth time of an answer
// (from 1).
func (l Language) Working(nth int) string { return linesOf(l).working[pick(nth, 2)] }

// Sorry says that something that was to be done did not work.
func (l Language) Sorry() string { return linesOf(l).sorry }

// AnswerFailed says that an answer cannot be given, or not to its end.
func (l Language) AnswerFailed() string { return linesOf(l).broken }

// SayAgain asks somebody to say once more what was not understood.
func (l Language) SayAgain() string { return linesOf(l).again }

// Quick says that somebody was heard, where the answer takes its time: to a
// question, or to anything else. Of several ways of saying it nth chooses one.
func (l Language) Quick(question bool, nth int) string {
	if question {
		return linesOf(l).thinking[nth&1]
	}
	return linesOf(l).wait[nth&1]
}

// Nudge asks somebody who has fallen silent to go on, for the nth time (from 1).
func (l Language) Nudge(nth int) string { return linesOf(l).nudges[pick(nth, 3)] }

// Goodbye ends a call.
func (l Language) Goodbye() string { return linesOf(l).goodbye }

// pick is the place of the nth of n; the last for all after it.
func pick(nth, n int) int { return min(max(nth, 1), n) - 1 }

// linesOf are the lines of a language; English where it has none.
func linesOf(l Language) lines {
	if l.lines.sorry == "" {
		return languages["en"].lines
	}
	return l.lines
}
