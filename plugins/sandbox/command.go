package sandbox

import (
	"bytes"
	"errors"
	"strings"

	"github.com/tetratelabs/wazero/sys"
)

// command runs a WASI command: parameters on stdin, content on stdout.
func (i *instance) command(r *running) (string, error) {
	i.stdin = *bytes.NewReader(r.call.Parameters)
	_, err := i.enter(r, "_start")
	if exit, ok := errors.AsType[*sys.ExitError](err); ok && r.Err() == nil {
		err = nil
		if exit.ExitCode() != 0 {
			i.stderr.flush()
			return "", exitFault(exit.ExitCode(), i.stderr.last)
		}
	}
	return string(i.stdout.bytes), err
}

func exitFault(code uint32, last string) error {
	if last = strings.TrimSpace(last); last != "" {
		return fault(Failed, "%s", last)
	}
	return fault(Failed, "it exited with code %d and wrote no reason to stderr", code)
}
