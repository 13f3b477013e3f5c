package bus

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"strconv"
)

// Plugin writes the file of a plugin to w. The file is right only if Plugin returns nil. It is read message by message
// and without a consumer, which boxes may not make.
func (b *Box) Plugin(ctx context.Context, sha string, w io.Writer) error {
	if raw, err := hex.DecodeString(sha); err != nil || len(raw) != sha256.Size {
		return fmt.Errorf("%.80q is not a SHA-256 in hexadecimal", sha)
	}
	stream := "OBJ_" + pluginBucket
	m, err := b.get(ctx, stream+".$O."+pluginBucket+".M."+base64.URLEncoding.EncodeToString([]byte(sha)), nil)
	if err != nil {
		return err
	}
	var info struct {
		NUID    string `json:"nuid"`
		Size    int64  `json:"size"`
		Deleted bool   `json:"deleted"`
	}
	if m != nil {
		if err := json.Unmarshal(m.Data, &info); err != nil {
			return fmt.Errorf("the plugin's entry in the object store is not readable: %w", err)
		}
	}
	if m == nil || info.Deleted {
		return fmt.Errorf("the hub %s does not have the plugin %s", b.join.Hub, sha)
	}
	sum := sha256.New()
	if err := b.chunks(ctx, stream, info.NUID, info.Size, io.MultiWriter(w, sum)); err != nil {
		return fmt.Errorf("plugin %s: %w", sha, err)
	}
	return checkSum(sum, sha)
}

// chunks writes the parts of an object, one after the other.
func (b *Box) chunks(ctx context.Context, stream, nuid string, size int64, w io.Writer) error {
	seq := uint64(1)
	for done := int64(0); done < size; seq++ {
		body, err := json.Marshal(map[string]any{"seq": seq, "next_by_subj": "$O." + pluginBucket + ".C." + nuid})
		if err != nil {
			return err
		}
		m, err := b.get(ctx, stream, body)
		if err != nil {
			return err
		}
		if m == nil || len(m.Data) == 0 || done+int64(len(m.Data)) > size {
			return fmt.Errorf("the object store has %d of %d bytes", done, size)
		}
		if seq, err = strconv.ParseUint(m.Header.Get(headerSeq), 10, 64); err != nil {
			return err
		}
		if _, err := w.Write(m.Data); err != nil {
			return err
		}
		done += int64(len(m.Data))
	}
	return nil
}

func checkSum(sum hash.Hash, sha string) error {
	if got := hex.EncodeToString(sum.Sum(nil)); got != sha {
		return fmt.Errorf("the file has the SHA-256 %s, not %s: it was damaged or replaced", got, sha)
	}
	return nil
}
