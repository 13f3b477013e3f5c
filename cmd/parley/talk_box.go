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
	// chatPath is the path of chats.
	chatPath = "/v0/evi/chat"
	// maxFromBox bounds a message of the box: a minute of speech at 48 kHz is 8 MB of
	// base64, and sentences are shorter.
	maxFromBox = 32 << 20
	// warmupTimeout is how long to wait for a box that is still loading its models.
	warmupTimeout = 30 * time.Second
	// talkKeyLife is when a temporary key expires, in case talk is killed before it
	// revokes the key.
	talkKeyLife = 12 * time.Hour
	// sendTimeout bounds the sending of one message: twice the time that a box may take
	// to read it.
	sendTimeout = 20 * time.Second
)

// asked is what a command asks, in the words of errors: a box if it is empty.
type asked string

const aHub asked = "hub"

func (a asked) String() string { return cmp.Or(string(a), "box") }

// command returns the command that starts it.
func (a asked) command() string {
	if a == aHub {
		return "parley hub"
	}
	return "parley serve"
}

// boxTarget is a box to talk to, or a hub.
type boxTarget struct {
	address string // URL of its chats
	local   bool   // its data is on this machine, in the data folder of the settings
	is      asked
}

// web returns the URL of the box over HTTP, without a path.
func (t boxTarget) web() string {
	return "http" + strings.TrimSuffix(strings.TrimPrefix(t.address, "ws"), chatPath)
}

// findBox returns the box at the given URL, else the running box of the data folder,
// else, if there is a key, a box at the address of the settings.
func findBox(given, key string, cfg config.Config, is asked) (boxTarget, error) {
	if strings.TrimSpace(given) == "" {
		url, err := box.Running(cfg.Data)
		if err != nil && !errors.Is(err, fs.ErrPermission) { // it may be another user's box
			return boxTarget{}, err
		}
		switch {
		case url != "":
			address, err := chatAddress(url)
			return boxTarget{address, true, is}, err
		case key == "" && err == nil && store.Exists(cfg.Data):
			return boxTarget{}, fmt.Errorf("the %s of %s does not run: start it with %s --data %[2]s, or "+
				"name another with --url", is, cfg.Data, is.command())
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
	return boxTarget{address, u.Hostname() == "localhost" || ip != nil && ip.IsLoopback(), is}, nil
}

// defaultURL returns the URL of a box with these settings, seen from this machine.
func defaultURL(cfg config.Config) string {
	scheme := "wss://"
	if cfg.TLS.Off() {
		scheme = "ws://"
	}
	return scheme + box.Dialable(cfg.Listen)
}

// chatAddress returns the URL of a box's chats for a URL that the user wrote.
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
		return "", fmt.Errorf("--url %.200q: use ws://HOST:PORT, or wss:// for a box with TLS", given)
	}
	if u.Host == "" {
		return "", fmt.Errorf("--url %.200q has no host: use ws://HOST:PORT", given)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = chatPath
	}
	return u.String(), nil
}

// boxFlags name a box and the key for it.
type boxFlags struct {
	URL string `name:"url" placeholder:"URL" help:"Address of the ${asked} (the ${asked} of the data folder)."`
	CA  string `name:"ca" placeholder:"FILE" predictor:"file" help:"Authority (PEM) to trust besides the system's."`
	Key string `env:"PARLEY_API_KEY" help:"API key (for a ${asked} on this machine, a temporary one)."`

	asks asked
}

// temporaryKey describes the key that a command creates for itself.
type temporaryKey struct {
	account string // empty: the default account
	label   string
	life    time.Duration // when it expires, in case the command is killed before it revokes the key
	role    store.KeyRole // empty: a client's
}

