package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"

	"parley/fleet"
	"parley/fleet/agent"
	"parley/fleet/bus"
	"parley/store"
)

// runBox is a box without models: its database, its agent and its connection are those of a box, and it writes chats as
// conversations do. Its arguments are the data folder, the join file and the number of chats.
func runBox(ctx context.Context, args []string) error {
	data, join := args[0], args[1]
	chats, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	records, err := store.Open(ctx, data, quiet())
	if err != nil {
		return err
	}
	now := time.Now().UnixMilli()
	if _, err := records.EndOpenChats(ctx, now, func(string) time.Duration { return 0 }); err != nil {
		return err
	}
	if err := checkWhole(ctx, records); err != nil {
		return fmt.Errorf("after a kill: %w", err)
	}
	j, err := bus.ReadJoin(join)
	if err != nil {
		return err
	}
	link, err := bus.Dial(j, bus.Options{Log: quiet(), Soonest: 20 * time.Millisecond, Latest: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	a, err := agent.Start(ctx, agent.Parts{
		Fleet:   store.Fleet{Box: j.Box, Hub: j.Hub, Chats: true},
		Hub:     link,
		Records: records,
		State: func(context.Context) fleet.State {
			return fleet.State{Version: "chaos", Ready: true, Seats: 1}
		},
		Log:    quiet(),
		Every:  500 * time.Millisecond,
		Health: time.Second,
	})
	if err != nil {
		return err
	}
	if err := write(ctx, records, data, chats); err != nil {
		return err
	}
	bufio.NewScanner(os.Stdin).Scan() // the test says when to end
	a.Close()
	link.Close()
	return records.Close()
}

// write writes chats until there are so many, those of earlier processes included. Deleted ones do not count.
func write(ctx context.Context, records *store.Store, data string, chats int) error {
	if _, err := records.CreateKey(ctx, store.NewKey{Account: "home", ExpiresMS: time.Now().UnixMilli()}); err != nil {
		return err
	}
	account, err := records.Account(ctx, "home")
	if err != nil {
		return err
	}
	for {
		_, n, err := records.Chats(ctx, account.ID, store.ChatFilter{}, store.Page{Size: 1})
		if err != nil {
			return err
		}
		if n >= chats {
			return os.WriteFile(finished(data), nil, 0o600)
		}
		if err := writeChat(ctx, records, account.ID, n); err != nil {
			return err
		}
	}
}

// writeChat writes a chat with a commit for each turn. Some events are amended later, as those are that an interruption
// cuts short. Some chats resume a group, and a few groups are deleted.
func writeChat(ctx context.Context, records *store.Store, account string, n int) error {
	id, group, resume := uuid.NewString(), uuid.NewString(), false
	if n%4 == 3 {
		groups, _, err := records.ChatGroups(ctx, account, "", store.Page{Size: 1})
		if err != nil {
			return err
		}
		if len(groups) > 0 && !groups[0].Active {
			group, resume = groups[0].ID, true
		}
	}
	at := time.Now().UnixMilli()
	event := func(kind store.EventType, role store.Role, text string) store.Event {
		return store.Event{ID: uuid.NewString(), AtMS: at, Type: kind, Role: role, MessageText: text}
	}
	err := records.StartChat(ctx, store.NewChat{
		ID:        id,
		GroupID:   group,
		Resume:    resume,
		AccountID: account,
		StartedMS: at,
		RequestID: uuid.NewString(),
	}, event(store.ChatStart, store.System, ""))
	if err != nil {
		return err
	}
	for turn := range 4 + rand.IntN(6) {
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) // somebody speaks
		said := event(store.AgentMessage, store.Agent, fmt.Sprintf("answer %d of chat %d", turn, n))
		err := records.AppendEvents(ctx, id, []store.Event{
			event(store.UserMessage, store.User, fmt.Sprintf("question %d of chat %d", turn, n)), said,
		})
		if err == nil && turn%3 == 2 {
			said.MessageText += ", cut short"
			err = records.WriteChat(ctx, id, store.ChatWrite{Amended: []store.Event{said}})
		}
		if err != nil {
			return err
		}
	}
	last := event(store.ChatEnd, store.System, "")
	if err := records.EndChat(ctx, id, store.UserEnded, time.Now().UnixMilli(), last); err != nil {
		return err
	}
	if !resume && rand.IntN(10) == 0 {
		return records.DeleteChatGroup(ctx, account, group)
	}
	return nil
}

// checkWhole returns an error if the box runs a part of a revision: each version of the config has a prompt and a tool
// of its own, with the same number in their texts, and nothing is left of other versions.
func checkWhole(ctx context.Context, records *store.Store) error {
	account, err := records.Account(ctx, "home")
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	number := map[store.Kind]string{}
	for _, kind := range []store.Kind{store.KindConfig, store.KindPrompt, store.KindTool} {
		all, _, err := records.List(ctx, account.ID, store.ResourceFilter{Kind: kind, AllVersions: true},
			store.Page{Size: 10})
		if err != nil {
			return err
		}
		if len(all) > 1 {
			return fmt.Errorf("the box has %d versions of a %s, want one", len(all), kind)
		}
		if len(all) == 1 {
			if number[kind], err = numberIn(kind, all[0]); err != nil {
				return err
			}
		}
	}
	if number[store.KindConfig] != number[store.KindPrompt] || number[store.KindConfig] != number[store.KindTool] {
		return fmt.Errorf("the box runs parts of several revisions: %v", number)
	}
	return nil
}

// numberIn returns the number that the test has written into a resource.
func numberIn(kind store.Kind, v store.Version) (string, error) {
	var content struct {
		Text        string
		Description string
	}
	err := json.Unmarshal([]byte(v.Content), &content)
	switch kind {
	case store.KindPrompt:
		return content.Text, err
	case store.KindTool:
		return content.Description, err
	}
	return v.Description, err
}
