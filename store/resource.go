package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Kind is the kind of a resource. Configs, prompts and tools differ in content only.
type Kind string

// The kinds, in the words of the wire.
const (
	KindConfig Kind = "config"
	KindPrompt Kind = "prompt"
	KindTool   Kind = "tool"
)

// Version is a version of a config, prompt or tool.
type Version struct {
	Kind        Kind
	ID          string // of the resource, a UUID
	Number      int    // from 0
	Name        string // of the resource
	Description string // of the version
	Content     string // JSON, without the approved answers of a config
	// Answers are the approved answers of a config (JSON). Lists leave them out.
	// AnswersBytes is their size, also in lists.
	Answers      string
	AnswersBytes int
	CreatedMS    int64 // Unix milliseconds, of the resource
	ModifiedMS   int64 // Unix milliseconds, of the version or the name, whichever changed last
}

// NewVersion is a version to store. With a Name it is the first version of a new
// resource; without one it is the next version of the resource with the ID.
type NewVersion struct {
	Kind        Kind
	ID          string
	Name        string
	Description string
	Content     string // JSON
	Answers     string // JSON: the approved answers of a config; may be empty
	Uses        []Ref  // versions that must exist in the same account
}

// Ref names a version of a resource.
type Ref struct {
	Kind    Kind
	ID      string
	Version int // a number, or Newest
}

// Newest stands for the newest version.
const Newest = -1

// ErrMissing means that the account has no such resource or version. It is an
// ErrNotFound.
type ErrMissing struct{ Ref }

func (e ErrMissing) Error() string { return fmt.Sprintf("no %s %q", e.What(), e.ID) }

// What returns what is missing, such as "prompt" or "version 3 of a prompt".
func (e ErrMissing) What() string {
	if e.Version == Newest {
		return string(e.Kind)
	}
	return fmt.Sprintf("version %d of a %s", e.Version, e.Kind)
}

// Unwrap makes it an ErrNotFound.
func (e ErrMissing) Unwrap() error { return ErrNotFound }

// missing turns an ErrNotFound into an ErrMissing.
func missing(err error, ref Ref) error {
	if errors.Is(err, ErrNotFound) {
		return ErrMissing{ref}
	}
	return err
}

// AddVersions stores versions for an account, all or none, and returns them. Each may use
// those before it. The error is ErrMissing if the resource of a next version, or a used
// version, does not exist.
func (s *Store) AddVersions(ctx context.Context, accountID string, versions ...NewVersion) (
	added []Version, err error,
) {
	request := ctx
	err = s.change(ctx, "storing a version", func(ctx context.Context, c conn) (err error) {
		added, err = addVersions(ctx, c, accountID, versions)
		for _, v := range added {
			text := ""
			if v.Number > 0 {
				text = fmt.Sprintf("saved version %d of a %s", v.Number, v.Kind)
			}
			amendAct(request, Object{string(v.Kind), v.ID, v.Name}, text)
		}
		return err
	})
	return added, err
}

func addVersions(ctx context.Context, c conn, accountID string, versions []NewVersion) ([]Version, error) {
	account, err := value[int64](ctx, c, `SELECT num FROM account WHERE id = ?`, accountID)
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", accountID, err)
	}
	added := make([]Version, len(versions))
	for i, d := range versions {
		if added[i], err = addVersion(ctx, c, account, d); err != nil {
			return nil, err
		}
	}
	return added, nil
}

