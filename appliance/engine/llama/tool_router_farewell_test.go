package llama

import (
	"encoding/json"
	"testing"

	"parley/appliance/engine"
	"parley/appliance/engine/schema"
)

func TestAFarewellCallsHangUp(t *testing.T) {
	nothing, err := schema.Read(hangUp, json.RawMessage(`{"type":"object","properties":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	s := &toolset{tools: []engine.Tool{{Name: "next_train"}, {Name: hangUp}},
		parameters: []*schema.Parameters{nothing, nothing}}
	for user, leaves := range map[string]bool{
		"bye": true, "Goodbye!": true, "That's all, thanks.": true, "Okay, thank you, bye bye.": true,
		"No, thank you, that is all. Goodbye.": true, "You can hang up now.": true,
		"Please end the call.": true, "See you tomorrow!": true, "Tschüss, danke.": true, "Au revoir.": true,
		"Thanks, see you later.": true,
		"Don't hang up!":         false, "How do I say goodbye in French?": false,
		"I hung up the coat in the hall.": false,
		"That's all I know about it.":     false, "Thanks.": false,
		"That's all.": false, "See you": true, "Did you hang up?": false, "I see you have a pool.": false,
		"Good night train to Rome, please.": false, "": false, "Say goodbye to my mother.": false,
	} {
		if got := s.farewellTool(ask(user)) == 1; got != leaves {
			t.Errorf("%q: it hangs up: %v", user, got)
		}
	}
	asked := says(engine.Assistant, "What would you like on your pizza?")
	if s.farewellTool([]engine.Message{asked, says(engine.User, "That's all, thanks.")}) >= 0 ||
		s.farewellTool([]engine.Message{asked, says(engine.User, "Bye.")}) != 1 {
		t.Error("what answers a question is no farewell, but a goodbye is")
	}
	if ciao := says(engine.User, "Ciao!"); s.farewellTool([]engine.Message{ciao}) >= 0 ||
		s.farewellTool([]engine.Message{says(engine.User, "Do you open on Sundays?"), says(engine.Assistant, "Yes."),
			ciao}) != 1 {
		t.Error("ciao is a greeting at first, and a goodbye later")
	}
	if (&toolset{tools: s.tools[:1], parameters: s.parameters[:1]}).farewellTool(ask("Bye.")) >= 0 {
		t.Error("without the tool")
	}
}
