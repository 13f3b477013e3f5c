package api

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"parley/appliance/contract"
	"parley/store"
)

// Every error type that package contract exports has one row.
func TestEveryErrorTypeIsInTheTable(t *testing.T) {
	rows := map[string]int{}
	for _, k := range kinds {
		rows[reflect.TypeOf(k.error).Name()]++
		if k.code == "" && rows["ErrMalformed"]+rows["errToken"] == 0 {
			t.Errorf("%T has no code", k.error)
		}
	}
	for name := range exportedErrors(t, filepath.Join("..", "contract")) {
		if rows[name] != 1 {
			t.Errorf("%s is in %d rows of kinds", name, rows[name])
		}
	}
}

// exportedErrors returns the types of a package whose names begin with Err.
func exportedErrors(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && strings.HasPrefix(s.Name.Name, "Err") &&
				!strings.HasPrefix(s.Name.Name, "Error") {
				found[s.Name.Name] = true
			}
			return true
		})
	}
	if len(found) < 10 {
		t.Fatalf("only %d kinds of errors are found", len(found))
	}
	return found
}

// Errors of the store that a client can cause have a kind.
func TestErrorsOfTheStoreHaveAKind(t *testing.T) {
	for _, err := range []error{store.ErrNotFound, store.ErrConflict, store.ErrActive, store.ErrBusy, store.ErrFull,
		store.ErrReadOnly, store.ErrClosed, store.ErrMissing{}} {
		if k, told := kindOf(errors.Join(errors.New("doing"), err)); told == nil || k.status < 400 || k.status == 500 {
			t.Errorf("%v: %d, %v", err, k.status, told)
		}
	}
}

// A new offer of a call without Opus was once answered with 500, because its
// error was joined with others.
func TestJoinedErrorsHaveTheKindOfTheFirst(t *testing.T) {
	own := errors.New("closing it")
	for _, err := range []error{
		errors.Join(contract.ErrInvalid{Field: "body"}, nil),
		errors.Join(contract.ErrInvalid{Field: "body"}, contract.ErrUnavailable{}),
		fmt.Errorf("doing: %w", errors.Join(own, fmt.Errorf("more: %w", contract.ErrInvalid{Field: "body"}))),
	} {
		if k, told := kindOf(err); k.status != http.StatusBadRequest ||
			told != error(contract.ErrInvalid{Field: "body"}) {
			t.Errorf("%v: %d, %v", err, k.status, told)
		}
	}
	if k, told := kindOf(errors.Join(own, own)); told != nil {
		t.Errorf("a fault of ours is told as %d, %v", k.status, told)
	}
}
