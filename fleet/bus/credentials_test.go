package bus_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/fleet/bus"
	"parley/fleet/fleettest"
	"parley/fleet/server"
)

// writeJoin writes a join file and reads it, as a box does.
func writeJoin(t *testing.T, j bus.Join) bus.Join {
	t.Helper()
	text, err := j.Text()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), j.Box+".join")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if j, err = bus.ReadJoin(file); err != nil {
		t.Fatal(err)
	}
	return j
}

// refused dials until there is a reason that has these words.
func refused(t *testing.T, j bus.Join, words ...string) {
	t.Helper()
	b, err := bus.Dial(j, bus.Options{Log: fleettest.Log(t), Soonest: time.Hour, Latest: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	select {
	case <-b.Changed():
	case <-bounded(t).Done():
		t.Fatal("nothing changes")
	}
	ok, why := b.Connected()
	for _, w := range words {
		if ok || !strings.Contains(why, w) {
			t.Errorf("connected: %v, %q does not say %q", ok, why, w)
		}
	}
}

func TestRevokedBoxIsPutOutAtOnce(t *testing.T) {
	onTheServers(t, func(t *testing.T, f *fleettest.Fleet) {
		h, other := f.Hub(t), f.Box(t, f.Join(t, "museum-2"))
		j := writeJoin(t, f.Join(t, "museum-1"))
		b := f.Box(t, j)
		key, err := j.Key()
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Trust.Revoke(key); err != nil {
			t.Fatal(err)
		}
		if err := h.PushAccount(bounded(t)); err != nil {
			t.Fatal(err)
		}
		why := fleettest.WaitFor(t, b, false)
		if !strings.Contains(why, "refuses the credentials in /") || !strings.Contains(why, "they were revoked") ||
			!strings.Contains(why, `"parley hub boxes museum-1 --join"`) {
			t.Errorf("why: %s", why)
		}
		refused(t, j, "they were revoked")
		if ok, why := other.Connected(); !ok {
			t.Errorf("the other box is put out too: %s", why)
		}
		f.Box(t, f.Join(t, "museum-1")) // with new credentials
	})
}

// The hub tells a server of which it does not know what that has been told.
func TestRevocationReachesAServerThatWasAway(t *testing.T) {
	f := fleettest.StartProcess(t, fleettest.Stock)
	j := f.Join(t, "museum-1")
	f.Box(t, j).Close()
	f.Kill(t)
	key, err := j.Key()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Trust.Revoke(key); err != nil {
		t.Fatal(err)
	}
	f.Restart(t)
	f.Hub(t)
	refused(t, j, "they were revoked")
	f.Kill(t)
	f.Restart(t)
	refused(t, j, "they were revoked") // the server has stored it, and needs no hub
}

func TestBoxSaysWhyItIsNotConnected(t *testing.T) {
	onTheServers(t, func(t *testing.T, f *fleettest.Fleet) {
		expires := time.Now().Add(2 * time.Second)
		u, err := f.Trust.Box("museum-1", expires)
		if err != nil {
			t.Fatal(err)
		}
		j := f.Join(t, "museum-1")
		expiring := j
		expiring.JWT, expiring.Seed = u.JWT, u.Seed
		if why := fleettest.WaitFor(t, f.Box(t, expiring), false); !strings.Contains(why, "expired at 20") {
			t.Errorf("why: %s", why)
		}
		refused(t, expiring, "the credentials in the join file expired at", "--join")

		trust, err := server.OpenTrust(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		foreign := j
		if u, err = trust.Box("museum-1", time.Time{}); err != nil {
			t.Fatal(err)
		}
		foreign.JWT, foreign.Seed = u.JWT, u.Seed
		refused(t, foreign, "come from another hub")

		distrusting := j
		distrusting.Authority = nil
		refused(t, distrusting, "the server's certificate is not the hub's")

		_, port, err := net.SplitHostPort(strings.TrimPrefix(f.Servers[0], "tls://"))
		if err != nil {
			t.Fatal(err)
		}
		misnamed := j
		misnamed.Servers = []string{"tls://127.0.0.2:" + port} // the server listens at 127.0.0.1 only
		refused(t, misnamed, "nothing listens there")
		misnamed.Servers = []string{"tls://nobody.invalid:" + port}
		refused(t, misnamed, "the name nobody.invalid is not found")
		misnamed.Servers = []string{"tls://nobody.invalid:" + port, f.Servers[0]}
		f.Box(t, misnamed) // one of several is enough
	})
}

func TestServerThatSaysNothingIsGivenUp(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	j := fleettest.Start(t).Join(t, "museum-1")
	j.Servers = []string{"tls://" + silent.Addr().String()}
	b, err := bus.Dial(j, bus.Options{Log: fleettest.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	// While it waits for the server, it can be closed.
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	begun := time.Now()
	b.Close()
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("closing took %v", took)
	}
}

func TestJoinFileIsChecked(t *testing.T) {
	f := fleettest.Start(t)
	one, two := f.Join(t, "museum-1"), f.Join(t, "museum-2")
	one.Hub = "The Hub\n# box: museum-9"
	text, err := one.Text()
	if err != nil {
		t.Fatal(err)
	}
	got := writeJoin(t, one)
	if got.Box != "museum-1" || got.Hub != "The Hub # box: museum-9" || got.Seed != one.Seed || got.JWT != one.JWT ||
		string(got.Authority) != string(one.Authority) || got.Servers[0] != one.Servers[0] {
		t.Errorf("read %v, want %v", got, one)
	}
	f.Box(t, got)
	got.Servers = []string{strings.Replace(f.Servers[0], "tls://", "nats://", 1)} // as hub.server may say
	f.Box(t, writeJoin(t, got))
	for name, c := range map[string]struct{ text, want string }{
		"empty":     {"", "does not name its box, hub and servers"},
		"no creds":  {"# box: a\n# hub: h\n# servers: tls://h:1\n", "has credentials that are not readable"},
		"cut":       {string(text[:len(text)/2]), "has credentials that are not readable"},
		"a socket":  {strings.Replace(string(text), "tls://", "http://", 1), "is not a URL such as tls://hub.local"},
		"bad name":  {strings.Replace(string(text), "# box: museum-1", "# box: Museum", 1), "small letters"},
		"two boxes": {strings.Replace(string(text), one.JWT, two.JWT, 1), "is put together from the files of several"},
	} {
		file := filepath.Join(t.TempDir(), "x.join")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := bus.ReadJoin(file); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "--join") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := bus.ReadJoin("/nowhere.join"); err == nil || !strings.Contains(err.Error(), "copy there the file") {
		t.Error(err)
	}
}
