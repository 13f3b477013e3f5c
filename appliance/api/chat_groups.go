package api

import (
	"errors"
	"net/http"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

func (a *API) listChatGroups(w http.ResponseWriter, r *http.Request, by caller) error {
	q := r.URL.Query()
	page, err := readTimedPage(q)
	if err != nil {
		return err
	}
	groups, total, err := a.Records.ChatGroups(r.Context(), by.AccountID, q.Get("config_id"), page)
	records := make([]contract.ReturnChatGroup, len(groups))
	for i, g := range groups {
		records[i] = contract.ReturnChatGroup{
			ID:                       g.ID,
			FirstStartTimestamp:      g.FirstStartMS,
			MostRecentStartTimestamp: g.LastStartMS,
			MostRecentChatID:         g.LastChatID,
			MostRecentConfig:         configSpec(g.LastConfig),
			NumChats:                 g.NumChats,
			Active:                   g.Active,
		}
	}
	return a.result(w, http.StatusOK, contract.ReturnPagedChatGroups{TimedPaging: timedPaging(page, total),
		ChatGroupsPage: records}, err)
}

// chatGroup answers with a group and a page of its chats.
func (a *API) chatGroup(w http.ResponseWriter, r *http.Request, by caller) error {
	q := r.URL.Query()
	page, err := readTimedPage(q)
	if err != nil {
		return err
	}
	statuses, err := readStatuses(q)
	if err != nil {
		return err
	}
	g, chats, total, err := a.Records.ChatGroup(r.Context(), by.AccountID, r.PathValue("id"), statuses, page)
	return a.result(w, http.StatusOK, contract.ReturnChatGroupPagedChats{
		TimedPaging:              timedPaging(page, total),
		ID:                       g.ID,
		FirstStartTimestamp:      g.FirstStartMS,
		MostRecentStartTimestamp: g.LastStartMS,
		NumChats:                 g.NumChats,
		Active:                   g.Active,
		ChatsPage:                chatRecords(chats),
	}, notFound(err, "chat group", r.PathValue("id")))
}

// chatGroupEvents answers with the events of all chats of a group.
func (a *API) chatGroupEvents(w http.ResponseWriter, r *http.Request, by caller) error {
	page, err := readTimedPage(r.URL.Query())
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	events, total, err := a.Records.GroupEvents(r.Context(), by.AccountID, id, page)
	return a.result(w, http.StatusOK, contract.ReturnChatGroupPagedEvents{
		TimedPaging: timedPaging(page, total), ID: id, EventsPage: eventRecords(events),
	}, notFound(err, "chat group", id))
}

// deleteChatGroup deletes a group with its chats and their recordings.
func (a *API) deleteChatGroup(w http.ResponseWriter, r *http.Request, by caller) error {
	id := r.PathValue("id")
	err := a.Records.DeleteChatGroup(r.Context(), by.AccountID, id)
	if errors.Is(err, store.ErrActive) {
		return contract.ErrConflict{Why: "a chat of this group is still live; end it first"}
	}
	return a.result(w, http.StatusOK, confirmation{"The chat group is deleted, with its chats and their recordings."},
		notFound(err, "chat group", id))
}

func aboutChatGroups() descriptions {
	newest := parameter("config_id", "Only groups whose newest chat used this config.", describe.String())
	return inSection("Chat groups", descriptions{
		"GET /v0/evi/chat_groups": {
			ID:      "listChatGroups",
			Summary: "List chat groups",
			Query:   timedQuery(newest),
			Answers: ok(contract.ReturnPagedChatGroups{}),
		},
		"GET /v0/evi/chat_groups/{id}": {
			ID:      "getChatGroup",
			Summary: "Get a chat group and its chats",
			Query:   timedQuery(statusFilter()),
			Answers: ok(contract.ReturnChatGroupPagedChats{}),
		},
		"DELETE /v0/evi/chat_groups/{id}": {
			ID:          "deleteChatGroup",
			Summary:     "Delete a chat group",
			Description: "Deletes its chats, their events and their recordings for good.",
			Answers:     ok(confirmation{}),
			Errors:      []int{409},
		},
		"GET /v0/evi/chat_groups/{id}/audio": {
			ID:      "getChatGroupAudio",
			Summary: "Get links to the recordings of a group's chats",
			Query:   timedQuery(),
			Answers: ok(contract.ReturnChatGroupPagedAudioReconstructions{}),
		},
		"GET /v0/evi/chat_groups/{id}/events": {
			ID:      "listChatGroupEvents",
			Summary: "List the events of a group's chats",
			Query:   timedQuery(),
			Answers: ok(contract.ReturnChatGroupPagedEvents{}),
		},
	})
}
