// Command bundle builds the pages of the box (web/dist) and generates their TypeScript types: the messages of a chat
// (web/wire.ts) and the bodies of the REST API (web/rest.ts). go generate ./web runs it in the folder web.
package main

import (
	"fmt"
	"os"
)

// descriptions are the API descriptions from which the types are generated.
const descriptions = "../appliance/api/described/"

// types generates the files of types and returns them by name.
func types(web string) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, one := range []struct {
		file, of string
		make     func([]byte) ([]byte, error)
	}{{"wire.ts", "asyncapi.json", wireTypes}, {"rest.ts", "openapi.json", restTypes}} {
		text, err := os.ReadFile(web + "/" + descriptions + one.of)
		if err != nil {
			return nil, err
		}
		if all[one.file], err = one.make(text); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// run writes all generated files.
func run(web string) error {
	made, err := types(web)
	if err != nil {
		return err
	}
	for name, text := range made {
		if err := os.WriteFile(web+"/"+name, text, 0o644); err != nil {
			return err
		}
	}
	files, err := pages(web)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(web+"/dist/"+name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
