package voices

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/store"
)

func TestVoicesAreFoundByIDOrName(t *testing.T) {
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
		if v.ID != x.id || (err == nil) != (x.id != "") ||
			err == nil && (v.Name == "" || v.Provider != contract.VoiceLibrary) {
			t.Errorf("%+v: %+v, %v", x.ref, v, err)
		}
		if missed := x.ref.Name == "joe" && x.ref.Provider != "" ||
			x.ref.ID == "joe"; missed && !strings.Contains(err.Error(), "id voice-joe and provider HUME_AI") {
			t.Errorf("%+v: %v; which there is, it does not say", x.ref, err)
		}
	}
}

// In a command, the error for an unknown voice names the command that lists the voices.
func TestAccountNamesTheCommandThatListsVoices(t *testing.T) {
	_, err := Account{Voices: Voices{Config: config.Config{Packs: t.TempDir()}}}.Find(t.Context(), "nobody")
	if err == nil || !strings.Contains(err.Error(), "parley voices list") {
		t.Errorf("%v", err)
	}
}

// The error for a missing voice names the field of the request, and says when the library
// has the voice.
func TestMissingVoicesNameTheirField(t *testing.T) {
	records, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	v := Voices{Config: config.Config{Packs: t.TempDir()}, Records: records}
	_, unsaved := v.SaveVoice(t.Context(), "a", contract.PostedVoice{GenerationID: contract.NewID(), Name: "Keeper"})
	for want, err := range map[string]error{
		"generation_id: no generation": unsaved,
		`name: no saved voice "nobody"`: v.DeleteVoice(t.Context(), "a",
			"nobody"),
		`name: no saved voice "heart"; "Heart" is a voice of the library`: v.DeleteVoice(t.Context(), "a",
			"heart"),
	} {
		if _, is := errors.AsType[contract.ErrNotFound](err); !is || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
