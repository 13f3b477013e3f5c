package reply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
	"parley/appliance/engine/markup"
	"parley/appliance/text"
)

// loopWords is the length in words from which a repeated sentence ends an answer. A small model would repeat
// it until the reply is full. People say "No, no.".
const loopWords = 4

// wordsBeforeCall is how many bytes a model may write before it calls a tool, where its words are not said:
// "Let me look that up for you", twice.
const wordsBeforeCall = 60

// generation is one call of a model for a reply.
type generation struct {
	thinking
	ctx        context.Context
	throughput *Throughput
	cutter     text.Cutter
	timer      writeTimer
	all        strings.Builder  // everything that came
	open       bool             // the text so far may end in the middle of a word
	newest     turn.Sentence    // if it GoesOn, its rest is to come
	last       []string         // words of the previous sentence
	said       string           // everything that was posted
	call       *engine.ToolCall // nil: the model has called no tool
}

// generateOnce has one model continue a prompt. It posts what the model says sentence by sentence, and
// returns it even if the model fails. It also returns the model's tool call, or nil.
func (t thinking) generateOnce(ctx context.Context, model engine.LanguageModel, throughput *Throughput,
	prompt engine.Prompt) (call *engine.ToolCall, said string, err error) {
	var directions markup.Directions
	g := &generation{
		thinking:   t,
		ctx:        ctx,
		throughput: throughput,
		cutter:     text.Cutter{Stars: directions.Stars, Language: t.language},
	}
	usage, err := model.Generate(ctx, prompt, g.take)
	t.log.Debug("reply", "turn", t.turn, "prompt_tokens", usage.PromptTokens, "cached_tokens", usage.CachedTokens,
		"reply_tokens", usage.ReplyTokens, "first_token_ms", usage.FirstToken.Milliseconds(),
		"steps", usage.Steps, "beside_tokens", usage.RouterTokens, "err", err)
	if errors.Is(err, errEnough) {
		return nil, g.said, nil
	}
	g.sayRest(usage, err)
	if err == nil && g.call == nil && g.said == "" && t.wordsExpected {
		err = silence{g.all.String()}
	}
	if err != nil {
		return nil, g.said, err
	}
	return g.call, g.said, nil
}

// take takes a part of the reply from the model.
func (g *generation) take(part engine.Part) error {
	if g.callOnly && part.Text != "" {
		if g.all.WriteString(part.Text); g.all.Len() > wordsBeforeCall {
			return errEnough
		}
		part.Text = ""
	}
	if err := g.held.wait(g.ctx); err != nil {
		return err
	}
	if part.Session != "" {
		g.postSessionName(part.Session)
	}
	if part.Call != nil {
		g.call = part.Call
	}
	if part.Text == "" {
		return context.Cause(g.ctx)
	}
	if *g.began == 0 {
		*g.began = g.clock()
	}
	if g.timer.came(part.Text) {
		g.throughput.noteDelay(g.schedule.late())
	}
	g.all.WriteString(part.Text)
	g.open = !unicode.IsSpace(lastRune(part.Text))
	sentences := g.cutter.Push(part.Text)
	if err := g.say(g.cutter.GoesOn, sentences...); err != nil {
		return err
	}
	if begin, ended := cutEarly(&g.cutter, g.throughput, g.schedule, g.newest.GoesOn); begin != "" {
		return g.say(!ended, begin)
	}
	return context.Cause(g.ctx)
}

// say posts sentences, as they may be said. goesOn means that the last one is not complete. errEnough means
// that the reply ends here.
func (g *generation) say(goesOn bool, sentences ...string) error {
	for i, line := range sentences {
		g.timer.cut(g.throughput)
		goesOn, over := goesOn && i == len(sentences)-1, false
		line = g.refusal.filter(line, goesOn)
		if correct, wrong := g.identity.filter(line, goesOn); wrong {
			line, goesOn, over = correct, false, true
		}
		words := text.Written(line)
		if len(words) >= loopWords && slices.Equal(words, g.last) && !goesOn && !g.noSpeculation {
			return errEnough
		}
		if g.last = words; goesOn {
			g.last = nil
		}
		if !mute(line) {
			g.said = strings.TrimSpace(g.said + " " + line)
			g.newest = g.postSentence(line, goesOn, g.newest)
		}
		if over {
			return errEnough
		}
	}
	return context.Cause(g.ctx)
}

// sayRest posts the end of a reply, unless it is half a sentence that will not be completed.
func (g *generation) sayRest(usage engine.Usage, err error) {
	rest := g.cutter.Rest()
	full := err == nil && g.call == nil && usage.ReplyTokens >= replyTokens
	if full && g.said != "" && !g.newest.GoesOn && !endsSentence(rest) {
		rest = "" // the reply was too long: half a sentence says nothing
	}
	if err != nil && g.open {
		rest = withoutCutWord(rest)
	}
	if rest != "" && (err == nil || g.ctx.Err() == nil) {
		_ = g.say(false, rest) // nothing follows, so its error does not matter
	}
}
