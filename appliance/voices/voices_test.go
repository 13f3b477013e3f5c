package voices

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/appliance/contract"
)

func TestAVoiceOfAConfigIsFoundByIDOrName(t *testing.T) {
	c := config.Config{Packs: t.TempDir()}
	for _, name := range []string{"voice-joe", "grandma"} {
		folder := filepath.Join(c.Packs, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "voice.onnx"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		ref contract.VoiceRef
		id  string
	}{
		{contract.VoiceRef{Name: "joe"}, "voice-joe"},
		{contract.VoiceRef{Name: "voice-joe"}, "voice-joe"},
		{contract.VoiceRef{ID: "voice-joe"}, "voice-joe"},
		{contract.VoiceRef{ID: "voice-joe", Name: "ignored", Provider: contract.VoiceLibrary}, "voice-joe"},
		{contract.VoiceRef{Name: "grandma"}, "grandma"},
		{contract.VoiceRef{Name: "joe", Provider: contract.VoiceCustom}, ""},
		{contract.VoiceRef{ID: "joe"}, ""},
		{contract.VoiceRef{Name: "jenny"}, ""},
		{contract.VoiceRef{Name: "../voice-joe"}, ""},
	} {
		v, err := Voices{Config: c}.FindVoice(t.Context(), "a", x.ref)
		if v.ID != x.id || (err == nil) != (x.id != "") || err == nil && (v.Name == "" || v.Provider != contract.VoiceLibrary) {
			t.Errorf("%+v: %+v, %v", x.ref, v, err)
		}
		if missed := x.ref.Name == "joe" && x.ref.Provider != "" || x.ref.ID == "joe"; missed && !strings.Contains(err.Error(), "voice-joe and whose provider HUME_AI") {
			t.Errorf("%+v: %v; which there is, it does not say", x.ref, err)
		}
	}
}

// A program beside the box is told of its own command where a voice is.
func TestACommandIsToldWhereTheVoicesAre(t *testing.T) {
	_, err := Account{Voices: Voices{Config: config.Config{Packs: t.TempDir()}}}.Find(t.Context(), "nobody")
	if err == nil || !strings.Contains(err.Error(), "parley voices list") {
		t.Errorf("%v", err)
	}
}
