package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// parley runs one command line and returns its output. The data folder is a temporary one
// unless args name one.
func parley(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	return parleyIn(t.Context(), in, []string{"PARLEY_DATA=" + filepath.Join(t.TempDir(), "data")}, args...)
}

func parleyIn(ctx context.Context, in string, environ []string, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	for _, v := range os.Environ() { // where the packs are is the machine's
		if strings.HasPrefix(v, "PARLEY_PACKS=") || strings.HasPrefix(v, "PARLEY_CACHE=") {
			environ = append(environ, v)
		}
	}
	code = run(ctx, args, &console{
		in:      strings.NewReader(in),
		out:     &o,
		err:     &e,
		environ: environ,
	})
	return code, o.String(), e.String()
}

func TestATextThatAVoiceCannotSayIsMisuse(t *testing.T) {
	cannot := engine.ErrCannotSay{Language: "en-US", Script: "Han", Writing: "日本"}
	for _, err := range []error{withoutField(contract.ErrInvalid{Field: "text", Why: cannot.Error()}), cannot} {
		if !isMisuse(err) || !strings.HasPrefix(err.Error(), "a voice that speaks en-US") {
			t.Errorf("%v", err)
		}
	}
}

func TestMisuseIsTwoAndSaysOneLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"nonsense"}, "nonsense"},
		{[]string{"serve", "--nonsense"}, "parley serve --help"},
		{[]string{"serve", "--listen", "here"}, "host:port"},
		{[]string{"serve", "--profile", "huge"}, "default, small, test, full"},
		{[]string{"serve", "--config", "/not/there.yaml"}, "/not/there.yaml"},
		{[]string{"say", "x", "--speed", "9"}, "0.25 to 3"},
		{[]string{"say", " "}, "the text is empty"},
		{[]string{"hear", ""}, "name a file"},
		{[]string{"hear", os.TempDir()}, "is a folder"},
		{[]string{"serve", "--data", ""}, "--data"},
		{[]string{"say", "x", "--out", "x.ogg"}, "wav, mp3, pcm"},
		{[]string{"say", "x", "--out", "x", "--format", "flac"}, `"wav","mp3","pcm"`},
		{[]string{"say", "x", "--format", "wav"}, "--out"},
		{[]string{"say", "x", "--out", "-", "--voice", "nobody"}, `there is no voice "nobody"`},
		{[]string{"voices", "design", "old", "--out", "x.ogg"},
			"--out x.ogg: the name must end in one of wav, mp3, pcm"},
		{[]string{"say", "x", "--out", "-", "--timestamps", "yes"}, `"table","json"`},
		{[]string{"say", "x", "--out", "-", "--describe", strings.Repeat("slow ", 300)}, "1500 characters"},
		{[]string{"hear", "/not/there.wav"}, "/not/there.wav"},
		{[]string{"hear", "-"}, "empty"},
		{[]string{"talk", "--text", "--wav", "x.wav"}, "exclude"},
		{[]string{"talk", "--text", "--both"}, "--out"},
		{[]string{"talk", "--text", "--url", "ftp://x"}, "ws://"},
		{[]string{"talk", "--text", "--url", "ws://192.0.2.1:1"}, "PARLEY_API_KEY"},
		{[]string{"talk", "--text"}, "--data"},
		{[]string{"keys", "create", "--account", ""}, "account"},
	} {
		code, out, errs := parley(t, "", c.args...)
		if code != exitMisuse || out != "" || !strings.HasPrefix(errs, "parley: ") || !strings.Contains(errs, c.want) ||
			strings.Count(errs, "\n") != 1 {
			t.Errorf("parley %s: code %d, out %q, err %q; want 2 and one line with %q", strings.Join(c.args, " "), code,
				out, errs, c.want)
		}
	}
}

func TestFailureIsOne(t *testing.T) {
	code, _, errs := parley(t, "", "say", "hello", "--packs", t.TempDir(), "--out", "-")
	if code != exitFailed || !strings.Contains(errs, "parley packs pull") {
		t.Errorf("without packs: code %d, %q; want 1 and the command that mends it", code, errs)
	}
}

