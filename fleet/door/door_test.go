package door

import (
	"bufio"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"parley/appliance/contract"
	"parley/fleet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stand is a fleet with boxes that answer over HTTP, and a hub with a door.
type stand struct {
	t       *testing.T
	door    *Door
	hub     *httptest.Server
	asked   Request // that of the next request, but for what the path says
	stop    context.CancelFunc
	servers map[string]*httptest.Server
	closed  chan struct{} // receives a value when a socket is over

	mu     sync.Mutex
	boxes  []Box
	groups map[string]string
	chats  map[string]string
	runs   map[string][]string
}

func (s *stand) Boxes() []Box {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.boxes)
}

func (s *stand) BoxesOf(config string) (map[string]bool, bool) {
	all, rolledOut := s.runs[config]
	names := map[string]bool{}
	for _, name := range all {
		names[name] = true
	}
	return names, rolledOut
}

func (s *stand) BoxOfGroup(_ context.Context, _, id string) (string, error) { return s.groups[id], nil }
func (s *stand) BoxOfChat(_ context.Context, _, id string) (string, error)  { return s.chats[id], nil }
func (s *stand) Key(_ context.Context, _, account string) (string, error) {
	return "key of " + account, nil
}

// change changes the state of a box, which the hub sees now.
func (s *stand) change(name string, change func(*Box)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.boxes, func(b Box) bool { return b.Name == name })
	s.boxes[at].Seen = s.door.now()
	change(&s.boxes[at])
}

// open starts a hub with boxes of this name, each with ten seats, which answer with handle.
func open(t *testing.T, o Options, handle func(name string, w http.ResponseWriter, r *http.Request),
	names ...string) *stand {
	s := &stand{
		t:       t,
		asked:   Request{Account: "museum"},
		servers: map[string]*httptest.Server{},
		closed:  make(chan struct{}, 1000),
		groups:  map[string]string{},
		chats:   map[string]string{},
		runs:    map[string][]string{},
	}
	o.Running, s.stop = context.WithCancel(context.Background())
	o.Log = slog.New(slog.DiscardHandler)
	s.door = New(s, o)
	for _, name := range names {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handle(name, w, r)
		}))
		s.servers[name] = server
		s.boxes = append(s.boxes, Box{Name: name, Seen: time.Now(), State: fleet.State{
			Address: server.URL,
			Ready:   true,
			Seats:   10,
		}})
		t.Cleanup(server.Close)
	}
	s.hub = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "of the hub")
		asked := s.asked
		if id, live := strings.CutPrefix(r.URL.Path, "/live/"); live {
			asked.Kind, asked.ID = Live, id
		} else if strings.HasPrefix(r.URL.Path, "/calls/") {
			asked.Kind = Call
		}
		err := s.door.Serve(w, r, asked)
		if r.Header.Get("Upgrade") != "" {
			s.closed <- struct{}{}
		}
		if err != nil {
			status := http.StatusServiceUnavailable
			if _, ok := errors.AsType[contract.ErrNotFound](err); ok {
				status = http.StatusNotFound
			}
			http.Error(w, err.Error(), status)
		}
	}))
	t.Cleanup(func() {
		s.stop()
		s.hub.Close()
		s.door.Close()
	})
	return s
}

// get asks the hub, and returns status, answer and headers.
func (s *stand) get(path string) (int, string, http.Header) {
	s.t.Helper()
	return s.do(http.MethodGet, path, nil, nil)
}

func (s *stand) do(method, path string, h http.Header, body io.Reader) (int, string, http.Header) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.hub.URL+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	for name, values := range h {
		r.Header[name] = values
	}
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := c.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, strings.TrimSpace(string(text)), res.Header
}

// dial opens a socket at the hub.
func (s *stand) dial(path string) *websocket.Conn {
	s.t.Helper()
	c, _, err := websocket.Dial(s.t.Context(), s.hub.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	c.SetReadLimit(-1)
	s.t.Cleanup(func() { _ = c.CloseNow() })
	return c
}

// says answers with the name of the box.
func says(name string, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, name) }

// echo opens a socket, says the name of the box, and sends back what comes.
func echo(name string, w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionNoContextTakeover})
	if err != nil {
		return
	}
	defer c.CloseNow()
	c.SetReadLimit(-1)
	kind, text := websocket.MessageText, []byte(name)
	for err == nil {
		if err = c.Write(r.Context(), kind, text); err == nil {
			kind, text, err = c.Read(r.Context())
		}
	}
}

