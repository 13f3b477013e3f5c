package isolate

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// self stands for the process that makes the call in refused, box for its parent, and
// memory for an address that can be read and written.
const (
	self uintptr = iota + 1<<40
	box
	memory
)

// refused are system calls by which a process affects others, gains privileges or attacks
// the kernel.
func refused() map[string][]uintptr {
	const threadFlags = unix.CLONE_THREAD | unix.CLONE_SIGHAND | unix.CLONE_VM
	allOnes := ^uintptr(0)
	return map[string][]uintptr{
		// signals that the kernel would send for the process
		"fcntl F_SETOWN":     {unix.SYS_FCNTL, 0, unix.F_SETOWN, box},
		"fcntl F_SETSIG":     {unix.SYS_FCNTL, 0, unix.F_SETSIG, 9},
		"fcntl F_SETOWN_EX":  {unix.SYS_FCNTL, 0, unix.F_SETOWN_EX, memory},
		"fcntl F_SETLEASE":   {unix.SYS_FCNTL, 0, unix.F_SETLEASE, unix.F_UNLCK},
		"fcntl F_NOTIFY":     {unix.SYS_FCNTL, 0, unix.F_NOTIFY, 2},
		"fcntl F_SETFL":      {unix.SYS_FCNTL, 0, unix.F_SETFL, unix.O_ASYNC},
		"fcntl F_SETPIPE_SZ": {unix.SYS_FCNTL, 0, unix.F_SETPIPE_SZ, 1 << 20},
		"fcntl F_SETLK":      {unix.SYS_FCNTL, 0, unix.F_SETLK, memory},
		"ioctl FIOASYNC":     {unix.SYS_IOCTL, 0, 0x5452, memory},
		"ioctl FIOSETOWN":    {unix.SYS_IOCTL, 0, 0x8901, memory},
		"ioctl TIOCSTI":      {unix.SYS_IOCTL, 0, unix.TIOCSTI, memory},
		"timer_create":       {unix.SYS_TIMER_CREATE, 0, 0, memory},
		"setitimer":          {unix.SYS_SETITIMER, 0, 0, 0},
		// signals
		"kill":              {unix.SYS_KILL, box, 0},
		"kill all":          {unix.SYS_KILL, allOnes, 0},
		"tkill":             {unix.SYS_TKILL, box, 0},
		"tgkill":            {unix.SYS_TGKILL, box, box, 0},
		"rt_sigqueueinfo":   {unix.SYS_RT_SIGQUEUEINFO, box, 0, memory},
		"rt_tgsigqueueinfo": {unix.SYS_RT_TGSIGQUEUEINFO, box, box, 0, memory},
		"pidfd_open":        {unix.SYS_PIDFD_OPEN, box, 0},
		"pidfd_send_signal": {unix.SYS_PIDFD_SEND_SIGNAL, 0, 0, 0, 0},
		"pidfd_getfd":       {unix.SYS_PIDFD_GETFD, 0, 0, 0},
		// scheduling, priorities and limits
		"setpriority":                  {unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, box, 19},
		"setpriority of a user":        {unix.SYS_SETPRIORITY, unix.PRIO_USER, 0, 19},
		"sched_setscheduler":           {unix.SYS_SCHED_SETSCHEDULER, box, unix.SCHED_IDLE, memory},
		"sched_setscheduler of itself": {unix.SYS_SCHED_SETSCHEDULER, 0, unix.SCHED_FIFO, memory},
		"sched_setparam":               {unix.SYS_SCHED_SETPARAM, box, memory},
		"sched_setattr":                {unix.SYS_SCHED_SETATTR, box, memory, 0},
		"sched_setaffinity":            {unix.SYS_SCHED_SETAFFINITY, box, 8, memory},
		"ioprio_set":                   {unix.SYS_IOPRIO_SET, 1, box, 3 << 13},
		"prlimit64 of the parent":      {unix.SYS_PRLIMIT64, box, unix.RLIMIT_NOFILE, 0, memory},
		"prlimit64 to set":             {unix.SYS_PRLIMIT64, 0, unix.RLIMIT_CPU, memory, 0},
		"setrlimit":                    {unix.SYS_SETRLIMIT, unix.RLIMIT_CPU, memory},
		"migrate_pages":                {unix.SYS_MIGRATE_PAGES, box, 0, 0, 0},
		"move_pages":                   {unix.SYS_MOVE_PAGES, box, 0, 0, 0, 0, 0},
		// memory and state of others
		"ptrace":                 {unix.SYS_PTRACE, unix.PTRACE_ATTACH, box, 0, 0},
		"process_vm_readv":       {unix.SYS_PROCESS_VM_READV, box, 0, 0, 0, 0, 0},
		"process_vm_writev":      {unix.SYS_PROCESS_VM_WRITEV, box, 0, 0, 0, 0, 0},
		"process_madvise":        {unix.SYS_PROCESS_MADVISE, 0, 0, 0, 0, 0},
		"kcmp":                   {unix.SYS_KCMP, box, self, 0, 0, 0},
		"prctl PR_SET_PDEATHSIG": {unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0},
		"prctl PR_SET_DUMPABLE":  {unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1},
		"prctl PR_SET_PTRACER":   {unix.SYS_PRCTL, unix.PR_SET_PTRACER, box},
		"shmget":                 {unix.SYS_SHMGET, 0, 4096, 0o600},
		"msgget":                 {unix.SYS_MSGGET, 0, 0o600},
		"semget":                 {unix.SYS_SEMGET, 0, 1, 0o600},
		"mq_open":                {unix.SYS_MQ_OPEN, memory, 0, 0, 0},
		// programs and processes
		"execve":               {unix.SYS_EXECVE, memory, 0, 0},
		"execveat":             {unix.SYS_EXECVEAT, 0, memory, 0, 0, unix.AT_EMPTY_PATH},
		"memfd_create":         {unix.SYS_MEMFD_CREATE, memory, 0},
		"memfd_secret":         {unix.SYS_MEMFD_SECRET, 0},
		"mmap of machine code": {unix.SYS_MMAP, 0, 4096, unix.PROT_EXEC, unix.MAP_PRIVATE | unix.MAP_ANON, allOnes, 0},
		"mprotect to run":      {unix.SYS_MPROTECT, memory, 4096, unix.PROT_READ | unix.PROT_EXEC},
		"pkey_mprotect":        {unix.SYS_PKEY_MPROTECT, memory, 4096, unix.PROT_READ | unix.PROT_EXEC, allOnes},
		"clone of a process":   {unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0},
		"clone with namespaces": {unix.SYS_CLONE, unix.CLONE_NEWUSER | unix.CLONE_NEWNET | uintptr(unix.SIGCHLD), 0, 0,
			0, 0},
		"thread in namespaces": {unix.SYS_CLONE, threadFlags | unix.CLONE_NEWIPC, 0, 0, 0, 0},
		"clone3":               {unix.SYS_CLONE3, memory, 0},
		"unshare":              {unix.SYS_UNSHARE, unix.CLONE_NEWNS},
		"setns":                {unix.SYS_SETNS, 0, 0},
		"setsid":               {unix.SYS_SETSID},
		"setpgid":              {unix.SYS_SETPGID, 0, 0},
		// rights
		"setuid":      {unix.SYS_SETUID, 0},
		"setresuid":   {unix.SYS_SETRESUID, allOnes, allOnes, allOnes},
		"setgroups":   {unix.SYS_SETGROUPS, 0, 0},
		"capset":      {unix.SYS_CAPSET, 0, 0},
		"personality": {unix.SYS_PERSONALITY, 0xffffffff},
		"seccomp":     {unix.SYS_SECCOMP, 99, 0, 0},
		"keyctl":      {unix.SYS_KEYCTL, 0, 0},
		"add_key":     {unix.SYS_ADD_KEY, 0, 0, 0, 0, 0},
		"request_key": {unix.SYS_REQUEST_KEY, 0, 0, 0, 0},
		// the network
		"socket":     {unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM, 0},
		"socketpair": {unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, memory},
		"connect":    {unix.SYS_CONNECT, 0, memory, 16},
		"sendto":     {unix.SYS_SENDTO, 0, memory, 1, 0, 0, 0},
		"sendmsg":    {unix.SYS_SENDMSG, 0, memory, 0},
		"recvmsg":    {unix.SYS_RECVMSG, 0, memory, 0},
		// files
		"openat to write":   {unix.SYS_OPENAT, 0, memory, unix.O_WRONLY},
		"openat to make":    {unix.SYS_OPENAT, 0, memory, unix.O_CREAT, 0o600},
		"openat of a path":  {unix.SYS_OPENAT, 0, memory, unix.O_PATH},
		"openat2":           {unix.SYS_OPENAT2, 0, memory, memory, 24},
		"open_by_handle_at": {unix.SYS_OPEN_BY_HANDLE_AT, 0, memory, 0},
		"name_to_handle_at": {unix.SYS_NAME_TO_HANDLE_AT, 0, memory, memory, memory, 0},
		"unlinkat":          {unix.SYS_UNLINKAT, 0, memory, 0},
		"chdir":             {unix.SYS_CHDIR, memory},
		"fchmod":            {unix.SYS_FCHMOD, 0, 0o600},
		"chroot":            {unix.SYS_CHROOT, memory},
		"mount":             {unix.SYS_MOUNT, 0, 0, 0, 0, 0},
		"inotify_init1":     {unix.SYS_INOTIFY_INIT1, 0},
		"fanotify_init":     {unix.SYS_FANOTIFY_INIT, 0, 0},
		"splice":            {unix.SYS_SPLICE, 0, 0, 1, 0, 0, 0},
		"vmsplice":          {unix.SYS_VMSPLICE, 1, 0, 0, 0},
		// parts of the kernel with a history of faults
		"io_uring_setup":          {unix.SYS_IO_URING_SETUP, 1, memory},
		"bpf":                     {unix.SYS_BPF, 0, 0, 0},
		"perf_event_open":         {unix.SYS_PERF_EVENT_OPEN, memory, 0, allOnes, allOnes, 0},
		"userfaultfd":             {unix.SYS_USERFAULTFD, 0},
		"init_module":             {unix.SYS_INIT_MODULE, 0, 0, 0},
		"landlock_create_ruleset": {unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1},
		"an unknown future call":  {1000},
	}
}

