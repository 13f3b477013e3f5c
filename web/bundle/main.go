// Command bundle makes the files of the box's pages (web/dist) and the types of
// the wire that they use (web/wire.ts). It is run in the folder web, by
// go generate ./web.
package main

import (
	"fmt"
	"os"
)

// description is what the types of the wire are made of.
const description = "../appliance/api/described/asyncapi.json"

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// run writes all files anew, in the folder of the pages.
func run(web string) error {
	text, err := os.ReadFile(web + "/" + description)
	if err != nil {
		return err
	}
	types, err := wireTypes(text)
	if err != nil {
		return err
	}
	if err := os.WriteFile(web+"/wire.ts", types, 0o644); err != nil {
		return err
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
