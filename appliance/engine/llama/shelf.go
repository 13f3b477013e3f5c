package llama

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/internal/durable"
)

// shelfBytes is how much of the disk prompts may take: about a hundred of 600
// tokens of the default model, at 8.5 MB each. A box has as many configs as it
// has uses; beyond that the disk is better left to recordings.
const shelfBytes = 1 << 30

// shelfAge is how long a prompt lies there that nobody uses, for its config may
// be deleted.
const shelfAge = 30 * 24 * time.Hour

// shelfEnding is that of a prompt's file; its name is the prompt's key.
const shelfEnding = ".prompt"

// key names a prompt: the hash of its tokens, and of what computed them.
type key [sha256.Size]byte

// shelf keeps on the disk what was computed of prompts, so that a restart does
// not read them again. What it cannot give back, for whatever reason, is read
// anew: a shelf has no errors that matter to its users. It may be used from
// many goroutines.
type shelf struct {
	dir   string
	who   [sha256.Size]byte // model, library and kind of cells: a state fits no other
	limit int64
	log   *slog.Logger

	mu    sync.Mutex
	files map[key]shelved
	held  int64
}

type shelved struct {
	bytes  int64
	used   time.Time
	tokens []Token // of the prompt; none of a file of another model
}

// openShelf returns the shelf in dir, which is made when something is put there;
// nil where there can be none.
func openShelf(dir, modelPath, made string, limit int64, log *slog.Logger) *shelf {
	if dir == "" {
		return nil
	}
	who, err := identity(modelPath, made)
	s := &shelf{
		dir:   dir,
		who:   who,
		limit: limit,
		log:   log,
		files: map[key]shelved{},
	}
	if err == nil {
		err = s.look()
	}
	if err != nil {
		log.Warn("prompts are not kept over restarts", "err", err)
		return nil
	}
	return s
}

// identity is the hash of what a state depends on: what made it, and the model
// file, of which the ends, the size and the time are enough to tell it from
// another. To read all of a GB would take longer than a prompt.
func identity(modelPath, made string) (who [sha256.Size]byte, err error) {
	f, err := os.Open(modelPath)
	if err != nil {
		return who, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return who, err
	}
	const end = 1 << 20 // the names and shapes of all tensors, and their last numbers
	h := sha256.New()
	fmt.Fprintln(h, made, info.Size(), info.ModTime().UnixNano())
	for _, at := range []int64{0, max(0, info.Size()-end)} {
		if _, err := io.Copy(h, io.NewSectionReader(f, at, end)); err != nil {
			return who, err
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// look finds what lies on the shelf. The files of other models stay, for a box
// may go back to one, and count; what no process will finish is removed by
// durable.Create.
func (s *shelf) look() error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), shelfEnding)
		if !ok {
			continue
		}
		raw, err := hex.DecodeString(name)
		info, statErr := e.Info()
		if err != nil || len(raw) != len(key{}) || statErr != nil || !info.Mode().IsRegular() {
			continue
		}
		s.files[key(raw)] = shelved{info.Size(), info.ModTime(),
			s.tokensIn(filepath.Join(s.dir, e.Name()), info.Size())}
		s.held += info.Size()
	}
	s.makeRoom(0)
	for k, f := range s.files {
		if time.Since(f.used) > shelfAge {
			s.remove(k)
		}
	}
	return nil
}

// tokensIn are those of the prompt in a file; none where it is of no use to this model.
func (s *shelf) tokensIn(path string, size int64) []Token {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var h shelfHead
	if err := binary.Read(f, binary.LittleEndian, &h); err != nil || h.Magic != shelfMagic || h.Who != s.who ||
		int64(h.Tokens) > size/4 {
		return nil
	}
	tokens := make([]Token, h.Tokens)
	if err := binary.Read(f, binary.LittleEndian, tokens); err != nil {
		return nil
	}
	return tokens
}

// closest is the prompt on the shelf that begins like tokens for longest, the shortest
// of those that do, and how many tokens that is.
func (s *shelf) closest(tokens []Token) (closest []Token, alike int) {
	if s == nil {
		return nil, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		n := shared(f.tokens, tokens)
		if n > alike || n == alike && n > 0 && len(f.tokens) < len(closest) {
			closest, alike = f.tokens, n
		}
	}
	return closest, alike
}

// key of a prompt for this model.
func (s *shelf) key(tokens []Token) key {
	h := sha256.New()
	h.Write(s.who[:])
	_ = binary.Write(h, binary.LittleEndian, tokens)
	return key(h.Sum(nil))
}

func (s *shelf) path(k key) string {
	return filepath.Join(s.dir, hex.EncodeToString(k[:])+shelfEnding)
}

