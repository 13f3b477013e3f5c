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

// ErrSilent means that a model wrote nothing that can be said: no text, or only signs ("#").
var ErrSilent = errors.New("the language model wrote nothing that can be said")

// silence is an ErrSilent with what the model wrote.
type silence struct{ wrote string }

// maxSignsShown is how many bytes of the signs are shown in the error.
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
	// retryTemperature is the temperature at which a silent model is asked again. At a temperature of 0 it
	// would be silent again.
	retryTemperature = 0.7
	// signBias keeps the model from beginning with the same signs.
	signBias = -1e4
	// wordsInstruction follows the user's words when the model is asked again. It is not part of the history.
	wordsInstruction = "(Answer me in one short spoken sentence, without signs or codes.)"
)

// signs cannot begin an answer that is to be spoken. Small models begin with one when the user has not asked
// anything.
var signs = [...]string{"#", "##", "###", "*", "**", "_", "~", "|", "…", "..."}

// withoutSigns adds biases against all signs to the other biases.
func withoutSigns(others map[string]float64) map[string]float64 {
	out := copyBias(others)
	for _, sign := range signs {
		out[sign] = signBias
	}
	return out
}

// generateWords has a model continue a prompt, as generateOnce does, and asks it again if it was silent.
// Small models answer with signs when there is no question, as in a recording.
func (t thinking) generateWords(ctx context.Context, model engine.LanguageModel, throughput *Throughput,
	prompt engine.Prompt) (call *engine.ToolCall, said string, err error) {
	call, said, err = t.generateOnce(ctx, model, throughput, prompt)
	silent, ok := errors.AsType[silence](err)
	if !ok || ctx.Err() != nil {
		return call, said, err
	}
	t.log.Warn("language model wrote nothing that can be said; asking it again", "turn", t.turn, "err", err)
	prompt.Temperature = max(prompt.Temperature, retryTemperature)
	prompt.Messages = withInstruction(prompt.Messages, wordsInstruction)
	if signs := strings.TrimSpace(silent.wrote); signs != "" {
		prompt.FirstWordBias = copyBias(prompt.FirstWordBias)
		prompt.FirstWordBias[signs] = signBias
	}
	return t.generateOnce(ctx, model, throughput, prompt)
}

// silenceReplacement returns what is said when the model was silent twice: the user is asked to say it again.
// After a tool has answered, that would call the tool again; so the tool's words are read out, or the
// assistant apologises.
func silenceReplacement(t turn.Think) string {
	if !toolAnswered(t.History) {
		return language.Of(t.Language).SayAgain()
	}
	return cmp.Or(toolWords(t.History), language.Of(t.Language).AnswerFailed())
}

// withInstruction returns the messages with an instruction after the user's last words. If the user did not
// speak last, it returns them unchanged.
func withInstruction(messages []engine.Message, instruction string) []engine.Message {
	last := len(messages) - 1
	if last < 0 || messages[last].Role != engine.User {
		return messages
	}
	out := slices.Clone(messages)
	out[last].Content += " " + instruction
	out[last].NoteBytes += 1 + len(instruction)
	return out
}

// mute reports whether a text has no letter and no number, so that nothing can be said.
func mute(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}