// call makes a call and returns its errno.
func call(numbers []uintptr) syscall.Errno {
	pages := bytes.Repeat([]byte{0}, 3*4096)
	var args [7]uintptr
	for i, v := range numbers {
		switch v {
		case self:
			v = uintptr(os.Getpid())
		case box:
			v = uintptr(os.Getppid())
		case memory: // a page that nothing else uses
			v = (uintptr(unsafe.Pointer(&pages[0])) + 4095) &^ 4095
		}
		args[i] = v
	}
	got, _, errno := syscall.RawSyscall6(args[0], args[1], args[2], args[3], args[4], args[5], args[6])
	if args[0] == unix.SYS_CLONE && errno == 0 && got == 0 {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0) // the child
	}
	return errno
}

// Code that takes over the process cannot affect anything outside it by a system call.
func TestSystemCallsThatAffectOthersAreRefused(t *testing.T) {
	for _, files := range []string{"", t.TempDir()} {
		p := start(t, files)
		if len(p.MissingProtections()) > 0 {
			t.Skipf("this kernel lacks %q", p.MissingProtections())
		}
		for name := range refused() {
			got, err := ask(p, "call "+name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				p = start(t, files)
				continue
			}
			want := unix.EPERM
			if name == "clone3" || name == "an unknown future call" { // a C library falls back on ENOSYS
				want = unix.ENOSYS
			}
			if got != strconv.Itoa(int(want)) {
				t.Errorf("%s (reads %q): errno %s, want %d", name, files, got, want)
			}
		}
	}
}

// Privileges of root are dropped in all threads.
func TestProcessHasNoCapabilities(t *testing.T) {
	p := start(t, "")
	threads, err := os.ReadDir("/proc/" + strconv.Itoa(p.Pid()) + "/task")
	if err != nil || len(threads) == 0 {
		t.Fatal(len(threads), err)
	}
	for _, thread := range threads {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(p.Pid()) + "/task/" + thread.Name() + "/status")
		if err != nil {
			t.Fatal(err)
		}
		const none = "0000000000000000"
		for _, want := range []string{"CapPrm:\t" + none, "CapEff:\t" + none, "NoNewPrivs:\t1", "Seccomp:\t2"} {
			if !strings.Contains(string(status), want) {
				t.Errorf("thread %s has not %q:\n%s", thread.Name(), want, status)
			}
		}
	}
}