// has tells whether a prompt lies on the shelf, unless its file is damaged.
func (s *shelf) has(tokens []Token) bool {
	if s == nil {
		return false
	}
	k := s.key(tokens)
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.files[k].tokens) > 0
}

// shelfMagic begins a prompt's file; the number is its format's.
var shelfMagic = [8]byte{'P', 'A', 'R', 'L', 'E', 'Y', 'P', '1'}

// shelfHead is the beginning of a prompt's file, little-endian: after it come
// the tokens and the state, then the CRC-32C of everything before it.
type shelfHead struct {
	Magic  [8]byte
	Who    [sha256.Size]byte
	Tokens uint32
	State  uint64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errForeign is what a file is that is whole and of something else.
var errForeign = errors.New("it is of another prompt or model")

// get returns the state of a prompt; nil where there is none. A file that is
// of no use is removed.
func (s *shelf) get(tokens []Token) []byte {
	k := s.key(tokens)
	raw, err := os.ReadFile(s.path(k))
	if err == nil {
		var state []byte
		if state, err = s.parse(raw, tokens); err == nil {
			s.use(k)
			return state
		}
	}
	s.log.Warn("a prompt that was kept is read anew", "file", s.path(k), "err", err)
	s.remove(k)
	return nil
}

func (s *shelf) parse(raw []byte, tokens []Token) ([]byte, error) {
	var h shelfHead
	from := bytes.NewReader(raw)
	if err := binary.Read(from, binary.LittleEndian, &h); err != nil {
		return nil, errors.New("it is too short")
	}
	begin := binary.Size(h) + 4*int(h.Tokens)
	switch {
	case h.Magic != shelfMagic:
		return nil, errors.New("it is no prompt's")
	case h.Who != s.who || int(h.Tokens) != len(tokens):
		return nil, errForeign
	case begin+4 > len(raw) || h.State != uint64(len(raw)-begin-4):
		return nil, errors.New("it is cut short")
	case crc32.Checksum(raw[:len(raw)-4], castagnoli) != binary.LittleEndian.Uint32(raw[len(raw)-4:]):
		return nil, errors.New("it is damaged")
	}
	kept := make([]Token, h.Tokens)
	if err := binary.Read(from, binary.LittleEndian, kept); err != nil || !slices.Equal(kept, tokens) {
		return nil, errForeign
	}
	return raw[begin : len(raw)-4], nil
}

// put keeps the state of a prompt; those used longest ago make room for it.
func (s *shelf) put(tokens []Token, state []byte) {
	k := s.key(tokens)
	h := shelfHead{shelfMagic, s.who, uint32(len(tokens)), uint64(len(state))}
	var head bytes.Buffer
	_ = binary.Write(&head, binary.LittleEndian, h)
	_ = binary.Write(&head, binary.LittleEndian, tokens)
	size := int64(head.Len() + len(state) + 4)
	if size > s.limit {
		return
	}
	s.makeRoom(size)
	sum := crc32.Update(crc32.Checksum(head.Bytes(), castagnoli), castagnoli, state)
	if err := s.write(s.path(k), head.Bytes(), state, binary.LittleEndian.AppendUint32(nil, sum)); err != nil {
		s.log.Warn("cannot keep a prompt for the next start", "err", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += size - s.files[k].bytes
	s.files[k] = shelved{size, time.Now(), slices.Clone(tokens)}
}

func (s *shelf) write(path string, parts ...[]byte) error {
	if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := durable.Create(path, 0o600)
	if err != nil {
		return err
	}
	defer f.Discard()
	for _, p := range parts {
		if _, err := f.Write(p); err != nil {
			return err
		}
	}
	return f.Commit()
}

// makeRoom removes the files used longest ago until there is room for size.
func (s *shelf) makeRoom(size int64) {
	for {
		s.mu.Lock()
		if s.held+size <= s.limit || len(s.files) == 0 {
			s.mu.Unlock()
			return
		}
		var keys []key
		for k := range s.files {
			keys = append(keys, k)
		}
		oldest := slices.MinFunc(keys, func(a, b key) int { return s.files[a].used.Compare(s.files[b].used) })
		s.mu.Unlock()
		s.remove(oldest)
	}
}

func (s *shelf) remove(k key) {
	if err := os.Remove(s.path(k)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("cannot remove a prompt that was kept", "err", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held -= s.files[k].bytes
	delete(s.files, k)
}

// use notes that a prompt was of use now.
func (s *shelf) use(k key) {
	now := time.Now()
	_ = os.Chtimes(s.path(k), now, now) // only the order of giving up depends on it
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, ok := s.files[k]; ok {
		s.files[k] = shelved{f.bytes, now, f.tokens}
	}
}
