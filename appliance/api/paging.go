package api

import (
	"fmt"
	"net/url"
	"strconv"

	"parley/appliance/contract"
	"parley/store"
)

// readPage parses the page of a list that a query asks for.
func readPage(q url.Values) (store.Page, error) {
	number, err := readNumber(q, "page_number", 0, 0, maxPageNumber)
	if err != nil {
		return store.Page{}, err
	}
	size, err := readNumber(q, "page_size", contract.DefaultPageSize, 1, contract.MaxPageSize)
	return store.Page{Number: number, Size: size}, err
}

// readNumber parses a whole number in a query. An empty value counts as absent,
// because clients write parameters like that which they have not set.
func readNumber(q url.Values, name string, otherwise, low, high int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, contract.ErrInvalid{Field: name,
			Why: fmt.Sprintf("%.80q is not allowed; expected a whole number from %d to %d", text, low, high)}
	}
	return n, nil
}

// readFlag parses true or false, also as other languages write them.
func readFlag(q url.Values, name string, otherwise bool) (bool, error) {
	text := q.Get(name)
	if text == "" {
		return otherwise, nil
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, contract.ErrInvalid{Field: name,
			Why: fmt.Sprintf("%.80q is not allowed; expected true or false", text)}
	}
	return b, nil
}

// paging describes a page among so many rows.
func paging(p store.Page, rows int) contract.Paging {
	return contract.Paging{PageNumber: p.Number, PageSize: p.Size, TotalPages: (rows + p.Size - 1) / p.Size}
}

// maxPageNumber is the end of JavaScript's exact integers.
const maxPageNumber = 1 << 53
