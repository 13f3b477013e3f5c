package store

import (
	"maps"
	"testing"

	"github.com/google/uuid"
)

func TestSoundFilesFollowFromTheHistory(t *testing.T) {
	dir := t.TempDir()
	_, err := SoundFiles(t.Context(), dir)
	wantError(t, err, ErrNotFound)
	s := openStore(t, dir)
	home := newAccount(t, s, "home")
	want := map[string]SoundFile{}
	var none SoundFile
	unexpected, whole, cut := SoundFile{false, true}, SoundFile{true, true}, SoundFile{true, false}
	for _, c := range []struct {
		events          []Event
		end             Status // of the chat, at 9000
		failed          bool
		user, assistant SoundFile
	}{
		{nil, UserEnded, false, unexpected, unexpected},
		{[]Event{{AtMS: 2000, Type: UserRecordingStart}, {AtMS: 3000, Type: AgentMessage, MessageText: "Hello."}},
			UserEnded, false, whole, whole},
		{[]Event{{AtMS: 8000, Type: UserRecordingStart}, {AtMS: 8000, Type: AgentMessage, MessageText: "Hello."}},
			UserEnded, false, unexpected, unexpected},
		{[]Event{{AtMS: 2000, Type: UserMessage, MessageText: "typed"},
			{AtMS: 3000, Type: AgentMessage, MessageText: "…"}}, UserEnded, false, unexpected,
			unexpected},
		{[]Event{{AtMS: 2000, Type: UserRecordingStart}}, Failed, false, cut, none},
		{[]Event{{AtMS: 2000, Type: UserRecordingStart}}, UserEnded, true, none, none},
		{[]Event{{AtMS: 2000, Type: UserRecordingStart}}, Active, false, none, none},
	} {
		n := NewChat{
			ID:        uuid.NewString(),
			GroupID:   uuid.NewString(),
			AccountID: home,
			StartedMS: 1000,
			RequestID: "r",
			Recorded:  true,
		}
		must(t, s.StartChat(t.Context(), n))
		for i := range c.events {
			c.events[i].ID, c.events[i].Role = n.ID+string(rune('a'+i)), System
		}
		must(t, s.AppendEvents(t.Context(), n.ID, c.events))
		if c.end != Active {
			must(t, s.EndChat(t.Context(), n.ID, c.end, 9000))
		}
		if c.failed {
			must(t, s.FailRecording(t.Context(), n.ID))
		}
		want[n.ID+"-user.opus"], want[n.ID+"-assistant.opus"] = c.user, c.assistant
	}
	startChat(t, s, home) // not recorded
	got, err := SoundFiles(t.Context(), dir)
	must(t, err)
	if !maps.Equal(got, want) {
		t.Errorf("the files are %v, want %v", got, want)
	}
}
