package appliance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// approvedMuseum is a config with six approved answers, in a mode.
const approvedMuseum = `{"name":"museum %[1]s","evi_version":"4-mini","voice":{"name":"joe"},
	"prompt":{"text":"You are the guide of a museum."},"builtin_tools":[{"name":"hang_up"}],
	"answers":{"mode":"%[1]s","unknown":"I don't know that. Please ask at the desk.","items":[
		{"id":"opening-hours","ask":["When are you open?","What are your opening hours?","When do you close?"],
			"say":"We are open from ten to six, and closed on Mondays."},
		{"id":"tickets","ask":["What does a ticket cost?","How much is the entrance?"],"say":"A ticket is nine euros."},
		{"id":"cafe","ask":["Where is the café?","Can I get a coffee here?"],"say":"The café is on the first floor."},
		{"id":"toilets","ask":["Where are the toilets?","Is there a restroom?"],"say":"The toilets are downstairs."},
		{"id":"parking","ask":["Where can I park?","Is there a car park?"],"say":"You can park behind {{street}}."},
		{"id":"bye","ask":["Goodbye!","Bye bye"],"say":"Thank you for your visit."}]}}`

// A museum's approved answers are said word for word by a box with real models, to typed and to spoken questions; the
// history names them.
func TestApprovedAnswersOfAMuseum(t *testing.T) {
	b := startBox(t)
	session := "&session_settings[variables][street]=King+Street"
	only := b.post(t, "/v0/evi/configs", fmt.Sprintf(approvedMuseum, "only"))
	status, tried := b.ask(t, b.key, http.MethodPost, "/v0/box/answers/try",
		fmt.Sprintf(`{"config_id":%q,"text":"Where can I park?"}`, only)) // waits for all ways of asking
	if status != http.StatusOK || !strings.Contains(tried, `"answer_id":"parking"`) {
		t.Errorf("try: %d %s", status, tried)
	}
	c := b.call(t, "&config_id="+only+session)
	for i, turn := range [][2]string{
		{"What are your opening hours?", "We are open from ten to six, and closed on Mondays."},
		{"Sorry, what?", "We are open from ten to six, and closed on Mondays."},
		{"how much is the entrance", "A ticket is nine euros."},
		{"No, I meant where I can park.", "You can park behind King Street."},
		{"Who painted the Mona Lisa?", "I don't know that. Please ask at the desk."},
		{"Where is the café, and where are the toilets?",
			"The café is on the first floor. The toilets are downstairs."},
	} {
		before := assistantText(c.all())
		c.send(contract.UserInput{Text: turn[0]})
		said := strings.TrimSpace(strings.TrimPrefix(assistantText(c.until("assistant_end", i+1, waitLimit)), before))
		if said != turn[1] {
			t.Errorf("%q: the box said %q, want %q", turn[0], said, turn[1])
		}
	}
	c.send(contract.UserInput{Text: "Goodbye!"}) // it says the approved farewell, and hangs up
	said := assistantText(c.until("assistant_end", 7, waitLimit))
	if !strings.HasSuffix(said, "Thank you for your visit.") {
		t.Errorf("the farewell is %q", said)
	}
	c.closeCode(t)

	first := b.post(t, "/v0/evi/configs", fmt.Sprintf(approvedMuseum, "first"))
	c = b.call(t, "&config_id="+first+session+"&"+linear16)
	pcm, err := audio.DecodeAll(b.spoken(t, "Where are the toilets?"), 16000)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	defer close(stop)
	c.say(pcm, stop)
	if said := assistantText(c.until("assistant_end", 1, waitLimit)); !strings.HasSuffix(said,
		"The toilets are downstairs.") { // on a busy machine it asks for a moment before
		t.Errorf("the box answered a spoken question with %q", said)
	}
	meta := c.until("chat_metadata", 1, waitLimit)[0].ServerMessage.(contract.ChatMetadata)
	if got := b.answerIDs(t, meta.ChatID); !slices.Equal(got, []string{"toilets"}) {
		t.Errorf("the history names the answers %q", got)
	}
}

// answerIDs returns the approved answers that the history of a chat names, a sentence each.
func (b *runningBox) answerIDs(t *testing.T, chat string) (ids []string) {
	t.Helper()
	for _, e := range b.get(t, "/v0/evi/chats/"+chat)["events_page"].([]any) {
		event := e.(map[string]any)
		if event["type"] != "AGENT_MESSAGE" {
			continue
		}
		meta, _ := event["metadata"].(string)
		if _, rest, found := strings.Cut(meta, `"answer_id":"`); found {
			id, _, _ := strings.Cut(rest, `"`)
			ids = append(ids, id)
		}
	}
	return ids
}
