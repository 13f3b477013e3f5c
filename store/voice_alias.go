package store

import (
	"context"
	"fmt"
)

// MaxVoiceAliases is how many aliases a box has at most: six times the voices of the
// cloud library. The API returns the list in one piece.
const MaxVoiceAliases = 1000

// VoiceAlias is a name that programs ask for, and the voice that stands in for it.
type VoiceAlias struct {
	Name  string // name or id; unique, ignoring letter case
	Voice string // id of a voice of the library, or name of a saved voice
}

func scanVoiceAlias(row scanner) (a VoiceAlias, err error) {
	return a, row.Scan(&a.Name, &a.Voice)
}

// VoiceAliases returns the aliases of the box, in alphabetical order.
func (s *Store) VoiceAliases(ctx context.Context) ([]VoiceAlias, error) {
	all, err := query(ctx, s.read, scanVoiceAlias, `SELECT name, voice FROM voice_alias ORDER BY folded`)
	return all, explain("listing the aliases of voices", err)
}

// VoiceAlias returns the alias with a name, or ErrNotFound.
func (s *Store) VoiceAlias(ctx context.Context, name string) (VoiceAlias, error) {
	a, err := first(ctx, s.read, scanVoiceAlias, `SELECT name, voice FROM voice_alias WHERE folded = ?`,
		FoldedName(name))
	return a, explain("finding the alias of a voice", err)
}

// SetVoiceAlias adds or replaces an alias. The error is ErrConflict if there would be
// more than MaxVoiceAliases.
func (s *Store) SetVoiceAlias(ctx context.Context, a VoiceAlias) error {
	return s.change(ctx, "writing the alias of a voice", func(ctx context.Context, c conn) error {
		folded := FoldedName(a.Name)
		others, err := value[int](ctx, c, `SELECT count(*) FROM voice_alias WHERE folded <> ?`, folded)
		if err != nil {
			return err
		}
		if others >= MaxVoiceAliases {
			return fmt.Errorf("%w: there are %d aliases, which is the most", ErrConflict, others)
		}
		return execute(ctx, c, `
			INSERT INTO voice_alias (folded, name, voice) VALUES (?, ?, ?)
			    ON CONFLICT (folded) DO UPDATE SET name = excluded.name, voice = excluded.voice`, folded, a.Name,
			a.Voice)
	})
}

// DeleteVoiceAlias deletes the alias with a name, or returns ErrNotFound.
func (s *Store) DeleteVoiceAlias(ctx context.Context, name string) error {
	return s.change(ctx, "deleting the alias of a voice", func(ctx context.Context, c conn) error {
		return changeOne(ctx, c, `DELETE FROM voice_alias WHERE folded = ?`, FoldedName(name))
	})
}

// SavedVoiceNamed returns a voice with that name or id of any account, or ErrNotFound.
func (s *Store) SavedVoiceNamed(ctx context.Context, name string) (Voice, error) {
	v, err := first(ctx, s.read, scanVoice, `
		SELECT`+voiceColumns+`FROM voice v WHERE v.folded = ? OR v.id = ? ORDER BY v.num LIMIT 1`, FoldedName(name),
		name)
	return v, explain("finding a voice", err)
}
