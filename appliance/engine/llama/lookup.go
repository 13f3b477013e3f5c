package llama

import (
	"slices"
	"time"
)

// An answer often repeats what was said or prescribed: a fact, a name, the
// user's own words. So where the end of a reply stands in its conversation
// already, what follows there is a guess at what follows here (prompt lookup,
// github.com/apoorvumang/prompt-lookup-decoding), and one step can check several
// tokens of it. Every token is still chosen by the reply's own sampler from the
// model's numbers; a guess only has them computed together. What was guessed
// wrong is removed again.

const (
	// shortestMatch is how many tokens at the end of a reply must stand elsewhere
	// for what follows to be a guess; longer matches than longestMatch are not
	// known to be better ones.
	shortestMatch = 2
	longestMatch  = 6
	// maxGuessed is how many tokens a step takes on trial: with the one that is
	// sure as many as it reads beside replies.
	maxGuessed = stepTokensWithReplies - 1
	// minGuessGain is how many times as many tokens a second a step with a guess
	// must promise: below it what is won on the whole is little, and what a wrong
	// guess costs one answer is not.
	minGuessGain = 1.15
	// accuracyWindow is how many guesses the share of right ones is about.
	accuracyWindow = 16
	// costAge is how long it is believed what a step of several tokens costs. A
	// size that was too dear is tried once in so long: at most half a percent of
	// the time.
	costAge = 30 * time.Second
	// A step of several tokens is supposed to cost assumedBatchCost more than one of one
	// and assumedTokenCost for every token beside the first, in steps of one, until it is
	// measured: so on two AVX2 cores with Qwen 1.5B.
	assumedBatchCost = 0.55
	assumedTokenCost = 0.16
)

// lookupMode says when guesses are checked.
type lookupMode int

const (
	lookupAuto lookupMode = iota
	lookupNever
	lookupAlways
)

// guess is what may follow in a reply.
type guess struct {
	tokens []Token
	match  int // so many tokens before them are those that the reply ends with
}

// lookUp finds the longest match for the end of context in what is before it,
// of equal ones the last, and guesses that the same follows.
func lookUp(context []Token) guess {
	var best guess
	for at := len(context) - 1; at >= shortestMatch; at-- { // context[at] would be the first guessed
		n := 0
		for n < longestMatch && n < at && context[at-1-n] == context[len(context)-1-n] {
			n++
		}
		if n >= shortestMatch && n > best.match {
			best = guess{context[at:min(at+maxGuessed, len(context))], n}
			if n == longestMatch {
				break
			}
		}
	}
	return best
}

// guessStats knows how often guesses are right, and what it costs to check them.
type guessStats struct {
	accuracy [longestMatch + 1]float64 // by the length of the match, of one token
	cost     [maxGuessed + 2]float64   // of a step, by its tokens, in steps of one; 0: not known
	at       [maxGuessed + 2]time.Time
	always   bool // check all that is guessed
}

func newGuessStats(always bool) *guessStats {
	g := &guessStats{always: always}
	for n := shortestMatch; n <= longestMatch; n++ {
		g.accuracy[n] = assumedAccuracy[n-shortestMatch]
	}
	return g
}

// assumedAccuracy is how often a guess is right after a match of shortestMatch
// tokens and more, until this model's replies say otherwise: so in answers of
// Qwen 1.5B to a hotel's guests.
var assumedAccuracy = [...]float64{0.45, 0.6, 0.7, 0.8, 0.9}

// record learns whether a guess after a match was right. It need not have been
// tried: what the reply goes on with tells in any case.
func (g *guessStats) record(match int, right bool) {
	is := 0.0
	if right {
		is = 1
	}
	share := &g.accuracy[min(match, longestMatch)]
	*share += (is - *share) / accuracyWindow
}

// took learns what a step of so many tokens costs; one is what a step of one
// takes, 0: not known.
func (g *guessStats) recordCost(tokens int, d, one time.Duration, now time.Time) {
	if one == 0 || tokens < 2 || tokens >= len(g.cost) {
		return
	}
	cost := float64(d) / float64(one)
	if g.costOf(tokens, now) == 0 {
		g.cost[tokens] = cost
	} else {
		g.cost[tokens] += (cost - g.cost[tokens]) / 4
	}
	g.at[tokens] = now
}

// costOf is what a step of so many tokens costs, in steps of one; 0: not known.
func (g *guessStats) costOf(tokens int, now time.Time) float64 {
	if now.Sub(g.at[tokens]) > costAge {
		return 0
	}
	return g.cost[tokens]
}

// best is how many tokens of what is guessed a step shall check, at most so
// many: those with which it promises most tokens a second.
func (g *guessStats) best(what guess, most int, now time.Time) (n int) {
	most = max(min(most, len(what.tokens)), 0)
	if g.always {
		return most
	}
	best, promised, chance := minGuessGain, 1.0, 1.0
	for i := range most {
		chance *= g.accuracy[min(what.match+i, longestMatch)]
		promised += chance
		cost := g.costOf(i+2, now)
		if cost == 0 {
			cost = 1 + assumedBatchCost + assumedTokenCost*float64(i+1)
		}
		if promised/cost > best {
			best, n = promised/cost, i+1
		}
	}
	return n
}

// guess looks up what may follow in the replies of a step, and where one reply
// has the step to itself has as much of it checked as pays.
func (o *decoder) guess(shares []portion, cores int, now time.Time) {
	if !o.guessing {
		return
	}
	for i := range shares {
		if s := &shares[i]; s.r.replying() && s.r.grammar == nil {
			s.guess = o.lookUp(s.r)
		}
	}
	// With less than all cores, or another number of threads on trial, nobody
	// knows what more tokens would cost.
	if len(shares) != 1 || cores != o.threadTuner.threads() || o.threadTuner.trial {
		return
	}
	s := &shares[0]
	most := min(s.r.maxTokens-len(s.r.generated)-1, o.batch.left())
	for _, t := range s.guess.tokens[:o.guessStats.best(s.guess, most, now)] {
		o.batch.add(s.r.seq.id, s.r.decoded()+len(s.tokens), []Token{t}, true)
		s.tokens = append(s.tokens, t)
		s.guessed++
	}
}

// lookUp guesses how r goes on; it does not guess its end.
func (o *decoder) lookUp(r *request) guess {
	g := lookUp(append(r.seq.tokens, r.next))
	if end := slices.IndexFunc(g.tokens, o.vocab.ends); end >= 0 {
		g.tokens = g.tokens[:end]
	}
	return g
}

// guessedRight tells whether r went on with the token at that place of the
// guess, and learns from it; took: it went on at all.
func (o *decoder) guessedRight(s portion, place int, took bool) bool {
	if place >= len(s.guess.tokens) {
		return false
	}
	right := took && s.r.next == s.guess.tokens[place]
	o.guessStats.record(s.guess.match+place, right)
	return right
}
