package sandbox

import (
	"encoding/binary"
	"strings"
	"testing"
)

// saying returns code that writes text, which lies at address 16, to standard error, and
// then runs end. The module's data must be the result of said.
func saying(end ...any) []byte {
	return code(i32c(2), i32c(0), i32c(1), i32c(8), call(0), 0x1A, code(end...))
}

func said(text string) string {
	iovec := binary.LittleEndian.AppendUint32(nil, 16)
	return string(binary.LittleEndian.AppendUint32(iovec, uint32(len(text)))) + strings.Repeat("\x00", 8) + text
}

// The message of a crash is what the program wrote as it crashed, in whatever language,
// without the stack trace below it.
func TestTheMessageOfACrashIsWhatTheProgramWrote(t *testing.T) {
	h := host(t, Options{})
	write, exit := wasi("fd_write", i32, i32, i32, i32), procExit
	exits := func(code int64) []byte { return saying(i32c(code), call(1)) }
	traps := saying(0x00)
	const trace = "\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:16 +0x56\n"
	for _, c := range []struct {
		name, wrote string
		code        []byte
		want        string
		extism      string // where it is not the same
	}{
		{"Go", "begun\npanic: boom" + trace, exits(2), "panic: boom", ""},
		{"Go, of an error of two lines", "panic: first\n\tsecond" + trace, exits(2), "panic: first", ""},
		{"Go, panicked again", "panic: first [recovered]\n\tpanic: second" + trace, exits(2),
			"panic: first [recovered]", ""},
		{"Go, out of memory", "fatal error: out of memory" + trace, exits(2), "fatal error: out of memory", ""},
		{"Go, which had logged something alike", "panic: not so bad\npanic: boom" + trace, exits(2), "panic: boom", ""},
		{"a message after something alike", "panic: not so bad\nno such place\n", exits(1),
			"no such place", "it exited with code 1"},
		{"TinyGo", "panic: boom\n", traps, "panic: boom", ""},
		{"Rust", "begun\nthread 'main' (1) panicked at src/main.rs:5:20:\nno such place\nnote: run with it\n", traps,
			"thread 'main' (1) panicked at src/main.rs:5:20: no such place", ""},
		{"Rust, before 2023", "thread 'main' panicked at 'no such place', src/main.rs:5:20\nnote: run with it\n", traps,
			"thread 'main' panicked at 'no such place', src/main.rs:5:20", ""},
		{"C", "begun\nAssertion failed: n > 0 (main.c: main: 8)\n", traps, "Assertion failed: n > 0 (main.c: main: 8)",
			""},
		{"C, without a message", "begun\n", traps, "unreachable; the last line that it wrote: begun", ""},
		{"C, without a word", "", traps, "unreachable", ""},
		{"AssemblyScript", "abort: no such place in assembly/index.ts(3:5)", exits(255),
			"abort: no such place in assembly/index.ts(3:5)", "it exited with code 255"},
		{"Zig", "thread 1 panic: integer overflow\n/src/main.zig:3:5: 0x1 in main\n", traps,
			"thread 1 panic: integer overflow", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := command(c.code, write, exit)
			w.data = said(c.wrote)
			as := run(code(c.code, zero), write, exit)
			as.data = w.data
			for want, wasm := range map[string][]byte{c.want: w.module(),
				"tool: " + or(c.extism, c.want): as.module()} {
				want = strings.TrimPrefix(want, "tool: ")
				m := load(t, h, strings.Replace(hostileManifest, "300ms", "20s", 1), wasm)
				if _, err := m.Call(t.Context(), Call{Tool: "run", Account: "a"}); err == nil || err.Error() != want {
					t.Errorf("command %t: %v; want %s", m.Command(), err, want)
				}
			}
		})
	}
}

// So it is for a real Go program.
func TestTheMessageOfAGoPanicIsItsText(t *testing.T) {
	yaml := strings.Replace(echoManifest, "name: fail", "name: panic", 1)
	m := load(t, host(t, Options{}), yaml, goModule(t, "command", false))
	_, err := m.Call(t.Context(), Call{Tool: "panic", Account: "a", Settings: map[string]string{"city": "Bern"}})
	if err == nil || err.Error() != "panic: assignment to entry in nil map" {
		t.Error(err)
	}
}