// leaves returns the commands that can be run, also hidden ones.
func leaves(t *testing.T) []*kong.Node {
	t.Helper()
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model.Leaves(false)
}

func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	for _, n := range leaves(t) {
		code, out, errs := parley(t, "", append(strings.Fields(n.FullPath())[1:], "--help")...)
		if code != exitDone || errs != "" || !strings.Contains(out, "Example") ||
			!strings.Contains(out, "    "+n.FullPath()) && !strings.Contains(n.Detail, n.FullPath()) {
			t.Errorf("%s --help: code %d, err %q:\n%s", n.FullPath(), code, errs, out)
		}
	}
}

func TestEverySettingIsAFlagOfServe(t *testing.T) {
	_, out, _ := parley(t, "", "serve", "--help")
	for _, s := range config.Settings() {
		if !s.FileOnly() && !strings.Contains(out, flagShown(s)) {
			t.Errorf("serve has no --%s for %s", s.Flag, s.Key)
		}
	}
}

// flagShown returns how the flag of a setting begins in the help.
func flagShown(s config.Setting) string {
	if s.Switch {
		return "--" + s.Flag + " "
	}
	return "--" + s.Flag + "="
}

// The flags of settings come from one table in all commands.
func TestTheFlagsOfSettingsAreTheirs(t *testing.T) {
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]config.Setting{}
	for _, s := range config.Settings() {
		settings[s.Flag] = s
	}
	own := map[string]bool{
		"talk --voice": true, "say --voice": true, // of all of the library
		"packs pull --profile": true, "bundle create --profile": true,
		// setup writes them to parley.yaml
		"setup --listen": true, "setup --profile": true, "setup --tls": true, "setup --tls-names": true,
		"setup --kiosk": true,
		// of the one plugin
		"plugin install --require-signature": true, "plugin build --require-signature": true,
	}
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			s, is := settings[f.Name]
			name := strings.TrimPrefix(n.Path(), "parley ") + " --" + f.Name
			if is && !f.Hidden && !own[name] && (f.Tag.Get("setting") != s.Key || f.Help != flagHelp(s)) {
				t.Errorf("%s is written by hand, and the setting %s says otherwise", name, s.Key)
			}
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(parser.Model.Node)
}

func TestTheHelpOfServeIsInGroups(t *testing.T) {
	_, out, _ := parley(t, "", "serve", "--help")
	at := -1
	for _, s := range config.Settings() {
		if s.FileOnly() {
			continue
		}
		heading := strings.Index(out, "\n"+s.Group+":\n")
		flag := strings.Index(out, flagShown(s))
		if heading < 0 || flag < heading || flag < at {
			t.Errorf("--%s does not stand under %q, in the order of the table:\n%s", s.Flag, s.Group, out)
			return
		}
		at = flag
	}
}

