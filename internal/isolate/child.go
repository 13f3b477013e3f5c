package isolate

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// childArgument is the first argument of every process that Start starts.
const childArgument = "isolated"

// Work is what the process does without privileges.
type Work struct {
	// Readable is the only folder that it may read; empty: none.
	Readable string
	// Answer handles a request, which is valid until Answer returns, and sends as many
	// replies as the two sides have agreed on. An error ends the process.
	Answer func(request []byte, reply func([]byte) error) error
}

// readiness is the first message of the process.
type readiness struct {
	Error   string // why it cannot work, for people
	Missing []string
}

// Main runs this process as the child with that name if Start started it, and then does
// not return. prepare gets Start's arguments and opens the libraries while files can
// still be opened; Start returns its error. A program that calls Start, and so every test
// binary of it, calls Main before anything else.
func Main(name string, prepare func(args []string) (Work, error)) {
	if len(os.Args) < 2 || os.Args[0] != name || os.Args[1] != childArgument {
		return
	}
	// Ctrl-C in a terminal reaches this process too. The box decides when it
	// ends: when the box closes its end of the pipe.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	runtime.GOMAXPROCS(1)
	if serve(os.Stdin, os.Stdout, os.Args[2:], prepare) != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// serve prepares the work, drops all privileges, and answers requests.
func serve(requests io.Reader, replies io.Writer, args []string, prepare func([]string) (Work, error)) error {
	var out []byte
	reply := func(frame []byte) (err error) {
		if out, err = appendFrame(out[:0], frame); err != nil {
			return err
		}
		_, err = replies.Write(out)
		return err
	}
	var ready readiness
	work, err := prepare(args)
	if err == nil {
		ready.Missing, err = dropPrivileges(work.Readable)
	}
	if err != nil {
		ready.Error = err.Error()
	}
	first, err := json.Marshal(ready)
	if err := errors.Join(err, reply(first)); err != nil || ready.Error != "" {
		return err
	}
	in := bufio.NewReaderSize(requests, 1<<15)
	var request []byte
	for {
		if request, err = readFrame(in, request); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := work.Answer(request, reply); err != nil {
			return err
		}
	}
}
