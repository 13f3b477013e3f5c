package reply

import (
	"strings"
	"testing"
)

func TestRequestsAreRecognised(t *testing.T) {
	for asked, want := range map[string]bool{
		"Could you sign me up for the tour?":   true,
		"Hello. Please send us the programme.": true,
		"Can you please book me two tickets?":  true,
		"Would you cancel my booking?":         true,
		"Can you tell me when you open?":       false,
		"Could you help me?":                   false,
		"Can you order books?":                 false,
		"Do you call me when it is ready?":     false,
		"How do I change my booking?":          false,

		"Please wake me up at six.":                                      true,
		"Send a bottle of water to my room.":                             true,
		"Can you put two tulips aside for me?":                           true,
		"Call me back tomorrow, will you?":                               true,
		"Get me a taxi to the airport.":                                  true,
		"Tell Ms. Halloran that I will be late.":                         true,
		"Ok, please send a bouquet to my mother.":                        true,
		"I'd like you to cancel the tour.":                               true,
		"Print me a ticket.":                                             true,
		"Turn the lights on, please.":                                    true,
		"What does a tour cost? Book me one, please.":                    true,
		"Please open the gate. My name is Tom.":                          true,
		"Put me through to the office.":                                  true,
		"Book me a tour. And what does it cost?":                         false,
		"Call me Tom.":                                                   false,
		"Tell me a joke.":                                                false,
		"Get me the phone number of the office.":                         false,
		"Can you repair my bike?":                                        false,
		"Can you deliver my order on Saturday?":                          false,
		"Could you wash my car?":                                         false,
		"Book a table?":                                                  false,
		"I would like to book a tour.":                                   false,
		"Open on Sundays?":                                               false,
		"Order number twelve.":                                           false,
		"Turn left at the gate?":                                         false,
		"Write me a poem.":                                               false,
		"Do you send the programme by post?":                             false,
		strings.Repeat("Please wake me up at six, and do not ask. ", 30): false,
	} {
		if got := isRequest(asked); got != want {
			t.Errorf("%q: %v", asked, got)
		}
	}
}
