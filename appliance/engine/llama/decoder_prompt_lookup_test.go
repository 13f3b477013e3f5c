package llama

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"parley/appliance/engine"
)

func TestWhatFollowsIsLookedUp(t *testing.T) {
	for name, c := range map[string]struct {
		context []Token
		match   int
		tokens  []Token
	}{
		"nothing said":           {nil, 0, nil},
		"nothing alike":          {[]Token{1, 2, 3, 4}, 0, nil},
		"one token is too few":   {[]Token{1, 2, 3, 1}, 0, nil},
		"two":                    {[]Token{1, 2, 3, 4, 1, 2}, 2, []Token{3, 4, 1, 2}},
		"the longest":            {[]Token{7, 1, 2, 5, 1, 2, 6, 7, 1, 2}, 3, []Token{5, 1, 2, 6, 7, 1, 2}},
		"of equal ones the last": {[]Token{1, 2, 5, 1, 2, 6, 9, 1, 2}, 2, []Token{6, 9, 1, 2}},
		"what repeats":           {[]Token{8, 8, 8, 8}, 3, []Token{8}},
		"no more than a step takes": {
			[]Token{1, 2, 11, 12, 13, 14, 15, 16, 17, 18, 19, 1, 2}, 2, []Token{11, 12, 13, 14, 15, 16, 17}},
		"a match counts up to the longest": {
			[]Token{9, 1, 2, 3, 4, 5, 6, 7, 8, 5, 9, 1, 2, 3, 4, 5, 6, 7, 8}, longestMatch,
			[]Token{5, 9, 1, 2, 3, 4, 5}},
	} {
		if got := lookUp(c.context); got.match != c.match || !slices.Equal(got.tokens, c.tokens) {
			t.Errorf("%s: %v after a match of %d; want %v after %d", name, got.tokens, got.match, c.tokens, c.match)
		}
	}
}

func TestGuessesAreCheckedWhereItPays(t *testing.T) {
	now := time.Now()
	long := guess{tokens: make([]Token, maxGuessed), match: 3}
	// The time of a step by its tokens, in steps of one.
	flat := func(int) float64 { return 1.02 }
	line := func(n int) float64 { return 1 + 0.16*float64(n-1) }
	each := func(n int) float64 { return float64(n) }
	fours := func(n int) float64 { return 1 + 0.5*math.Ceil(float64(n-1)/3) } // 1, then 1.5 for two to four, then 2
	for name, c := range map[string]struct {
		cost  func(int) float64
		right float64
		most  int
		want  int
	}{
		"more tokens cost next to nothing":      {flat, 0.9, 99, maxGuessed},
		"every token costs as much":             {each, 0.99, 99, 0},
		"mostly wrong":                          {line, 0.1, 99, 0},
		"mostly right":                          {line, 0.95, 99, maxGuessed},
		"half of them right":                    {line, 0.6, 99, 2},
		"as many as cost the same":              {fours, 0.75, 99, 3},
		"no more than the reply may still have": {flat, 0.9, 2, 2},
		"the reply is full":                     {flat, 0.9, -1, 0},
	} {
		g := newGuessStats(false)
		for n := range g.accuracy {
			g.accuracy[n] = c.right
		}
		for n := 2; n <= maxGuessed+1; n++ {
			g.recordCost(n, time.Duration(c.cost(n)*float64(time.Second)), time.Second, now)
		}
		if got := g.best(long, c.most, now); got != c.want {
			t.Errorf("%s: %d tokens, want %d", name, got, c.want)
		}
	}
}

func TestGuessingStopsWhenItIsWrongAndResumesWhenItIsRight(t *testing.T) {
	g, now := newGuessStats(false), time.Now()
	what := guess{tokens: make([]Token, maxGuessed), match: longestMatch}
	if g.best(what, maxGuessed, now) == 0 {
		t.Error("nothing is tried at first")
	}
	tries := 0
	for range 100 {
		if g.best(what, maxGuessed, now) > 0 {
			tries++
		}
		g.record(what.match, false)
	}
	if tries > 12 {
		t.Errorf("%d of 100 wrong guesses were checked", tries)
	}
	for range 100 { // accuracy is recorded although no guess is checked
		g.record(what.match, true)
	}
	if g.best(what, maxGuessed, now) == 0 {
		t.Error("nothing is tried though a hundred guesses would have been right")
	}
}

