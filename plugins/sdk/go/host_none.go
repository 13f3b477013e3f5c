//go:build !wasip1

package parley

import "errors"

// errNoBox is the error of all host functions outside of a box, as in `go test`.
var errNoBox = errors.New("this needs the box: run it with parley plugin test")

func fetch(request, body []byte) (int, []byte, error) { return 0, nil, errNoBox }
func load(key string) ([]byte, bool, error)           { return nil, false, errNoBox }
func store(key string, value []byte) error            { return errNoBox }
func remove(key string) error                         { return errNoBox }
func keys(prefix string) ([]byte, error)              { return nil, errNoBox }
func conversation() ([]byte, error)                   { return nil, errNoBox }
