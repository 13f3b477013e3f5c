package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"parley/appliance/chat/record"
	"parley/appliance/chat/turn"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/store"
)

// Records starts, writes and reads the history of chats.
type Records interface {
	record.Records
	StartChat(ctx context.Context, c store.NewChat, first ...store.Event) error
	GroupHistory(ctx context.Context, groupID string, limit int) ([]store.Event, error)
}

// Open begins a conversation on the slot. If it fails, the slot is released. A contract.Fault is an error
// for the client.
func (s *Slot) Open(ctx context.Context, o connection.Opening) (*Session, error) {
	var c *Session
	var opened turn.Opened
	var err error
	if crash := catchPanic(s.host.Log, func() { c, opened, err = s.host.begin(ctx, o) }); crash != nil {
		err = crash
	}
	if err != nil {
		s.Release()
		return nil, err
	}
	s.host.register(c)
	if s.host.Plugins != nil { // they may have changed since its settings were made
		c.setPlugins(s.host.Plugins.Installed())
	}
	s.host.sessions.Go(func() {
		defer s.Release()
		defer s.host.releaseGroup(c)
		c.run(s.host.ctx, opened)
	})
	return c, nil
}

// begin makes the session of a new chat and records that the chat has begun.
func (h *Host) begin(ctx context.Context, o connection.Opening) (*Session, turn.Opened, error) {
	o.RequestID = cmp.Or(o.RequestID, contract.NewID())
	s, err := h.setUp(ctx, o)
	if err != nil {
		return nil, turn.Opened{}, err
	}
	b := h.newChat(o, s)
	if err := h.recordStart(ctx, b); err != nil {
		return nil, turn.Opened{}, startFault(err, b.meta.ChatGroupID, b.resumed)
	}
	ready := false
	defer func() {
		if !ready {
			h.retry(h.Log.With("chat", b.meta.ChatID), "record the end of a chat that could not begin",
				func(ctx context.Context) error {
					return b.storage.records.EndChat(ctx, b.meta.ChatID, store.Failed, b.begun.UnixMilli())
				})
		}
	}()
	if b.resumed {
		if b.history, err = h.groupHistory(ctx, b.meta.ChatGroupID, o.Settings.EventLimit); err != nil {
			return nil, turn.Opened{}, err
		}
	}
	c := h.newSession(b)
	c.warnUnset()
	c.log.Info("chat begins", "account", o.Account, "resumed", b.resumed, "config", s.config.ID)
	ready = true
	return c, turn.Opened{Metadata: b.meta, Requested: s.requested, Silent: o.Silent}, nil
}

// newChat is everything that is known of a chat when it begins.
type newChat struct {
	meta    contract.ChatMetadata
	opening connection.Opening
	setup   setup
	storage storage
	begun   time.Time
	resumed bool         // it continues a chat group
	history []turn.Entry // of the group
}

func (h *Host) newChat(o connection.Opening, s setup) newChat {
	group := o.Settings.ResumedChatGroupID
	return newChat{
		meta: contract.ChatMetadata{
			ChatID:      contract.NewID(),
			ChatGroupID: cmp.Or(group, contract.NewID()),
			RequestID:   o.RequestID,
		},
		opening: o,
		setup:   s,
		storage: h.storageFor(o),
		begun:   time.Now(),
		resumed: group != "",
	}
}

// notifications returns the notifications of the chat.
func (n newChat) notifications() record.Notifications {
	return record.Notifications{
		ChatID:          n.meta.ChatID,
		GroupID:         n.meta.ChatGroupID,
		ConfigID:        n.setup.config.ID,
		CustomSessionID: n.setup.settings.CustomSessionID,
		Resumed:         n.resumed,
		Hooks:           n.setup.webhooks,
		EndCalls:        n.setup.settings.EndHooks,
		Call:            n.opening.Call,
	}
}

// recordStart records that the chat has begun. If its group has a chat that is ending, it waits for the end.
func (h *Host) recordStart(ctx context.Context, b newChat) error {
	notify := b.notifications()
	chat := store.NewChat{
		ID:              b.meta.ChatID,
		GroupID:         b.meta.ChatGroupID,
		Resume:          b.resumed,
		AccountID:       b.opening.Account,
		Config:          b.setup.config,
		StartedMS:       b.begun.UnixMilli(),
		RequestID:       b.meta.RequestID,
		CustomSessionID: b.setup.settings.CustomSessionID,
		Metadata:        b.setup.metadata,
		Recorded:        b.storage.recordings != nil,
		Webhooks:        notify.AtStart(b.begun),
		EndCalls:        notify.AtEnd(b.begun),
	}
	err := b.storage.records.StartChat(ctx, chat)
	if errors.Is(err, store.ErrActive) && h.waitForGroup(ctx, b.meta.ChatGroupID) {
		err = b.storage.records.StartChat(ctx, chat)
	}
	return err
}

// storage is where a conversation and its sound are stored. recordings is nil if the sound is not recorded.
type storage struct {
	records    Records
	recordings Recordings
}

// storageFor returns the storage for a chat.
func (h *Host) storageFor(o connection.Opening) storage {
	switch {
	case o.Settings.NoHistory:
		return storage{record.Unrecorded{Outbox: h.Outbox}, nil}
	case o.Unrecorded:
		return storage{h.Records, nil}
	}
	return storage{h.Records, h.Recordings}
}

// startFault returns the fault for a client whose chat cannot begin.
func startFault(err error, group string, resumed bool) error {
	switch {
	case resumed && errors.Is(err, store.ErrNotFound):
		return contract.Fault{Code: contract.GroupNotFound,
			Detail: fmt.Sprintf("resumed_chat_group_id: no chat group %q", group)}
	case errors.Is(err, record.ErrUnrecorded):
		return contract.Fault{Code: contract.NoDataRetention}
	case errors.Is(err, store.ErrActive):
		return contract.Fault{Code: contract.GroupActive,
			Detail: "End the chat that is live before resuming its group."}
	}
	return fmt.Errorf("beginning a chat: %w", err)
}

// groupHistory returns what was said in a chat group so far.
func (h *Host) groupHistory(ctx context.Context, group string, limit int) ([]turn.Entry, error) {
	if limit == 0 || limit > contract.MaxResumedEvents {
		limit = contract.MaxResumedEvents
	}
	events, err := h.Records.GroupHistory(ctx, group, limit)
	if err != nil {
		return nil, fmt.Errorf("resuming a chat group: %w", err)
	}
	return record.History(events), nil
}
