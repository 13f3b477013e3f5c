package api

import (
	"fmt"
	"strings"
	"testing"

	"parley/appliance/contract"
	"parley/store"
)

func prompt(text string) store.Version {
	return store.Version{Kind: store.KindPrompt, ID: "p", Content: fmt.Sprintf(`{"text":%q}`, text)}
}

func TestMemoSaysWhatTheTextSays(t *testing.T) {
	var m memo[contract.PostedPromptVersion]
	for range 3 {
		for i := range 50 {
			want := fmt.Sprint("You are number ", i)
			if got, err := m.of(prompt(want)); err != nil || got.Text != want {
				t.Fatalf("%+v, %v", got, err)
			}
		}
	}
	if len(m.newer) != 50 {
		t.Errorf("it remembers %d texts of 50", len(m.newer))
	}
	broken := prompt("x")
	broken.Content = `{"text":`
	for range 2 {
		if _, err := m.of(broken); err == nil || !strings.Contains(err.Error(), "version 0 of prompt p") {
			t.Error(err)
		}
	}
}

// Whatever is asked, it holds no more than two generations of texts.
func TestMemoForgetsWhatItHasNoRoomFor(t *testing.T) {
	var m memo[contract.PostedPromptVersion]
	often := prompt("often asked")
	for i := range 500 {
		long := strings.Repeat("long ", 2000) // 10 KB
		for _, v := range []store.Version{prompt(long + fmt.Sprint(i)), often} {
			if _, err := m.of(v); err != nil {
				t.Fatal(err)
			}
		}
		held := 0
		for _, generation := range []map[string]contract.PostedPromptVersion{m.newer, m.before} {
			for text := range generation {
				held += len(text)
			}
		}
		if held > 2*mostRemembered {
			t.Fatalf("%d bytes are held after %d texts", held, i)
		}
		if _, ok := m.recall(often.Content); !ok {
			t.Fatalf("what is asked often was forgotten after %d texts", i)
		}
	}
	if _, err := m.of(prompt(strings.Repeat("x", mostRemembered))); err != nil || m.size > mostRemembered {
		t.Errorf("after a text of its own size it holds %d bytes, %v", m.size, err)
	}
}
