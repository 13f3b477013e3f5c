package appliance

import (
	"strings"
	"testing"

	"parley/appliance/contract"
)

// A user's message has all 48 scores, and each sentence of the answer gets its scores after
// its last sound.
func feelingsAreMeasuredInSpeech(t *testing.T, b *runningBox) {
	c := b.call(t, linear16)
	stop := make(chan struct{})
	defer close(stop)
	c.say(recordingPCM(t, question), stop)
	var types []string
	sentences, measured := 0, 0
	for _, m := range c.until("assistant_end", 1, waitLimit) {
		types = append(types, m.MessageType())
		switch m := m.ServerMessage.(type) {
		case contract.UserMessage:
			if m.Models.Prosody == nil {
				t.Error("the user's message has no scores")
				continue
			}
			for i, v := range m.Models.Prosody.Scores {
				if v <= 0 || v > 1 {
					t.Errorf("%s is %v", contract.EmotionName(i), v)
				}
			}
		case contract.AssistantMessage:
			sentences++
		case contract.AssistantProsody:
			measured++
		}
	}
	if sentences == 0 || measured != sentences {
		t.Errorf("%d sentences, %d of them with scores: %s", sentences, measured, strings.Join(types, " "))
	}
}
