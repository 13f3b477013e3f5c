package server

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/nats-io/nkeys"

	"parley/internal/durable"
)

// config is the template of a server's file. All strings are quoted as NATS reads them.
const config = `# Made by parley hub, which overwrites it. It is for nats-server 2.9.10 and newer:
#   nats-server -c {{quote .File}}
server_name: {{quote .Name}}
listen: {{quote .Listen}}
{{- if .Cert}}
tls {
  cert_file: {{quote .Cert}}
  key_file: {{quote .Key}}
  timeout: 10 # seconds, for boxes with slow lines
}
{{- end}}

# Who may connect: the operator is trusted, and signs accounts, which sign users.
operator: {{.Operator}}
system_account: {{.System}}
resolver {
  type: full
  dir: {{quote .Accounts}}
  allow_delete: false
  interval: "2m" # between servers of a cluster
}
resolver_preload {
{{- range $key, $jwt := .Preload}}
  {{$key}}: {{$jwt}}
{{- end}}
}

jetstream {
  store_dir: {{quote .Store}}
  max_memory_store: 256MB # one state of 2 KB for each of 100,000 boxes
{{- if .SyncAlways}}
  sync_interval: always # a box deletes what is acknowledged
{{- else}}
  # With nats-server 2.10 and newer, set this: without it, a power failure of this machine loses what boxes have sent
  # in the last two minutes, and boxes do not send it again.
  # sync_interval: always
{{- end}}
}

max_payload: 1MB
max_pending: 16MB # for one client that reads slowly; the hub asks for 8 MB at most
write_deadline: "10s"
ping_interval: "20s" # a box that is gone is noticed within a minute
ping_max: 2
`

// values are those of one configuration.
type values struct {
	File, Name, Listen, Cert, Key    string
	Operator, System, Account, Store string
	Accounts                         string
	Preload                          map[string]string
	SyncAlways                       bool
}

// quote returns text as a string of NATS' configuration.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(text) + `"`
}

// fill sets what comes from the keys, and the folders below folder.
func (v *values) fill(t *Trust, folder string) error {
	operator, err := t.operatorJWT()
	if err != nil {
		return err
	}
	system, err := t.system.PublicKey()
	if err != nil {
		return err
	}
	systemJWT, err := t.systemAccount()
	if err != nil {
		return err
	}
	accounts, err := t.Accounts()
	if err != nil {
		return err
	}
	v.Name = strings.Join(strings.Fields(v.Name), "-") // the server's may not have spaces
	v.Operator, v.System = operator, system
	v.Preload = map[string]string{system: systemJWT}
	for i, pair := range []nkeys.KeyPair{t.account, t.boxes} {
		key, err := pair.PublicKey()
		if err != nil {
			return err
		}
		v.Preload[key] = accounts[i]
	}
	v.File = filepath.Join(folder, "nats-server.conf")
	v.Accounts = filepath.Join(folder, "accounts")
	v.Store = filepath.Join(folder, "store")
	return nil
}

// write writes the file of a server.
func (v *values) write() error {
	t, err := template.New("").Funcs(template.FuncMap{"quote": quote}).Parse(config)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := t.Execute(&text, v); err != nil {
		return err
	}
	for _, folder := range []string{v.Accounts, v.Store} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	return durable.WriteFile(v.File, []byte(text.String()), 0o600)
}

// Stock is a stock nats-server that serves a fleet.
type Stock struct {
	Name   string // of the server
	Listen string // host:port
	// Certificate is what the server shows, with its private key. Write the files again when it is renewed.
	Certificate *tls.Certificate
	Trust       *Trust
}

// WriteStock writes the file nats-server.conf and all that it names to a folder, for nats-server -c.
func WriteStock(folder string, s Stock) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if s.Certificate == nil {
		return errNoTLS
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	v := values{
		Name:   s.Name,
		Listen: s.Listen,
		Cert:   filepath.Join(folder, "cert.pem"),
		Key:    filepath.Join(folder, "key.pem"),
	}
	if err := v.fill(s.Trust, folder); err != nil {
		return err
	}
	cert, key, err := encode(s.Certificate)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(v.Cert, cert, 0o644); err != nil {
		return err
	}
	if err := durable.WriteFile(v.Key, key, 0o600); err != nil {
		return err
	}
	return v.write()
}

var errNoTLS = errors.New("a fleet's server needs a certificate, since it is reached over networks of others: set tls")

// encode returns a certificate with those that signed it, and its key, as PEM.
func encode(c *tls.Certificate) (cert, key []byte, err error) {
	for _, der := range c.Certificate {
		cert = append(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		return nil, nil, fmt.Errorf("the certificate's key: %w", err)
	}
	return cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
