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

// Work is what the process does once it has no rights.
type Work struct {
	// Readable is the one folder that it may read; empty: none.
	Readable string
	// Answer takes a request, which is valid until it returns, and sends as many
	// replies as the two sides have agreed upon. An error ends the process.
	Answer func(request []byte, reply func([]byte) error) error
}

// readiness is what the process says first.
type readiness struct {
	Error   string // why it does not work, in words for people
	Missing []string
}

// Main makes this process the one of that name, if Start started it; then it does
// not return. Prepare gets Start's arguments and opens the libraries, while there
// are files to open; its error is that of Start. A program that may call Start,
// and so every test of it, calls Main before anything else.
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

// serve prepares the work, gives up all rights, and answers.
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