func addVersion(ctx context.Context, c conn, account int64, d NewVersion) (v Version, err error) {
	for _, ref := range d.Uses {
		if err := checkExists(ctx, c, account, ref); err != nil {
			return v, err
		}
	}
	now := time.Now().UnixMilli()
	if d.Name != "" {
		if err := execute(ctx, c,
			`INSERT INTO resource (num, id, account, kind, name, created_ms, renamed_ms)
			 VALUES (`+nextNum("resource")+`, ?, ?, ?, ?, ?5, ?5)`,
			d.ID, account, d.Kind, d.Name, now); err != nil {
			return v, err
		}
	}
	if d.Name == "" {
		if err := checkLocal(ctx, c, string(d.Kind), "resource", "id = ?", d.ID); err != nil {
			return v, err
		}
	}
	// The right sides of SET have the old values: newest becomes the old next_version.
	v = Version{
		Kind:         d.Kind,
		ID:           d.ID,
		Description:  d.Description,
		Content:      d.Content,
		Answers:      d.Answers,
		AnswersBytes: len(d.Answers),
	}
	num, err := first(ctx, c, func(row scanner) (num int64, err error) {
		return num, row.Scan(&num, &v.Number, &v.Name, &v.CreatedMS)
	}, `
		UPDATE resource SET newest = next_version, next_version = next_version + 1, bytes = bytes + ?
		 WHERE id = ? AND kind = ? AND account = ?
		RETURNING num, newest, name, created_ms`, v.size(), d.ID, d.Kind, account)
	if err != nil {
		return v, missing(err, Ref{d.Kind, d.ID, Newest})
	}
	v.ModifiedMS = max(now, v.CreatedMS) // a clock may be set back
	_, err = c.ExecContext(ctx, `
		INSERT INTO resource_version (resource, version, description, content, created_ms, modified_ms, answers)
		VALUES (?, ?, ?, ?, ?5, ?5, ?6)`, num, v.Number, d.Description, d.Content, v.ModifiedMS, orNull(d.Answers))
	return v, err
}

// size is about how many bytes the version takes on the disk.
func (v Version) size() int {
	return versionBytes + len(v.Description) + len(v.Content) + len(v.Answers)
}

func checkExists(ctx context.Context, c conn, account int64, ref Ref) error {
	there, err := value[bool](ctx, c, `
		SELECT EXISTS (SELECT 1 FROM resource r JOIN resource_version v
		    ON v.resource = r.num AND v.version = iif(?1 = -1, r.newest, ?1)
		 WHERE r.id = ?2 AND r.kind = ?3 AND r.account = ?4)`, ref.Version, ref.ID, ref.Kind, account)
	if err == nil && !there {
		err = ErrMissing{ref}
	}
	return err
}

// ofAccount is the condition that a row belongs to the account whose id is the next
// parameter.
const ofAccount = ` account = (SELECT num FROM account WHERE id = ?) `

// ErrNameTaken means that a tool cannot have a name, since a config with that tool has
// another tool with the same name, and a model could not tell them apart. It is an
// ErrConflict.
type ErrNameTaken struct {
	Name    string
	Config  string // name of the config
	Version int    // of the config
}

func (e ErrNameTaken) Error() string {
	return fmt.Sprintf("version %d of the config %q has another tool named %q", e.Version, e.Config, e.Name)
}

// Unwrap makes it an ErrConflict.
func (e ErrNameTaken) Unwrap() error { return ErrConflict }

// sharedName finds a config of the account that has the tool with an id (?2) and another
// tool, custom or built in, with a name (?3).
const sharedName = `
	SELECT c.name, v.version FROM resource c JOIN resource_version v ON v.resource = c.num
	 WHERE c.account = (SELECT num FROM account WHERE id = ?1) AND c.kind = 'config' AND instr(v.content, ?2) > 0
	   AND EXISTS (SELECT 1 FROM json_each(v.content, '$.tools') WHERE value ->> 'id' = ?2)
	   AND (EXISTS (SELECT 1 FROM json_each(v.content, '$.builtin_tools') WHERE value ->> 'name' = ?3)
	     OR EXISTS (SELECT 1 FROM json_each(v.content, '$.tools') t JOIN resource o ON o.id = t.value ->> 'id'
	                 WHERE o.id <> ?2 AND o.kind = 'tool' AND o.account = c.account AND o.name = ?3))
	 ORDER BY c.num DESC, v.version DESC LIMIT 1`

// checkNameFree returns an ErrNameTaken if the tool must not have the name.
func checkNameFree(ctx context.Context, c conn, accountID, id, name string) error {
	taken, err := first(ctx, c, func(row scanner) (e ErrNameTaken, err error) {
		e.Name = name
		return e, row.Scan(&e.Config, &e.Version)
	}, sharedName, accountID, id, name)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return taken
}

