package sandbox

import "strings"

// crash finds in the standard error of a crashed program the line with the reason, without
// the stack trace that follows it in Go.
type crash struct {
	message   string
	continues bool // the next line belongs to the message
}

// crashPrefixes begin such lines: in Go, TinyGo and Zig; in Go; in C; in AssemblyScript; in
// C++.
var crashPrefixes = []string{"panic: ", "fatal error: ", "Assertion failed: ", "abort: ", "libc++abi: "}

// read reads the next line. The last matching line wins, because a program's log may look
// like one.
func (c *crash) read(line string) {
	if c.continues {
		c.message, c.continues = c.message+" "+strings.TrimSpace(line), false
		return
	}
	panics := strings.Contains(line, " panicked at ") || strings.Contains(line, " panic: ")
	if panics && strings.HasPrefix(line, "thread ") { // Rust and Zig; since 2023 Rust puts the message on the next line
		c.message, c.continues = line, strings.HasSuffix(line, ":")
		return
	}
	for _, begins := range crashPrefixes {
		if strings.HasPrefix(line, begins) {
			c.message = line
		}
	}
}

// crashCode is the exit code of a crashed Go program. With other exit codes the last line
// of standard error is the message.
const crashCode = 2

// exited returns the fault of a program that exited with a code other than 0.
func (i *instance) exited(code uint32) *Fault {
	i.stderr.flush()
	last := strings.TrimSpace(i.stderr.last)
	switch {
	case i.stderr.crash.message != "" && code == crashCode:
		return fault(Failed, "%s", i.stderr.crash.message)
	case !i.module.command: // its message is not on stderr
		return fault(Failed, "it exited with code %d", code)
	case last != "":
		return fault(Failed, "%s", last)
	}
	return fault(Failed, "it exited with code %d and wrote nothing to stderr", code)
}

// trapped returns the fault for an error of the runtime, with the prefix before.
func (i *instance) trapped(before string, err error) *Fault {
	i.stderr.flush()
	why := firstLine(err)
	switch {
	case i.stderr.crash.message != "":
		why = i.stderr.crash.message
	case why == "unreachable" && i.stderr.last != "": // C's abort traps so
		why += "; the last line that it wrote: " + i.stderr.last
	}
	return fault(Trapped, "%s%s", before, why)
}
