package appliance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

// baresip is a telephone without a sound card: it speaks a recording and writes down what
// it hears.
type baresip struct {
	t      *testing.T
	dir    string
	number string
	port   int
	conn   net.Conn // where it takes commands and tells events
	events chan string
}

// baresipConfig configures baresip. Its values are the port for SIP (baresip takes the next
// one for TLS), the file of the recording, its sample rate, the port for commands, and the
// folder for what baresip hears.
const baresipConfig = `poll_method epoll
sip_listen 127.0.0.1:%d
net_interface 127.0.0.1
audio_source aufile,%s
audio_player aubridge,nothing
audio_alert aubridge,nothing
ausrc_srate %d
ausrc_channels 1
auplay_channels 1
ringback_disabled yes
ctrl_tcp_listen 127.0.0.1:%d
snd_path %s
module_path /usr/lib/baresip/modules
module g711.so
module g722.so
module opus.so
module sndfile.so
module aubridge.so
module aufile.so
module srtp.so
module dtls_srtp.so
module_tmp account.so
module_app menu.so
module_app ctrl_tcp.so
`

// startBaresip starts a telephone. Codec names its codec, with its sample rate, and further
// parameters of a baresip account. It speaks pcm, 16 kHz, after a second of silence.
func startBaresip(t *testing.T, codec string, pcm []float32) *baresip {
	t.Helper()
	p := &baresip{
		t:      t,
		dir:    t.TempDir(),
		port:   freePorts(t),
		events: make(chan string, 1000),
	}
	p.number = fmt.Sprint(p.port)
	rateHz, err := strconv.Atoi(strings.FieldsFunc(codec, func(r rune) bool { return r == '/' || r == ';' })[1])
	if err != nil {
		t.Fatal(err)
	}
	pcm = audio.Resample(pcm, engine.SpeechRateHz, rateHz) // baresip's resampling makes words unintelligible
	sound := slices.Concat(make([]float32, rateHz), pcm, make([]float32, 60*rateHz))
	files := map[string]string{
		"sound.wav": string(audio.EncodeWAV(sound, rateHz)),
		"config":    fmt.Sprintf(baresipConfig, p.port, filepath.Join(p.dir, "sound.wav"), rateHz, p.port+2, p.dir),
		"accounts": fmt.Sprintf("<sip:%s@127.0.0.1:%d>;regint=0;answermode=auto;audio_codecs=%s\n", p.number, p.port,
			codec),
		"contacts": "",
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(t.ArtifactDir(), "baresip-"+p.number+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("baresip", "-f", p.dir, "-s")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: install it, as make test does", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
	})
	for deadline := time.Now().Add(waitLimit); ; <-time.After(20 * time.Millisecond) {
		if p.conn, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", p.port+2)); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	go p.listen()
	return p
}

// listen reads events: netstrings of JSON.
func (p *baresip) listen() {
	in := bufio.NewReader(p.conn)
	for {
		size, err := in.ReadString(':')
		if err != nil {
			return
		}
		n, err := strconv.Atoi(strings.TrimSuffix(size, ":"))
		if err != nil {
			return
		}
		content := make([]byte, n+1) // and a comma
		if _, err := io.ReadFull(in, content); err != nil {
			return
		}
		var event struct{ Type string }
		if json.Unmarshal(content[:n], &event) == nil && event.Type != "" {
			p.events <- event.Type
		}
	}
}

// command gives a command, such as dial.
func (p *baresip) command(name, argument string) {
	p.t.Helper()
	text, err := json.Marshal(map[string]string{"command": name, "params": argument})
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(p.conn, "%d:%s,", len(text), text); err != nil {
		p.t.Fatal(err)
	}
}

// until waits for an event.
func (p *baresip) until(event string) {
	p.t.Helper()
	for deadline := time.After(waitLimit); ; {
		select {
		case e := <-p.events:
			if e == event {
				return
			}
		case <-deadline:
			p.t.Fatalf("the telephone %s has told no %s", p.number, event)
		}
	}
}

// heard returns what the telephone has heard in its first call up to now, at 16 kHz.
func (p *baresip) heard() []float32 {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.dir, "*-dec.wav"))
	if err != nil || len(files) == 0 {
		p.t.Fatal("the telephone has heard nothing: ", err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		p.t.Fatal(err)
	}
	pcm, err := audio.DecodeAll(data, engine.SpeechRateHz)
	if err != nil {
		p.t.Fatal(err)
	}
	return pcm
}

// freePorts returns the first of three ports in a row that are free.
func freePorts(t *testing.T) int {
	t.Helper()
	for range 100 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := first.Addr().(*net.TCPAddr).Port
		free := true
		for next := port + 1; next < port+3; next++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", next))
			if free = free && err == nil; err == nil {
				l.Close()
			}
		}
		first.Close()
		if free {
			return port
		}
	}
	t.Fatal("no three ports in a row are free")
	return 0
}
