package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

const (
	// openersAtOnce is how many callers connect at a time.
	openersAtOnce = 8
	// filesBeside is how many files the box and the bench have open besides the
	// sockets of chats.
	filesBeside = 256
	// idleLimitKB is what an idle chat may take of memory, in KiB: a thousand of
	// them are 64 MiB.
	idleLimitKB = 64
)

// idleChats opens chats in which nobody says anything, as pages do that wait for
// somebody to type, and watches what they cost.
func (r *Report) idleChats(ctx context.Context, o Options) (err error) {
	n, note := filesFor(o.IdleChats)
	o.say("starting a box for %d idle chats", n)
	o.seats = n
	s, err := startStandIn() // nobody thinks: an embedded model would only be loaded
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	o.Serve = append(append([]string(nil), o.Serve...), "--openai", s.address, "--openai-model", standInModel,
		"--connections", "0", "--requests-per-second", "0")
	b, err := startBox(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.stop()) }()
	if _, err := untilIdle(ctx, b.pid, settling); err != nil {
		return err
	}
	status := "/proc/" + strconv.Itoa(b.pid) + "/status"
	before, own := kilobytes(status, "VmRSS"), kilobytes(status, "RssAnon")
	alone, err := cpuShare(ctx, b.pid, o.Idle)
	if err != nil {
		return err
	}
	begun := time.Now()
	conns, err := b.place.openIdle(ctx, n, func(done int) { o.say("%d of %d idle chats are open", done, n) })
	defer func() {
		for _, c := range conns {
			_ = c.CloseNow()
		}
	}()
	if err != nil {
		return err
	}
	opened := time.Since(begun)
	if _, err := untilIdle(ctx, b.pid, settling); err != nil {
		return err
	}
	o.say("watching %d idle chats for %v", n, o.Idle)
	share, err := cpuShare(ctx, b.pid, o.Idle)
	if err != nil {
		return err
	}
	r.figure("idle_chats", float64(n), "", "text chats open at once in which nothing is said"+note)
	r.figure("idle_chats_opened", float64(n)/opened.Seconds(), "1/s",
		fmt.Sprintf("%d at a time, each until its chat_metadata", openersAtOnce))
	r.against("idle_chat_memory", (kilobytes(status, "VmRSS")-before)/float64(n), "KiB", idleLimitKB,
		"resident memory that they added, for each; the limit")
	r.figure("idle_chat_memory_own", (kilobytes(status, "RssAnon")-own)/float64(n), "KiB", "of it, no file's pages")
	r.figure("idle_chats_processor", 100*share, "% of a core", fmt.Sprintf("all of them together, over %v", o.Idle))
	r.figure("idle_box_processor", 100*alone, "% of a core", "before the first was opened")
	return nil
}

// filesFor is how many chats this process can open a socket for, at most so many,
// and what is to be said about it. Go has raised the limit to what the system lets
// a process have.
func filesFor(n int) (most int, note string) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= uint64(n+filesBeside) {
		return n, ""
	}
	most = max(1, int(limit.Cur)-filesBeside)
	return most, fmt.Sprintf("; %d were asked for, but a process may have %d files open here (ulimit -Hn)", n,
		limit.Cur)
}

// openIdle opens chats and returns them when each has begun.
func (p place) openIdle(ctx context.Context, n int, far func(done int)) ([]*websocket.Conn, error) {
	conns := make([]*websocket.Conn, 0, n)
	opened := make(chan *websocket.Conn)
	opening, ctx := errgroup.WithContext(ctx)
	opening.SetLimit(openersAtOnce)
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		for c := range opened {
			if conns = append(conns, c); len(conns)%500 == 0 {
				far(len(conns))
			}
		}
	}()
	for range n {
		opening.Go(func() error {
			c, err := p.openOne(ctx)
			if c != nil {
				opened <- c
			}
			return err
		})
	}
	err := opening.Wait()
	close(opened)
	<-collected
	return conns, err
}

// openOne opens a chat and reads its first message.
func (p place) openOne(ctx context.Context) (*websocket.Conn, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err // another could not be opened
	}
	opening, cancel := context.WithTimeout(ctx, chatBegins)
	defer cancel()
	c, _, err := websocket.Dial(opening, p.address, &websocket.DialOptions{
		HTTPClient: p.client, HTTPHeader: http.Header{"X-Service-Api-Key": {p.key}},
	})
	if err != nil {
		return nil, fmt.Errorf("opening an idle chat: %w", err)
	}
	if _, _, err := c.Read(opening); err != nil {
		return c, fmt.Errorf("the first message of an idle chat: %w", err)
	}
	return c, nil
}
