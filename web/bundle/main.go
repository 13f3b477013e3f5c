// Command bundle makes the files of the box's pages (web/dist) and the types that
// they use: of the messages of a chat (web/wire.ts), and of what the paths take and
// answer (web/rest.ts). It is run in the folder web, by
// go generate ./web.
package main

import (
	"fmt"
	"os"
)

// descriptions are what the types are made of.
const descriptions = "../appliance/api/described/"

// types makes the files of types, by their names.
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

// run writes all files anew, in the folder of the pages.
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