// Rename gives a resource another name, which applies to all its versions. The error is
// ErrNameTaken if a config that has the tool has another tool with that name.
func (s *Store) Rename(ctx context.Context, accountID string, kind Kind, id, name string) error {
	doing := fmt.Sprintf("renaming %s %s", kind, id)
	return s.change(ctx, doing, func(ctx context.Context, c conn) error {
		if err := checkLocal(ctx, c, string(kind), "resource", "id = ?", id); err != nil {
			return err
		}
		if kind == KindTool {
			if err := checkNameFree(ctx, c, accountID, id, name); err != nil {
				return err
			}
		}
		err := changeOne(ctx, c, `UPDATE resource SET name = ?, renamed_ms = ? WHERE id = ? AND kind = ? AND`+ofAccount,
			name, time.Now().UnixMilli(), id, kind, accountID)
		return missing(err, Ref{kind, id, Newest})
	})
}

// Describe replaces the description of a version and returns the version.
func (s *Store) Describe(ctx context.Context, accountID string, ref Ref, description string) (v Version, err error) {
	doing := fmt.Sprintf("describing version %d of %s %s", ref.Version, ref.Kind, ref.ID)
	err = s.change(ctx, doing, func(ctx context.Context, c conn) (err error) {
		v, err = describe(ctx, c, accountID, ref, description)
		return err
	})
	return v, err
}

func describe(ctx context.Context, c conn, accountID string, ref Ref, description string) (Version, error) {
	if err := checkLocal(ctx, c, string(ref.Kind), "resource", "id = ?", ref.ID); err != nil {
		return Version{}, err
	}
	err := changeOne(ctx, c, `
		UPDATE resource_version SET description = ?, modified_ms = ?
		 WHERE version = ? AND resource = (SELECT num FROM resource WHERE id = ? AND kind = ? AND`+ofAccount+`)`,
		description, time.Now().UnixMilli(), ref.Version, ref.ID, ref.Kind, accountID)
	if err != nil {
		return Version{}, missing(err, ref)
	}
	return versionOf(ctx, c, accountID, ref)
}

// Delete deletes a resource with all its versions.
func (s *Store) Delete(ctx context.Context, accountID string, kind Kind, id string) error {
	return s.change(ctx, fmt.Sprintf("deleting %s %s", kind, id), func(ctx context.Context, c conn) error {
		if err := checkLocal(ctx, c, string(kind), "resource", "id = ?", id); err != nil {
			return err
		}
		err := changeOne(ctx, c, `DELETE FROM resource WHERE id = ? AND kind = ? AND`+ofAccount, id, kind, accountID)
		return missing(err, Ref{kind, id, Newest})
	})
}

// DeleteVersion deletes a version. Its number is not used again. A resource without
// versions is in no list, but can get a next version.
func (s *Store) DeleteVersion(ctx context.Context, accountID string, ref Ref) error {
	doing := fmt.Sprintf("deleting version %d of %s %s", ref.Version, ref.Kind, ref.ID)
	return s.change(ctx, doing, func(ctx context.Context, c conn) error {
		if err := checkLocal(ctx, c, string(ref.Kind), "resource", "id = ?", ref.ID); err != nil {
			return err
		}
		deleted, err := first(ctx, c, func(row scanner) (g struct{ num, bytes int64 }, err error) {
			return g, row.Scan(&g.num, &g.bytes)
		}, `
			DELETE FROM resource_version
			 WHERE version = ? AND resource = (SELECT num FROM resource WHERE id = ? AND kind = ? AND`+ofAccount+`)
			RETURNING resource, octet_length(description) + octet_length(content) + coalesce(octet_length(answers), 0)`,
			ref.Version, ref.ID, ref.Kind, accountID)
		if err != nil {
			return missing(err, ref)
		}
		return execute(ctx, c, `
			UPDATE resource SET newest = (SELECT max(version) FROM resource_version WHERE resource = num), bytes =
			  max(bytes - ?, 0)
			 WHERE num = ?`, deleted.bytes+versionBytes, deleted.num)
	})
}
