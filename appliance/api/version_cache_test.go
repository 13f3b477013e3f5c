package api

import (
	"fmt"
	"strings"
	"testing"

	"parley/store"
)

func prompt(text string) store.Version {
	return store.Version{Kind: store.KindPrompt, ID: "p", Content: fmt.Sprintf(`{"text":%q}`, text)}
}

func TestParseCacheReturnsTheContentOfTheText(t *testing.T) {
	m := newVersionCache().prompts
	for range 3 {
		for i := range 50 {
			want := fmt.Sprint("You are number ", i)
			if got, err := m.parse(prompt(want)); err != nil || got.Text != want {
				t.Fatalf("%+v, %v", got, err)
			}
		}
	}
	if m.entries.Len() != 50 {
		t.Errorf("it keeps %d texts of 50", m.entries.Len())
	}
	broken := prompt("x")
	broken.Content = `{"text":`
	for range 2 {
		if _, err := m.parse(broken); err == nil || !strings.Contains(err.Error(), "version 0 of prompt p") {
			t.Error(err)
		}
	}
}

func TestParseCacheIsBounded(t *testing.T) {
	m := newVersionCache().prompts
	often := prompt("often asked")
	for i := range 300 { // there is room for 210
		long := strings.Repeat("long ", 2000) // 10 KB
		for _, v := range []store.Version{prompt(long + fmt.Sprint(i)), often} {
			if _, err := m.parse(v); err != nil {
				t.Fatal(err)
			}
		}
		held := 0
		for _, text := range m.entries.Keys() {
			held += len(text)
		}
		if held > maxCacheBytes || held != m.size {
			t.Fatalf("%d bytes are held after %d texts, and %d counted", held, i, m.size)
		}
		if !m.entries.Contains(often.Content) {
			t.Fatalf("what is asked often was forgotten after %d texts", i)
		}
	}
	if _, err := m.parse(prompt(strings.Repeat("x", maxCacheBytes))); err != nil || m.size > maxCacheBytes {
		t.Errorf("after a text of its own size it holds %d bytes, %v", m.size, err)
	}
}
