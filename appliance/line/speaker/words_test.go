package speaker

import "testing"

func TestThePhraseMatchesUsualTranscriptionErrors(t *testing.T) {
	for _, row := range []struct {
		said, phrase, behind string
		ok                   bool
	}{
		{"Hey Parley.", "Hey Parley", "", true},
		{"Hey, Parlay!", "Hey Parley", "", true},
		{"Hey Barley, when do you open?", "Hey Parley", "when do you open", true},
		{"Hey Parlee what's the time", "hey parley", "what s the time", true},
		{"A parley, what is this?", "Hey Parley", "", false},
		{"So anyway, hey parley, what time is it?", "Hey Parley", "what time is it", true},
		{"Heyparley", "Hey Parley", "", true},
		{"Hallo, Museum, wo ist die Toilette?", "Hallo Museum", "wo ist die toilette", true},
		{"They partly paid.", "Hey Parley", "", false},
		{"Hey there.", "Hey Parley", "", false},
		{"Parley", "Hey Parley", "", false},
		{"", "Hey Parley", "", false},
		{"Écoute Émilie, bonjour", "ecoute emilie", "bonjour", true},
		{"你好小派，几点了？", "你好小派", "几 点 了", true},
		{"你好小派几点了？", "你好小派", "几 点 了", true},
		{"你好小派", "你好小派", "", true},
	} {
		if behind, ok := afterPhrase(row.said, row.phrase); ok != row.ok || ok && behind != row.behind {
			t.Errorf("%q: %q behind %q, %v; want %q, %v", row.said, behind, row.phrase, ok, row.behind, row.ok)
		}
	}
}

func TestAnyPhraseBeginsAConversation(t *testing.T) {
	phrases := []string{"Hey Parley", "Hallo Museum", "こんにちは博物館"}
	for said, want := range map[string]string{"Hallo Museum, wo ist der Aufzug?": "wo ist der aufzug", "Hey Parley": "",
		"こんにちは博物館": ""} {
		if behind, ok := afterAnyPhrase(said, phrases); !ok || behind != want {
			t.Errorf("%q: %q, %v; want %q", said, behind, ok, want)
		}
	}
	if _, ok := afterAnyPhrase("Guten Tag", phrases); ok {
		t.Error("other words match a phrase")
	}
}
