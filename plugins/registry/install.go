package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/internal/signing"
	"parley/plugins/manifest"
	"parley/plugins/sandbox"
	"parley/store"
)

// Offer is a package that can be installed, with the permissions that it requests.
type Offer struct {
	Package Package
	// Installed is the plugin that is installed under the name; nil if there is none.
	Installed *store.Plugin
	// Granted are the permissions that it has already; none for a new plugin.
	Granted manifest.Permissions
	// Asks are the permissions that it requests beyond those of the installed version.
	Asks []Permission
	// Signed says in words who signed it.
	Signed string
	// OtherSigner says in words that the signer differs from that of the installed version,
	// or is missing; empty if it does not.
	OtherSigner string
	// Unset names the required settings that have no value yet.
	Unset []string
}

// Choice is the decision of the installer.
type Choice struct {
	// Grant names permissions: single ones, kinds, "all" or "none".
	Grant []string
	// Settings are the settings to set at once.
	Settings map[string]*string
	// OtherSigner allows an upgrade by another signer.
	OtherSigner bool
}

// Examine checks whether a package can be installed or can upgrade the installed version,
// and which permissions it requests. It compiles the module and changes nothing. An
// ErrUnusable says why it cannot be installed.
func (s *Registry) Examine(ctx context.Context, p Package) (Offer, error) {
	o := Offer{Package: p, Signed: s.signed(p.Signer())}
	if why := s.Trust.refuses(p.Signer()); why != "" {
		return o, unusable("%s", why)
	}
	row, err := s.Records.Plugin(ctx, p.Manifest.Name)
	var before manifest.Permissions
	switch {
	case err == nil:
		o.Installed = &row
		old, may, err := readManifest(row)
		if err != nil {
			return o, err
		}
		before = old.Permissions
		o.Granted = carriedOver(old.Permissions, p.Manifest.Permissions, may)
		if was := signing.Key(row.Signer); was != "" && was != p.Signer() {
			o.OtherSigner = fmt.Sprintf("the installed version %s is signed by %s; this one is %s", row.Version,
				was, s.signed(p.Signer()))
		}
	case !errors.Is(err, store.ErrNotFound):
		return o, err
	}
	o.Asks = newRequests(before, p.Manifest.Permissions)
	told, err := s.Records.PluginSettings(ctx, p.Manifest.Name)
	if err != nil {
		return o, err
	}
	o.Unset = unset(p.Manifest, told)
	return o, s.checkModule(ctx, p)
}

// signed describes a signer in words.
func (s *Registry) signed(k signing.Key) string {
	switch {
	case k == "":
		return "not signed"
	case s.Trust.Trusts(k):
		return "signed by " + string(k) + ", which this box trusts"
	}
	return "signed by " + string(k) + ", which this box does not trust"
}

// checkModule returns an error if the module cannot be run here.
func (s *Registry) checkModule(ctx context.Context, p Package) error {
	host, err := s.host()
	if err != nil {
		return err
	}
	m, err := host.Load(ctx, p.Manifest, p.Wasm)
	if unfit, ok := errors.AsType[sandbox.ErrUnfit](err); ok {
		return unusable("%s", unfit.Why)
	}
	if err != nil {
		return err
	}
	return m.Close(ctx)
}

// Install installs a package that Examine has checked. If the process dies on the way, the
// plugin is either installed or not.
func (s *Registry) Install(ctx context.Context, o Offer, c Choice) error {
	name := o.Package.Manifest.Name
	if o.Installed != nil {
		return ErrConflict{fmt.Sprintf("%s %s was installed in the meantime: parley plugin list shows it, "+
			"parley plugin set %[1]s --remove removes it", name, o.Installed.Version)}
	}
	return s.activate(ctx, o, c, func(f store.PluginFiles) error {
		err := s.Records.InstallPlugin(ctx, f)
		if errors.Is(err, store.ErrConflict) {
			return ErrConflict{fmt.Sprintf("another plugin %s was installed in the meantime", name)}
		}
		return err
	})
}

// Upgrade replaces the installed version by a package that Examine has checked, after its
// self-test has passed. Until then, and if it fails, the installed version stays. Running
// calls end with the old version.
func (s *Registry) Upgrade(ctx context.Context, o Offer, c Choice) error {
	switch {
	case o.Installed == nil:
		return ErrNotInstalled{o.Package.Manifest.Name}
	case o.Installed.Digest == o.Package.Digest():
		return ErrConflict{fmt.Sprintf("this version is already installed: %s %s", o.Installed.Name,
			o.Installed.Version)}
	case o.OtherSigner != "" && !c.OtherSigner:
		return ErrConflict{o.OtherSigner +
			". It may come from another author: allow that with --other-signer if you know why"}
	}
	return s.activate(ctx, o, c, func(f store.PluginFiles) error {
		return s.Records.UpgradePlugin(ctx, f, o.Installed.Digest)
	})
}

