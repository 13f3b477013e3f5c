package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/internal/layout"
	"parley/store"
)

// secretFolder is in the path of the test's data; no answer may contain it.
const secretFolder = "a-folder-nobody-is-told-of"

// secrets are in lower case.
var secrets = []string{secretFolder, "sqlite", "disk image", "no such file", ".go:", "goroutine", "recording.", "panic"}

var sqlWord = regexp.MustCompile(`\bsql\b`)

// leakIn returns the first of secrets in an answer, or "". Answers may be whole
// pages, in which one regular expression for all secrets takes minutes with
// -race.
func leakIn(said string) string {
	said = strings.ToLower(said)
	for _, leak := range secrets {
		if strings.Contains(said, leak) {
			return leak
		}
	}
	if strings.Contains(said, "sql") {
		return sqlWord.FindString(said)
	}
	return ""
}

// wrapped wraps an error at a random depth.
func wrapped(err error) error {
	for range rand.IntN(4) {
		switch rand.IntN(3) {
		case 0:
			err = fmt.Errorf("opening /%s/parley.db: %w", secretFolder, err)
		case 1:
			err = fmt.Errorf("%w (SQLite: disk image is malformed)", err)
		case 2:
			err = &fs.PathError{Op: "open", Path: "/" + secretFolder, Err: err}
		}
	}
	return err
}

// failing are Parts that fail in every possible way.
type failing struct{}

func (failing) error() error {
	kinds := []error{
		contract.ErrInvalid{Field: "name", Why: "too long"}, contract.ErrUnauthorized{Why: "no"},
		contract.ErrForbidden{Why: "no"},
		contract.ErrNotFound{What: "voice", ID: "x"}, contract.ErrConflict{Why: "active"},
		contract.ErrTooLarge{Limit: 1},
		contract.ErrMediaType{Got: "x", Allowed: "y"}, contract.ErrUpgradeRequired{Why: "ws"},
		contract.ErrTooMany{RetryAfter: time.Second},
		contract.ErrFull{RetryAfter: time.Second}, contract.ErrUnavailable{Why: "warming up"},
		contract.ErrTimedOut{Limit: time.Second}, contract.ErrTooSlow{},
		contract.ErrMalformed{Detail: []contract.ValidationError{{Msg: "missing", Type: "missing"}}},
		store.ErrNotFound, store.ErrConflict, store.ErrActive, store.ErrClosed, store.ErrBusy, store.ErrFull,
		store.ErrReadOnly, store.ErrDamaged, store.ErrNotAllowed, store.ErrNewer, store.ErrLocked,
		store.ErrMissing{}, io.ErrUnexpectedEOF, os.ErrDeadlineExceeded, &http.MaxBytesError{Limit: 1},
		context.DeadlineExceeded, context.Canceled,
		&fs.PathError{Op: "open", Path: "/" + secretFolder + "/parley.db", Err: os.ErrPermission},
		errors.New("/" + secretFolder + " broke"),
		errors.Join(errors.New("/"+secretFolder), contract.ErrNotFound{What: "voice"}),
	}
	return wrapped(kinds[rand.IntN(len(kinds))])
}

func (f failing) Missing(context.Context) []string { return nil }

func (f failing) ServeChat(http.ResponseWriter, *http.Request, string, connection.Authorization) error {
	if rand.IntN(5) == 0 {
		panic("/" + secretFolder)
	}
	return f.error()
}

func (f failing) Follow(w http.ResponseWriter, r *http.Request, _, _ string, _ bool, p connection.Authorization) error {
	return f.ServeChat(w, r, "", p)
}

func (f failing) Steer(string, string, contract.ClientMessage) error {
	return f.ServeChat(nil, nil, "", nil)
}

func (f failing) Turns(string, string) ([]contract.ReturnTurn, error) { return nil, f.error() }

func (f failing) OpenKey(context.Context, string) (store.Grant, error) {
	return store.Grant{}, f.error()
}

func (f failing) OpenToken(context.Context, string, time.Time) (store.Grant, error) {
	return store.Grant{}, f.error()
}

func (f failing) Holds(context.Context, store.Grant) error { return f.error() }

func (f failing) WatchKey(store.Grant) (lost context.Context, release func()) {
	return context.Background(), func() {}
}

func (f failing) Pair(context.Context, string, time.Time) (store.Credentials, store.Kiosk, error) {
	return store.Credentials{}, store.Kiosk{}, f.error()
}

func (f failing) SignIn(context.Context, string, string, string, time.Time) (string, store.Session, error) {
	return "", store.Session{}, f.error()
}

func (f failing) OpenSession(context.Context, string, time.Time) (store.Grant, error) {
	return store.Grant{}, f.error()
}

func (f failing) CreateToken(context.Context, string, string, time.Time) (string, error) {
	return "", f.error()
}