func TestKeysAreMadeListedRegeneratedAndRevoked(t *testing.T) {
	data := beginData(t)
	keys := func(into any, args ...string) {
		t.Helper()
		code, out, errs := parley(t, "", append(append([]string{"keys"}, args...), "--data", data, "--json")...)
		if code != exitDone || json.Unmarshal([]byte(out), into) != nil {
			t.Fatalf("keys %v: code %d, out %q, err %q", args, code, out, errs)
		}
	}
	var first, made, again credentials
	keys(&first, "create")
	if first.Role != store.OperatorKey {
		t.Errorf("the first key of a box is %+v, want an operator's", first)
	}
	keys(&made, "create", "--account", "museum", "--label", "kiosk")
	if made.Role != store.ClientKey || len(made.APIKey) < 40 || len(made.SecretKey) < 40 ||
		made.WebhookSigningKey == "" {
		t.Errorf("made %+v", made)
	}
	var list []listedKey
	keys(&list, "list", "--account", "museum")
	if len(list) != 1 || list[0].KeyID != made.KeyID || list[0].Role != store.ClientKey || list[0].Label != "kiosk" ||
		!strings.HasSuffix(made.APIKey, list[0].Hint) {
		t.Errorf("listed %+v", list)
	}
	keys(&again, "create", "--renew", made.KeyID)
	if again.APIKey == made.APIKey || again.KeyID != made.KeyID {
		t.Errorf("regenerated %+v", again)
	}
	var signing map[string]string
	keys(&signing, "signing-key", "--account", "museum")
	if signing["webhook_signing_key"] != made.WebhookSigningKey {
		t.Errorf("signing key %v, want %s", signing, made.WebhookSigningKey)
	}
	for in, want := range map[string]string{
		made.APIKey + "\n": "", "0123456789abcdef": "", "": "0 bytes", "short": "5 bytes",
		"two words are no key": "visible ASCII",
	} {
		code, out, errs := parley(t, in, "keys", "signing-key", "--set", "--account", "museum", "--data", data)
		if want == "" && (code != exitDone || out != strings.TrimSpace(in)+"\n") ||
			want != "" && (code == exitDone || !strings.Contains(errs, want)) {
			t.Errorf("signing key set to %q: code %d, %q, %q", in, code, out, errs)
		}
	}
	var revoked map[string]string
	keys(&revoked, "revoke", made.KeyID)
	code, _, errs := parley(t, "", "keys", "revoke", made.KeyID, "--data", data)
	if code != exitFailed || !strings.Contains(errs, "parley keys list") {
		t.Errorf("revoked twice: code %d, %q", code, errs)
	}
	if code, _, errs = parley(t, "", "keys", "revoke", first.KeyID, "--data", data); code != exitDone ||
		!strings.Contains(errs, "parley keys create --role operator") {
		t.Errorf("the last operator's key is revoked: code %d, %q", code, errs)
	}
	if _, out, _ := parley(t, "", "keys", "list", "--data", data); !strings.Contains(out, "LAST USED") ||
		!strings.Contains(out, "never") {
		t.Errorf("listed %s", out)
	}
	if code, _, errs := parley(t, "", "keys", "list", "--account", "nobody", "--data", data); code != exitFailed ||
		!strings.Contains(errs, `"nobody"`) {
		t.Errorf("another account: code %d, %q", code, errs)
	}
}

// beginData creates a data folder as a box does at its first start.
func beginData(t *testing.T) string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	s, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Only a box creates a data folder: commands about keys fail for a folder that does not
// exist, say what to do, and create nothing.
func TestKeysBeginNoDataFolder(t *testing.T) {
	data := filepath.Join(t.TempDir(), "typo")
	for _, args := range [][]string{{"list"}, {"create"}, {"revoke", "x"}, {"create", "--renew", "x"},
		{"signing-key"}} {
		code, out, errs := parley(t, "", append(append([]string{"keys"}, args...), "--data", data)...)
		if code != exitMisuse || out != "" || !strings.Contains(errs, data) || !strings.Contains(errs, "parley serve") {
			t.Errorf("keys %v: code %d, out %q, err %q", args, code, out, errs)
		}
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("the folder was made")
	}
}

// A key that expires is listed until it is revoked or has expired.
func TestAKeyWithAnEndIsForgotten(t *testing.T) {
	data := beginData(t)
	listed := func() string {
		t.Helper()
		code, out, errs := parley(t, "", "keys", "list", "--data", data)
		if code != exitDone {
			t.Fatal(errs)
		}
		return out
	}
	code, out, errs := parley(t, "", "keys", "create", "--role", "operator", "--expires", "24h", "--data", data,
		"--json")
	var made credentials
	if code != exitDone || json.Unmarshal([]byte(out), &made) != nil || made.Role != store.OperatorKey ||
		made.ExpiresMS == 0 {
		t.Fatalf("code %d, %q, %q", code, out, errs)
	}
	if out := listed(); !strings.Contains(out, made.KeyID) || !strings.Contains(out, "operator") ||
		!strings.Contains(out, "until") {
		t.Errorf("listed as\n%s", out)
	}
	if code, _, errs := parley(t, "", "keys", "revoke", made.KeyID, "--data", data); code != exitDone {
		t.Error(errs)
	}
	if out := listed(); strings.Contains(out, made.KeyID) {
		t.Errorf("still listed:\n%s", out)
	}
	if code, _, errs := parley(t, "", "keys", "create", "--role", "king", "--data", data); code != exitMisuse ||
		!strings.Contains(errs, "operator") {
		t.Errorf("role king: code %d, %q", code, errs)
	}
}

