package appliance

import (
	"context"
	"path/filepath"

	"parley/appliance/answers/sound"
	"parley/appliance/chat/reply"
	"parley/appliance/contract"
	"parley/appliance/voices"
	"parley/internal/layout"
)

// answerSound has the sound of approved answers, and makes it ahead.
type answerSound struct {
	store *sound.Store
	maker *sound.Maker
}

// openAnswerSound opens the stored sound of approved answers. startAnswerSound makes what is missing.
func (a *appliance) openAnswerSound() {
	stored := sound.Open(filepath.Join(a.cfg.Data, layout.AnswerSound), sound.DefaultLimit, a.log)
	a.sound = answerSound{stored, sound.NewMaker(sound.Parts{
		Store:         stored,
		Scripts:       a.scripts,
		Pronunciation: a.lexicons.Options,
		Log:           a.log,
	})}
	a.figures.WatchAnswerSound(a.sound.maker.Progress)
}

// startAnswerSound makes the sound of approved answers in the background.
func (a *appliance) startAnswerSound(ctx context.Context) {
	a.sound.maker.Voices = voices.NewForChats(a.voices, a.engines, a.log)
	a.onClose(inBackground(ctx, a.sound.store.Write))
	a.onClose(inBackground(ctx, a.sound.maker.Run))
}

// scripts returns what the newest versions of the configs say, the configs used last first.
func (a *appliance) scripts(ctx context.Context) (scripts []sound.Script, err error) {
	err = a.eachAnswers(ctx, "", func(account string, c contract.ReturnConfig) error {
		scripts = append(scripts, scriptOf(account, c))
		return nil
	})
	return scripts, err
}

// scriptOf returns what a config says that is the same in every chat: its answers without variables.
func scriptOf(account string, c contract.ReturnConfig) sound.Script {
	s := sound.Script{Account: account, Speed: 1}
	if c.Voice != nil {
		s.Voice = c.Voice.ID
	}
	say := []string{c.Answers.Unknown}
	for _, item := range c.Answers.Items {
		say = append(say, item.Say)
	}
	for _, words := range say {
		if reply.HasVariables(words) {
			continue
		}
		var sentences []string
		for _, one := range reply.Sentences(words) {
			sentences = append(sentences, one.Text)
		}
		s.Answers = append(s.Answers, sentences)
	}
	return s
}

// configsChanged notes that an account has made or changed a config or a prompt.
func (a *appliance) configsChanged(account string) {
	a.prefetch.configsChanged(account)
	a.answers.configsChanged(account)
	a.sound.maker.Changed()
}

// lexiconChanged notes that an account has changed a pronunciation.
func (a *appliance) lexiconChanged(account string) {
	a.lexicons.Changed(account)
	a.sound.maker.Changed()
}
