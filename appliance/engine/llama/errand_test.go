package llama

import (
	"errors"
	"testing"

	"parley/appliance/engine"
)

// Where there are no tools, an answer is watched of who wants something done, or asks
// how something of his is coming along, and no other.
func TestWhoWantsSomethingDoneIsKnown(t *testing.T) {
	for said, want := range map[string]bool{
		"Please order a birthday cake for Saturday for me.": true, "Can you renew my two books?": true,
		"I'd like to order two pizzas.":      true,
		"I'd like a table for two at eight.": true, "Put me down for Thursday at three.": true,
		"Hello, could you please call me a taxi?": true,
		"Where is my order?":                      true, "Has my refund been paid?": true,
		"I need a taxi to the station.": true,
		"Book it.":                      true, "I want you to wake me at six.": true,
		"Tell me a story about a sailor who sends a letter home.": false, "Tell me a joke.": false,
		"Could you tell me when you open?": false, "I'd like a poem.": false,
		"Tell Doctor Meyer that I'll be late.": true, "Please tell my wife.": true,
		"Tell your boss to call me back.": true,
		"I open the red door.":            false, "When are you open?": false, "How do I boil an egg?": false,
		"What does a ticket cost?": false,
		"Good morning.":            false, "Who built the tower?": false, "Is the museum closed on Mondays?": false,
		"": false,
	} {
		if got := wantsDone([]engine.Message{says(engine.System, hotel), says(engine.User, said)}); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
	offered := []engine.Message{says(engine.Assistant, "Shall I ask? Would you like me to book a taxi?"),
		says(engine.User, "Yes.")}
	if !wantsDone(offered) {
		t.Error("who says yes to an offer wants it done")
	}
}

// Who can do nothing promises nothing either; with tools he may.
func TestWhoCanDoNothingPromisesNothing(t *testing.T) {
	for sentence, claims := range map[string]bool{
		"Yes, I can send a taxi to the station right now.": true, "I can book that for you.": true,
		"We can deliver it today.": true, "Sure, we will send it.": true,
		"Your parcel has been delivered.": true, "Your order is ready.": true, "Your taxi is waiting outside.": true,
		"I can tell you the address.": false, "I can give you the number of the office.": false,
		"I can't send one.": false, "I'm sorry, I can't do that.": false,
		"You can book it at the counter.": false, "The letter was sent in spring.": false,
		"Once a sailor sent a letter home.": false, "Orders are taken at the counter.": false,
	} {
		g := newGuard(hotelPrompt, &toolset{}, nil)
		g.unable = true
		said, _, err := heard(g, sentence)
		if errors.Is(err, errClaim) != claims || !claims && said != sentence {
			t.Errorf("%q: %v after %q", sentence, err, said)
		}
	}
}
