package turn

import (
	"testing"
	"time"
)

// The model's judgement of a pause decides how long it may be, if the settings are Semantic; otherwise the
// config's silence applies.
func TestAFinishedSentenceIsAnsweredSooner(t *testing.T) {
	const config = 800 * time.Millisecond
	for name, row := range map[string]struct {
		semantic    bool
		said        string
		probability float64 // negative: not judged
		silence     time.Duration
	}{
		"finished":                       {true, "When do you open?", 0.95, finishedSilence},
		"almost sure":                    {true, "When do you open?", 0.6, 1075 * time.Millisecond},
		"in doubt":                       {true, "When do you open?", 0.3, openSilence},
		"unfinished, and words that end": {true, "When do you open?", 0.01, openSilence},
		"a word that holds":              {true, "I would like to go to the", 0.99, unfinishedSilence},
		"a word that begins":             {true, "Well,", 0.95, openSilence},
		"a word that few end with":       {true, "The first question that I have is", 0.99, openSilence},
		"one, and the model agrees":      {true, "The first question that I have is", 0.05, unfinishedSilence},
		"half of a sentence":             {true, "If you are open tomorrow.", 0.99, openSilence},
		"both halves of it":              {true, "If you are open, I will come.", 0.99, finishedSilence},
		"no verb yet":                    {true, "The train you told me about.", 0.99, openSilence},
		"the model has not said":         {true, "When do you open?", -1, config},
		"it has not, and a word holds":   {true, "I would like to go to the", -1, unfinishedSilence},
		"no words yet, finished":         {true, "", 0.95, openSilence},
		"no words yet, unfinished":       {true, "", 0.05, openSilence},
		"finished, not asked for":        {false, "When do you open?", 0.9, config},
		"unfinished, not asked for":      {false, "I would like to go to the", 0.05, config},
	} {
		b := begin(t, func(s *Settings) { s.Semantic = row.semantic })
		b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, VoicePaused{Utterance: 1, Revision: 1, End: b.now})
		end := b.state.utterance.pause.voiceEnd
		if row.probability >= 0 {
			b.after(EndJudged{Utterance: 1, Revision: 1, Probability: row.probability})
		}
		if row.said != "" {
			b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: Transcript{Text: row.said, Language: "en"}})
		}
		b.after(SilenceContinued{Utterance: 1, Until: end + 10*time.Second})
		if got := b.wakes() - end; got != max(row.silence, config) {
			t.Errorf("%s: without an answer yet the turn ends after %v", name, got)
		}
		if row.said != "" {
			b.after(sentenceThought(1, "At ten."), clip(1, "At ten.", time.Second))
		}
		if got := b.wakes() - end; got != row.silence {
			t.Errorf("%s: the turn ends after %v, want %v", name, got, row.silence)
		}
	}
}

// A turn that seems to be over ends when its answer can be heard. A user who goes on before that is not cut
// off.
func TestAFinishedTurnEndsWhenItsAnswerIsReady(t *testing.T) {
	pausing := func() (b *testChat, end time.Duration) {
		b = begin(t, func(s *Settings) { s.Semantic = true })
		b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, VoicePaused{Utterance: 1, Revision: 1, End: b.now})
		end = b.state.utterance.pause.voiceEnd
		b.after(EndJudged{Utterance: 1, Revision: 1, Probability: 1},
			Transcribed{Utterance: 1, Revision: 1, Transcript: says("When do you open?")})
		return b, end
	}
	b, _ := pausing()
	b.wait(700*time.Millisecond).after(SilenceContinued{Utterance: 1, Until: b.now}, sentenceThought(1, "At ten."),
		clip(1, "At ten.", time.Second))
	if at := b.wakes(); at != b.state.now {
		t.Errorf("after 700 ms of silence the answer is there, and the turn ends %v later", at-b.state.now)
	}
	b, end := pausing()
	b.wait(700*time.Millisecond).after(SilenceContinued{Utterance: 1, Until: b.now},
		VoiceResumed{Utterance: 1, Revision: 1, Begin: end + 700*time.Millisecond})
	if b.state.utterance.ended || !b.state.utterance.open {
		t.Error("a user who resumed before the answer is cut off")
	}
	b, end = pausing()
	b.after(SilenceContinued{Utterance: 1, Until: end + 10*time.Second}, TurnFailed{Turn: 1})
	if got := b.wakes() - end; got != finishedSilence {
		t.Errorf("an answer that failed: the turn ends after %v", got)
	}
}

// The judgement of an earlier pause says nothing about this one.
func TestAFinishedSentenceThatGoesOn(t *testing.T) {
	b := begin(t, func(s *Settings) { s.Semantic = true })
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, VoicePaused{Utterance: 1, Revision: 1, End: b.now},
		VoiceResumed{Utterance: 1, Revision: 1, Begin: b.now}, VoiceHeard{Utterance: 1, Voice: 2 * time.Second},
		EndJudged{Utterance: 1, Revision: 1, Probability: 1}, VoicePaused{Utterance: 1, Revision: 2, End: b.now},
		EndJudged{Utterance: 1, Revision: 1, Probability: 1})
	if b.state.utterance.pause.judged {
		t.Error("the judgement of an earlier revision is used")
	}
	b.after(EndJudged{Utterance: 1, Revision: 2, Probability: 1})
	if !b.state.utterance.pause.judged {
		t.Error("the judgement of the current revision is not used")
	}
}

// After a question, half a sentence is an answer.
func TestAnAnswerMayBeHalfASentence(t *testing.T) {
	for question, silence := range map[string]time.Duration{"When do you come?": finishedSilence,
		"Do come.": openSilence} {
		b := speaking(t, question)
		b.state.settings.Semantic = true
		b.after(ThinkingEnded{Turn: 1})
		b.wait(5*time.Second).after(VoiceHeard{Utterance: 2, Voice: time.Second},
			VoicePaused{Utterance: 2, Revision: 1, End: b.now},
			EndJudged{Utterance: 2, Revision: 1, Probability: 0.95},
			Transcribed{Utterance: 2, Revision: 1, Transcript: says("When it is done.")})
		if got := b.state.requiredSilence(); got != silence {
			t.Errorf("after %q the turn ends after %v, want %v", question, got, silence)
		}
	}
}

// A user who went on after a pause is given as long again, but not longer than the config says.
func TestAHesitatingUserIsGivenMoreTime(t *testing.T) {
	ms := time.Millisecond
	for pause, silence := range map[time.Duration]time.Duration{300 * ms: finishedSilence, 400 * ms: 500 * ms,
		700 * ms: 800 * ms} {
		b := begin(t, func(s *Settings) { s.Semantic = true })
		b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, VoicePaused{Utterance: 1, Revision: 1, End: b.now})
		end := b.state.utterance.pause.voiceEnd
		b.wait(pause).after(VoiceResumed{Utterance: 1, Revision: 1, Begin: end + pause},
			VoiceHeard{Utterance: 1, Voice: 2 * time.Second},
			VoicePaused{Utterance: 1, Revision: 2, End: b.now}, EndJudged{Utterance: 1, Revision: 2, Probability: 0.95},
			Transcribed{Utterance: 1, Revision: 2, Transcript: says("When do you open?")})
		if got := b.state.requiredSilence(); got != silence {
			t.Errorf("after a pause of %v the turn ends after %v, want %v", pause, got, silence)
		}
	}
}
