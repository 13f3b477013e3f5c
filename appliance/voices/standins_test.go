package voices

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engines"
	"parley/appliance/voice"
	"parley/store"
)

// boxWith returns the voices of a box with these packs, and with these voices of Kokoro.
func boxWith(t *testing.T, packs string, kokoro ...string) Voices {
	t.Helper()
	c := config.Config{Packs: t.TempDir()}
	var files []string
	for pack := range strings.FieldsSeq(packs) {
		files = append(files, filepath.Join(pack, "voice.onnx"))
	}
	for _, style := range kokoro {
		files = append(files, filepath.Join(voice.KokoroPack, "voices", style+".bin"))
	}
	for _, file := range files {
		file = filepath.Join(c.Packs, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	records, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = records.Close() })
	return Voices{Config: c, Records: records}
}

func newAccount(t *testing.T, v Voices) store.Account {
	t.Helper()
	if _, err := v.Records.CreateKey(t.Context(), store.NewKey{Account: "museum"}); err != nil {
		t.Fatal(err)
	}
	a, err := v.Records.Account(t.Context(), "museum")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func allKokoro() (styles []string) {
	for _, b := range voice.Kokoro() {
		styles = append(styles, b.Style)
	}
	return styles
}

func TestTableOfOldNamesIsComplete(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	known := map[string]bool{}
	rows := strings.Split(oldNamesTable, "\n")[2:] // after the header
	for i, o := range oldNames() {
		f := strings.Split(rows[i], "\t")
		gender, accent := f[2], f[4]
		if o.like.ID == "" || o.like.Gender == "" || o.name == "" {
			t.Errorf("%+v: nothing stands in for it", o)
		}
		if gender != "-" && gender != string(o.like.Gender) {
			t.Errorf("%s is %s, and %s stands in for it", o.name, gender, o.like.ID)
		}
		if spanish := strings.Contains(accent, "Spanish"); spanish != (o.like.Language == "es") {
			t.Errorf("%s is %s, and %s stands in for it", o.name, accent, o.like.ID)
		}
		for _, key := range []string{store.FoldedName(o.name), o.id} {
			if known[key] && key != "" {
				t.Errorf("%s stands there twice", key)
			}
			known[key] = true
		}
		if o.id != "" && !uuid.MatchString(o.id) {
			t.Errorf("%s has the id %q", o.name, o.id)
		}
	}
	if len(oldNames()) < 120 {
		t.Errorf("there are %d", len(oldNames()))
	}
}

// On a box with any voices, each name and id has a stand-in that the box has; and on a box
// with all voices, the one in the table.
func TestEveryOldNameHasAStandIn(t *testing.T) {
	for name, v := range map[string]Voices{
		"Joe alone": boxWith(t, "voice-joe"), "the default profile": boxWith(t, "voice-joe", allKokoro()...),
		"all": boxWith(t, "voice-joe voice-jenny voice-alan", allKokoro()...),
	} {
		library := engines.Library(v.Config)
		for _, o := range oldNames() {
			want, ours := voice.Find(library, o.name)
			if !ours {
				want, ours = voice.Find(library, o.like.ID)
			}
			for _, ref := range []contract.VoiceRef{
				{Name: o.name, Provider: contract.VoiceLibrary}, {Name: "  " + strings.ToUpper(o.name) + " "},
				{ID: strings.ToUpper(o.id), Provider: contract.VoiceLibrary},
				{ID: o.id}, {ID: o.id, Provider: contract.VoiceCustom},
			} {
				if ref.ID == "" && ref.Name == "" {
					continue
				}
				found, err := v.Find(t.Context(), "a", ref)
				if _, there := voice.Find(library, found.ID); err != nil || !there ||
					found.Provider != contract.VoiceLibrary || found.Recipe.Parts[0].Voice != found.ID {
					t.Fatalf("%s: %+v: %+v, %v", name, ref, found, err)
				}
				if ours && found.ID != want.ID && !(ref.ID != "" && found.ID == o.like.ID) {
					t.Errorf("%s: %+v: %s, want %s", name, ref, found.ID, want.ID)
				}
			}
		}
	}
}

func TestMostSimilarVoiceStandsIn(t *testing.T) {
	for _, x := range []struct{ packs, kokoro, asked, want string }{
		{"voice-joe voice-jenny", "", "Ava Song", "voice-jenny"},          // the gender before the accent
		{"voice-joe voice-alan", "", "Sebastian Lockwood", "voice-alan"},  // the accent before the pitch
		{"voice-joe", "af_sarah af_alloy", "Ava Song", "kokoro-af-sarah"}, // the pitch
		{"voice-joe", "ef_dora em_alex", "santiago", "kokoro-em-alex"},    // the language before all
		{"voice-joe", "ef_dora", "santiago", "kokoro-ef-dora"},            //
		{"voice-joe", "af_heart", "santiago", "voice-joe"},                //
		{"voice-joe", "bm_george bf_emma", "Male English Actor", "kokoro-bm-george"},
	} {
		v := boxWith(t, x.packs, strings.Fields(x.kokoro)...)
		found, err := v.Find(t.Context(), "a", contract.VoiceRef{Name: x.asked, Provider: contract.VoiceLibrary})
		if found.ID != x.want || err != nil {
			t.Errorf("%+v: %s, %v", x, found.ID, err)
		}
	}
}

// A saved voice comes before one of the library, then follow the settings, the aliases of
// the box, and the built-in names.
func TestStandInPrecedence(t *testing.T) {
	v := boxWith(t, "voice-joe voice-jenny voice-alan grandma")
	found := func(ref contract.VoiceRef) string {
		t.Helper()
		one, err := v.Find(t.Context(), "a", ref)
		if err != nil {
			t.Error(err)
		}
		return one.ID
	}
	ito := contract.VoiceRef{Name: "Ito", Provider: contract.VoiceLibrary}
	if id := found(ito); id != "voice-joe" {
		t.Errorf("built in: %s", id)
	}
	if _, err := v.SetAlias(t.Context(), "ito ", "Alan"); err != nil {
		t.Fatal(err)
	}
	if id := found(ito); id != "voice-alan" {
		t.Errorf("of the box: %s", id)
	}
	if id := found(contract.VoiceRef{ID: "f60ecf9e-ff1e-4bae-9206-dba7c653a69e"}); id != "voice-alan" {
		t.Errorf("of the box, by the id of the name: %s", id)
	}
	v.Config.VoiceAliases = map[string]string{"ITO": "grandma", "Jenny": "joe"}
	if id := found(ito); id != "grandma" {
		t.Errorf("of the settings: %s", id)
	}
	if id := found(contract.VoiceRef{Name: "Jenny"}); id != "voice-jenny" {
		t.Errorf("a voice of the library: %s", id)
	}
	account := newAccount(t, v)
	saved, err := Account{v, account.ID}.Save(t.Context(), "Ito", voice.Single("voice-jenny"))
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []contract.VoiceRef{{Name: "ito"}, {Name: "Ito", Provider: contract.VoiceCustom}} {
		if one, err := v.Find(t.Context(), account.ID, ref); one.ID != saved.ID ||
			one.Provider != contract.VoiceCustom {
			t.Errorf("%+v: %+v, %v", ref, one, err)
		}
	}
	if one, err := NewForChats(v, nil, nil).savedOrStandIn(t.Context(), account.ID, "Ito",
		errors.New("unknown")); one.ID != saved.ID {
		t.Errorf("a chat: %+v, %v", one, err)
	}
	if id := found(ito); id != "grandma" {
		t.Errorf("another account: %s", id)
	}
}

// An alias may name a saved voice: then each account gets its own.
func TestSavedVoiceStandsIn(t *testing.T) {
	v := boxWith(t, "voice-joe")
	account := newAccount(t, v)
	saved, err := Account{v, account.ID}.Save(t.Context(), "Old sailor", voice.Single("voice-joe"))
	if err != nil {
		t.Fatal(err)
	}
	const old = "8115EE9A-2d6d-4204-b60b-72e67c3d1b3e"
	if made, err := v.SetAlias(t.Context(), old, saved.ID); err != nil || made.Voice != "Old sailor" ||
		made.VoiceID != "" {
		t.Fatalf("%+v, %v", made, err)
	}
	for _, from := range []contract.VoiceProvider{"", contract.VoiceCustom, contract.VoiceLibrary} {
		one, err := v.Find(t.Context(), account.ID, contract.VoiceRef{ID: strings.ToLower(old), Provider: from})
		if one.ID != saved.ID || one.Provider != contract.VoiceCustom || err != nil {
			t.Errorf("%q: %+v, %v", from, one, err)
		}
	}
	for what, does := range map[string]func() error{
		"another account": func() error {
			_, err := v.Find(t.Context(), "b", contract.VoiceRef{ID: old})
			return err
		},
		"a chat of another account": func() error {
			_, err := NewForChats(v, nil, nil).savedOrStandIn(t.Context(), "b", old,
				contract.ErrInvalid{Field: "voice", Why: "there is no such voice: choose of Joe"})
			return err
		},
	} {
		if err := does(); err == nil ||
			!strings.Contains(err.Error(), `its stand-in "Old sailor" does not exist`) ||
			!strings.Contains(err.Error(), "parley voices alias") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestInvalidAliasesAreRefused(t *testing.T) {
	v := boxWith(t, "voice-joe voice-jenny")
	v.Config.VoiceAliases = map[string]string{"Gazza": "joe", "Bent": "gone"}
	set := func(name, target string) error { _, err := v.SetAlias(t.Context(), name, target); return err }
	for want, err := range map[string]error{
		`voice: there is no voice "nobody": choose one of Jenny, Joe`: set("Zara", "nobody"),
		`voice: there is no voice "Ava Song": choose one of`:          set("Zara", "Ava Song"),
		`name: "JENNY" is the voice voice-jenny of this box`:          set("JENNY", "joe"),
		`voices.aliases in the settings has a stand-in for "gazza"`:   set("gazza", "joe"),
		`name: it is empty`:                       set(" ", "joe"),
		`cannot be printed`:                       set("a\nb", "joe"),
		`no alias "Zara"`:                         v.DeleteAlias(t.Context(), "Zara"),
		`no alias "Ava Song"; it is built in`:     v.DeleteAlias(t.Context(), "Ava Song"),
		`no alias "Gazza"; it is in the settings`: v.DeleteAlias(t.Context(), "Gazza"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := v.Find(t.Context(), "a", contract.VoiceRef{Name: "bent"}); err == nil ||
		!strings.Contains(err.Error(), `its stand-in "gone" does not exist`) {
		t.Errorf("%v", err)
	}
	var log bytes.Buffer
	v.WarnOfAliases(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
	if !strings.Contains(log.String(), "alias=Bent") || strings.Contains(log.String(), "Gazza") {
		t.Errorf("%s", log.String())
	}
}

func TestAliasesAreListed(t *testing.T) {
	v := boxWith(t, "voice-joe voice-jenny")
	v.Config.VoiceAliases = map[string]string{"Kora": "joe", "Bent": "gone"}
	for _, name := range []string{"Ava Song", "Gazza"} {
		if _, err := v.SetAlias(t.Context(), name, "jenny"); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.DeleteAlias(t.Context(), "GAZZA"); err != nil {
		t.Error(err)
	}
	all, err := v.ListAliases(t.Context())
	if err != nil || len(all) != len(oldNames())+1 {
		t.Fatalf("%d, %v", len(all), err)
	}
	for i, want := range []contract.ReturnVoiceAlias{
		{
			Name:    "Ava Song",
			Voice:   "Jenny",
			VoiceID: "voice-jenny",
			From:    contract.AliasOfBox,
		},
		{
			Name:    "Bent",
			Voice:   "gone",
			Missing: true,
			From:    contract.AliasOfSettings,
		},
		{
			Name:    "Kora",
			Voice:   "Joe",
			VoiceID: "voice-joe",
			From:    contract.AliasOfSettings,
		},
		{
			Name:    "Ito",
			ID:      "f60ecf9e-ff1e-4bae-9206-dba7c653a69e",
			Voice:   "Joe",
			VoiceID: "voice-joe",
			From:    contract.AliasBuiltIn,
		},
	} {
		if all[i] != want {
			t.Errorf("%d: %+v", i, all[i])
		}
	}
}

// An unknown name is refused, and the error says how to add an alias.
func TestUnknownNameGetsAHint(t *testing.T) {
	v := boxWith(t, "voice-joe")
	_, err := v.Find(t.Context(), "a", contract.VoiceRef{Name: "Zara", Provider: contract.VoiceLibrary})
	if _, is := errors.AsType[contract.ErrNotFound](err); !is || !strings.HasPrefix(err.Error(), `no voice "Zara"; `) ||
		!strings.Contains(err.Error(), `parley voices alias "Zara" joe`) {
		t.Errorf("%v", err)
	}
	unknown := contract.ErrInvalid{Field: "voice", Why: "there is no voice \"Zara\": choose of Joe"}
	_, err = NewForChats(v, nil, nil).savedOrStandIn(t.Context(), "a", "Zara", unknown)
	if invalid, is := errors.AsType[contract.ErrInvalid](err); !is || !strings.HasPrefix(invalid.Why, unknown.Why) ||
		!strings.Contains(invalid.Why, `parley voices alias "Zara" joe`) {
		t.Errorf("%v", err)
	}
}

func TestStandInIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	v := boxWith(t, "voice-joe voice-jenny")
	v.StandIns = &StandIns{Log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 3 {
		for _, name := range []string{"Ito", "ITO", "joe"} {
			if _, err := v.Find(t.Context(), "a", contract.VoiceRef{Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := NewForChats(v, nil, nil).savedOrStandIn(t.Context(), "a", "ito", nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "voice=Joe"); n != 1 || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("%d times: %s", n, log.String())
	}
	if _, err := v.SetAlias(t.Context(), "Ito", "jenny"); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Find(t.Context(), "a", contract.VoiceRef{Name: "Ito"}); err != nil ||
		!strings.Contains(log.String(), "voice=Jenny") {
		t.Errorf("another one is not logged: %s, %v", log.String(), err)
	}
	for i := range 2 * maxLogged {
		v.StandIns.logOnce(strings.Repeat("x", i), "Joe")
	}
	if n := len(v.StandIns.logged); n > maxLogged {
		t.Errorf("%d names are remembered", n)
	}
}
