package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Voice is a voice that an account has saved.
type Voice struct {
	ID        string // a UUID
	Name      string // unique in the account, ignoring letter case
	Recipe    string // what it is made of, JSON
	CreatedMS int64  // Unix milliseconds; ignored by SaveVoice
}

// ErrVoiceUsed means that a voice cannot be deleted, since configs use it. It is an
// ErrConflict.
type ErrVoiceUsed struct {
	Name    string
	Configs []string // names of some, at most five
}

func (e ErrVoiceUsed) Error() string {
	return fmt.Sprintf("the config %[2]q uses the voice %[1]q", e.Name, e.Configs[0])
}

// Unwrap makes it an ErrConflict.
func (e ErrVoiceUsed) Unwrap() error { return ErrConflict }

const voiceColumns = ` v.id, v.name, v.recipe, v.created_ms `

func scanVoice(row scanner) (v Voice, err error) {
	return v, row.Scan(&v.ID, &v.Name, &v.Recipe, &v.CreatedMS)
}

// FoldedName returns the form in which names are compared: names that look alike are
// equal, whatever their letter case and the encoding of their accents.
func FoldedName(name string) string {
	return cases.Fold().String(norm.NFC.String(strings.Join(strings.Fields(name), " ")))
}

// SaveVoice saves a voice of an account. The error is ErrConflict if the account has a
// voice with that name.
func (s *Store) SaveVoice(ctx context.Context, accountID string, v Voice) error {
	return s.change(ctx, "saving a voice", func(ctx context.Context, c conn) error {
		account, err := value[int64](ctx, c, `SELECT num FROM account WHERE id = ?`, accountID)
		if err != nil {
			return err
		}
		return execute(ctx, c,
			`INSERT INTO voice (id, account, name, folded, recipe, created_ms) VALUES (?, ?, ?, ?, ?, ?)`,
			v.ID, account, v.Name, FoldedName(v.Name), v.Recipe, time.Now().UnixMilli())
	})
}

// Voices returns the voices of an account, oldest first.
func (s *Store) Voices(ctx context.Context, accountID string) ([]Voice, error) {
	all, err := query(ctx, s.read, scanVoice, `
		SELECT`+voiceColumns+`FROM voice v JOIN account a ON a.num = v.account WHERE a.id = ? ORDER BY v.num`,
		accountID)
	return all, explain("listing the voices", err)
}

// Voice returns a voice of an account by id or, if the id is empty, by name; or
// ErrNotFound.
func (s *Store) Voice(ctx context.Context, accountID, id, name string) (Voice, error) {
	where, wanted := `v.id = ?`, id
	if id == "" {
		where, wanted = `v.folded = ?`, FoldedName(name)
	}
	v, err := first(ctx, s.read, scanVoice, `
		SELECT`+voiceColumns+`FROM voice v JOIN account a ON a.num = v.account WHERE `+where+` AND a.id = ?`, wanted,
		accountID)
	return v, explain("finding a voice", err)
}

// configsOf finds configs of an account whose newest version uses a voice.
const configsOf = `
	SELECT DISTINCT r.name FROM resource r JOIN resource_version v ON v.resource = r.num AND v.version = r.newest
	 WHERE r.account = (SELECT num FROM account WHERE id = ?1) AND r.kind = 'config'
	   AND instr(v.content, ?2) > 0 AND v.content ->> '$.voice.id' = ?2
	 ORDER BY r.name LIMIT 5`

// DeleteVoice deletes the voice with that name. The error is ErrNotFound if the account
// has none, ErrVoiceUsed if the newest version of a config uses it.
func (s *Store) DeleteVoice(ctx context.Context, accountID, name string) error {
	return s.change(ctx, "deleting a voice", func(ctx context.Context, c conn) error {
		id, err := value[string](ctx, c, `SELECT id FROM voice WHERE folded = ? AND`+ofAccount, FoldedName(name),
			accountID)
		if err != nil {
			return err
		}
		if err := checkLocal(ctx, c, "voice", "voice", "id = ?", id); err != nil {
			return err
		}
		configs, err := query(ctx, c, scanText, configsOf, accountID, id)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if len(configs) > 0 {
			return ErrVoiceUsed{name, configs}
		}
		return changeOne(ctx, c, `DELETE FROM voice WHERE id = ?`, id)
	})
}
