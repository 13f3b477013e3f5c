package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/box"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/store"
)

const (
	// chatPath is where a box takes chats.
	chatPath = "/v0/evi/chat"
	// maxFromBox bounds a message of the box: a minute of speech at 48 kHz is
	// 8 MB of base64, and sentences are shorter than that.
	maxFromBox = 32 << 20
	// warmupTimeout is how long a box that is still loading its models is waited for.
	warmupTimeout = 30 * time.Second
	// talkKeyLife is when the key that was made for one talk is forgotten, should
	// talk be killed before it gives the key back.
	talkKeyLife = 12 * time.Hour
	// sendTimeout bounds one message on its way: twice what a box may take to read.
	sendTimeout = 20 * time.Second
)

// addAssistant is a box that can be talked to.
type boxTarget struct {
	address string // of its chats
	local   bool   // its data lies on this machine, in the folder of the settings
}

// findBox returns the box at the URL that a person wrote; else the one that runs
// on the data folder of the settings; else what would listen where the settings
// say, if there is a key for it.
func findBox(given, key string, cfg config.Config) (boxTarget, error) {
	if strings.TrimSpace(given) == "" {
		url, err := box.Running(cfg.Data)
		if err != nil && !errors.Is(err, fs.ErrPermission) { // the box may be another user's
			return boxTarget{}, err
		}
		switch {
		case url != "":
			address, err := chatAddress(url)
			return boxTarget{address, true}, err
		case key == "" && err == nil && store.Exists(cfg.Data):
			return boxTarget{}, fmt.Errorf("no box listens that has its data in %s: start it with parley serve --data "+
				"%s, or name another with --url", cfg.Data, cfg.Data)
		}
		given = defaultURL(cfg)
	}
	address, err := chatAddress(given)
	if err != nil {
		return boxTarget{}, misuse{err}
	}
	u, err := url.Parse(address)
	if err != nil {
		return boxTarget{}, misuse{err}
	}
	ip := net.ParseIP(u.Hostname())
	return boxTarget{address, u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()}, nil
}

// defaultURL is the URL at which a box with these settings is found from here.
func defaultURL(cfg config.Config) string {
	scheme := "wss://"
	if cfg.TLS.Off() {
		scheme = "ws://"
	}
	return scheme + box.Dialable(cfg.Listen)
}

// chatAddress is the address of a box's chats, from what a person wrote.
func chatAddress(given string) (string, error) {
	given = strings.TrimSpace(given)
	if !strings.Contains(given, "://") {
		given = "ws://" + given
	}
	u, err := url.Parse(given)
	if err != nil {
		return "", fmt.Errorf("--url %.200q: %w", given, err)
	}
	switch u.Scheme {
	case "http":
		u.Scheme = "ws"
	case "https":
		u.Scheme = "wss"
	case "ws", "wss":
	default:
		return "", fmt.Errorf("--url %.200q: use ws://HOST:PORT, or wss:// where the box has a certificate", given)
	}
	if u.Host == "" {
		return "", fmt.Errorf("--url %.200q names no host: use ws://HOST:PORT", given)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = chatPath
	}
	return u.String(), nil
}

// key returns the key for the box. Where none is given and the box's data lies
// on this machine, one is made; revokeKey revokes it again.
func (cmd *talkCmd) key(ctx context.Context, cfg config.Config, box boxTarget) (key string, giveBack func() error,
	err error) {
	nothing := func() error { return nil }
	if cmd.Key != "" {
		return cmd.Key, nothing, nil
	}
	const ask = "pass --key or set PARLEY_API_KEY; parley keys create makes one"
	if !box.local {
		return "", nothing, misuse{fmt.Errorf("no key for %s: %s", box.address, ask)}
	}
	key, giveBack, err = makeKey(ctx, cfg, "", "parley talk", talkKeyLife)
	if errors.Is(err, store.ErrNotFound) {
		return "", nothing, fmt.Errorf("no key, and %w; or %s", noBox(cfg.Data), ask)
	}
	return key, giveBack, err
}

