package sandbox

import (
	"bytes"
	"errors"

	"github.com/tetratelabs/wazero/sys"
)

// command runs a WASI command: parameters on stdin, content on stdout.
func (i *instance) command(r *callContext) (string, error) {
	i.stdin = *bytes.NewReader(r.call.Parameters)
	_, err := i.enter(r, "_start")
	if exit, ok := errors.AsType[*sys.ExitError](err); ok && r.Err() == nil {
		err = nil
		if exit.ExitCode() != 0 {
			return "", i.exited(exit.ExitCode())
		}
	}
	return string(i.stdout.bytes), err
}
