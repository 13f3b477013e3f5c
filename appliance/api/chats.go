package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

// readTimedPage parses the page and the order of a list in time.
func readTimedPage(q url.Values) (store.Page, error) {
	page, err := readPage(q)
	if err != nil {
		return page, err
	}
	ascending, err := readFlag(q, "ascending_order", true)
	page.Descending = !ascending
	return page, err
}

// timedPaging describes a page among so many rows.
func timedPaging(p store.Page, rows int) contract.TimedPaging {
	t := contract.TimedPaging{Paging: paging(p, rows), PaginationDirection: contract.Ascending}
	if p.Descending {
		t.PaginationDirection = contract.Descending
	}
	return t
}

// readStatuses parses the statuses that a list is limited to. Clients repeat the
// parameter or separate values with commas.
func readStatuses(q url.Values) ([]store.Status, error) {
	var chosen []store.Status
	for text := range strings.SplitSeq(strings.Join(q["status"], ","), ",") {
		switch {
		case text == "": // clients write a parameter that they have not set like this
		case slices.Contains(contract.ChatStatuses(), contract.ChatStatus(text)):
			chosen = append(chosen, store.Status(text))
		default:
			return nil, contract.ErrInvalid{Field: "status",
				Why: fmt.Sprintf("%.80q is not allowed; allowed: %s", text,
					strings.Trim(fmt.Sprint(contract.ChatStatuses()), "[]"))}
		}
	}
	return chosen, nil
}

// notFound turns a store.ErrNotFound into a contract.ErrNotFound that names what
// is missing. It returns other errors as they are.
func notFound(err error, what, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return contract.ErrNotFound{What: what, ID: id}
	}
	return err
}

func (a *API) listChats(w http.ResponseWriter, r *http.Request, by caller) error {
	q := r.URL.Query()
	page, err := readTimedPage(q)
	if err != nil {
		return err
	}
	statuses, err := readStatuses(q)
	if err != nil {
		return err
	}
	chats, total, err := a.Records.Chats(r.Context(), by.AccountID,
		store.ChatFilter{ConfigID: q.Get("config_id"), Statuses: statuses}, page)
	return a.result(w, http.StatusOK, contract.ReturnPagedChats{TimedPaging: timedPaging(page, total),
		ChatsPage: chatRecords(chats)}, err)
}

// chatEvents answers with a chat and a page of its events.
func (a *API) chatEvents(w http.ResponseWriter, r *http.Request, by caller) error {
	page, err := readTimedPage(r.URL.Query())
	if err != nil {
		return err
	}
	c, err := a.Records.Chat(r.Context(), by.AccountID, r.PathValue("id"))
	if err != nil {
		return notFound(err, "chat", r.PathValue("id"))
	}
	events, total, err := a.Records.Events(r.Context(), c.ID, page)
	return a.result(w, http.StatusOK, contract.ReturnChatPagedEvents{
		TimedPaging:    timedPaging(page, total),
		ID:             c.ID,
		ChatGroupID:    c.GroupID,
		Status:         contract.ChatStatus(c.Status),
		StartTimestamp: c.StartedMS,
		EndTimestamp:   c.EndedMS,
		Config:         configSpec(c.Config),
		Metadata:       c.Metadata,
		EventsPage:     eventRecords(events),
	}, notFound(err, "chat", c.ID))
}

func chatRecords(chats []store.Chat) []contract.ReturnChat {
	records := make([]contract.ReturnChat, len(chats))
	for i, c := range chats {
		records[i] = contract.ReturnChat{
			ID:             c.ID,
			ChatGroupID:    c.GroupID,
			Status:         contract.ChatStatus(c.Status),
			StartTimestamp: c.StartedMS,
			EndTimestamp:   c.EndedMS,
			EventCount:     c.EventCount,
			Config:         configSpec(c.Config),
			Metadata:       c.Metadata,
		}
	}
	return records
}

func eventRecords(events []store.Event) []contract.ReturnChatEvent {
	records := make([]contract.ReturnChatEvent, len(events))
	for i, e := range events {
		records[i] = contract.ReturnChatEvent{
			ID:              e.ID,
			ChatID:          e.ChatID,
			Timestamp:       e.AtMS,
			Type:            contract.ChatEventType(e.Type),
			Role:            contract.ChatEventRole(e.Role),
			MessageText:     e.MessageText,
			EmotionFeatures: e.EmotionFeatures,
			Metadata:        e.Metadata,
			RelatedEventID:  e.RelatedEventID,
		}
	}
	return records
}

// configSpec returns the config of a chat, or nil if it had none.
func configSpec(c store.ConfigRef) *contract.ReturnConfigSpec {
	if c.ID == "" {
		return nil
	}
	return &contract.ReturnConfigSpec{ID: c.ID, Version: c.Version}
}

// configFilter and statusFilter describe the filters of lists of chats.
func configFilter() describe.Parameter {
	return parameter("config_id", "Only chats that used this config.", describe.String())
}

func statusFilter() describe.Parameter {
	return parameter("status", "Only chats with this status; repeat it for several.",
		describe.Enum(contract.ChatStatuses()...))
}

// timedQuery describes the parameters of readTimedPage, and more.
func timedQuery(more ...describe.Parameter) []describe.Parameter {
	ascending := parameter("ascending_order", "Whether the oldest come first.", describe.Boolean().WithDefault(true))
	return append(append(pageQuery(), ascending), more...)
}

func aboutChats() descriptions {
	return inSection("Chats", descriptions{
		"GET /v0/evi/chats": {
			ID:      "listChats",
			Summary: "List chats",
			Query:   timedQuery(configFilter(), statusFilter()),
			Answers: ok(contract.ReturnPagedChats{}),
		},
		"GET /v0/evi/chats/{id}": {
			ID:      "listChatEvents",
			Summary: "Get a chat and its events",
			Query:   timedQuery(),
			Answers: ok(contract.ReturnChatPagedEvents{}),
		},
	})
}