// activate runs the self-test of a package, stores its files and enters it in the database.
// Files that are not entered are garbage, which the next sweep removes.
func (s *Registry) activate(ctx context.Context, o Offer, c Choice, enter func(store.PluginFiles) error) error {
	f, err := newRow(o, c.Grant)
	if err != nil {
		return err
	}
	set, unset, err := s.seal(o.Package.Manifest, c.Settings)
	if err != nil {
		return err
	}
	if err := s.selfTest(ctx, o.Package); err != nil {
		return err
	}
	release, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := s.folder.put(o.Package); err != nil {
		return fmt.Errorf("storing the files of %s: %w", f.Name, err)
	}
	err = storeError(f.Name, enter(f))
	if err == nil && len(set)+len(unset) > 0 {
		err = storeError(f.Name, s.Records.SetPlugin(ctx, f.Name, f.Digest, set, unset))
	}
	return errors.Join(err, s.sweep(context.WithoutCancel(ctx)))
}

// newRow makes the database row of a package.
func newRow(o Offer, words []string) (f store.PluginFiles, err error) {
	m := o.Package.Manifest
	may, err := grant(m.Permissions, o.Granted, words)
	if err != nil {
		return f, err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return f, err
	}
	granted, err := json.Marshal(may)
	if err != nil {
		return f, err
	}
	return store.PluginFiles{
		Name:     m.Name,
		Version:  m.Version,
		Digest:   o.Package.Digest(),
		Signer:   string(o.Package.Signer()),
		Manifest: string(text),
		Granted:  string(granted),
	}, nil
}

// selfTest runs the test cases of a package.
func (s *Registry) selfTest(ctx context.Context, p Package) error {
	if s.Check == nil || len(p.Tests) == 0 {
		return nil
	}
	if err := s.Check(ctx, p); err != nil {
		return unusable("%s %s fails its tests, and nothing was changed: %v", p.Manifest.Name, p.Manifest.Version,
			err)
	}
	return nil
}

// Remove removes a plugin with its settings, its stored values and its log.
func (s *Registry) Remove(ctx context.Context, name string) error {
	release, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := s.Records.RemovePlugin(ctx, name); err != nil {
		return storeError(name, err)
	}
	return s.sweep(context.WithoutCancel(ctx))
}

// Tidy removes files that belong to no plugin, as a crash leaves them.
func (s *Registry) Tidy(ctx context.Context) error {
	release, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	return s.sweep(ctx)
}

// lock locks the folder, and logs a warning if that takes longer than a second.
func (s *Registry) lock(ctx context.Context) (release func(), err error) {
	late := time.AfterFunc(time.Second, func() {
		s.Log.Warn("waiting for another process that changes the plugins of this box, or makes a backup of them")
	})
	defer late.Stop()
	return s.folder.lock(ctx)
}

// sweep removes files that belong to no plugin. The caller holds the lock.
func (s *Registry) sweep(ctx context.Context) error {
	all, err := s.Records.Plugins(ctx)
	if err != nil {
		return err
	}
	var used []string
	for _, p := range all {
		used = append(used, p.Digest)
	}
	s.folder.sweep(used)
	return nil
}

// Grant grants a plugin those of its requested permissions that the words name.
func (s *Registry) Grant(ctx context.Context, name string, words []string) error {
	return s.regrant(ctx, name, func(asks, now manifest.Permissions) (manifest.Permissions, error) {
		return grant(asks, now, words)
	})
}

// Revoke takes from a plugin the permissions that the words name.
func (s *Registry) Revoke(ctx context.Context, name string, words []string) error {
	return s.regrant(ctx, name, func(_, now manifest.Permissions) (manifest.Permissions, error) {
		return revoke(now, words)
	})
}

func (s *Registry) regrant(ctx context.Context, name string,
	change func(asks, now manifest.Permissions) (manifest.Permissions, error)) error {
	row, err := s.Records.Plugin(ctx, name)
	if err != nil {
		return storeError(name, err)
	}
	m, now, err := readManifest(row)
	if err != nil {
		return err
	}
	next, err := change(m.Permissions, now)
	if err != nil {
		return err
	}
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	return storeError(name, s.Records.GrantPlugin(ctx, name, row.Digest, string(text)))
}

// Forbidden lists in words what the plugin cannot do whatever is granted, of the
// permissions that people worry about.
func (o Offer) Forbidden() []string {
	p := o.Package.Manifest.Permissions
	return p.Words()[len(p.Allowed()):]
}

// Names returns the names by which the requested permissions are granted.
func (o Offer) Names() []string { return slices.Clone(names(o.Asks)) }