// makeKey makes a client's key of an account, the default one for an empty name,
// for the box whose data lies in the folder of the settings; revokeKey revokes it.
// Where the command is killed before, the key is forgotten after life. The errors
// are those of store.Join.
func makeKey(ctx context.Context, cfg config.Config, of, label string, life time.Duration) (key string,
	giveBack func() error, err error) {
	nothing := func() error { return nil }
	s, err := store.Join(ctx, cfg.Data)
	if err != nil {
		return "", nothing, err
	}
	if _, err := accountID(ctx, s, of); err != nil { // which CreateKey would make
		return "", nothing, errors.Join(err, s.Close())
	}
	made, err := s.CreateKey(ctx, store.NewKey{
		Account:   cmp.Or(of, "default"),
		Label:     label,
		Role:      store.ClientKey,
		ExpiresMS: time.Now().Add(life).UnixMilli(),
	})
	if err != nil {
		return "", nothing, errors.Join(err, s.Close())
	}
	return made.APIKey, func() error {
		return errors.Join(s.RevokeKey(context.WithoutCancel(ctx), made.KeyID), s.Close())
	}, nil
}

// chatConn is a chat with a box. One goroutine receives; any may send.
type chatConn struct{ conn *websocket.Conn }

// dial opens a chat. A box that is still loading its models is waited for.
func dial(ctx context.Context, client *http.Client, address, key string, query url.Values) (*chatConn, error) {
	if len(query) > 0 {
		separator := "?"
		if strings.Contains(address, "?") {
			separator = "&"
		}
		address += separator + query.Encode()
	}
	begun := time.Now()
	for {
		conn, response, err := websocket.Dial(ctx, address, &websocket.DialOptions{
			HTTPClient: client,
			HTTPHeader: http.Header{"X-Service-Api-Key": {key}},
		})
		if err == nil {
			conn.SetReadLimit(maxFromBox)
			return &chatConn{conn}, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		wait, busy := retryAfter(response)
		if !busy || time.Since(begun)+wait > warmupTimeout {
			return nil, refusal(address, response, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// retryAfter tells whether the box asks to come back, and when.
func retryAfter(r *http.Response) (time.Duration, bool) {
	if r == nil || r.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	s, err := strconv.Atoi(r.Header.Get("Retry-After"))
	return time.Duration(max(s, 1)) * time.Second, err == nil
}

// refusal says why there is no chat.
func refusal(address string, r *http.Response, err error) error {
	if r == nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return fmt.Errorf("nobody answers at %s: start the box with parley serve, or name another with --url",
				address)
		}
		if why := untrustedError(address, err); why != nil {
			return why
		}
		return fmt.Errorf("connecting to %s: %w", address, err)
	}
	var body struct {
		Message string `json:"message"`
		Error   string `json:"error"`
	}
	text, _ := io.ReadAll(io.LimitReader(r.Body, 4096)) // the library keeps the beginning
	if json.Unmarshal(text, &body) != nil || body.Message == "" {
		body.Message = body.Error
	}
	if r.StatusCode == http.StatusUnauthorized {
		return fmt.Errorf("the box at %s refuses the key (401 %s): parley keys create makes a good one", address,
			body.Message)
	}
	return fmt.Errorf("the box at %s refuses the chat (%s): %s", address, r.Status, body.Message)
}

// send sends one message.
func (b *chatConn) send(ctx context.Context, m contract.ClientMessage) error {
	data, err := contract.Marshal(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if err := b.conn.Write(ctx, websocket.MessageText, data); err != nil {
		return fmt.Errorf("sending to the box: %w", err)
	}
	return nil
}

// received is a message of the box and when it came, or how the chat ended:
// err is io.EOF when the box ended it as agreed.
type received struct {
	at      time.Time
	message contract.ServerMessage
	err     error
}

// receive hands over the box's messages in order and, last, how the chat ended.
func (b *chatConn) receive(ctx context.Context, to chan<- received) {
	for {
		_, data, err := b.conn.Read(ctx)
		a := received{at: time.Now()}
		if err != nil {
			a.err = ending(err)
		} else if a.message, err = contract.ParseServerMessage(data); err != nil {
			a.err = fmt.Errorf("the box sent what is no message of a chat: %w", err)
		}
		select {
		case to <- a:
		case <-ctx.Done():
			return
		}
		if a.err != nil {
			return
		}
	}
}

// ending says how a chat ended.
func ending(err error) error {
	closed, ok := errors.AsType[websocket.CloseError](err)
	switch {
	case !ok: // %v: what a box leaves that dies is an io.EOF too, and that is no end as agreed
		return fmt.Errorf("the connection to the box broke: %v", err)
	case closed.Code == websocket.StatusNormalClosure:
		return io.EOF
	}
	return fmt.Errorf("the box ended the chat (%d %s)", closed.Code, closed.Reason)
}

// close hangs up.
func (b *chatConn) close() { b.conn.Close(websocket.StatusNormalClosure, "") }