func read(t *testing.T, c *websocket.Conn) string {
	t.Helper()
	_, text, err := c.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestChatsGoToTheBoxWithTheMostRoom(t *testing.T) {
	s := open(t, Options{}, echo, "a", "b", "c")
	s.change("a", func(b *Box) { b.State.Seats = 3 })
	s.change("b", func(b *Box) { b.State.Seats, b.State.Live = 9, 7 }) // seven that the door does not know
	s.change("c", func(b *Box) { b.State.Seats = 1 })
	placed := map[string][]*websocket.Conn{}
	full := func() {
		t.Helper()
		status, why, h := s.get("/chat")
		if status != http.StatusServiceUnavailable || !strings.Contains(why, "no box of this hub has room") {
			t.Error(status, why, h)
		}
	}
	for range 6 { // without a new state of any box
		c := s.dial("/chat")
		name := read(t, c)
		placed[name] = append(placed[name], c)
	}
	if len(placed["a"]) != 3 || len(placed["b"]) != 2 || len(placed["c"]) != 1 {
		t.Errorf("placed: %v", placed)
	}
	full()
	s.change("a", func(b *Box) { b.State.Live = 2 }) // a state from before the last chat began
	s.change("b", func(b *Box) { b.State.Live = 9 })
	full()
	s.change("a", func(b *Box) { b.State.Live = 3 })
	full()
	s.change("b", func(b *Box) { b.State.Live = 8 }) // one that the door does not know has ended
	if name := read(t, s.dial("/chat")); name != "b" {
		t.Errorf("placed on %q, and b has room again", name)
	}
	full()
	_ = placed["c"][0].Close(websocket.StatusNormalClosure, "")
	<-s.closed
	if name := read(t, s.dial("/chat")); name != "c" {
		t.Errorf("placed on %q, and c has room again", name)
	}
}

// A client that was redirected counts until a state of its box shows its chat.
func TestARedirectedClientCounts(t *testing.T) {
	s := open(t, Options{Mode: Redirect}, says, "a")
	s.asked.Portable = true
	s.change("a", func(b *Box) { b.State.Seats, b.State.Live = 4, 1 })
	check := func(want ...int) {
		t.Helper()
		for _, status := range want {
			if got, text, _ := s.get("/chat"); got != status {
				t.Errorf("%d %s", got, text)
			}
		}
	}
	check(307, 307, 307, 503)
	s.change("a", func(b *Box) { b.State.Live = 2 }) // the first has come
	check(503)
	s.change("a", func(b *Box) { b.State.Live = 4 })
	check(503)
	s.change("a", func(b *Box) { b.State.Live = 3 })
	check(307, 503)
	later := time.Now().Add(placedFor + time.Second) // that one never comes
	s.door.now = func() time.Time { return later }
	s.change("a", func(b *Box) { b.State.Live = 3 })
	check(307, 503)
}

func TestBoxesThatCannotTakeAChatGetNone(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Box)
		why    string
	}{
		"silent":      {func(b *Box) { b.Seen = time.Now().Add(-26 * time.Second) }, "no box of this hub is online"},
		"not ready":   {func(b *Box) { b.State.Ready = false }, "no box of this hub is online and ready"},
		"no address":  {func(b *Box) { b.State.Address = "" }, "no box of this hub is online and ready"},
		"other group": {func(b *Box) { b.Groups = []string{"south"} }, "no box of this hub is online and ready"},
		"full":        {func(b *Box) { b.State.Live = 10 }, "no box of this hub has room for one more"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, Options{Group: "north"}, says, "a")
			s.change("a", func(b *Box) { b.Groups = []string{"north"} })
			if status, text, _ := s.get("/chat"); status != http.StatusOK {
				t.Fatal(status, text)
			}
			s.change("a", c.change)
			if status, text, _ := s.get("/chat"); status != http.StatusServiceUnavailable ||
				!strings.Contains(text, c.why) {
				t.Error(status, text)
			}
		})
	}
}

