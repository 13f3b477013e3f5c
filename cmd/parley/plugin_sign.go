package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"

	"parley/internal/durable"
	"parley/internal/signing"
	"parley/plugins/registry"
)

type pluginSignCmd struct {
	From string `arg:"" type:"path" predictor:"file" help:"Plugin file of parley plugin build."`
	Key  string `required:"" placeholder:"FILE" type:"path" predictor:"file" help:"Your private key (PEM, PKCS #8)."`
	New  bool   `help:"Create the key if it does not exist."`
	JSON bool   `name:"json" help:"Print JSON."`
}

func (pluginSignCmd) Help() string {
	return `Examples:

  parley plugin sign weather.wasm --key me.pem --new

  parley plugin sign weather.wasm --key me.pem

It writes weather.wasm.sig beside the module, and prints the public key. A box that lists the key in ` +
		`plugin_signatures.keys trusts what you sign. openssl genpkey -algorithm ed25519 creates such a key too. ` +
		`Sign after the last build: the signature covers the manifest and the test cases in the module.`
}

// Run signs the plugin.
func (cmd *pluginSignCmd) Run(c *console) error {
	private, err := cmd.privateKey()
	if err != nil {
		return err
	}
	read, err := registry.ReadUnsigned(cmd.From)
	file := cmd.From + registry.SignatureSuffix
	if err != nil {
		return err
	}
	if err := durable.WriteFile(file, registry.Sign(read, private), 0o644); err != nil {
		return fmt.Errorf("writing the signature: %w", err)
	}
	return c.print(cmd.JSON, map[string]string{"signature": file, "key": string(signing.KeyOf(private))},
		"%s %s is signed: %s\nA box trusts it that has this key in plugin_signatures.keys:\n%s\n",
		read.Manifest.Name, read.Manifest.Version, file, signing.KeyOf(private))
}

// privateKey reads the key, or creates one.
func (cmd *pluginSignCmd) privateKey() (ed25519.PrivateKey, error) {
	private, err := signing.ReadPrivate(cmd.Key)
	switch {
	case errors.Is(err, fs.ErrNotExist) && cmd.New:
		return signing.NewPrivate(cmd.Key)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no key %s: --new creates one", cmd.Key)
	}
	return private, err
}
