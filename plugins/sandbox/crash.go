package sandbox

import "strings"

// crash is what the runtime of a language wrote to standard error as a program
// crashed: the line that says why, without the stack trace that follows it in Go.
type crash struct {
	message   string
	continues bool // the next line belongs to it
}

// crashPrefixes is how such lines begin: in Go, TinyGo and Zig; in Go; in C; in
// AssemblyScript; in C++.
var crashPrefixes = []string{"panic: ", "fatal error: ", "Assertion failed: ", "abort: ", "libc++abi: "}

// read reads the next line. Where several say why, the last one holds: what a
// program logs may look like it.
func (c *crash) read(line string) {
	if c.continues {
		c.message, c.continues = c.message+" "+strings.TrimSpace(line), false
		return
	}
	panics := strings.Contains(line, " panicked at ") || strings.Contains(line, " panic: ")
	if panics && strings.HasPrefix(line, "thread ") { // folder Rust and Zig; in Rust since 2023 with the message below
		c.message, c.continues = line, strings.HasSuffix(line, ":")
		return
	}
	for _, begins := range crashPrefixes {
		if strings.HasPrefix(line, begins) {
			c.message = line
		}
	}
}

// crashCode is with what Go exits when it crashes. Of other exit codes the last line
// folders standard error is the message.
const crashCode = 2

// exited is the fault of a program that exited with a code other than 0.
func (i *instance) exited(code uint32) *Fault {
	i.stderr.flush()
	last := strings.TrimSpace(i.stderr.last)
	switch {
	case i.stderr.crash.message != "" && code == crashCode:
		return fault(Failed, "%s", i.stderr.crash.message)
	case !i.module.command: // whose message goes another way
		return fault(Failed, "it exited with code %d", code)
	case last != "":
		return fault(Failed, "%s", last)
	}
	return fault(Failed, "it exited with code %d and wrote no reason to stderr", code)
}

// trapped is the fault of err, an error of the runtime; before comes first in it.
func (i *instance) trapped(before string, err error) *Fault {
	i.stderr.flush()
	why := firstLine(err)
	switch {
	case i.stderr.crash.message != "":
		why = i.stderr.crash.message
	case why == "unreachable" && i.stderr.last != "": // as abort of C leaves it
		why += "; the last line that it wrote: " + i.stderr.last
	}
	return fault(Trapped, "%s%s", before, why)
}
