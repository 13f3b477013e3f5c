// Command sbom writes the bill of materials (CycloneDX 1.6) and Debian's copyright file of a package:
//
//	sbom PROGRAM ARCH FOLDER DEPENDS RECOMMENDS
//
// PROGRAM is the built program for the processor ARCH (amd64 or arm64). DEPENDS and RECOMMENDS are the package's fields
// of these names. The files are FOLDER/sbom.cdx.json and FOLDER/copyright. The time in them is SOURCE_DATE_EPOCH, so
// the same program makes the same files.
package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"parley/firmware/licences"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 5 {
		return errors.New("usage: sbom PROGRAM ARCH FOLDER DEPENDS RECOMMENDS")
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	s := subject{
		program:    args[0],
		arch:       args[1],
		depends:    args[3],
		recommends: args[4],
		made:       time.Unix(seconds, 0).UTC(),
	}
	if s.build, err = buildinfo.ReadFile(s.program); err != nil {
		return err
	}
	if s.parts, err = licences.Of(s.build); err != nil {
		return err
	}
	bill, err := s.bill()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(args[2], "sbom.cdx.json"), bill, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(args[2], "copyright"), []byte(copyright(s.parts)), 0o644)
}
