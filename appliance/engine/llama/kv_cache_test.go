package llama

import (
	"slices"
	"strings"
	"testing"

	"parley/appliance/engine"
)

func TestATurnDecodesOnlyWhatIsNew(t *testing.T) {
	m := small(t, nil)
	first := ask("When is breakfast?")
	answer, u := reply(t, m, engine.Prompt{Conversation: "a", Messages: first, MaxTokens: 12})
	if u.CachedTokens != 0 || u.PromptTokens != len(tokensOf(t, m, first, true)) {
		t.Errorf("first turn: %+v; nothing can be cached yet", u)
	}
	if u.FirstToken <= 0 || u.ReplyTokens == 0 || u.ReplyTokens > 12 {
		t.Errorf("first turn: %+v", u)
	}

	second := append(slices.Clone(first), says(engine.Assistant, answer), says(engine.User, "And the pool?"))
	_, u = reply(t, m, engine.Prompt{Conversation: "a", Messages: second, MaxTokens: 4})
	// New are the markup between the turns, nine tokens at most, and the user's words.
	old := len(tokensOf(t, m, second[:3], false))
	if fresh := u.PromptTokens - u.CachedTokens; fresh > u.PromptTokens-old+9 {
		t.Errorf("second turn: %d of %d tokens decoded; %d were there before", fresh, u.PromptTokens, old)
	}
}

func TestPrefillAfterATurnLeavesOnlyTheUsersWordsToRead(t *testing.T) {
	m := small(t, nil)
	first := ask("When is breakfast?")
	answer, _ := reply(t, m, engine.Prompt{Conversation: "a", Messages: first, MaxTokens: 12})
	second := append(slices.Clone(first), says(engine.Assistant, answer), says(engine.User, "And the pool?"))
	p := engine.Prompt{Conversation: "a", Messages: second[:3], MaxTokens: 12}
	if err := m.Prefill(within(t), p); err != nil {
		t.Fatal(err)
	}
	_, u := reply(t, m, engine.Prompt{Conversation: "a", Messages: second, MaxTokens: 12})
	if read := len(tokensOf(t, m, second[:3], false)); u.CachedTokens != read {
		t.Errorf("%d of %d tokens cached; %d were prefilled", u.CachedTokens, u.PromptTokens, read)
	}
}

func TestPrefillLeavesOnlyTheReplysBeginning(t *testing.T) {
	m := small(t, nil)
	p := engine.Prompt{Conversation: "a", Messages: ask("Where is the pool?"), MaxTokens: 4}
	if err := m.Prefill(within(t), p); err != nil {
		t.Fatal(err)
	}
	_, u := reply(t, m, p)
	if want := len(tokensOf(t, m, p.Messages, false)); u.CachedTokens != want {
		t.Errorf("%d tokens cached after Prefill of %d", u.CachedTokens, want)
	}
}

func TestACommonPromptPrefixIsDecodedOnce(t *testing.T) {
	m := small(t, nil)
	alike := len(tokensOf(t, m, repeating("")[:7], false))
	reply(t, m, engine.Prompt{Conversation: "a", Messages: repeating("garden"), MaxTokens: 8})
	answer, u := reply(t, m, engine.Prompt{Conversation: "b", Messages: repeating("silver"), MaxTokens: 8})
	if u.CachedTokens < alike {
		t.Errorf("%d tokens borrowed; the two begin with the same %d", u.CachedTokens, alike)
	}
	if answer != "silver" {
		t.Errorf("with a copied beginning: %q", answer)
	}
	// The sequence that was copied from is cleared; the copy stays valid.
	m.Forget("a")
	answer, u = reply(t, m, engine.Prompt{Conversation: "b", Messages: repeating("silver"), MaxTokens: 8})
	if answer != "silver" || u.CachedTokens != u.PromptTokens-1 {
		t.Errorf("after the source of the copy was cleared: %q with %+v", answer, u)
	}
}

func TestForgottenAndNamelessConversationsAreNotCached(t *testing.T) {
	m := small(t, nil)
	p := engine.Prompt{Messages: ask("Where is the pool?"), MaxTokens: 2}
	reply(t, m, p)
	if _, u := reply(t, m, p); u.CachedTokens != 0 {
		t.Errorf("%d tokens were cached for no conversation", u.CachedTokens)
	}
	p.Conversation = "a"
	reply(t, m, p)
	m.Forget("a")
	if _, u := reply(t, m, p); u.CachedTokens != headOf(t, m, p.Messages) {
		t.Errorf("%d tokens survived Forget; the prompt has %d", u.CachedTokens, headOf(t, m, p.Messages))
	}
}

func TestTheConversationUsedLongestAgoIsGivenUp(t *testing.T) {
	m := small(t, func(o *Options) { o.Conversations = 2 })
	prompt := func(name, word string) engine.Prompt { // nothing in common
		return engine.Prompt{Conversation: name, MaxTokens: 2, Messages: []engine.Message{
			says(engine.User, word+" is the word. "+word+" again, and then "+word+" once more.")}}
	}
	reply(t, m, prompt("a", "Alpha"))
	reply(t, m, prompt("b", "Bravo"))
	reply(t, m, prompt("a", "Alpha"))
	for i := range m.options.sequences() - 2 { // the sequences for routers and the extra ones
		reply(t, m, prompt(string(rune('p'+i)), strings.Repeat(string(rune('P'+i)), 5)))
	}
	reply(t, m, prompt("c", "Charlie")) // takes b's sequence
	if _, u := reply(t, m, prompt("a", "Alpha")); u.CachedTokens != u.PromptTokens-1 {
		t.Errorf("a was used last but one and has %d of %d tokens", u.CachedTokens, u.PromptTokens)
	}
	if _, u := reply(t, m, prompt("b", "Bravo")); u.CachedTokens >= u.PromptTokens/2 {
		t.Errorf("b was given up but has %d of %d tokens", u.CachedTokens, u.PromptTokens)
	}
}

func TestCachesAreEvictedWhenCellsRunOut(t *testing.T) {
	m := small(t, func(o *Options) { o.ContextTokens = 256; o.Conversations = 6 })
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		p := engine.Prompt{Conversation: name, MaxTokens: 40, Messages: []engine.Message{
			says(engine.User, "My name begins with "+name+". Count slowly from one to a hundred, please, "+
				"and say every number in words, one after the other, without leaving any out.")}}
		if answer, _ := reply(t, m, p); answer == "" {
			t.Errorf("%s got no answer", name)
		}
	}
}