func TestAChatWithAConfigGoesToABoxThatRunsIt(t *testing.T) {
	s := open(t, Options{}, says, "a", "b")
	s.runs["guide"] = []string{"b"}
	s.runs["new"] = []string{}
	for range 8 {
		if _, box, _ := s.get("/chat?config_id=guide"); box != "b" {
			t.Fatalf("on %q", box)
		}
	}
	status, text, _ := s.get("/chat?config_id=new")
	if status != http.StatusServiceUnavailable || !strings.Contains(text, `config "new" is online`) {
		t.Error(status, text)
	}
	// What no box is to run, any box refuses in its own words.
	if status, text, _ := s.get("/chat?config_id=unknown"); status != 200 {
		t.Error(status, text)
	}
}

func TestAResumedGroupGoesToItsBox(t *testing.T) {
	s := open(t, Options{}, says, "a", "b")
	s.groups["g"] = "b"
	s.change("b", func(b *Box) { b.State.Live = 9 })
	for range 2 { // whether or not the hub thinks that it is full: the box knows better
		if _, box, _ := s.get("/chat?resumed_chat_group_id=g"); box != "b" {
			t.Errorf("on %q", box)
		}
	}
	s.change("b", func(b *Box) { b.State.Ready = false })
	status, text, _ := s.get("/chat?resumed_chat_group_id=g")
	if status != http.StatusServiceUnavailable || !strings.Contains(text, "box b, where this is, is away") {
		t.Error(status, text)
	}
	if status, _, _ := s.get("/chat?resumed_chat_group_id=unknown"); status != 200 {
		t.Error("a box knows what to say of an unknown group, and the answer is", status)
	}
}

func TestLiveChatsAndCallsAreOnTheirBox(t *testing.T) {
	s := open(t, Options{}, func(name string, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.Header().Set("Location", "/calls/1")
			w.WriteHeader(http.StatusCreated)
		}
		fmt.Fprint(w, name)
	}, "a", "b")
	s.chats["c"] = "b"
	for range 4 {
		if _, box, _ := s.get("/live/c"); box != "b" {
			t.Errorf("on %q", box)
		}
	}
	if status, text, _ := s.get("/live/d"); status != http.StatusNotFound {
		t.Error(status, text)
	}
	_, begun, _ := s.do(http.MethodPost, "/chat", nil, strings.NewReader("offer"))
	for range 4 {
		if _, box, _ := s.get("/calls/1"); box != begun {
			t.Errorf("the call began on %q, and goes on on %q", begun, box)
		}
	}
	if status, text, _ := s.get("/calls/2"); status != http.StatusNotFound {
		t.Error(status, text)
	}
}

func TestWorkGoesToTheBoxWithTheLeast(t *testing.T) {
	at, proceed := make(chan string), make(chan struct{})
	s := open(t, Options{}, func(name string, w http.ResponseWriter, _ *http.Request) {
		at <- name
		<-proceed
	}, "a", "b", "c")
	s.asked.Kind = Work
	for _, name := range []string{"a", "b", "c"} {
		s.change(name, func(b *Box) { b.State.Live = 10 }) // no seat is needed
	}
	var all sync.WaitGroup
	seen := map[string]int{}
	for range 6 {
		all.Go(func() { s.get("/speak") })
		seen[<-at]++
	}
	if seen["a"] != 2 || seen["b"] != 2 || seen["c"] != 2 {
		t.Errorf("spread: %v", seen)
	}
	close(proceed)
	all.Wait()
	s.door.mu.Lock()
	defer s.door.mu.Unlock()
	for name, l := range s.door.loads {
		if l.working != 0 {
			t.Errorf("%d requests are still counted at %s", l.working, name)
		}
	}
}

func TestSpeechIsContinuedOnTheBoxThatBeganIt(t *testing.T) {
	const made, unknown = "01a1fe4c-212a-7c63-a4cc-a4d3af997da1", "01a1fe4c-212a-7c63-a4cc-a4d3af997da2"
	var asked atomic.Int64
	s := open(t, Options{}, func(name string, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			asked.Add(1)
			if name != "c" || r.URL.Path != "/v0/tts/generations/"+made+"/file" ||
				r.Header.Get("X-Service-Api-Key") != "key of museum" {
				w.WriteHeader(http.StatusNotFound)
			}
			return
		}
		fmt.Fprint(w, name)
	}, "a", "b", "c", "d")
	s.asked.Kind = Work
	for range 4 {
		body := strings.NewReader(`{"context":{"generation_id":"` + made + `"},"utterances":[{"text":"And then?"}]}`)
		if _, box, _ := s.do(http.MethodPost, "/speak", nil, body); box != "c" {
			t.Errorf("continued on %q", box)
		}
		if _, box, _ := s.get("/speak?context_generation_id=" + made); box != "c" {
			t.Errorf("continued on %q", box)
		}
	}
	if n := asked.Load(); n > 4 {
		t.Errorf("boxes were asked %d times for one generation", n)
	}
	if status, text, _ := s.get("/speak?context_generation_id=" + unknown); status != http.StatusOK {
		t.Error("a box knows what to say of an unknown generation, and the answer is", status, text)
	}
	n := asked.Load()
	if status, _, _ := s.get("/speak?context_generation_id=no-id"); status != http.StatusOK || asked.Load() != n {
		t.Error("boxes were asked for what is no id")
	}
}

