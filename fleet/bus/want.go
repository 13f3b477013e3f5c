package bus

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/nats-io/nkeys"

	"parley/fleet"
)

const (
	// partBytes is what is sent in one message. The server's limit is 1 MB.
	partBytes = 512 << 10
	// maxWant is how large a compressed want may be.
	maxWant = 24 << 20
	// maxWantText is how large it may be as JSON, so that a damaged one does not fill the memory.
	maxWantText = 256 << 20
)

// head says which want a box is to run, and where its parts are. It is stored after them.
type head struct {
	Box      string `json:"box"`
	Revision int64  `json:"revision"`
	SHA256   string `json:"sha256"` // of all parts together
	Bytes    int    `json:"bytes"`
	Parts    int    `json:"parts"`
}

// signedHead is a head with the hub's signature. Without it, a box whose keys were stolen could make the server send a
// message of its choice on the subject of another box, as the answer to a question of its own.
type signedHead struct {
	Head      json.RawMessage `json:"head"`
	Signature []byte          `json:"signature"`
}

// toSign is what is signed: nothing else that the same key signs begins like this.
func toSign(head []byte) []byte { return append([]byte("parley want\n"), head...) }

func partKey(box string, revision int64, part int) string {
	return box + ".part." + strconv.FormatInt(revision, 10) + "." + strconv.Itoa(part)
}

// Want returns what the box is to run. changed is false if its revision is known, or if the hub has not said anything
// yet. A want is returned whole or not at all.
func (b *Box) Want(ctx context.Context, known int64) (w fleet.Want, changed bool, err error) {
	// A want may be replaced while it is read. Its parts are gone then, and there is a new head.
	for {
		h, err := b.head(ctx)
		if err != nil {
			return fleet.Want{}, false, err
		}
		pushed := b.pushed.Load()
		if pushed != nil && pushed.Revision > h.Revision {
			h = *pushed
		}
		if h.Revision == known || h.Revision == 0 {
			return fleet.Want{}, false, nil
		}
		w, err := b.parts(ctx, h)
		if err == nil {
			return w, true, nil
		}
		if pushed != nil && *pushed == h && errors.Is(err, errPart) {
			b.pushed.CompareAndSwap(pushed, nil)
			continue
		}
		if !errors.Is(err, errPart) {
			return fleet.Want{}, false, err
		}
		again, e := b.head(ctx)
		if e != nil {
			return fleet.Want{}, false, e
		}
		if again == h {
			return fleet.Want{}, false, fmt.Errorf("the want %d of the hub %s: %w", h.Revision, b.join.Hub, err)
		}
	}
}

func (b *Box) head(ctx context.Context) (head, error) {
	m, err := b.get(ctx, "KV_"+wantBucket+"."+wantSubject+b.join.Box+".head", nil)
	if err != nil || m == nil || len(m.Data) == 0 {
		return head{}, err
	}
	return b.openHead(m.Data)
}

// openHead returns a head that the hub has signed.
func (b *Box) openHead(data []byte) (head, error) {
	var s signedHead
	if err := json.Unmarshal(data, &s); err != nil {
		return head{}, fmt.Errorf("what the hub %s wants is not readable: %w", b.join.Hub, err)
	}
	claims, err := b.join.claims()
	if err != nil {
		return head{}, err
	}
	key, err := nkeys.FromPublicKey(claims.Issuer)
	if err != nil {
		return head{}, err
	}
	var h head
	if key.Verify(toSign(s.Head), s.Signature) != nil || json.Unmarshal(s.Head, &h) != nil || h.Box != b.join.Box {
		return head{}, fmt.Errorf("what this box is to run is not signed by the hub %s, so it is ignored: somebody "+
			"else wrote it, or the hub has new keys and this box needs a new join file", b.join.Hub)
	}
	return h, nil
}

// errPart says that a part is missing or damaged.
var errPart = errors.New("is not complete")

func (b *Box) parts(ctx context.Context, h head) (fleet.Want, error) {
	var w fleet.Want
	if h.Bytes > maxWant {
		return w, fmt.Errorf("it has %d bytes; at most %d are allowed", h.Bytes, maxWant)
	}
	all := make([]byte, 0, h.Bytes)
	for part := 1; part <= h.Parts; part++ {
		m, err := b.get(ctx, "KV_"+wantBucket+"."+wantSubject+partKey(b.join.Box, h.Revision, part), nil)
		if err != nil {
			return w, err
		}
		if m == nil || len(all)+len(m.Data) > h.Bytes {
			return w, errPart
		}
		all = append(all, m.Data...)
	}
	sum := sha256.Sum256(all)
	if hex.EncodeToString(sum[:]) != h.SHA256 {
		return w, errPart
	}
	z, err := gzip.NewReader(bytes.NewReader(all))
	if err != nil {
		return w, err
	}
	d := json.NewDecoder(io.LimitReader(z, maxWantText))
	if err := d.Decode(&w); err != nil {
		return w, err
	}
	if w.Revision != h.Revision {
		return fleet.Want{}, fmt.Errorf("it says that it is revision %d", w.Revision)
	}
	return w, nil
}

// pack compresses a want.
func pack(w fleet.Want) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the same text is compressed for each box
	if err != nil {
		return nil, err
	}
	if err := json.NewEncoder(z).Encode(w); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if b.Len() > maxWant {
		return nil, fmt.Errorf("what the box is to run has %d bytes, compressed; at most %d are sent: roll out less "+
			"to it", b.Len(), maxWant)
	}
	return b.Bytes(), nil
}
