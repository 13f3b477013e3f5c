package reply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
	"parley/appliance/language"
)

// ErrSilent is what a model has failed with that was asked and wrote nothing
// that can be said: no word, or signs alone ("#").
var ErrSilent = errors.New("the language model wrote nothing that can be said")

// silence is an ErrSilent of a model that wrote signs, or nothing at all.
type silence struct{ wrote string }

// maxSignsShown is how many bytes of signs are told of: enough to see what they
// are.
const maxSignsShown = 60

func (s silence) Error() string {
	wrote := s.wrote
	if len(wrote) > maxSignsShown {
		wrote = strings.ToValidUTF8(wrote[:maxSignsShown], "") + "…"
	}
	return fmt.Sprintf("%v: %q", ErrSilent, wrote)
}

func (silence) Unwrap() error { return ErrSilent }

const (
	// retryTemperature is the temperature at which a model is asked once more that was
	// silent: where it always writes the likeliest words, it would be so again.
	retryTemperature = 0.7
	// signBias keeps it from beginning with the same signs.
	signBias = -1e4
	// wordsInstruction asks for something that can be said, behind the user's words. It is no
	// part of the history.
	wordsInstruction = "(Answer me in one short spoken sentence, without signs or codes.)"
)

// signs are what no answer begins with that is to be heard: how small models begin
// one to what is no question, in place of words.
var signs = [...]string{"#", "##", "###", "*", "**", "_", "~", "|", "…", "..."}

// withoutSigns keeps an answer from beginning with a sign; others are what else there
// is of its beginning.
func withoutSigns(others map[string]float64) map[string]float64 {
	out := copyBias(others)
	for _, sign := range signs {
		out[sign] = signBias
	}
	return out
}

// generateWords has a model go on with a prompt, as generateOnce has, and asks it once
// more where it was silent: to a question that nobody asked, as a recording may be,
// small models answer with signs.
func (t thinking) generateWords(ctx context.Context, model engine.LanguageModel, pace *Throughput,
	prompt engine.Prompt) (call *engine.ToolCall, said string, err error) {
	call, said, err = t.generateOnce(ctx, model, pace, prompt)
	silent, is := errors.AsType[silence](err)
	if !is || ctx.Err() != nil {
		return call, said, err
	}
	t.log.Warn("the language model wrote nothing that can be said; it is asked once more", "turn", t.turn, "err", err)
	prompt.Temperature = max(prompt.Temperature, retryTemperature)
	prompt.Messages = withInstruction(prompt.Messages, wordsInstruction)
	if signs := strings.TrimSpace(silent.wrote); signs != "" {
		prompt.FirstWordBias = copyBias(prompt.FirstWordBias)
		prompt.FirstWordBias[signs] = signBias
	}
	return t.generateOnce(ctx, model, pace, prompt)
}

// silenceReplacement is what is said where the model had no words twice: the user is asked
// to say it again. Where a tool has answered that would call it again, so its words are
// read out, or the assistant apologises.
func silenceReplacement(t turn.Think) string {
	if !toolAnswered(t.History) {
		return language.Of(t.Language).SayAgain()
	}
	return cmp.Or(toolWords(t.History), language.Of(t.Language).AnswerFailed())
}

// withInstruction are messages with a wish behind the last words of the user's; where he has
// not spoken last, they are as they were.
func withInstruction(messages []engine.Message, wish string) []engine.Message {
	last := len(messages) - 1
	if last < 0 || messages[last].Role != engine.User {
		return messages
	}
	out := slices.Clone(messages)
	out[last].Content += " " + wish
	out[last].NoteBytes += 1 + len(wish)
	return out
}

// mute reports whether a text has nothing to be said: no letter and no number.
func mute(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}
