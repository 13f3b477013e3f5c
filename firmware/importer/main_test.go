package importer

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/media"
	"parley/store"
)

// TestMain is also the child process that decodes recordings.
func TestMain(m *testing.M) {
	audio.Main()
	media.Main()
	os.Exit(m.Run())
}

// fakeVoices has one voice, Joe, and the aliases that were set.
type fakeVoices map[string]string

func (f fakeVoices) FindVoice(_ context.Context, _ string, ref contract.VoiceRef) (v contract.ReturnVoice, err error) {
	name := ref.Name
	if to, has := f[name]; has {
		name = to
	}
	if strings.EqualFold(name, "joe") {
		return contract.ReturnVoice{ID: "voice-joe", Name: "Joe"}, nil
	}
	return v, contract.ErrNotFound{What: "voice", ID: ref.Name}
}

func (f fakeVoices) SetAlias(_ context.Context, name, to string) (contract.ReturnVoiceAlias, error) {
	f[name] = to
	return contract.ReturnVoiceAlias{Name: name, Voice: to}, nil
}

// testBox is a database to import into.
type testBox struct {
	*testing.T
	Options
	data string // its folder
}

func newBox(t *testing.T) testBox {
	t.Helper()
	data := t.TempDir()
	s, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b := testBox{t, Options{
		Store:    s,
		Voices:   fakeVoices{},
		StandIn:  "joe",
		Settings: Settings{KeepHistory: true},
		Answers:  func(contract.LanguageModel) (string, bool) { return "own", false },
	}, data}
	b.Account = b.account("default")
	return b
}

// account makes an account.
func (b testBox) account(name string) store.Account {
	b.Helper()
	_, err := b.Store.CreateKey(b.Context(), store.NewKey{Account: name})
	b.must(err)
	a, err := b.Store.Account(b.Context(), name)
	b.must(err)
	return a
}

func (b testBox) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// load imports a folder or file, first as a dry run, which must say the same.
func (b testBox) load(from string) *Report {
	b.Helper()
	b.From = from
	im, err := Read(b.Context(), b.Options)
	b.must(err)
	defer func() { b.must(im.Close()) }()
	dry, err := im.Run(b.Context(), false)
	b.must(err)
	r, err := im.Run(b.Context(), true)
	b.must(err)
	if dry, done := lines(dry), lines(r); dry != done {
		b.Errorf("the dry run says\n%s\nthe import\n%s", dry, done)
	}
	return r
}

// lines returns a report as text.
func lines(r *Report) string {
	var b strings.Builder
	_ = r.Write(&b) // a builder takes everything
	return b.String()
}

// want checks the number of new records of a kind.
func (b testBox) want(r *Report, kind string, n int) {
	b.Helper()
	if got := r.count(kind).New; got != n {
		b.Errorf("%d new %ss, want %d:\n%s", got, kind, n, lines(r))
	}
}

// wantLine checks that a report has a line with a text.
func (b testBox) wantLine(r *Report, text string) {
	b.Helper()
	if !strings.Contains(lines(r), text) {
		b.Errorf("no line has %q:\n%s", text, lines(r))
	}
}

// files writes files into a folder, named before their contents.
func files(t *testing.T, all map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range all {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// id returns a UUID with a number.
func id(n int) string { return fmt.Sprintf("0193c0de-0000-4000-8000-%012d", n) }

// began is when chat 0 began; each further one began a minute later.
const began = 1_760_000_000_000

func chatRecord(n, group int) string {
	return fmt.Sprintf(`{"id":"%s","chat_group_id":"%s","status":"USER_ENDED","start_timestamp":%d,"end_timestamp":%d}`,
		id(n), id(group), began+n*60_000, began+n*60_000+30_000)
}

func eventRecord(chat, n int) string {
	return fmt.Sprintf(`{"id":"%s","chat_id":"%s","timestamp":%d,"type":"USER_MESSAGE","role":"USER",`+
		`"message_text":"number %d","emotion_features":"","metadata":""}`, id(100_000+1000*chat+n), id(chat),
		began+chat*60_000+n/2, n)
}

// texts returns the texts of a chat's events in order.
func (b testBox) texts(chat int) (all []string) {
	b.Helper()
	events, err := b.Store.ImportedEvents(b.Context(), id(chat), 0, 10_000)
	b.must(err)
	for _, e := range events {
		all = append(all, strings.TrimPrefix(e.MessageText, "number "))
	}
	return all
}
