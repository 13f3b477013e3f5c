package appliance

import (
	"context"
	"fmt"
	"io"
	"net"

	"parley/store"
)

// defaultAccount owns what is made before anybody asks for accounts.
const defaultAccount = "default"

// greet tells the person at the terminal where the box is and, on its very
// first start, gives them a key.
func greet(ctx context.Context, out io.Writer, cfg Config, at net.Addr, records *store.Store) error {
	url := scheme(cfg) + "://" + at.String()
	fmt.Fprintf(out, "\nParley answers at %s\nIts data lies in   %s\n", url, cfg.Data)
	known, err := records.ListKeys(ctx, "")
	if err != nil {
		return err
	}
	if len(known) > 0 {
		fmt.Fprintf(out, "Talk to it with    parley talk --url %s   (a new key: parley keys create --data %s)\n\n", url, cfg.Data)
		return nil
	}
	made, err := records.CreateKey(ctx, defaultAccount, "first start")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Its first API key  %s\n  secret key       %s\n  webhook signing  %s\n  (shown this once; more with: parley keys create --data %s)\nTalk to it with    parley talk --url %s --key %s\n\n",
		made.APIKey, made.SecretKey, made.WebhookSigningKey, cfg.Data, url, made.APIKey)
	return nil
}

func scheme(cfg Config) string {
	if cfg.TLS.Off() {
		return "http"
	}
	return "https"
}
