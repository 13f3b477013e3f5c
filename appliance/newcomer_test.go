package appliance

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// A new chat, with a prompt of some 1,500 tokens and a first question, does not delay the
// speech of another chat. Rounds with and without a new chat alternate; each prompt
// differs, so that none is cached. On a machine where ten others used the cores, the speech
// was two minutes late with a new chat once, and a quarter of a second without.
func TestNewChatDoesNotDelayOtherSpeech(t *testing.T) {
	if os.Getenv("PARLEY_FULL_TESTS") == "" {
		t.Skip("PARLEY_FULL_TESTS is not set: this takes minutes on a busy machine")
	}
	b := startBox(t)
	var alone, together time.Duration // the largest delay
	for round := range 4 {
		newcomer := round%2 > 0
		c := b.call(t, "")
		c.until("chat_metadata", 1, waitLimit)
		c.send(contract.AssistantInput{Text: strings.Repeat(longSpeech+" ", 3)})
		c.until("audio_output", 2, waitLimit)
		if newcomer {
			n := b.call(t, "&session_settings[system_prompt]="+url.QueryEscape(longPrompt(round)))
			n.until("chat_metadata", 1, waitLimit)
			n.send(contract.UserInput{Text: "What do you know of exhibit 7?"})
			n.until("audio_output", 1, waitLimit)
			defer n.conn.CloseNow()
		}
		<-time.After(4 * time.Second)
		gap, margin, ahead := supply(t, c.all())
		t.Logf("round %d: longest gap %v, least ahead of playback %v, most %v", round, gap, margin, ahead)
		if newcomer {
			together = max(together, -margin)
		} else {
			alone = max(alone, -margin)
		}
		c.conn.CloseNow()
	}
	const busy = 5 * time.Second // what one round may lose on a busy machine
	if together > alone+busy {
		t.Errorf("with a newcomer the sound came %v late, without %v", together, alone)
	}
}

func longPrompt(round int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You are guide number %d of the museum. ", round)
	for n := range 75 {
		of := []string{"clay", "bronze", "glass"}[n%3]
		fmt.Fprintf(&b, "Exhibit %d was found in the year %d near the river, and is made of %s. ",
			n+round*100, 1200+n*7+round, of)
	}
	return b.String()
}

// supply returns the longest time between two clips, and the least and the most by which
// sound was ahead of its playback.
func supply(t *testing.T, heard []receivedMessage) (gap, minLead, maxLead time.Duration) {
	t.Helper()
	var begun, last, sent time.Duration
	minLead = time.Hour
	for _, m := range heard {
		a, ok := m.ServerMessage.(contract.AudioOutput)
		if !ok {
			continue
		}
		pcm, err := audio.DecodeAll(a.Data, contract.OutputRateHz)
		if err != nil {
			t.Fatal(err)
		}
		if sent == 0 {
			begun = m.at
		} else {
			gap = max(gap, m.at-last)
			minLead = min(minLead, begun+sent-m.at)
		}
		sent += time.Duration(len(pcm)) * time.Second / contract.OutputRateHz
		maxLead = max(maxLead, begun+sent-m.at)
		last = m.at
	}
	return gap, minLead, maxLead
}
