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

// promptCacheBytes limits the disk space of prompts: about a hundred prompts of 600 tokens of the
// default model, at 8.5 MB each. A box has as many configs as it has uses; more space is better
// left to recordings.
const promptCacheBytes = 1 << 30

// promptCacheAge is how long an unused prompt is stored, since its config may have been deleted.
const promptCacheAge = 30 * 24 * time.Hour

// promptFileSuffix is the suffix of a prompt's file; the name before it is the prompt's key.
const promptFileSuffix = ".prompt"

// promptKey identifies a prompt: the hash of its tokens and of what computed them.
type promptKey [sha256.Size]byte

// promptCache stores computed prompts on disk, so that a restart need not compute them again. A
// prompt that cannot be loaded, for whatever reason, is computed again, so its errors are only
// logged. It is safe for concurrent use.
type promptCache struct {
	dir   string
	model [sha256.Size]byte // hash of model, library and kind of cells; a state fits no other
	limit int64
	log   *slog.Logger

	mu    sync.Mutex
	files map[promptKey]promptFile
	bytes int64
}

// promptFile describes one stored prompt.
type promptFile struct {
	bytes    int64
	lastUsed time.Time
	tokens   []Token // of the prompt; nil if the file belongs to another model
}

// openPromptCache returns the cache in dir, which is created with the first prompt. It returns nil
// if prompts cannot be stored.
func openPromptCache(dir, modelPath, made string, limit int64, log *slog.Logger) *promptCache {
	if dir == "" {
		return nil
	}
	who, err := identity(modelPath, made)
	s := &promptCache{
		dir:   dir,
		model: who,
		limit: limit,
		log:   log,
		files: map[promptKey]promptFile{},
	}
	if err == nil {
		err = s.scan()
	}
	if err != nil {
		log.Warn("computed prompts are not kept across restarts", "err", err)
		return nil
	}
	return s
}

// identity returns a hash of everything that a state depends on: what computed it, and the model
// file. The ends, the size and the time of the file are enough to distinguish it; hashing a GB
// would take longer than computing a prompt.
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
	const end = 1 << 20 // the names and shapes of all tensors, and the end of their data
	h := sha256.New()
	fmt.Fprintln(h, made, info.Size(), info.ModTime().UnixNano())
	for _, at := range []int64{0, max(0, info.Size()-end)} {
		if _, err := io.Copy(h, io.NewSectionReader(f, at, end)); err != nil {
			return who, err
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// scan lists the stored prompts. Files of other models are kept, since a box may return to one, and
// count towards the limit. durable.Create removes unfinished files.
func (c *promptCache) scan() error {
	entries, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), promptFileSuffix)
		if !ok {
			continue
		}
		raw, err := hex.DecodeString(name)
		info, statErr := e.Info()
		if err != nil || len(raw) != len(promptKey{}) || statErr != nil || !info.Mode().IsRegular() {
			continue
		}
		c.files[promptKey(raw)] = promptFile{info.Size(), info.ModTime(),
			c.readTokens(filepath.Join(c.dir, e.Name()), info.Size())}
		c.bytes += info.Size()
	}
	c.evictFor(0)
	for k, f := range c.files {
		if time.Since(f.lastUsed) > promptCacheAge {
			c.remove(k)
		}
	}
	return nil
}

// readTokens returns the tokens of the prompt in a file, or nil if the file is of no use to this
// model.
func (c *promptCache) readTokens(path string, size int64) []Token {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var h promptFileHeader
	if err := binary.Read(f, binary.LittleEndian, &h); err != nil || h.Magic != promptFileMagic || h.Model != c.model ||
		int64(h.Tokens) > size/4 {
		return nil
	}
	tokens := make([]Token, h.Tokens)
	if err := binary.Read(f, binary.LittleEndian, tokens); err != nil {
		return nil
	}
	return tokens
}

// closest returns the stored prompt with the longest common prefix with tokens, the shortest of
// equals, and the length of that prefix.
func (c *promptCache) closest(tokens []Token) (closest []Token, alike int) {
	if c == nil {
		return nil, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.files {
		n := commonPrefix(f.tokens, tokens)
		if n > alike || n == alike && n > 0 && len(f.tokens) < len(closest) {
			closest, alike = f.tokens, n
		}
	}
	return closest, alike
}

// key returns the key of a prompt for this model.
func (c *promptCache) key(tokens []Token) promptKey {
	h := sha256.New()
	h.Write(c.model[:])
	_ = binary.Write(h, binary.LittleEndian, tokens)
	return promptKey(h.Sum(nil))
}

func (c *promptCache) path(k promptKey) string {
	return filepath.Join(c.dir, hex.EncodeToString(k[:])+promptFileSuffix)
}

// has reports whether a prompt is stored. Its file may still turn out to be damaged.
func (c *promptCache) has(tokens []Token) bool {
	if c == nil {
		return false
	}
	k := c.key(tokens)
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.files[k].tokens) > 0
}