func TestAnExpensiveStepIsTriedAgainLater(t *testing.T) {
	g, now := newGuessStats(false), time.Now()
	what := guess{tokens: make([]Token, maxGuessed), match: longestMatch}
	tries := 0
	for n := g.best(what, maxGuessed, now); n > 0 && tries < 100; n = g.best(what, maxGuessed, now) {
		g.recordCost(n+1, 9*time.Second, time.Second, now) // another process uses the other core
		tries++
	}
	if tries > maxGuessed {
		t.Errorf("tried %d times though every step took nine times as long as one", tries)
	}
	if g.best(what, maxGuessed, now.Add(costAge+time.Second)) == 0 {
		t.Errorf("not tried again after %v", costAge)
	}
	g.recordCost(4, time.Second, 0, now) // the time of a step of one token is unknown
	if g.costOf(4, now) == 1 {
		t.Error("a cost was learnt from nothing")
	}
}

// toy is a decoder with a model of five tokens, the last of which ends a reply: the next token
// depends on the one before.
func toy(always bool, table [5][5]float32) *decoder {
	b := &batch{
		capacity:   16,
		tokens:     make([]Token, 16),
		pos:        make([]int32, 16),
		lens:       make([]int32, 16),
		withLogits: make([]int8, 16),
	}
	for range b.capacity {
		b.seqs = append(b.seqs, new(int32))
	}
	lib := &library{calls: &calls{
		getLogitsIth: func(_ handle, i int32) *float32 { return unsafe.SliceData(table[b.tokens[i]][:]) },
		memorySeqRm:  func(handle, int32, int32, int32) bool { return true },
		vocabIsEOG:   func(_ handle, t Token) bool { return t == 4 },
		tokenToPiece: func(_ handle, t Token, buf *byte, _, _ int32, _ bool) int32 { *buf = 'a' + byte(t); return 1 },
	}}
	return &decoder{
		lib:         lib,
		vocab:       vocabulary{lib: lib, size: 5},
		batch:       b,
		threadTuner: newThreadTuner(1),
		cells:       100,
		cache:       &cache{lib: lib, divisible: true},
		mailbox:     newMailbox(&abort{gate: engine.NewGate(1)}),
		guessing:    true,
		guessStats:  newGuessStats(always),
	}
}

// says returns one reply of at most six tokens, and how many steps it took.
func (d *decoder) says(t *testing.T, rng *rand.Rand) (answer []Token, steps int) {
	prompt := []Token{0, 1, 2, 3, 0, 1, 3, 2, 0}
	r := &request{
		prompt:    prompt,
		maxTokens: 6,
		sampler:   sampler{temperature: 1, rng: rng},
		out:       make(chan delivery, 8),
		seq:       &sequence{conversation: "toy", tokens: slices.Clone(prompt)},
	}
	r.seq.request, d.running, d.reserved = r, []*request{r}, r.cells()
	d.mailbox.pending++
	d.batch.empty()
	d.advance(portion{r: r, logits: d.batch.add(0, len(prompt)-1, prompt[len(prompt)-1:], true)})
	for ; len(d.running) > 0; steps++ {
		d.batch.empty()
		one := []Token{r.next}
		portions := []portion{{r: r, tokens: one, logits: d.batch.add(0, r.decoded(), one, true)}}
		d.guess(portions, 1, time.Now())
		if n := r.decoded() + len(portions[0].tokens); n > r.cells() {
			t.Fatalf("%d cells are used of %d that were reserved", n, r.cells())
		}
		r.seq.tokens = append(r.seq.tokens, portions[0].tokens...)
		d.advance(portions[0])
		if want := append(slices.Clone(prompt), r.generated[:max(len(r.generated)-1, 0)]...); len(d.running) > 0 &&
			!slices.Equal(r.seq.tokens, want) {
			t.Fatalf("%v is in the cache, want %v", r.seq.tokens, want)
		}
	}
	return r.generated, steps
}

