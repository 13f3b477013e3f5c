package answers

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"parley/appliance/engine"
)

// The language model judges what the likelihoods leave open. It reads the nearest way of asking of each candidate and
// the question, and its probabilities for their letters and for "none" are compared; it writes nothing.
const (
	// judgeFrom and judgeTo bound the likelihoods of the best candidate that are judged: a fifth of the questions of
	// the six desks. A wider range takes the model's time more often and decides hardly more of them.
	judgeFrom, judgeTo = 0.23, 0.69
	// judged is how many candidates are judged. The right one is among three of them in 97 of 100 questions.
	judged = 3
	// weightJudge weighs how much likelier the letter of a candidate is than that of none, in natural logarithms, and
	// offsetJudge is added: Qwen 1.5B says none too rarely. Both were chosen with every second question of the six
	// desks: without the judge 62 % of them got the right answer and 2.7 % a wrong one, with it 68 and 3.2 %.
	weightJudge, offsetJudge = 1, -1.6
	// leastVerdict and mostVerdict bound that difference, so that the model alone decides nothing.
	leastVerdict, mostVerdict = -1, 4
	// judgedWay and judgedText are how many characters of a way of asking and of the question the model reads: one
	// sentence and two. Each takes time while the user waits.
	judgedWay, judgedText = 90, 200
)

// judgeTask is the task with examples. All judgements begin with it, so that the model computes it once.
const judgeTask = `Which entry asks what the visitor asks? Reply with its letter, or N if none does.

A: Is there bread without gluten?
B: When do you bake?
C: Can I order a cake?
Visitor: Do you have gluten free bread?
Reply: A

A: How much is a croissant?
B: When do you bake?
C: Are there croissants with chocolate?
Visitor: Who baked the first croissant?
Reply: N

A: What does coffee cost?
B: Can I sit down?
C: When are you open?
Visitor: so if i come sunday morning will anyone be there
Reply: C

A: When are you open?
B: Do you deliver?
C: What is baked tomorrow?
Visitor: What's the weather like tomorrow?
Reply: N

A: cake prices
B: How do I order a cake?
C: Do you deliver?
Visitor: i need a cake for my sons birthday next week, how does that work
Reply: B

A: When do you bake?
B: bread prices
C: Is there bread without gluten?
Visitor: Can I bake my own bread here?
Reply: N`

const judgeLetters = "ABC"

// judge returns the candidates with the likelihoods that the judge's verdict leaves them. Without a judge, or where
// nothing is open, they stay as they are.
func (s *Set) judge(ctx context.Context, a asking, all []candidate) ([]candidate, error) {
	if best := all[0].Score; a.judge == nil || best < judgeFrom || best > judgeTo {
		return all, nil
	}
	n := min(len(all), judged)
	var entries strings.Builder
	var choices []string
	for i, c := range all[:n] {
		letter := judgeLetters[i : i+1]
		choices = append(choices, letter)
		entries.WriteString(letter + ": " + clip(s.Answers.Items[c.Item].Ask[c.way], judgedWay) + "\n")
	}
	limited, cancel := beforeDeadline(ctx)
	defer cancel()
	likelihoods, err := a.judge.Choose(limited, engine.Prompt{
		Conversation: a.conversation + judgeSuffix,
		Messages: []engine.Message{
			{Role: engine.System, Content: judgeTask},
			{Role: engine.User, Content: entries.String() + "Visitor: " + clip(a.Text, judgedText)},
		},
		Urgency: a.urgency,
	}, append(choices, "N"))
	if errors.Is(err, engine.ErrUnsupported) || err != nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range n {
		verdict := min(mostVerdict, max(leastVerdict, likelihoods[i]-likelihoods[n]))
		all[i].Score = logistic(logit(all[i].Score) + weightJudge*verdict + offsetJudge)
	}
	sortByScore(all)
	return all, nil
}

// judgeReserve is what is left of the time for a decision when the judge has taken too long: enough for a busy box to
// use what the likelihoods say.
const judgeReserve = 200 * time.Millisecond

// beforeDeadline returns ctx with a deadline that is judgeReserve earlier.
func beforeDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-judgeReserve))
}

// judgeSuffix names the judge's sequence after the conversation.
const judgeSuffix = "\x00answers"

// JudgeOf returns the model as a Judge if it judges well. It returns nil for models of less than a billion parameters,
// whose verdicts were no better than chance on open questions (Qwen 0.5B), and for those on servers, which take too
// long.
func JudgeOf(m engine.LanguageModel) Judge {
	if j, ok := m.(interface{ CanJudge() bool }); ok && j.CanJudge() {
		return m
	}
	return nil
}

// WarmJudge has a model compute the beginning of all judgements, so that the first one is as quick as the others.
func WarmJudge(ctx context.Context, m interface {
	Prefill(ctx context.Context, p engine.Prompt) error
}) error {
	return m.Prefill(ctx, engine.Prompt{
		Messages: []engine.Message{{Role: engine.System, Content: judgeTask}},
		Urgency:  engine.Batch.Urgency(),
	})
}

// clip returns the beginning of a text in one line.
func clip(text string, characters int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= characters {
		return text
	}
	return string([]rune(text)[:characters]) + "…"
}
