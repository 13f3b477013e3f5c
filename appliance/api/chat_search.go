package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

const (
	// maxSearchChars and maxSearchWords bound the words to search for: a
	// sentence.
	maxSearchChars = 200
	maxSearchWords = 16
)

// searchChats answers with the chats that match a search.
func (a *API) searchChats(w http.ResponseWriter, r *http.Request, by caller) error {
	q := r.URL.Query()
	search, err := readSearch(q)
	if err != nil {
		return err
	}
	most, err := readNumber(q, "limit", contract.DefaultPageSize, 1, contract.MaxPageSize)
	if err != nil {
		return err
	}
	leave, err := a.searches.enter(r.Context(), by.AccountID)
	if err != nil {
		return err
	}
	defer leave()
	found, next, err := a.Records.SearchChats(r.Context(), by.AccountID, search, most)
	if errors.Is(err, store.ErrNotFound) {
		return contract.ErrInvalid{Field: "before",
			Why: fmt.Sprintf("there is no chat %.80q, or no longer; search again without it", search.Before)}
	}
	if err != nil {
		return err
	}
	answer := contract.ReturnFoundChats{Chats: make([]contract.FoundChat, len(found)), Next: next}
	for i, c := range found {
		answer.Chats[i] = contract.FoundChat{ReturnChat: chatRecords([]store.Chat{c.Chat})[0],
			CustomSessionID: c.CustomSessionID, Box: c.Box}
		if e := c.Excerpt; e.ChatID != "" {
			answer.Chats[i].Excerpt = &contract.ChatExcerpt{
				EventID:   e.ID,
				Timestamp: e.AtMS,
				Role:      contract.ChatEventRole(e.Role),
				Text:      e.MessageText,
			}
		}
	}
	return a.result(w, http.StatusOK, answer, nil)
}

// readSearch parses the query of a search.
func readSearch(q url.Values) (f store.ChatSearch, err error) {
	f.ConfigID, f.CustomSessionID, f.Before = q.Get("config_id"), q.Get("custom_session_id"), q.Get("before")
	f.Box = q.Get("box")
	if f.Statuses, err = readStatuses(q); err != nil {
		return f, err
	}
	text := q.Get("search")
	if n := len([]rune(text)); n > maxSearchChars {
		return f, contract.ErrInvalid{Field: "search",
			Why: fmt.Sprintf("%d characters; at most %d are allowed", n, maxSearchChars)}
	}
	if f.Words = strings.Fields(text); len(f.Words) > maxSearchWords {
		return f, contract.ErrInvalid{Field: "search",
			Why: fmt.Sprintf("%d words; at most %d are allowed", len(f.Words), maxSearchWords)}
	}
	for name, ms := range map[string]*int64{"from": &f.FromMS, "until": &f.UntilMS} {
		n, err := readNumber(q, name, 0, 0, maxPageNumber)
		if err != nil {
			return f, contract.ErrInvalid{Field: name,
				Why: fmt.Sprintf("%.80q is not allowed; expected a time in Unix milliseconds", q.Get(name))}
		}
		*ms = int64(n)
	}
	return f, nil
}

func aboutChatSearch() descriptions {
	text := func(name, says string) describe.Parameter {
		return describe.Parameter{Name: name, Description: says, Schema: describe.String()}
	}
	time := func(name, says string) describe.Parameter {
		return describe.Parameter{Name: name, Description: says, Schema: describe.Integer(0, maxPageNumber)}
	}
	return inSection("Chats", descriptions{
		"GET /v0/box/chats": {
			ID:      "searchChats",
			Summary: "Search chats",
			Description: "Newest first. One request searches some ten thousand chats at most. If next is present, " +
				"pass it as before to continue the search, which may find more.",
			Query: []describe.Parameter{
				text("search", "Words that one message contains, ignoring case."),
				configFilter(), statusFilter(),
				text("custom_session_id", "Only chats whose client set this id."),
				time("from", "Only chats that started at this time or later, in Unix milliseconds."),
				time("until", "Only chats that started before this time, in Unix milliseconds."),
				text("box", "On a hub: only chats of this box."),
				text("before", "next of the previous answer."),
				{Name: "limit", Description: "The most chats to return.",
					Schema: describe.Integer(1, contract.MaxPageSize).WithDefault(contract.DefaultPageSize)},
			},
			Answers: ok(contract.ReturnFoundChats{}),
		},
	})
}