// A guess changes neither which tokens are drawn nor how often: the same random numbers give the
// same reply, and the replies have the distribution of the model.
func TestGuessesDoNotChangeTheDraws(t *testing.T) {
	table := [5][5]float32{{0, 2, 1, 0.5, 0}, {0, 0, 2, 1, 0.5}, {1, 0, 0, 2, 0.5}, {2, 1, 0, 0, 1}, {}}
	plain, guessed := toy(false, table), toy(true, table)
	plain.guessing = false
	var stepsPlain, stepsGuessed int
	count := map[Token]int{}
	const replies = 5000
	for seed := range uint64(replies) {
		a, n := plain.says(t, rand.New(rand.NewPCG(seed, 1)))
		b, m := guessed.says(t, rand.New(rand.NewPCG(seed, 1)))
		if !slices.Equal(a, b) {
			t.Fatalf("seed %d: %v without guesses, %v with them", seed, a, b)
		}
		stepsPlain, stepsGuessed = stepsPlain+n, stepsGuessed+m
		for i := range len(b) - 1 {
			if b[i] == 1 { // the tokens after a 1
				count[b[i+1]]++
			}
		}
	}
	if stepsGuessed >= stepsPlain*9/10 {
		t.Errorf("%d steps with guesses, %d without: hardly any guess was taken", stepsGuessed, stepsPlain)
	}
	// The probabilities after a 1, without the end: those of 0, 2 and 3; tokens outside the nucleus
	// of topP are never drawn.
	var s sampler
	s.temperature = 1
	s.choose(table[1][:])
	all, sum := 0, 0.0
	for _, n := range count {
		all += n
	}
	for _, c := range s.best {
		if c.token != 4 {
			sum += c.probability
		}
	}
	for _, c := range s.best {
		if c.token == 4 {
			continue
		}
		want, got := c.probability/sum, float64(count[c.token])/float64(all)
		if math.Abs(want-got) > 4*math.Sqrt(want*(1-want)/float64(all)) {
			t.Errorf("after a 1 token %d came in %.3f of %d draws, want %.3f", c.token, got, all, want)
		}
	}
}

func TestWhatWasGuessedIsCountedOnce(t *testing.T) {
	never := float32(math.Inf(-1))
	table := [5][5]float32{{never, 0, never, never, never}, {never, never, 0, never, never},
		{never, never, never, 0, never}, {0, never, never, never, never}, {}}
	o := toy(true, table) // after 0 always comes 1, then 2, 3, and so on
	want := newGuessStats(true)
	answer, steps := o.says(t, rand.New(rand.NewPCG(1, 1)))
	if all := []Token{1, 2, 3, 0, 1, 2}; !slices.Equal(answer, all) {
		t.Fatalf("%v, want %v", answer, all)
	}
	// After the first 0 1 the prompt has 2, after the last 3, which is guessed;
	// after 0 1 2 it has 3 0 1, which comes true, and then 3, which does not.
	for _, once := range []struct {
		match int
		right bool
	}{{2, false}, {3, true}, {4, true}, {5, true}, {6, false}} {
		want.record(once.match, once.right)
	}
	if o.guessStats.accuracy != want.accuracy {
		t.Errorf("recorded %v, want %v", o.guessStats.accuracy, want.accuracy)
	}
	if steps != 2 {
		t.Errorf("%d steps for the five tokens after the first, want 2", steps)
	}
}

// repeatPrompt makes a small model repeat sentences, which leaves it no choice.
func repeatPrompt(sentence string) []engine.Message {
	messages := []engine.Message{says(engine.System, "Repeat the sentence that the user says, word for word.")}
	for _, example := range []string{
		"The old bridge over the river was closed last winter.",
		"My brother sells apples and pears at the market.",
		"Please leave the keys with the lady at the front desk.",
	} {
		messages = append(messages, says(engine.User, example), says(engine.Assistant, example))
	}
	return append(messages, says(engine.User, sentence))
}

var recited = []string{
	"The yellow train to the mountains leaves at seven in the morning from the second platform.",
	"The museum opens at ten, and the garden behind it closes at five.",
	"Enter the number of your room, followed by the pound key, and wait for the tone.",
}

