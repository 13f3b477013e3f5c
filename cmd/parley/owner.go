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

	"golang.org/x/sys/unix"

	"parley/appliance/config"
)

// runAsOwner has the rest of a command run as the owner of the box, if root runs it: the
// program is executed again, and runAsOwner does not return. The packs have libraries, and
// belong to the service, like its settings. Root must not load what somebody who has broken
// into the service may have put there. On a box that belongs to root it does nothing. The
// owner must be able to read the files named in reads.
func runAsOwner(cfg config.Config, environ []string, reads ...string) error {
	who, err := ownerAsUser(cfg)
	if err != nil || who == nil {
		return err
	}
	groups := make([]int, len(who.Groups))
	for i, g := range who.Groups {
		groups[i] = int(g)
	}
	program, err := os.Executable()
	if err == nil {
		err = errors.Join(syscall.Setgroups(groups), syscall.Setgid(int(who.Gid)), syscall.Setuid(int(who.Uid)))
	}
	for _, name := range reads {
		if err == nil && errors.Is(syscall.Access(name, 4), syscall.EACCES) { // 4 is the right to read
			return misuse{fmt.Errorf("this box belongs to the user %s, who may not read %s: copy it to a folder "+
				"that this user may read, such as /var/tmp", who.name, name)}
		}
	}
	if err == nil && syscall.Access(".", 1) != nil { // such as /root: 1 is the right to enter
		err = os.Chdir("/")
	}
	if err == nil {
		err = syscall.Exec(program, os.Args, who.environ(environ))
	}
	return fmt.Errorf("running as %s, to whom the box belongs: %w", who.name, err)
}

// openedVariable has the descriptor of the operator's file that root has opened.
const openedVariable = "PARLEY_OPENED_FILE"

// runAsOwnerWith is runAsOwner for a command with a file of the operator, which the owner of
// the box may not be able to open: root opens it first, and c.opened is this file then. The
// name may be empty, or - for a standard stream.
func (c *console) runAsOwnerWith(cfg config.Config, name string, flags int) error {
	for _, entry := range c.environ {
		if fd, err := strconv.Atoi(strings.TrimPrefix(entry, openedVariable+"=")); err == nil {
			c.opened = os.NewFile(uintptr(fd), name)
			return nil
		}
	}
	if who, err := ownerAsUser(cfg); err != nil || who == nil || name == "" || name == "-" {
		return errors.Join(err, runAsOwner(cfg, c.environ))
	}
	f, err := os.OpenFile(name, flags, 0o666)
	if err != nil {
		return misuse{err}
	}
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil { // it stays open in the next program
		return err
	}
	return runAsOwner(cfg, append(slices.Clip(c.environ), fmt.Sprintf("%s=%d", openedVariable, f.Fd())))
}

// boxUser is the user to whom a box belongs.
type boxUser struct {
	syscall.Credential
	name, home string
}

// environ returns an environment with the home of the user. Acts name who became root.
func (u *boxUser) environ(of []string) []string {
	of = slices.DeleteFunc(slices.Clone(of), func(e string) bool { return strings.HasPrefix(e, "HOME=") })
	if !slices.ContainsFunc(of, func(e string) bool { return strings.HasPrefix(e, "SUDO_USER=") }) {
		of = append(of, "SUDO_USER=root", "SUDO_UID=0")
	}
	return append(of, "HOME="+u.home)
}

// ownerAsUser returns the owner of the box if this is root and the box belongs to another
// user, else nil.
func ownerAsUser(cfg config.Config) (*boxUser, error) {
	owner, err := ownerOfBox(cfg)
	if err != nil || os.Geteuid() != 0 || owner.Uid == 0 {
		return nil, err
	}
	who := &boxUser{
		Credential: syscall.Credential{Uid: owner.Uid, Gid: owner.Gid},
		name:       strconv.Itoa(int(owner.Uid)),
		home:       "/",
	}
	u, err := user.LookupId(who.name)
	if err != nil { // a user without a name is in no other group
		return who, nil
	}
	who.name, who.home = u.Username, u.HomeDir
	names, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("looking up the groups of %s: %w", u.Username, err)
	}
	for _, name := range names {
		if group, err := strconv.ParseUint(name, 10, 32); err == nil {
			who.Groups = append(who.Groups, uint32(group))
		}
	}
	return who, nil
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
