package chat

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/store"
)

// aGroup is a history with one group, which has one chat at a time.
type aGroup struct {
	*fakes
	mu   sync.Mutex
	goes bool
}

func (g *aGroup) StartChat(context.Context, store.NewChat, ...store.Event) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.goes {
		return store.ErrActive
	}
	g.goes = true
	return nil
}

func (g *aGroup) EndChat(context.Context, string, store.Status, int64, ...store.Event) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.goes = false
	return nil
}

// A client that reconnects before the box is done with the end of its chat continues the group. A client that
// comes while the group has a running chat is refused soon.
func TestAClientThatReconnectsAtOnceContinues(t *testing.T) {
	for name, leaves := range map[string]bool{"leaves": true, "stays": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &aGroup{fakes: newFakes()}
				h := hostOf(g, func(p *Parts) { p.MaxChats = 2 })
				connect := contract.ConnectSettings{ResumedChatGroupID: "g"}
				first := begin(t, h, connection.Opening{Line: g, Settings: connect})
				if leaves {
					time.AfterFunc(hangUpLimit/2, first.HangUp)
				}
				start := time.Now()
				second, err := enter(t, h, connection.Opening{Line: newFakes(), Settings: connect})
				fault, isFault := errors.AsType[contract.Fault](err)
				switch {
				case leaves && err != nil:
					t.Errorf("the second client is refused: %v", err)
				case !leaves && (!isFault || fault.Code != contract.GroupActive):
					t.Errorf("the second client gets %v, want the fault GroupActive", err)
				}
				if took := time.Since(start); took > hangUpLimit {
					t.Errorf("connecting takes %v", took)
				}
				if second != nil {
					second.HangUp()
					<-second.Done()
				}
				first.HangUp()
				<-first.Done()
				if err := h.Stop(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