// counted opens the small model and counts its steps.
func counted(t *testing.T, l lookupMode) (m *Model, steps *atomic.Int32) {
	gate := engine.NewGate(1)
	steps = &atomic.Int32{}
	gate.Observe(func(engine.Passage) { steps.Add(1) })
	return small(t, func(o *Options) { o.lookup, o.Gate = l, gate }), steps
}

func TestTheReplyIsTheSameWithGuesses(t *testing.T) {
	plain, stepsPlain := counted(t, lookupNever)
	guessed, stepsGuessed := counted(t, lookupAlways)
	for _, sentence := range recited {
		p := engine.Prompt{Conversation: sentence, Messages: repeatPrompt(sentence), MaxTokens: 40}
		want, u := reply(t, plain, p)
		got, v := reply(t, guessed, p)
		if got != want || got != sentence || u.ReplyTokens != v.ReplyTokens {
			t.Errorf("%q (%d tokens) with guesses, %q (%d) without", got, v.ReplyTokens, want, u.ReplyTokens)
		}
	}
	if a, b := stepsPlain.Load(), stepsGuessed.Load(); b >= a*3/4 {
		t.Errorf("%d steps with guesses, %d without", b, a)
	}
}

func TestTheCacheIsGoodAfterGuesses(t *testing.T) {
	plain, _ := counted(t, lookupNever)
	guessed, _ := counted(t, lookupAlways)
	var usages [2][]engine.Usage
	var texts [2][]string
	for i, m := range []*Model{plain, guessed} {
		messages := repeatPrompt(recited[0])
		for _, next := range []string{recited[1], recited[2], ""} {
			answer, u := reply(t, m, engine.Prompt{Conversation: "a", Messages: messages, MaxTokens: 40})
			u.FirstToken = 0
			usages[i], texts[i] = append(usages[i], u), append(texts[i], answer)
			messages = append(messages, says(engine.Assistant, answer), says(engine.User, next))
		}
	}
	if !slices.Equal(texts[0], texts[1]) || !slices.Equal(usages[0], usages[1]) {
		t.Errorf("without guesses %q %+v\nwith them %q %+v", texts[0], usages[0], texts[1], usages[1])
	}
}

func TestAReplyWithGuessesEndsAtItsLimit(t *testing.T) {
	m, _ := counted(t, lookupAlways)
	for _, most := range []int{1, 2, 3, 5, 8, 13} {
		answer, u := reply(t, m, engine.Prompt{Conversation: "a", Messages: repeatPrompt(recited[0]), MaxTokens: most})
		if u.ReplyTokens != most || !strings.HasPrefix(recited[0], answer) {
			t.Errorf("at most %d: %q, %d tokens", most, answer, u.ReplyTokens)
		}
	}
}

func TestACancelledReplyWithGuessesDisturbsNoOther(t *testing.T) {
	m, _ := counted(t, lookupAlways)
	ctx, cancel := context.WithCancelCause(within(t))
	why := errors.New("barge-in")
	pieces := 0
	p := engine.Prompt{
		Conversation: "cut",
		Messages:     repeatPrompt(recited[0]),
		MaxTokens:    40,
		Urgency:      engine.Live.Urgency(),
	}
	if _, err := m.Generate(ctx, p, func(engine.Part) error {
		if pieces++; pieces == 6 {
			cancel(why)
		}
		return nil
	}); !errors.Is(err, why) || pieces != 6 {
		t.Errorf("%d pieces, %v", pieces, err)
	}
	var others sync.WaitGroup
	for _, sentence := range recited {
		others.Go(func() {
			if answer, _ := reply(t, m, engine.Prompt{Conversation: sentence, Messages: repeatPrompt(sentence),
				MaxTokens: 40}); answer != sentence {
				t.Errorf("after a cancelled reply, with others: %q", answer)
			}
		})
	}
	others.Wait()
	if answer, u := reply(t, m, p); answer != recited[0] || u.CachedTokens != u.PromptTokens-1 {
		t.Errorf("%q, %+v", answer, u)
	}
}
