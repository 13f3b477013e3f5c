package main

import (
	"fmt"
	"slices"
	"strings"
)

// permitted are the SPDX ids of licences under which a part of the program may be. All of them allow it inside a
// program under Apache-2.0 whose source is not passed on. MPL-2.0 asks for the source of the files that are under it
// only.
var permitted = []string{
	"0BSD",
	"Apache-2.0",
	"BSD-1-Clause",
	"BSD-2-Clause",
	"BSD-3-Clause",
	"CC0-1.0",
	"ISC",
	"MIT",
	"MIT-0",
	"MPL-2.0",
	"Unlicense",
	"blessing",
}

// allowed returns an error unless a licence is a conjunction of permitted ids, or a choice with at least one.
func allowed(licence string) error {
	var not []string
	for _, all := range strings.Split(licence, " AND ") {
		if !slices.ContainsFunc(strings.Split(all, " OR "), func(one string) bool {
			return slices.Contains(permitted, one)
		}) {
			not = append(not, all)
		}
	}
	if not == nil {
		return nil
	}
	return fmt.Errorf("the licence %q is not allowed in the program: allowed are %s",
		strings.Join(not, ", "), strings.Join(permitted, ", "))
}