// promptFileMagic begins a prompt's file; the digit is the version of the format.
var promptFileMagic = [8]byte{'P', 'A', 'R', 'L', 'E', 'Y', 'P', '1'}

// promptFileHeader is the little-endian header of a prompt's file. The tokens and the state follow,
// then the CRC-32C of everything before it.
type promptFileHeader struct {
	Magic  [8]byte
	Model  [sha256.Size]byte
	Tokens uint32
	State  uint64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errOtherPrompt reports an intact file of another prompt or model.
var errOtherPrompt = errors.New("the file belongs to another prompt or model")

// get returns the state of a prompt, or nil. It removes a file that cannot be used.
func (c *promptCache) get(tokens []Token) []byte {
	k := c.key(tokens)
	raw, err := os.ReadFile(c.path(k))
	if err == nil {
		var state []byte
		if state, err = c.parse(raw, tokens); err == nil {
			c.touch(k)
			return state
		}
	}
	c.log.Warn("stored prompt cannot be used and is computed again", "file", c.path(k), "err", err)
	c.remove(k)
	return nil
}

func (c *promptCache) parse(raw []byte, tokens []Token) ([]byte, error) {
	var h promptFileHeader
	from := bytes.NewReader(raw)
	if err := binary.Read(from, binary.LittleEndian, &h); err != nil {
		return nil, errors.New("the file is too short")
	}
	begin := binary.Size(h) + 4*int(h.Tokens)
	switch {
	case h.Magic != promptFileMagic:
		return nil, errors.New("the file is not a stored prompt")
	case h.Model != c.model || int(h.Tokens) != len(tokens):
		return nil, errOtherPrompt
	case begin+4 > len(raw) || h.State != uint64(len(raw)-begin-4):
		return nil, errors.New("the file is truncated")
	case crc32.Checksum(raw[:len(raw)-4], castagnoli) != binary.LittleEndian.Uint32(raw[len(raw)-4:]):
		return nil, errors.New("the file is damaged")
	}
	stored := make([]Token, h.Tokens)
	if err := binary.Read(from, binary.LittleEndian, stored); err != nil || !slices.Equal(stored, tokens) {
		return nil, errOtherPrompt
	}
	return raw[begin : len(raw)-4], nil
}

// put stores the state of a prompt, evicting the prompts least recently used.
func (c *promptCache) put(tokens []Token, state []byte) {
	k := c.key(tokens)
	h := promptFileHeader{promptFileMagic, c.model, uint32(len(tokens)), uint64(len(state))}
	var head bytes.Buffer
	_ = binary.Write(&head, binary.LittleEndian, h)
	_ = binary.Write(&head, binary.LittleEndian, tokens)
	size := int64(head.Len() + len(state) + 4)
	if size > c.limit {
		return
	}
	c.evictFor(size)
	sum := crc32.Update(crc32.Checksum(head.Bytes(), castagnoli), castagnoli, state)
	if err := c.write(c.path(k), head.Bytes(), state, binary.LittleEndian.AppendUint32(nil, sum)); err != nil {
		c.log.Warn("storing a computed prompt failed", "err", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += size - c.files[k].bytes
	c.files[k] = promptFile{size, time.Now(), slices.Clone(tokens)}
}

func (c *promptCache) write(path string, parts ...[]byte) error {
	if err := os.Mkdir(c.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
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

// evictFor removes the files least recently used until size bytes fit.
func (c *promptCache) evictFor(size int64) {
	for {
		c.mu.Lock()
		if c.bytes+size <= c.limit || len(c.files) == 0 {
			c.mu.Unlock()
			return
		}
		var keys []promptKey
		for k := range c.files {
			keys = append(keys, k)
		}
		oldest := slices.MinFunc(keys, func(a, b promptKey) int {
			return c.files[a].lastUsed.Compare(c.files[b].lastUsed)
		})
		c.mu.Unlock()
		c.remove(oldest)
	}
}

func (c *promptCache) remove(k promptKey) {
	if err := os.Remove(c.path(k)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.log.Warn("removing a stored prompt failed", "err", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes -= c.files[k].bytes
	delete(c.files, k)
}

// touch marks a prompt as used now.
func (c *promptCache) touch(k promptKey) {
	now := time.Now()
	_ = os.Chtimes(c.path(k), now, now) // only the order of eviction depends on it
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.files[k]; ok {
		c.files[k] = promptFile{f.bytes, now, f.tokens}
	}
}
