package store

import (
	"context"
	"fmt"
	"slices"
)

// Pronunciation is how an account has a word spoken.
type Pronunciation struct {
	Key    string // by which words are compared; unique in an account
	Word   string // as it is written
	Spoken string // phonemes between slashes, or a respelling
}

// ErrLexiconFull means that an account's lexicon has the most entries allowed.
type ErrLexiconFull struct{ Most int }

func (e ErrLexiconFull) Error() string {
	return fmt.Sprintf("the lexicon has %d entries, which is the most", e.Most)
}

// Lexicon returns the pronunciations of an account, in alphabetical order.
func (s *Store) Lexicon(ctx context.Context, accountID string) ([]Pronunciation, error) {
	all, err := query(ctx, s.read, scanPronunciation, `
		SELECT l.key, l.word, l.said FROM account a JOIN lexicon l ON l.account = a.num WHERE a.id = ? ORDER BY l.key`,
		accountID)
	return all, explain("reading the lexicon", err)
}

// Pronunciation returns an account's entry with that key, or ErrNotFound.
func (s *Store) Pronunciation(ctx context.Context, accountID, key string) (Pronunciation, error) {
	p, err := first(ctx, s.read, scanPronunciation, `
		SELECT l.key, l.word, l.said FROM account a JOIN lexicon l ON l.account = a.num WHERE a.id = ? AND l.key = ?`,
		accountID, key)
	return p, explain("reading the lexicon", err)
}

func scanPronunciation(row scanner) (p Pronunciation, err error) {
	return p, row.Scan(&p.Key, &p.Word, &p.Spoken)
}

// SetLexicon replaces all entries of an account. The error is ErrManaged if an entry of the hub
// would change.
func (s *Store) SetLexicon(ctx context.Context, accountID string, entries []Pronunciation) error {
	return s.change(ctx, "writing the lexicon", func(ctx context.Context, c conn) error {
		account, err := value[int64](ctx, c, `SELECT num FROM account WHERE id = ?`, accountID)
		if err != nil {
			return err
		}
		if err := checkWords(ctx, c, account, entries); err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, `DELETE FROM lexicon WHERE account = ? AND managed = 0`, account); err != nil {
			return err
		}
		for _, p := range entries {
			if err := setPronunciation(ctx, c, account, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkWords returns an ErrManaged unless the entries have those of the hub as they are.
func checkWords(ctx context.Context, c conn, account int64, entries []Pronunciation) error {
	managed, err := query(ctx, c, scanPronunciation,
		`SELECT key, word, said FROM lexicon WHERE account = ? AND managed = 1`, account)
	if err != nil {
		return err
	}
	for _, p := range managed {
		if !slices.Contains(entries, p) {
			return checkLocal(ctx, c, "pronunciation", "lexicon", "account = ? AND key = ?", account, p.Key)
		}
	}
	return nil
}

// SetPronunciation adds or replaces an entry of an account; added reports which. The
// error is ErrLexiconFull if there would be more than limit entries.
func (s *Store) SetPronunciation(ctx context.Context, accountID string, p Pronunciation, limit int) (added bool,
	err error) {
	err = s.change(ctx, "writing the lexicon", func(ctx context.Context, c conn) error {
		account, err := value[int64](ctx, c, `SELECT num FROM account WHERE id = ?`, accountID)
		if err != nil {
			return err
		}
		if err := checkLocal(ctx, c, "pronunciation", "lexicon", "account = ? AND key = ?", account,
			p.Key); err != nil {
			return err
		}
		others, err := value[int](ctx, c, `SELECT count(*) FROM lexicon WHERE account = ? AND key <> ?`, account, p.Key)
		if err != nil {
			return err
		}
		if others >= limit {
			return ErrLexiconFull{limit}
		}
		had, err := value[int](ctx, c, `SELECT count(*) FROM lexicon WHERE account = ? AND key = ?`, account, p.Key)
		added = had == 0
		if err != nil {
			return err
		}
		return setPronunciation(ctx, c, account, p)
	})
	return added && err == nil, err
}

func setPronunciation(ctx context.Context, c conn, account int64, p Pronunciation) error {
	return execute(ctx, c, `
		INSERT INTO lexicon (account, key, word, said) VALUES (?, ?, ?, ?)
		    ON CONFLICT (account, key) DO UPDATE SET word = excluded.word, said = excluded.said`, account, p.Key,
		p.Word, p.Spoken)
}

// DeletePronunciation deletes an entry of an account. The error is ErrNotFound if there
// is none.
func (s *Store) DeletePronunciation(ctx context.Context, accountID, key string) error {
	return s.change(ctx, "writing the lexicon", func(ctx context.Context, c conn) error {
		if err := checkLocal(ctx, c, "pronunciation", "lexicon",
			"account = (SELECT num FROM account WHERE id = ?) AND key = ?", accountID, key); err != nil {
			return err
		}
		return changeOne(ctx, c,
			`DELETE FROM lexicon WHERE account = (SELECT num FROM account WHERE id = ?) AND key = ?`, accountID, key)
	})
}
