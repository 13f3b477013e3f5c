package registry

import (
	"context"
	"testing"
	"time"

	"parley/plugins/sandbox"
)

// hangs is a module whose tool do never ends:
// (module (memory 1) (func (export "do") (result i32) (loop (br 0)) unreachable)).
var hangs = []byte(
	"\x00asm\x01\x00\x00\x00\x01\x05\x01\x60\x00\x01\x7f" +
		"\x03\x02\x01\x00\x05\x03\x01\x00\x01\x07\x06\x01\x02do\x00\x00" +
		"\x0a\x0a\x01\x08\x00\x03\x40\x0c\x00\x0b\x00\x0b")

// A plugin can be changed during a call that does not end: the change does not wait, the
// call ends at its time limit, and the next call uses the new version.
func TestAPluginCanBeChangedDuringACall(t *testing.T) {
	asks := "permissions: {storage: 1KiB}"
	for name, change := range map[string]func(*testing.T, *Registry) error{
		"revoke": func(t *testing.T, s *Registry) error { return s.Revoke(t.Context(), "tool", []string{"all"}) },
		"upgrade": func(t *testing.T, s *Registry) error {
			return upgrade(t, s, fileOf(t, described("1.1.0", asks), tool(t, "two")), Choice{})
		},
		"remove": func(t *testing.T, s *Registry) error { return s.Remove(t.Context(), "tool") },
	} {
		t.Run(name, func(t *testing.T) {
			tool(t, "two") // building it is not what is timed
			s := box(t, t.TempDir())
			install(t, s, fileOf(t, described("1.0.0", asks), hangs), "storage")
			calling, ended := make(chan struct{}), make(chan error, 1)
			go func() {
				close(calling)
				_, err := s.Call(context.Background(), Origin{Account: "a"}, "do", []byte("{}"))
				ended <- err
			}()
			<-calling
			time.Sleep(100 * time.Millisecond) // it hangs by now, or else the test proves less
			must(t, change(t, s))
			_, err := s.Call(t.Context(), Origin{Account: "a"}, "do", []byte("{}"))
			switch {
			case name == "remove" && err != ErrNoTool{"do"}, name == "upgrade" && err != nil,
				name == "revoke" && sandbox.AsFault(err).Kind != sandbox.Late:
				t.Errorf("the next call: %v", err)
			}
			if err := <-ended; err == nil || sandbox.AsFault(err).Kind != sandbox.Late {
				t.Errorf("the call ended with %v", err)
			}
		})
	}
}
