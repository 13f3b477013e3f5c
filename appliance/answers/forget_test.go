package answers

import (
	"context"
	"testing"

	"parley/appliance/engine"
)

// remembering is a judge that keeps what it computes by conversation.
type remembering map[string]bool

func (r remembering) Choose(_ context.Context, p engine.Prompt, choices []string) ([]float64, error) {
	r[p.Conversation] = true
	return make([]float64, len(choices)), nil
}

func (r remembering) Forget(conversation string) { delete(r, conversation) }

// What a visitor asked does not stay in the cache of the judge after the chat.
func TestTheJudgeForgetsTheQuestionsOfAConversation(t *testing.T) {
	s := ready(t, newFinder(t, Parts{Embedder: with(&embedder{})}), museum())
	judge := remembering{}
	open := []candidate{{Candidate: Candidate{Score: 0.5}}}
	_, err := s.judge(t.Context(), asking{Question: Question{Text: "open?"}, judge: judge, conversation: "chat"}, open)
	must(t, err)
	if len(judge) != 1 {
		t.Fatalf("the judge was asked in %v", judge)
	}
	if Forget(judge, "chat"); len(judge) != 0 {
		t.Errorf("the judge still has %v", judge)
	}
	Forget(nil, "chat") // a chat without a judge
}
