package espeak

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// misbehaving is the name of a process of this test that does the deed that its text names
// ("hang") instead of phonemizing. The program does not contain it.
const misbehaving = "parley-espeak-misbehaving"

// TestMain is also the process that holds eSpeak NG.
func TestMain(m *testing.M) {
	Main()
	childMain(misbehaving, func(lib *library) phonemizeFunc {
		return func(q question) (string, error) {
			what, rest, _ := strings.Cut(q.Words, " ")
			if f, ok := attacks()[what]; ok {
				return f(rest)
			}
			return lib.answer(q)
		}
	})
	goleak.VerifyTestMain(m)
}

// openMisbehaving opens a Phonemizer whose processes are sandboxed as in the program, and do what
// the words name.
func openMisbehaving(t *testing.T) *Phonemizer {
	t.Helper()
	p, err := open(misbehaving)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}