// key returns the key for the box. Without a given key it creates one for a box of this
// machine; revoke revokes that.
func (f boxFlags) key(ctx context.Context, cfg config.Config, box boxTarget, made temporaryKey) (key string,
	revoke func() error, err error) {
	nothing := func() error { return nil }
	if f.Key != "" {
		return f.Key, nothing, nil
	}
	const ask = "pass --key or set PARLEY_API_KEY; parley keys create creates one"
	if !box.local {
		return "", nothing, misuse{fmt.Errorf("there is no key for %s: %s", box.address, ask)}
	}
	key, revoke, err = makeKey(ctx, cfg, made)
	if errors.Is(err, store.ErrNotFound) {
		return "", nothing, fmt.Errorf("there is no key, and %w; or %s", noBox(cfg.Data), ask)
	}
	return key, revoke, err
}

// makeKey creates a key for the box of the data folder; revoke revokes it. The errors are
// those of store.Join.
func makeKey(ctx context.Context, cfg config.Config, wanted temporaryKey) (key string, revoke func() error, err error) {
	nothing := func() error { return nil }
	s, err := store.Join(ctx, cfg.Data)
	if err != nil {
		return "", nothing, err
	}
	if _, err := accountID(ctx, s, wanted.account); err != nil { // CreateKey would create the account
		return "", nothing, errors.Join(err, s.Close())
	}
	made, err := s.CreateKey(ctx, store.NewKey{
		Account:   cmp.Or(wanted.account, "default"),
		Label:     wanted.label,
		Role:      cmp.Or(wanted.role, store.ClientKey),
		ExpiresMS: time.Now().Add(wanted.life).UnixMilli(),
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

// dial opens a chat. It waits for a box that is still loading its models.
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
			return nil, refusal("", address, "the chat", response, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// retryAfter returns when the box asks the client to try again, and whether it does.
func retryAfter(r *http.Response) (time.Duration, bool) {
	if r == nil || r.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	s, err := strconv.Atoi(r.Header.Get("Retry-After"))
	return time.Duration(max(s, 1)) * time.Second, err == nil
}

// refusal returns the error for a chat that was not opened, or for another request.
func refusal(by asked, address, what string, r *http.Response, err error) error {
	if r == nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return fmt.Errorf("nothing listens at %s: start the %s with %s, or name another with --url", address, by,
				by.command())
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
	text, _ := io.ReadAll(io.LimitReader(r.Body, 4096)) // of a socket, the library keeps the beginning
	if json.Unmarshal(text, &body) != nil || body.Message == "" {
		body.Message = body.Error
	}
	if r.StatusCode == http.StatusUnauthorized {
		return fmt.Errorf("the %s at %s refuses the key (401 %s): parley keys create creates a valid one", by, address,
			body.Message)
	}
	return fmt.Errorf("the %s at %s refuses %s (%s): %s", by, address, what, r.Status, body.Message)
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

// received is a message of the box with its time of arrival, or the end of the chat: err
// is io.EOF if the box closed it normally.
type received struct {
	at      time.Time
	message contract.ServerMessage
	err     error
}

// receive sends the box's messages in order, and last the end of the chat.
func (b *chatConn) receive(ctx context.Context, to chan<- received) {
	for {
		_, data, err := b.conn.Read(ctx)
		a := received{at: time.Now()}
		if err != nil {
			a.err = ending(err)
		} else if a.message, err = contract.ParseServerMessage(data); err != nil {
			a.err = fmt.Errorf("the box sent an invalid message: %w", err)
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

// ending returns the error for the end of a chat.
func ending(err error) error {
	closed, ok := errors.AsType[websocket.CloseError](err)
	switch {
	case !ok: // %v, since a box that crashed also leaves an io.EOF, which would count as a normal end
		return fmt.Errorf("the connection to the box broke: %v", err)
	case closed.Code == websocket.StatusNormalClosure:
		return io.EOF
	}
	return fmt.Errorf("the box ended the chat (%d %s)", closed.Code, closed.Reason)
}

// close hangs up.
func (b *chatConn) close() { b.conn.Close(websocket.StatusNormalClosure, "") }