func TestAnotherBoxIsAskedIfOneRefusesOrIsDead(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	s := open(t, Options{}, func(name string, w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[name]++
		mu.Unlock()
		switch name {
		case "full":
			w.Header().Set("Retry-After", "7")
			http.Error(w, "full", http.StatusServiceUnavailable)
		case "new":
			http.Error(w, "who is this?", http.StatusUnauthorized)
		default:
			text, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s got %s", name, text)
		}
	}, "full", "new", "dead", "good")
	s.servers["dead"].Close()
	s.change("good", func(b *Box) { b.State.Live = 5 })
	s.change("dead", func(b *Box) { b.State.Live = 9 }) // not among the first three
	status, text, _ := s.do(http.MethodPost, "/chat", nil, strings.NewReader("a body"))
	if status != http.StatusOK || text != "good got a body" {
		t.Error(status, text)
	}
	s.change("good", func(b *Box) { b.State.Live = 10 })
	for range 3 { // the boxes that refused are left alone, and the dead one is tried once
		status, text, _ = s.get("/chat")
		if status != http.StatusServiceUnavailable {
			t.Error(status, text)
		}
	}
	if asked["full"] != 1 || asked["new"] != 1 {
		t.Errorf("asked: %v", asked)
	}
	later := time.Now().Add(avoidFor + time.Second)
	s.door.now = func() time.Time { return later }
	s.change("full", func(b *Box) { b.State.Live = 0 })
	if status, text, h := s.get("/chat"); status != 503 || asked["full"] != 2 {
		t.Error(status, text, h, asked)
	}
}

func TestThreeBoxesAreAskedAtMost(t *testing.T) {
	s := open(t, Options{}, func(name string, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "full: "+name, http.StatusServiceUnavailable)
	}, "a", "b", "c", "d")
	status, text, h := s.get("/chat")
	if status != http.StatusServiceUnavailable || !strings.HasPrefix(text, "full: ") || h.Get("Retry-After") != "7" {
		t.Error(status, text, h)
	}
}

func TestABoxGetsTheHubsKeyAndNothingOfTheClients(t *testing.T) {
	s := open(t, Options{}, func(_ string, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "of the box")
		w.Header().Set("Set-Cookie", "session=of the box")
		w.Header().Set("Content-Security-Policy", "of the box")
		w.Header().Set("X-Request-Id", "of the box")
		fmt.Fprint(w, r.URL.RawQuery, r.Header)
	}, "a")
	_, text, h := s.do(http.MethodGet, "/chat?api_key=SECRET&access_token=SECRET&apiKey=SECRET&voice_id=v", http.Header{
		"X-Service-Api-Key": {"SECRET"}, "X-Hume-Api-Key": {"SECRET"}, "Authorization": {"Bearer SECRET"},
		"Cookie": {"parley-80=SECRET"}, "Origin": {"https://page.example"}, "X-Forwarded-For": {"6.6.6.6"},
		"X-Custom": {"stays"},
	}, nil)
	for _, unwanted := range []string{"SECRET", "page.example", "6.6.6.6"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("the box got %s: %s", unwanted, text)
		}
	}
	for _, wanted := range []string{"voice_id=v", "X-Service-Api-Key:[key of museum]", "X-Custom:[stays]",
		"X-Forwarded-For:[127.0.0.1]", "X-Forwarded-Proto:[http]", "X-Forwarded-Host:["} {
		if !strings.Contains(text, wanted) {
			t.Errorf("the box did not get %s: %s", wanted, text)
		}
	}
	if h.Get("Set-Cookie") != "" || h.Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
		t.Errorf("a browser is told %v", h)
	}
	if h.Get("Access-Control-Allow-Origin") != "" || !slices.Equal(h.Values("X-Request-Id"), []string{"of the box"}) {
		t.Errorf("the answer has %v", h)
	}
}

