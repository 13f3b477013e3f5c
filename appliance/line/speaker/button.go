package speaker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Button begins and ends chats: a key, or a switch at a GPIO line.
type Button struct {
	Name string
	// Watch calls pressed for each press, until ctx ends or the button is gone.
	Watch func(ctx context.Context, pressed func()) error
}

// watch watches a button until the line ends, and waits for a missing one.
func (s *Speaker) watch(b Button) {
	log := s.Log.With("button", b.Name)
	wait, said := firstRetry, ""
	for s.stopping.Err() == nil {
		begun := time.Now()
		err := b.Watch(s.stopping, s.Toggle)
		if s.stopping.Err() != nil {
			return
		}
		if time.Since(begun) > stableAfter {
			wait = firstRetry
		}
		if err == nil {
			err = errors.New("it is gone")
		}
		if err.Error() != said {
			said = err.Error()
			log.Error("cannot use a button; trying again", "err", err)
		}
		s.sleep(wait)
		wait = min(2*wait, lastRetry)
	}
}

// records calls take with each record of a fixed size that a kernel device delivers, until
// ctx ends. It closes the device.
func records(ctx context.Context, device *os.File, size int, take func(record []byte)) error {
	defer context.AfterFunc(ctx, func() { _ = device.Close() })()
	defer device.Close() // after ctx has ended it is closed already
	record := make([]byte, size)
	for {
		if _, err := io.ReadFull(device, record); err != nil {
			return err
		}
		take(record)
	}
}

// eventSize is the size of an input_event (linux/input.h): a time, a type, a code and a
// value.
const eventSize = int(unsafe.Sizeof(unix.Timeval{})) + 8

// The events of keys (linux/input-event-codes.h).
const (
	evKey    = 1
	keyPress = 1 // 2 is repeat, 0 is release
)

// Keyboard returns a button for any key of an input device of the kernel, such as
// /dev/input/by-id/usb-Button-event-kbd. Most USB buttons are keyboards.
func Keyboard(path string) Button {
	return Button{Name: path, Watch: func(ctx context.Context, pressed func()) error {
		device, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		return records(ctx, device, eventSize, func(event []byte) {
			event = event[eventSize-8:]
			if binary.NativeEndian.Uint16(event) == evKey && int32(binary.NativeEndian.Uint32(event[4:])) == keyPress {
				pressed()
			}
		})
	}}
}

// Terminal returns a button for the Enter key on the terminal of the process.
func Terminal() Button {
	return Button{Name: "the Enter key", Watch: func(ctx context.Context, pressed func()) error {
		device, err := os.OpenFile("/dev/tty", os.O_RDONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		// In the background, reading would stop the process; this turns that into an error.
		signal.Ignore(syscall.SIGTTIN)
		return records(ctx, device, 1, func(key []byte) {
			if key[0] == '\n' {
				pressed()
			}
		})
	}}
}

// Version 2 of the kernel's interface for GPIO lines (linux/gpio.h, since Linux 5.10), as
// far as a button needs it.
type (
	lineAttribute struct {
		id, _ uint32
		value uint64 // its first half holds a debounce period
	}
	lineConfig struct {
		flags      uint64
		attributes uint32
		_          [5]uint32
		attribute  [10]struct {
			lineAttribute
			mask uint64
		}
	}
	lineRequest struct {
		offsets  [64]uint32
		consumer [32]byte
		config   lineConfig
		lines    uint32
		buffer   uint32
		_        [5]uint32
		fd       int32
	}
)

const (
	lineActiveLow = 1 << 1
	lineInput     = 1 << 2
	lineRising    = 1 << 4 // from released to pressed
	linePullUp    = 1 << 8
	linePullDown  = 1 << 9

	attributeDebounce = 3
	// debounceUS is the longest time that contacts bounce, in microseconds: 10 ms for most
	// buttons.
	debounceUS = 10_000

	lineEventSize = 48
	eventRising   = 1
)

// ioctlGetLine is GPIO_V2_GET_LINE_IOCTL: _IOWR(0xB4, 0x07, struct gpio_v2_line_request).
const ioctlGetLine = 3<<30 | unsafe.Sizeof(lineRequest{})<<16 | 0xB4<<8 | 0x07

// GPIO returns a button that connects a line of a chip, such as /dev/gpiochip0, to ground,
// or to the supply if high is true. The kernel pulls the line the other way if the chip
// can.
func GPIO(chip string, line int, high bool) Button {
	return Button{Name: fmt.Sprintf("%s:%d", chip, line), Watch: func(ctx context.Context, pressed func()) error {
		device, err := requestLine(chip, line, high)
		if err != nil {
			return err
		}
		return records(ctx, device, lineEventSize, func(event []byte) {
			if binary.NativeEndian.Uint32(event[8:]) == eventRising {
				pressed()
			}
		})
	}}
}

// requestLine returns a file that delivers the edges of a line.
func requestLine(chip string, line int, high bool) (*os.File, error) {
	device, err := os.OpenFile(chip, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer device.Close()
	r := lineRequest{lines: 1, fd: -1}
	r.offsets[0] = uint32(line)
	copy(r.consumer[:], "parley")
	r.config.flags = lineInput | lineRising | lineActiveLow | linePullUp
	if high {
		r.config.flags = lineInput | lineRising | linePullDown
	}
	r.config.attributes = 1
	r.config.attribute[0].id, r.config.attribute[0].mask = attributeDebounce, 1
	binary.NativeEndian.PutUint32((*[8]byte)(unsafe.Pointer(&r.config.attribute[0].value))[:], debounceUS)
	raw, err := device.SyscallConn()
	if err != nil {
		return nil, err
	}
	var errno syscall.Errno
	if err := raw.Control(func(fd uintptr) {
		_, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, ioctlGetLine, uintptr(unsafe.Pointer(&r)))
	}); err != nil {
		return nil, err
	}
	if errno != 0 {
		return nil, fmt.Errorf("line %d of %s: %w", line, chip, errno)
	}
	if err := unix.SetNonblock(int(r.fd), true); err != nil {
		return nil, errors.Join(err, unix.Close(int(r.fd)))
	}
	return os.NewFile(uintptr(r.fd), fmt.Sprintf("%s:%d", chip, line)), nil
}
