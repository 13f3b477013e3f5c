package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"parley/appliance/config"
)

// runAsOwner has the rest of a command run as the owner of the box, if root runs it: the
// program is executed again, and runAsOwner does not return. The packs have libraries, and
// belong to the service, like its settings. Root must not load what somebody who has broken
// into the service may have put there. On a box that belongs to root it does nothing.
func runAsOwner(cfg config.Config, environ []string) error {
	owner, err := ownerOfBox(cfg)
	if err != nil || os.Geteuid() != 0 || owner.Uid == 0 {
		return err
	}
	uid, gid := int(owner.Uid), int(owner.Gid)
	home := "/"
	var groups []int
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil { // a user without a name is in no other group
		home = u.HomeDir
		names, err := u.GroupIds()
		if err != nil {
			return fmt.Errorf("looking up the groups of %s: %w", u.Username, err)
		}
		for _, name := range names {
			if group, err := strconv.Atoi(name); err == nil {
				groups = append(groups, group)
			}
		}
	}
	program, err := os.Executable()
	if err == nil {
		err = errors.Join(syscall.Setgroups(groups), syscall.Setgid(gid), syscall.Setuid(uid))
	}
	if err == nil && syscall.Access(".", 1) != nil { // such as /root: 1 is the right to enter
		err = os.Chdir("/")
	}
	if err == nil {
		environ = slices.DeleteFunc(slices.Clone(environ), func(e string) bool { return strings.HasPrefix(e, "HOME=") })
		err = syscall.Exec(program, os.Args, append(environ, "HOME="+home))
	}
	return fmt.Errorf("running as user %d, to whom the box belongs: %w", uid, err)
}

// ownerOfBox returns the owner of the settings, the data or the packs: the first of them that
// is not root, who could have chosen the others.
func ownerOfBox(cfg config.Config) (owner syscall.Stat_t, err error) {
	for _, path := range []string{cfg.File, cfg.Data, cfg.Packs} {
		if path == "" {
			continue
		}
		err := syscall.Stat(path, &owner)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			owner = syscall.Stat_t{}
		case err != nil:
			return owner, &fs.PathError{Op: "stat", Path: path, Err: err}
		case owner.Uid != 0:
			return owner, nil
		}
	}
	return owner, nil
}
