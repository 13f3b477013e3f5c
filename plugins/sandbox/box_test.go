package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/plugins/manifest"
)

// memoryStorage is a storage in memory.
type memoryStorage struct {
	mu     sync.Mutex
	values map[string][]byte
}

func (s *memoryStorage) Get(_ context.Context, key string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.values[key]
	return v, ok, nil
}

func (s *memoryStorage) Set(_ context.Context, key string, value []byte, quota int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int64(len(key)+len(value)) > quota {
		return ErrFull
	}
	s.values[key] = value
	return nil
}

func (s *memoryStorage) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return nil
}

func (s *memoryStorage) Keys(_ context.Context, prefix string, most int) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(s.values)) {
		if strings.HasPrefix(k, prefix) && len(keys) < most {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

type talk struct{}

func (talk) Transcript(_ context.Context, feelings bool) (json.RawMessage, error) {
	if feelings {
		return json.RawMessage(`{"messages":[{"role":"user","content":"Hi","expression":{"Joy":0.5}}]}`), nil
	}
	return json.RawMessage(`{"messages":[{"role":"user","content":"Hi"}]}`), nil
}

// recorded answers requests without a network, and records their URLs.
type recorded struct{ asked []string }

func (r *recorded) RoundTrip(q *http.Request) (*http.Response, error) {
	r.asked = append(r.asked, q.Method+" "+q.URL.String())
	return &http.Response{
		StatusCode: 418,
		Header:     http.Header{"X-Tea": {"green"}},
		Body:       io.NopCloser(strings.NewReader("teapot")),
		Request:    q,
	}, nil
}

func TestHostFunctionsWorkAsGranted(t *testing.T) {
	m := load(t, host(t, Options{}), pathsManifest, goModule(t, "hostile", false))
	kept := &memoryStorage{values: map[string][]byte{}}
	keeps := func(c *Call) { c.Storage = kept }
	do := map[string]any{"Do": [][]string{{"get", "a"}, {"set", "a", "1"}, {"set", "ab", "22"}, {"get", "a"},
		{"keys", "a"}, {"set", "large", strings.Repeat("x", 100)}, {"delete", "a"}, {"get", "a"}, {"get", ""}}}
	got := answerOf(t, m, "kv", do, manifest.Permissions{Storage: 50}, keeps)
	want := "0 \n0 \n0 \n1 1\n2 [\"a\",\"ab\"]\n-1 the storage is full: at most 50 are allowed\n0 \n0 \n" +
		"-1 invalid key: a key has 1 to 256 bytes of UTF-8\n"
	if got != want {
		t.Errorf("kv: %q\nwant %q", got, want)
	}
	if got := answerOf(t, m, "kv", map[string]any{"Do": [][]string{{"get", "ab"}}}, manifest.Permissions{},
		keeps); got != "-1 storage was not granted\n" {
		t.Errorf("kv without a grant: %q", got)
	}
	listens := func(c *Call) { c.Conversation = talk{} }
	for sees, want := range map[manifest.Conversation]string{
		manifest.NoConversation: "-1 the conversation was not granted\n",
		manifest.Transcript:     "0 {\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}\n",
		manifest.Expression: "0 {\"messages\":[{\"role\":\"user\",\"content\":\"Hi\",\"expression\":{\"Joy\":0.5}" +
			"}]}\n",
	} {
		if got := answerOf(t, m, "conversation", map[string]any{}, manifest.Permissions{Conversation: sees},
			listens); got != want {
			t.Errorf("conversation %s: %q", sees, got)
		}
	}
	carrier := &recorded{}
	carries := func(c *Call) { c.Transport = carrier }
	ask := map[string]any{"Request": map[string]any{"url": "https://api.example.org/tea?x=1"}}
	granted := manifest.Permissions{HTTP: grant("api.example.org")}
	if got := answerOf(t, m, "http", ask, granted, carries); got != "418 teapot\n"+`{"x-tea":"green"}` {
		t.Errorf("http: %q", got)
	}
	ask = map[string]any{"Request": map[string]any{"method": "post", "url": "https://api.example.org/"}}
	if got := answerOf(t, m, "http", ask, granted, carries); !strings.HasPrefix(got,
		"-1 POST was not granted for api.example.org\n") {
		t.Errorf("http: %q", got)
	}
	ask = map[string]any{"Request": map[string]any{"url": "http://127.0.0.1:22/"}}
	if got := answerOf(t, m, "http", ask, granted); !strings.HasPrefix(got,
		"-1 127.0.0.1 on port 22 was not granted\n") {
		t.Errorf("http: %q", got)
	}
	if want := []string{"GET https://api.example.org/tea?x=1"}; !slices.Equal(carrier.asked, want) {
		t.Errorf("asked %q", carrier.asked)
	}
}