func TestWhatIsSaidIsHeard(t *testing.T) {
	for voice, name := range map[string]string{"Joe": "said.wav", "voice-alan": "said.mp3"} {
		file := filepath.Join(t.TempDir(), name)
		code, out, errs := parley(t, "The museum opens at ten in the morning.", "say", "-", "--voice", voice,
			"--timestamps", "json", "--out", file)
		if code != exitDone || out != "" {
			t.Fatalf("say: code %d, %q, %q", code, out, errs)
		}
		wantWords(t, errs, "The museum opens at ten in the morning")
		code, out, errs = parley(t, "", "hear", file, "--json")
		var heard transcript
		if code != exitDone || json.Unmarshal([]byte(out), &heard) != nil {
			t.Fatalf("hear: code %d, out %q, err %q", code, out, errs)
		}
		if !strings.Contains(strings.ToLower(heard.Text), "museum opens at") || heard.Language != "en" ||
			len(heard.Segments) != 1 ||
			heard.Segments[0].BeginMS < 0 || heard.Segments[0].EndMS > heard.DurationMS || heard.DurationMS < 1000 {
			t.Errorf("%s: heard %+v", voice, heard)
		}
	}
}

// wantWords expects a line for each word, in order.
func wantWords(t *testing.T, lines, text string) {
	t.Helper()
	var words []string
	at := int64(0)
	for line := range strings.Lines(lines) {
		var w timedWord
		if err := json.Unmarshal([]byte(line), &w); err != nil || w.BeginMS < at || w.EndMS <= w.BeginMS {
			t.Errorf("%v, %q behind %d ms", err, line, at)
		}
		words, at = append(words, w.Text), w.EndMS
	}
	if got := strings.Join(words, " "); got != text {
		t.Errorf("the words are %q", got)
	}
}

func TestNobodyIsHeardInSilence(t *testing.T) {
	silence := string(audio.EncodeWAV(make([]float32, 3*16000), 16000))
	code, out, errs := parley(t, silence, "hear", "-", "--json")
	if want := `{"text":"","language":"","duration_ms":3000,"segments":[]}`; code != exitDone ||
		strings.TrimSpace(out) != want {
		t.Errorf("code %d, %q, %q; want %s", code, out, errs, want)
	}
	if code, out, _ := parley(t, silence, "hear", "-"); code != exitDone || out != "" {
		t.Errorf("without --json: code %d, %q; want nothing", code, out)
	}
}

func TestAnUnknownVoiceIsAnsweredWithThoseThatAreThere(t *testing.T) {
	code, _, errs := parley(t, "", "say", "x", "--voice", "nobody", "--out", "-")
	if code == exitDone || !strings.Contains(errs, "nobody") || !strings.Contains(errs, "Joe") {
		t.Errorf("code %d, %q", code, errs)
	}
}

func TestPlainLogLinesAreForPeople(t *testing.T) {
	var b bytes.Buffer
	c := &console{in: strings.NewReader(""), out: io.Discard, err: &b}
	log := c.logger(config.Log{Format: "text"})
	log.With("chat", "c1").WithGroup("g").Info("it begins", "why", "because it can")
	log.Debug("not seen")
	got := b.String()
	if !strings.HasSuffix(got, ` INFO  it begins chat=c1 g.why="because it can"`+"\n") || len(got) < 8 ||
		got[2] != ':' {
		t.Errorf("got %q", got)
	}
	b.Reset()
	c.logger(config.Log{Format: "auto"}).Info("machines", "n", 1)
	if !json.Valid(b.Bytes()) {
		t.Errorf("not a terminal, and not JSON: %q", b.String())
	}
}
