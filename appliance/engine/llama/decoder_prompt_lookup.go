package llama

import (
	"slices"
	"time"
)

// An answer often repeats earlier text: a fact, a name, the user's own words. So if the end of a
// reply occurs earlier in its conversation, the tokens after that place are a guess for the next
// tokens (prompt lookup, github.com/apoorvumang/prompt-lookup-decoding), and one step can check
// several of them. The reply's sampler still chooses every token from the model's logits; a guess
// only lets them be computed together. Wrong guesses are removed again.

const (
	// shortestMatch is how many tokens at the end of a reply must occur earlier for a guess.
	// Matches longer than longestMatch are not known to be better.
	shortestMatch = 2
	longestMatch  = 6
	// maxGuessed is how many guessed tokens a step checks: with the certain one, as many as it
	// prefills with replies.
	maxGuessed = stepTokensWithReplies - 1
	// minGuessGain is how many times as many tokens a second a step with a guess must promise.
	// Below it the total gain is small, and the cost of a wrong guess for a single answer is not.
	minGuessGain = 1.15
	// accuracyWindow is how many guesses the average accuracy covers.
	accuracyWindow = 16
	// costAge is how long a measured cost of a step with several tokens is valid. A size that was
	// too expensive is tried once in that time, which costs half a percent of the time at most.
	costAge = 30 * time.Second
	// assumedBatchCost is the assumed extra cost of a step of several tokens, and assumedTokenCost
	// that of each token after the first, in steps of one token, until they are measured. The
	// values are from two AVX2 cores with Qwen 1.5B.
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

// guess is a guess of the next tokens of a reply.
type guess struct {
	tokens []Token
	match  int // how many tokens before them match the end of the reply
}

// lookUp finds the longest match for the end of context earlier in context, of equals the last, and
// guesses the tokens that follow it.
func lookUp(context []Token) guess {
	var best guess
	for at := len(context) - 1; at >= shortestMatch; at-- { // context[at] would be the first guessed token
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

// guessStats records how often guesses are right and what checking them costs.
type guessStats struct {
	accuracy [longestMatch + 1]float64 // of one token, by the length of the match
	cost     [maxGuessed + 2]float64   // of a step, by its tokens, in steps of one token; 0: unknown
	at       [maxGuessed + 2]time.Time
	always   bool // check everything that is guessed
}

func newGuessStats(always bool) *guessStats {
	g := &guessStats{always: always}
	for n := shortestMatch; n <= longestMatch; n++ {
		g.accuracy[n] = assumedAccuracy[n-shortestMatch]
	}
	return g
}

// assumedAccuracy is the accuracy after a match of shortestMatch tokens and more, until this
// model's replies show another. The values are from answers of Qwen 1.5B to the guests of a hotel.
var assumedAccuracy = [...]float64{0.45, 0.6, 0.7, 0.8, 0.9}

// record records whether a guess after a match was right. The guess need not have been checked by a
// step, since the reply itself shows the result.
func (g *guessStats) record(match int, right bool) {
	outcome := 0.0
	if right {
		outcome = 1
	}
	accuracy := &g.accuracy[min(match, longestMatch)]
	*accuracy += (outcome - *accuracy) / accuracyWindow
}

// recordCost records the duration of a step of tokens; one is the duration of a step of one token,
// 0 if unknown.
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

// costOf returns the cost of a step of tokens, in steps of one token; 0: unknown.
func (g *guessStats) costOf(tokens int, now time.Time) float64 {
	if now.Sub(g.at[tokens]) > costAge {
		return 0
	}
	return g.cost[tokens]
}

// best returns how many tokens of the guess a step should check, at most the given number: those
// that promise the most tokens a second.
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

// guess guesses the next tokens of the replies of a step. If one reply has the step to itself, it
// adds as many guessed tokens as pay.
func (d *decoder) guess(portions []portion, cores int, now time.Time) {
	if !d.guessing {
		return
	}
	for i := range portions {
		if s := &portions[i]; s.r.replying() && s.r.grammar == nil {
			s.guess = d.lookUp(s.r)
		}
	}
	// With fewer cores, or during a trial with another number of threads, the cost of more tokens
	// is unknown.
	if len(portions) != 1 || cores != d.threadTuner.threads() || d.threadTuner.trial {
		return
	}
	s := &portions[0]
	most := min(s.r.maxTokens-len(s.r.generated)-1, d.batch.left())
	for _, t := range s.guess.tokens[:d.guessStats.best(s.guess, most, now)] {
		d.batch.add(s.r.seq.id, s.r.decoded()+len(s.tokens), []Token{t}, true)
		s.tokens = append(s.tokens, t)
		s.guessed++
	}
}

// lookUp guesses how r continues; it never guesses the end of the reply.
func (d *decoder) lookUp(r *request) guess {
	g := lookUp(append(r.seq.tokens, r.next))
	if end := slices.IndexFunc(g.tokens, d.vocab.ends); end >= 0 {
		g.tokens = g.tokens[:end]
	}
	return g
}

// guessedRight reports whether r continued with the token at this position of the guess, and
// records the result; took says that r continued at all.
func (d *decoder) guessedRight(s portion, place int, took bool) bool {
	if place >= len(s.guess.tokens) {
		return false
	}
	right := took && s.r.next == s.guess.tokens[place]
	d.guessStats.record(s.guess.match+place, right)
	return right
}
