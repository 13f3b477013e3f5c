package contract

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"parley/internal/golden"
)

// Clients rely on the code and the slug of an error, and on the close code.
func TestGoldenCodes(t *testing.T) {
	var lines []string
	for c, m := range meanings {
		lines = append(lines, fmt.Sprint(string(c), " ", m.slug, " ", m.close))
	}
	golden.Names(t, "codes", lines)
}

// The fields of messages, request bodies and webhooks; ? marks those that may be
// absent.
func TestGoldenWire(t *testing.T) {
	var lines []string
	for _, m := range ServerMessages() {
		lines = append(lines, "box "+m.MessageType()+": "+golden.Fields(reflect.TypeOf(m)))
	}
	for _, m := range []TTSMessage{SnippetAudioChunk{}, TimestampMessage{}} {
		lines = append(lines, "speech "+m.MessageType()+": "+golden.Fields(reflect.TypeOf(m)))
	}
	for _, m := range []any{WebhookChatStart{}, WebhookChatEnd{}, WebhookTool{}} {
		lines = append(lines, "webhook "+reflect.TypeOf(m).Name()+": "+golden.Fields(reflect.TypeOf(m)))
	}
	for _, b := range append(ClientMessages(), PublishedTTS(), ConnectQuery(), TTSConnectQuery()) {
		lines = append(lines, "client "+b.Name+": "+asked(b.Shape))
	}
	for _, b := range Bodies() {
		lines = append(lines, "body "+b.Name+": "+asked(b.Shape))
	}
	for i := range (EmotionScores{}) {
		lines = append(lines, "score "+EmotionName(i))
	}
	for i := range (TextEmotionScores{}) {
		lines = append(lines, "score of a text "+TextEmotionName(i))
	}
	golden.Names(t, "wire", lines)
}

// asked are the fields that a reader asks for, and the words that it takes.
func asked(s *Shape) string {
	if s.Items != nil {
		return asked(s.Items)
	}
	if s.Words != nil {
		return "=" + strings.Join(s.Words, "|")
	}
	if s.Fields == nil {
		return ""
	}
	var names []string
	for _, name := range s.FieldNames() {
		mark := "?"
		if slices.Contains(s.Required, name) {
			mark = ""
		}
		names = append(names, name+mark+asked(s.Fields[name]))
	}
	return "{" + strings.Join(names, " ") + "}"
}
