package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/plugins/manifest"
	"parley/plugins/registry"
	"parley/plugins/sandbox"
	"parley/store"
)

const (
	// endTries is how often the hook of a plugin is tried for the end of one chat, and
	// endRetryAfter the time between tries: a server that the plugin talks to may be back
	// in a minute, and what failed three times fails for good.
	endTries      = 3
	endRetryAfter = time.Minute
	// endRetryFor is how long after the end of a chat the hook of a paused plugin is still
	// tried: as long as a webhook.
	endRetryFor = store.WebhookPatience
)

// endHooks calls the on_chat_end hooks of plugins, one after the other. The pending calls
// are in the store, so a crash or a restart only delays them.
type endHooks struct {
	records *store.Store
	plugins *Plugins
	log     *slog.Logger
}

// RunEndHooks calls the hooks for chats of records that have ended, until stop is called.
// stop waits for the running call.
func (p *Plugins) RunEndHooks(ctx context.Context, records *store.Store) (stop func()) {
	e := endHooks{records, p, p.log}
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		e.run(ctx)
	}()
	return func() {
		cancel()
		<-over
	}
}

func (e endHooks) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-e.records.EndCallsChanged():
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		if wait := e.runDue(ctx); wait > 0 {
			timer.Reset(wait)
		}
	}
}

// runDue makes all calls that are due, and returns the time until the next one; 0 if there
// is none.
func (e endHooks) runDue(ctx context.Context) time.Duration {
	for {
		next, err := e.records.NextEndCall(ctx)
		switch wait := time.Until(time.UnixMilli(next.DueMS)); {
		case ctx.Err() != nil || errors.Is(err, store.ErrNotFound):
			return 0
		case err != nil:
			e.log.Error("cannot read the pending hook calls", "err", err)
			return endRetryAfter
		case wait > 0:
			return wait
		}
		if err := e.runOne(ctx, next); err != nil && ctx.Err() == nil {
			e.log.Error("cannot store the outcome of a hook call", "err", err)
			return endRetryAfter
		}
	}
}

// runOne makes one call, and stores its outcome.
func (e endHooks) runOne(ctx context.Context, next store.EndCall) error {
	err := e.call(ctx, next)
	if ctx.Err() != nil {
		return nil // the box stops; the call is made after the next start
	}
	var broken registry.ErrBroken
	var gone registry.ErrNotInstalled
	log := e.log.With("plugin", next.Plugin, "chat", next.ChatID)
	switch {
	case err == nil:
	case errors.As(err, &gone): // the plugin was removed
	case errors.As(err, &broken) && time.Since(chatEnd(next)) < endRetryFor:
		return e.records.DelayEndCall(ctx, next.Num, max(broken.Until.UnixMilli(), time.Now().UnixMilli()+1000), false)
	case next.Tries+1 < endTries:
		log.Warn("hook for the end of a chat failed; trying again", "err", err)
		return e.records.DelayEndCall(ctx, next.Num, time.Now().Add(endRetryAfter).UnixMilli(), true)
	default:
		log.Error("hook for the end of a chat failed for good", "err", err)
	}
	return e.records.DropEndCall(ctx, next.Num)
}

// chatEnd returns when the chat ended.
func chatEnd(c store.EndCall) time.Time {
	var body contract.ChatEndCall
	if json.Unmarshal([]byte(c.Body), &body) != nil {
		return time.Time{}
	}
	return time.UnixMilli(body.EndTime)
}

// call calls the hook. It recovers from a panic, which would end the box, and again after
// each start, because the call is still pending then.
func (e endHooks) call(ctx context.Context, next store.EndCall) (err error) {
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("panic while calling the hook for the end of a chat",
				"plugin", next.Plugin, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errors.New("internal error of the box")
		}
	}()
	sees, err := e.plugins.registry.Sees(ctx, next.Plugin)
	if err != nil {
		return err
	}
	var body contract.ChatEndCall
	if err := json.Unmarshal([]byte(next.Body), &body); err != nil {
		return fmt.Errorf("the stored parameters: %w", err)
	}
	who := registry.Origin{Account: next.AccountID, Chat: next.ChatID}
	if sees.Sees(manifest.Transcript) {
		said, err := e.conversation(ctx, next.ChatID)
		if err != nil {
			return err
		}
		if said != nil {
			who.Conversation = said
			if body.Transcript, err = said.Transcript(ctx, sees.Sees(manifest.Expression)); err != nil {
				return err
			}
		}
	}
	parameters, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = e.plugins.call(ctx, func() (sandbox.Result, error) {
		return e.plugins.registry.CallHook(ctx, who, next.Plugin, manifest.OnChatEnd, parameters)
	})
	return err
}

// conversation returns the newest part of what was said in a chat; nil if it is not stored,
// or was deleted.
func (e endHooks) conversation(ctx context.Context, chatID string) (conversation, error) {
	const each = 100
	events, total, err := e.records.Events(ctx, chatID, store.Page{Size: each, Descending: true})
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	var pages [][]store.Event
	for number, size := 0, 0; err == nil && len(events) > 0 && size < maxConversation; number++ {
		pages = append(pages, events)
		for _, event := range events {
			size += len(event.MessageText)
		}
		if (number+1)*each >= total {
			break
		}
		events, _, err = e.records.Events(ctx, chatID, store.Page{Number: number + 1, Size: each, Descending: true})
	}
	if err != nil {
		return nil, err
	}
	all := slices.Concat(pages...)
	slices.Reverse(all)
	return entries(all), nil
}

// entries converts events, oldest first, to the conversation.
func entries(events []store.Event) conversation {
	said := conversation{}
	for _, event := range events {
		switch event.Type {
		case store.UserMessage:
			line := turn.Entry{Role: turn.User, Text: event.MessageText}
			var scores contract.EmotionScores
			if event.EmotionFeatures != "" && json.Unmarshal([]byte(event.EmotionFeatures), &scores) == nil {
				line.Scores = &scores
			}
			said = append(said, line)
		case store.AgentMessage:
			said = append(said, turn.Entry{Role: turn.Assistant, Text: event.MessageText})
		}
	}
	return said
}
