package api

import (
	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// historyRoutes are the ways to chats, to their groups and to their sound.
func (a *API) historyRoutes() []route {
	config := describe.Parameter{Name: "config_id", Says: "Only chats that used this config.", Schema: describe.Text()}
	newest := describe.Parameter{Name: "config_id", Says: "Only groups whose newest chat used this config.",
		Schema: describe.Text()}
	status := describe.Parameter{Name: "status", Says: "Only chats of this status; repeat it for several.",
		Schema: describe.Words(contract.ChatStatuses()...)}
	return []route{
		{"GET", "/v0/evi/chats", describe.Account, unread, normal, storesNothing, a.listChats,
			saysHistory("Chats", "listChats", "List chats", ok(contract.ReturnPagedChats{}), config, status)},
		{"GET", "/v0/evi/chats/{id}", describe.Account, unread, normal, storesNothing, a.chatEvents,
			saysHistory("Chats", "listChatEvents", "Get a chat and what happened in it",
				ok(contract.ReturnChatPagedEvents{}))},
		{"GET", "/v0/evi/chats/{id}/audio", describe.Account, unread, normal, storesNothing, a.chatAudio,
			describe.Operation{
				ID:      "getChatAudio",
				Section: "Chats",
				Summary: "Where to hear a chat",
				More: "The link works without a key for an hour, and no longer than the key, or the session of the " +
					"console, that asked for it. What the assistant had not said when it was interrupted is not in " +
					"the recording.",
				Answers: ok(contract.ReturnChatAudioReconstruction{}),
			}},
		{"GET", "/v0/evi/chats/{id}/audio.wav", describe.Link, unread, normal, storesNothing, a.hearChat,
			describe.Operation{
				ID:      "hearChat",
				Section: "Chats",
				Summary: "Hear a chat",
				More:    "Both sides in one WAV file, 24 kHz, 16-bit, mono. Ranges are served.",
				Query: []describe.Parameter{
					{Name: "by", Says: "The id of the key or the session that asked for the link, and ends it.",
						Schema: describe.Text()},
					{Name: "expires", Says: "Until when the link works, in Unix milliseconds.",
						Schema: describe.Text()},
					{Name: "signature", Says: "By which the box knows its own link.", Schema: describe.Text()},
				},
				Answers: append(plain("audio/wav"), unchanged(),
					describe.Answer{Status: 206, Says: "The range asked for", Media: "audio/wav"},
					describe.Answer{Status: 412, Says: "It is not as If-Match says"},
					describe.Answer{Status: 416, Says: "There is no such range", Value: problem{}}),
				Refuses: []int{404},
			}},

		{"GET", "/v0/box/chats", describe.Account, unread, normal, storesNothing, a.searchChats,
			searchChatsSays(config, status)},

		{"GET", "/v0/evi/chat_groups", describe.Account, unread, normal, storesNothing, a.listChatGroups,
			saysHistory("Chat groups", "listChatGroups", "List chat groups", ok(contract.ReturnPagedChatGroups{}),
				newest)},
		{"GET", "/v0/evi/chat_groups/{id}", describe.Account, unread, normal, storesNothing, a.chatGroup,
			saysHistory("Chat groups", "getChatGroup", "Get a chat group and its chats",
				ok(contract.ReturnChatGroupPagedChats{}), status)},
		{"DELETE", "/v0/evi/chat_groups/{id}", describe.Account, unread, bulk, storesNothing, a.deleteChatGroup,
			describe.Operation{
				ID:      "deleteChatGroup",
				Section: "Chat groups",
				Summary: "Delete a chat group",
				More: "With its chats, what was said in them, and how they sounded. Nothing of it can be brought " +
					"back.",
				Answers: ok(confirmation{}),
				Refuses: []int{409},
			}},
		{"GET", "/v0/evi/chat_groups/{id}/audio", describe.Account, unread, normal, storesNothing, a.chatGroupAudio,
			saysHistory("Chat groups", "getChatGroupAudio", "Where to hear each chat",
				ok(contract.ReturnChatGroupPagedAudioReconstructions{}))},
		{"GET", "/v0/evi/chat_groups/{id}/events", describe.Account, unread, normal, storesNothing, a.chatGroupEvents,
			saysHistory("Chat groups", "listChatGroupEvents", "What happened in all chats",
				ok(contract.ReturnChatGroupPagedEvents{}))},
	}
}

// saysHistory is what a list in time says of itself.
func saysHistory(section, id, summary string, answers []describe.Answer,
	filters ...describe.Parameter) describe.Operation {
	return describe.Operation{
		ID:      id,
		Section: section,
		Summary: summary,
		Answers: answers,
		Query: append(append(pageQuery(),
			describe.Parameter{Name: "ascending_order", Says: "Oldest first.", Schema: describe.Flag().Or(true)}),
			filters...),
	}
}