func (f failing) FindVoice(context.Context, string, contract.VoiceRef) (contract.ReturnVoice, error) {
	return contract.ReturnVoice{}, f.error()
}
func (f failing) SaveVoice(context.Context, string, contract.PostedVoice) (contract.ReturnVoice, error) {
	return contract.ReturnVoice{}, f.error()
}
func (f failing) DeleteVoice(context.Context, string, string) error { return f.error() }
func (f failing) ListAliases(context.Context) ([]contract.ReturnVoiceAlias, error) {
	return nil, f.error()
}

func (f failing) SetAlias(context.Context, string, string) (contract.ReturnVoiceAlias, error) {
	return contract.ReturnVoiceAlias{}, f.error()
}

func (f failing) DeleteAlias(context.Context, string) error { return f.error() }

func (f failing) ListVoices(context.Context, string, contract.VoiceProvider) ([]contract.ReturnVoice, error) {
	return nil, f.error()
}

// requestAll sends a request to every route that gets as far as possible, and
// fails the test if an answer contains a secret.
func requestAll(t *testing.T, a *API, what string) {
	t.Helper()
	for _, rt := range a.routes() {
		r := httptest.NewRequest(rt.method, pathOf(rt), strings.NewReader(rt.about.Example))
		if rt.about.Body == "PostedConfig" {
			r = httptest.NewRequest(rt.method, pathOf(rt),
				strings.NewReader(`{"name":"x","evi_version":"4-mini","voice":{"name":"joe"},"prompt":{"text":"x"}}`))
		}
		if rt.about.Example == "" {
			r = httptest.NewRequest(rt.method, pathOf(rt), nil)
		}
		query, header := credentialsFor(a, rt)
		r.URL.RawQuery = query
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if strings.HasPrefix(rt.path, "/docs") || strings.HasSuffix(rt.path, "api.json") {
			continue // they speak of errors
		}
		if said := leakIn(w.Body.String() + fmt.Sprint(w.Header())); said != "" {
			t.Errorf("%s: %s %s says %q: %d %v %s", what, rt.method, rt.path, said, w.Code, w.Header(), w.Body)
		}
	}
}

func TestNoAnswerLeaksInternals(t *testing.T) {
	silent := slog.New(slog.DiscardHandler)
	for what, breakIt := range map[string]func(t *testing.T, s *store.Store, dir string){
		"sound": func(*testing.T, *store.Store, string) {},
		"closed": func(t *testing.T, s *store.Store, _ string) {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		},
		"damaged": func(t *testing.T, _ *store.Store, dir string) {
			file := filepath.Join(dir, layout.Database)
			size := int64(1 << 20)
			if info, err := os.Stat(file); err == nil {
				size = info.Size()
			}
			garbage := make([]byte, size)
			for i := range garbage {
				garbage[i] = byte(rand.IntN(256))
			}
			for _, name := range []string{file, file + "-wal", file + "-shm"} {
				f, err := os.OpenFile(name, os.O_WRONLY, 0)
				if err != nil {
					continue
				}
				_, _ = f.WriteAt(garbage, 0)
				f.Close()
			}
		},
		"gone": func(t *testing.T, _ *store.Store, dir string) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), secretFolder)
			s, err := store.Open(t.Context(), dir, silent)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Secret(t.Context(), AudioURLKey); err != nil {
				t.Fatal(err)
			}
			if _, err := s.CreateKey(t.Context(), store.NewKey{Account: "links"}); err != nil {
				t.Fatal(err)
			}
			breakIt(t, s, dir)
			known := &keys{}
			known.serve = func(http.ResponseWriter, *http.Request, string) error { return failing{}.error() }
			boxes := map[string]*API{
				what + ", its keys too": New(Parts{
					Keys:    s,
					Chats:   failing{},
					Ready:   failing{},
					Records: s,
					Voices:  failing{},
					Aliases: failing{},
					Models:  library{},
					Log:     silent,
				}),
				what: New(Parts{
					Keys:    known,
					Chats:   failing{},
					Ready:   failing{},
					Records: s,
					Voices:  failing{},
					Aliases: failing{},
					Models:  library{},
					Log:     silent,
					Limits:  Limits{DiskPerAccount: 1 << 40},
				}),
				what + ", and all else fails": New(Parts{
					Keys:    failing{},
					Chats:   known,
					Ready:   failing{},
					Records: s,
					Voices:  failing{},
					Aliases: failing{},
					Models:  library{},
					Log:     silent,
				}),
			}
			for range 3 { // each time with other errors
				for what, box := range boxes {
					requestAll(t, box, what)
				}
			}
		})
	}
	// Straight from every error to its answer.
	a := New(Parts{Log: silent})
	for range 5000 {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/x", nil)
		a.answerError(newResponse(w, r, maxStall), r, failing{}.error())
		if said := leakIn(w.Body.String()); said != "" || w.Code < 400 {
			t.Fatalf("%q: %d %s", said, w.Code, w.Body)
		}
	}
}