func TestAPortableClientIsRedirected(t *testing.T) {
	s := open(t, Options{Mode: Redirect}, says, "a")
	if status, text, _ := s.get("/chat?access_token=t"); status != 200 || text != "a" {
		t.Errorf("a client with a token got %d %s", status, text)
	}
	s.asked.Portable = true
	status, _, h := s.get("/chat?api_key=k&voice_id=v")
	if want := s.servers["a"].URL + "/chat?api_key=k&voice_id=v"; status != http.StatusTemporaryRedirect ||
		h.Get("Location") != want {
		t.Error(status, h)
	}
	upgrade := http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}
	_, _, h = s.do(http.MethodGet, "/chat?api_key=k", upgrade, nil)
	if want := "ws" + strings.TrimPrefix(s.servers["a"].URL, "http") + "/chat?api_key=k"; h.Get("Location") != want {
		t.Error(h)
	}
	s.change("a", func(b *Box) { b.State.Live = 10 })
	if status, _, _ := s.get("/chat"); status != http.StatusServiceUnavailable {
		t.Error(status)
	}
}

func TestAClosedDoorSaysSo(t *testing.T) {
	s := open(t, Options{Mode: Off}, says, "a")
	status, text, h := s.get("/chat")
	if status != http.StatusServiceUnavailable || !strings.Contains(text, "hub.door") {
		t.Error(status, text, h)
	}
}

func TestABoxWithItsOwnAuthorityIsTrustedByIt(t *testing.T) {
	s := open(t, Options{}, says, "a")
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		says("secure", w, r)
	}))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer secure.Close()
	s.change("a", func(b *Box) { b.State.Address = secure.URL })
	if status, text, _ := s.get("/chat"); status != http.StatusServiceUnavailable {
		t.Errorf("a stranger's certificate was accepted: %d %s", status, text)
	}
	later := time.Now().Add(avoidFor + time.Second)
	s.door.now = func() time.Time { return later }
	s.change("a", func(b *Box) {
		b.State.Authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	})
	if status, text, _ := s.get("/chat"); status != http.StatusOK || text != "secure" {
		t.Error(status, text)
	}
}

func TestALongBodyPassesThrough(t *testing.T) {
	s := open(t, Options{}, func(_ string, w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, " ", err, " ", r.ContentLength)
	}, "a")
	s.asked.Kind = Work
	const size = 5 << 20
	_, text, _ := s.do(http.MethodPost, "/speak", nil, strings.NewReader(strings.Repeat("x", size)))
	if text != fmt.Sprint(size, " <nil> ", size) {
		t.Error(text)
	}
	_, text, _ = s.do(http.MethodPost, "/speak", nil, io.MultiReader(strings.NewReader("ab")))
	if text != "2 <nil> 2" {
		t.Error(text)
	}
}

func TestASocketPassesBothWays(t *testing.T) {
	s := open(t, Options{}, echo, "a")
	c := s.dial("/chat")
	if name := read(t, c); name != "a" {
		t.Error(name)
	}
	for _, size := range []int{1, 125, 126, 70_000, 1 << 20} {
		want := strings.Repeat("x", size)
		if err := c.Write(t.Context(), websocket.MessageBinary, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, c); got != want {
			t.Errorf("%d bytes came back as %d", size, len(got))
		}
	}
	if err := c.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Error(err)
	}
}

func TestTheReasonOfABoxPasses(t *testing.T) {
	s := open(t, Options{}, func(_ string, w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, nil); err == nil {
			_ = c.Close(4001, "the box says so")
		}
	}, "a")
	c := s.dial("/chat")
	_, _, err := c.Read(t.Context())
	if e := (websocket.CloseError{}); !errors.As(err, &e) || e.Code != 4001 || e.Reason != "the box says so" {
		t.Error(err)
	}
}

// captured stores the connection that a handler takes over.
type captured struct {
	http.ResponseWriter
	conn net.Conn
}

func (c *captured) Hijack() (conn net.Conn, rw *bufio.ReadWriter, err error) {
	conn, rw, err = http.NewResponseController(c.ResponseWriter).Hijack()
	c.conn = conn
	return conn, rw, err
}

