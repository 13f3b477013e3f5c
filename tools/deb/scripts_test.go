package deb

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inside is the beginning of a script that changes copies of /etc, /var/lib and /var/cache,
// in a mount namespace. There is no debconf in it: its answer to every question is $answer.
const inside = `set -e
top=$(mktemp -d)
mount -t tmpfs none $top
mkdir $top/upper $top/work $top/bin
mount -t overlay none -o lowerdir=/etc,upperdir=$top/upper,workdir=$top/work /etc
mount -t tmpfs none /var/lib
mount -t tmpfs none /var/cache
id parley >/dev/null 2>&1 || useradd --system --no-create-home parley
for name in adduser deb-systemd-helper systemctl; do
	printf '#!/bin/sh\n' >$top/bin/$name
	chmod 755 $top/bin/$name
done
export PATH=$top/bin:$PATH
run() {
	script=$1
	shift
	sed 's,\. /usr/share/debconf/confmodule,db_get() { RET=$answer; }; for f in fset set input go purge stop; do '` +
	`'eval "db_$f() { :; }"; done,; s,-e /usr/share/debconf/confmodule,-e /,; '` +
	`'s,/usr/share/parley/parley.yaml,/etc/hostname,' $script >$top/script
	sh $top/script "$@" >$top/printed 2>&1 || cat $top/printed
}
`

// asRoot runs a script behind inside, and returns what it prints.
func asRoot(t *testing.T, script string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	if err := exec.CommandContext(t.Context(), "unshare", "--mount", "true").Run(); err != nil {
		t.Skipf("needs mount namespaces: %v", err)
	}
	folder, err := filepath.Abs(filepath.Join(root, "firmware", "deb"))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-c", inside+script)
	c.Dir = folder
	return strings.TrimSpace(output(t, c))
}

// The service owns folders in which root installs: a link in them must not lead root elsewhere.
func TestInstallationFollowsNoLinkOfTheService(t *testing.T) {
	printed := asRoot(t, `
mkdir -p /etc/parley /var/cache/parley
mkdir -m 700 /etc/secret
ln -s /etc/secret /var/cache/parley/packs
ln -s /etc/made /etc/parley/parley.yaml
chown -h parley /etc/parley /var/cache/parley /var/cache/parley/packs /etc/parley/parley.yaml
run postinst configure 0.1.0
stat -c '%U %a' /etc/secret
test -e /etc/made || echo nothing made
stat -c '%U %G %a' /etc/parley/parley.yaml
rm /var/cache/parley/packs
run postinst configure 0.1.0
stat -c '%U %a' /var/cache/parley/packs
`)
	if want := "root 700\nnothing made\nparley parley 640\nparley 755"; printed != want {
		t.Errorf("%s, want %s", printed, want)
	}
}

func TestPurgeErasesBackupsOfUpdatesOnlyWithTheData(t *testing.T) {
	for answer, want := range map[string]string{
		"true":  "",
		"false": "/etc/parley\n/var/lib/parley\n/var/lib/parley-update/backups",
	} {
		printed := asRoot(t, "export answer="+answer+`
mkdir -p /etc/parley /var/lib/parley /var/lib/parley-update/backups /var/lib/parley-update/work /var/cache/parley
run postrm purge
ls -d /etc/parley /var/lib/parley /var/lib/parley-update/* /var/cache/parley 2>/dev/null || true
`)
		if printed != want {
			t.Errorf("with the answer %s there is %s, want %s", answer, printed, want)
		}
	}
}
