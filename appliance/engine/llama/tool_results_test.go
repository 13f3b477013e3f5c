package llama

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/appliance/engine"
)

// rooms is a tool result of 8 KB or so, more than 4,000 tokens, most of which are codes.
func rooms(first int) string {
	var all []string
	for i := range 60 {
		n := first + i
		all = append(all,
			fmt.Sprintf(`{"id":"%032x","room":"Room %d","price":%d,"image":"https://cdn.example/%040x.jpg"}`,
				7919*n, n, 80+n, 104729*n))
	}
	return `{"rooms":[` + strings.Join(all, ",") + `]}`
}

// withResult is a conversation with one more turn, which a tool has answered.
func withResult(before []engine.Message, question string, answers ...string) []engine.Message {
	out := append(before[:len(before):len(before)], says(engine.User, question))
	for i, content := range answers {
		calls := []engine.ToolCall{{ID: fmt.Sprint("c", i), Name: "rooms", Arguments: "{}"}}
		out = append(out, engine.Message{Role: engine.Assistant, Calls: calls},
			engine.Message{Role: engine.ToolRole, CallID: calls[0].ID, Content: content})
	}
	return out
}

func written(t *testing.T, m *Model, messages []engine.Message) string {
	t.Helper()
	prompt, _, _, err := m.promptTokens(t.Context(), engine.Prompt{Messages: messages, MaxTokens: 120}, nil, true)
	if err != nil {
		t.Fatalf("%d messages: %v", len(messages), err)
	}
	var b strings.Builder
	for _, token := range prompt {
		b.Write(m.template.vocab.piece(token, true))
	}
	return b.String()
}

// However long tool results are, and however many, the question and its answer fit: a tool result
// never causes an error.
func TestNoAnswersOfToolsAreTooLong(t *testing.T) {
	m := small(t, nil)
	question := "What does room 41 cost?"
	short := []engine.Message{says(engine.System, hotel)}
	// Of 1,928 tokens the prompts take 1,050 and 1,750.
	half := []engine.Message{says(engine.System, strings.Repeat("Breakfast is on the second floor. ", 150))}
	full := []engine.Message{says(engine.System, strings.Repeat("Breakfast is on the second floor. ", 250))}
	five := []string{rooms(1000), rooms(2000), rooms(3000), rooms(4000), rooms(0)}
	for name, messages := range map[string][]engine.Message{
		"one":                 withResult(short, question, rooms(0)),
		"five in a turn":      withResult(short, question, five...),
		"with much else":      withResult(full, question, rooms(0)),
		"five with half":      withResult(half, question, five...),
		"five with much else": withResult(full, question, five...), // their calls alone do not fit
		"digits":              withResult(short, question, strings.Repeat("0123456789", 10_000)),
		"words and no marks":  withResult(short, question, strings.Repeat("日", 100_000)),
	} {
		got := written(t, m, messages)
		if !strings.Contains(got, question) && name != "five with much else" {
			t.Errorf("%s: the question is left out of %d bytes, which end in %q", name, len(got), got[len(got)-400:])
		}
		if name == "one" && (!strings.Contains(got, `"price":121`) || strings.Contains(got, "https")) {
			t.Errorf("%s: what was asked for is missing, or links are there: %q", name, got)
		}
	}
}

// In a long conversation, tool results of earlier turns are shortened before any message is left
// out.
func TestEarlierAnswersOfToolsGoBeforeWhatWasSaid(t *testing.T) {
	m := small(t, nil)
	messages := []engine.Message{says(engine.System, hotel)}
	for i := range 4 {
		messages = withResult(messages, fmt.Sprintf("Question %d: what does room %d cost?", i, 100*i+41), rooms(100*i))
		messages = append(messages, says(engine.Assistant, "It costs that."))
	}
	got := written(t, m, messages)
	for i := range 4 {
		question, price := fmt.Sprintf("Question %d", i), fmt.Sprintf(`"price":%d`, 121+100*i)
		if !strings.Contains(got, question) || !strings.Contains(got, price) {
			t.Errorf("question %d, or its answer, is missing in %q", i, got)
		}
	}
	if n := strings.Count(got[:strings.Index(got, "Question 3")], "price"); n > 12 {
		t.Errorf("of earlier answers %d prices are read", n)
	}
}

// The cache of a conversation is only valid while the next turn begins with the same tokens, even
// if the machine has become slower since.
func TestAnAnswerOfAToolIsReadTheSameAgain(t *testing.T) {
	m := small(t, nil)
	begins := []engine.Message{says(engine.System, hotel)}
	turn := withResult(begins, "What does room 41 cost?", rooms(0))
	first := written(t, m, turn)
	for range 50 {
		m.results.speed.record(24, 24*time.Second)
	}
	longer := written(t, m, append(turn, says(engine.Assistant, "It costs 121."), says(engine.User, "And room 42?")))
	if at := strings.Index(first, "</tool_response>"); at < 0 || !strings.HasPrefix(longer, first[:at]) {
		t.Errorf("first\n%s\nthen\n%s", first, longer)
	}
	if anew := written(t, m, withResult(begins, "What does room 43 cost?", rooms(0))); len(anew) >= len(first) {
		t.Errorf("on a slow machine %d bytes are prefilled, on a fast one %d", len(anew), len(first))
	}
}

// A note after a tool result comes from the box and is kept.
func TestANoteBehindALongAnswerStays(t *testing.T) {
	m := small(t, nil)
	messages := withResult([]engine.Message{says(engine.System, hotel)}, "What do rooms cost?", rooms(0))
	p := withNote(engine.Prompt{Messages: messages}, "Left to be done: room 7.")
	if got := written(t, m, p.Messages); !strings.Contains(got, "(Left to be done: room 7.)") {
		t.Errorf("%q", got)
	}
}

func TestHowMuchOfAToolsAnswerThereIsTimeFor(t *testing.T) {
	for perToken, want := range map[time.Duration]int{
		0: 600, time.Millisecond: 600, 5 * time.Millisecond: 400 - resultOverhead,
		20 * time.Millisecond: minResultTokens,
		time.Hour:             minResultTokens,
	} {
		var r prefillSpeed
		r.record(1, time.Hour) // too few tokens to say anything
		for range 100 {
			if perToken > 0 {
				r.record(20, 20*perToken)
			}
		}
		if got := r.budget(600); got < want-4 || got > want {
			t.Errorf("at %v per token %d tokens are prefilled, want %d", perToken, got, want)
		}
		if got := r.budget(64); got > 64 {
			t.Errorf("%d are read where 64 are allowed", got)
		}
	}
}

// Of many results the newest are remembered.
func TestAnswersThatWereReadLongAgoAreForgotten(t *testing.T) {
	var r results
	key := func(i int) resultKey { return resultKey{byte(i), byte(i >> 8)} }
	for i := range 3 * maxResults {
		r.put(key(i), "x")
	}
	if len(r.texts) != maxResults || len(r.order) != maxResults {
		t.Errorf("%d answers, %d in order", len(r.texts), len(r.order))
	}
	if _, ok := r.get(key(3*maxResults - 1)); !ok {
		t.Error("the newest is forgotten")
	}
}