// holding opens a socket on which nothing happens, and gives its connection to conns.
func holding(conns chan<- net.Conn) func(string, http.ResponseWriter, *http.Request) {
	return func(_ string, w http.ResponseWriter, r *http.Request) {
		c := &captured{ResponseWriter: w}
		if _, err := websocket.Accept(c, r, nil); err == nil {
			conns <- c.conn
		}
	}
}

func closedWith(t *testing.T, c *websocket.Conn, code websocket.StatusCode, reason string) {
	t.Helper()
	_, _, err := c.Read(t.Context())
	if e := (websocket.CloseError{}); !errors.As(err, &e) || e.Code != code || !strings.HasPrefix(e.Reason, reason) {
		t.Errorf("closed with %v", err)
	}
}

func TestASocketSaysWhyTheDoorClosesIt(t *testing.T) {
	lost, lose := context.WithCancelCause(context.Background())
	for name, c := range map[string]struct {
		cut    func(s *stand, box net.Conn)
		code   websocket.StatusCode
		reason string
	}{
		"the box dies": {func(_ *stand, box net.Conn) {
			_ = box.(*net.TCPConn).SetLinger(0) // as the kernel does when it ends the process
			_ = box.Close()
		}, CloseBoxGone, "box a is gone; resume the chat group in some seconds"},
		"the hub stops": {func(s *stand, _ net.Conn) { s.stop() }, CloseRestart, "the hub restarts"},
		"the key is revoked": {func(*stand, net.Conn) { lose(contract.ErrUnauthorized{Why: "the key was revoked"}) },
			contract.ClosePolicy, "the key was revoked"},
	} {
		t.Run(name, func(t *testing.T) {
			conns := make(chan net.Conn, 1)
			s := open(t, Options{}, holding(conns), "a")
			if name == "the key is revoked" {
				s.asked.Lost = lost
			}
			client := s.dial("/chat")
			box := <-conns
			defer box.Close()
			c.cut(s, box)
			closedWith(t, client, c.code, c.reason)
		})
	}
}

func TestABoxThatFallsSilentIsGone(t *testing.T) {
	conns := make(chan net.Conn, 1)
	s := open(t, Options{}, holding(conns), "a")
	s.door.silence = 50 * time.Millisecond
	client := s.dial("/chat")
	defer (<-conns).Close()
	closedWith(t, client, CloseBoxGone, "box a is gone")
}

// A frame that the box has not finished cannot be followed by another one.
func TestAHalfFrameIsFollowedByNothing(t *testing.T) {
	conns := make(chan net.Conn, 1)
	s := open(t, Options{}, holding(conns), "a")
	client := s.dial("/chat")
	box := <-conns
	if _, err := box.Write([]byte{0x81, 126, 1, 0, 'x'}); err != nil { // one byte of 256
		t.Fatal(err)
	}
	_ = box.Close()
	if _, _, err := client.Read(t.Context()); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("ended with %v", err)
	}
}

// A client that takes nothing is cut off, and the door holds little for it meanwhile.
func TestAClientThatTakesNothingIsCutOff(t *testing.T) {
	sent := make(chan int)
	s := open(t, Options{}, func(_ string, w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		n := 0
		for piece := make([]byte, 64<<10); err == nil; n += len(piece) {
			err = c.Write(r.Context(), websocket.MessageBinary, piece)
		}
		sent <- n
	}, "a")
	s.door.stall = 300 * time.Millisecond
	conn, err := net.Dial("tcp", s.hub.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(8 << 10)
	fmt.Fprintf(conn, "GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	// The systems of box and hub hold some megabytes on the loopback device, however small the door's own buffers are.
	if n := <-sent; n > 16<<20 {
		t.Errorf("the box sent %d bytes to a client that took none", n)
	}
}

func TestManyIdleSocketsAreCheap(t *testing.T) {
	const sockets = 200
	s := open(t, Options{}, echo, "a")
	s.change("a", func(b *Box) { b.State.Seats = sockets })
	var all []*websocket.Conn
	for range sockets {
		c := s.dial("/chat")
		read(t, c)
		all = append(all, c)
	}
	for _, c := range all {
		if err := c.Write(t.Context(), websocket.MessageText, []byte("still there?")); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range all {
		if got := read(t, c); got != "still there?" {
			t.Fatal(got)
		}
		_ = c.CloseNow()
	}
}
