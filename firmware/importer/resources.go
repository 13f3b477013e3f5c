package importer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"parley/appliance/contract"
	"parley/store"
)

// row is a version of a prompt, a tool or a config in the spool.
type row struct {
	version           int
	name, body        string
	embedded          bool
	created, modified int64
	file              int
}

func (r *row) columns() []any {
	return []any{&r.version, &r.name, &r.body, &r.embedded, &r.created, &r.modified, &r.file}
}

// A reader makes the version that the box stores of a record, and says what it changes.
type reader func(ctx context.Context, body map[string]any, note func(why string)) (content any, description string,
	err error)

func (w *work) prompts(ctx context.Context) error {
	read := func(_ context.Context, body map[string]any, note func(string)) (any, string, error) {
		posted := pick(body, "name", "text", "version_description", "prompt_expansion")
		p, err := mended[contract.PostedPrompt](posted, note)
		description := p.VersionDescription
		p.VersionDescription = ""
		return p.PostedPromptVersion, description, err
	}
	return w.resources(ctx, store.KindPrompt, read)
}

func (w *work) tools(ctx context.Context) error {
	read := func(_ context.Context, body map[string]any, note func(string)) (any, string, error) {
		posted := pick(body, "name", "parameters", "description", "fallback_content", "version_description")
		if schema, is := posted["parameters"].(map[string]any); is { // a program has parsed the text
			text, _ := json.Marshal(schema) // it comes from JSON
			posted["parameters"] = string(text)
		}
		t, err := mended[contract.PostedUserDefinedTool](posted, note)
		description := t.VersionDescription
		t.VersionDescription = ""
		return t.PostedUserDefinedToolVersion, description, err
	}
	return w.resources(ctx, store.KindTool, read)
}

// pick returns the fields of a record that a body of the interface has.
func pick(record map[string]any, names ...string) map[string]any {
	body := map[string]any{}
	for _, name := range names {
		if v, has := record[name]; has && v != nil {
			body[name] = v
		}
	}
	return body
}

// resources imports all resources of a kind, the oldest first.
func (w *work) resources(ctx context.Context, kind store.Kind, read reader) error {
	ids, err := rows(ctx, w.spool, only[string],
		`SELECT id FROM version WHERE kind = ? GROUP BY id ORDER BY min(created), id`, kind)
	for _, id := range ids {
		if err := w.resource(ctx, kind, id, read); err != nil {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	return err
}

// resource imports the versions of one resource.
func (w *work) resource(ctx context.Context, kind store.Kind, id string, read reader) error {
	all, err := rows(ctx, w.spool, (*row).columns, `
		SELECT version, name, body, embedded, created, modified, file FROM version
		 WHERE kind = ? AND id = ? ORDER BY version`, kind, id)
	if err != nil {
		return err
	}
	owner, err := w.Store.ImportedResource(ctx, id)
	there := err == nil
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if there && (owner.AccountID != w.Account.ID || owner.Kind != kind) {
		w.report.leftOut(Line{Kind: string(kind), ID: id, File: w.files[all[0].file],
			Why: fmt.Sprintf("the box has another %s with this id, maybe of another account", owner.Kind)})
		return nil
	}
	var made []store.Version
	created, name := all[0].created, all[len(all)-1].name
	for _, r := range all {
		if at := cmp.Or(r.created, r.modified); at > 0 && (created == 0 || at < created) {
			created = at
		}
		v, ok, err := w.version(ctx, kind, id, r, read)
		if err != nil {
			return err
		}
		if ok {
			made = append(made, v)
		}
	}
	if there && name != "" && cleanName(kind, id, name) != owner.Name {
		w.report.differs(Line{Kind: string(kind), ID: id, Name: name, File: w.files[all[0].file],
			Why: fmt.Sprintf("on the box its name is %q", owner.Name)})
		w.report.count(string(kind)).Differs-- // its versions are counted
	}
	if created == 0 { // no record has a time
		created = time.Now().UnixMilli()
	}
	for i := range made {
		made[i].Name, made[i].CreatedMS = cleanName(kind, id, name), created
		made[i].ModifiedMS = max(made[i].ModifiedMS, created)
	}
	w.noteGaps(kind, id, name, all)
	if w.apply {
		if err := w.Store.ImportVersions(ctx, w.Account.ID, made...); err != nil {
			return err
		}
	}
	w.report.count(string(kind)).New += len(made)
	return nil
}

// version returns the version that the box stores of a record; ok is false if there is
// nothing to store.
func (w *work) version(ctx context.Context, kind store.Kind, id string, r row, read reader) (v store.Version, ok bool,
	err error) {
	line := Line{Kind: string(kind), ID: id, Version: &r.version, Name: r.name, File: w.files[r.file]}
	left := func(why string) (store.Version, bool, error) {
		line.Why = why
		w.report.leftOut(line)
		return v, false, nil
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(r.body), &body); err != nil {
		return left(err.Error())
	}
	body["name"] = cleanName(kind, id, r.name)
	var notes []string
	if r.name != "" && body["name"] != r.name {
		notes = append(notes, fmt.Sprintf("its name is %q", body["name"]))
	}
	content, description, err := read(ctx, body, func(why string) { notes = append(notes, why) })
	if err != nil {
		return left(contract.ClipError(err.Error()))
	}
	content, answers, err := withoutAnswers(content)
	if err != nil {
		return left(err.Error())
	}
	text, err := json.Marshal(content)
	if err != nil {
		return left(err.Error())
	}
	v = store.Version{
		Kind:        kind,
		ID:          id,
		Number:      r.version,
		Description: description,
		Content:     string(text),
		Answers:     answers,
		CreatedMS:   r.created,
		ModifiedMS:  r.modified,
	}
	has, err := w.Store.VersionOf(ctx, w.Account.ID, store.Ref{Kind: kind, ID: id, Version: r.version})
	switch {
	case errors.Is(err, store.ErrNotFound):
		for _, why := range notes {
			line.Why = why
			w.report.mended(line)
		}
		return v, true, nil
	case err != nil:
		return v, false, err
	case sameContent(content, has.Content) && has.Answers == answers && has.Description == description:
		w.report.count(string(kind)).Here++
	case r.embedded: // a config says less of it than its own record
		w.report.count(string(kind)).Here++
	default:
		line.Why = "the box has it with other content"
		w.report.differs(line)
	}
	return v, false, nil
}

// withoutAnswers returns a content without its approved answers, and these as JSON, as the
// store has them.
func withoutAnswers(content any) (rest any, answers string, err error) {
	config, is := content.(contract.PostedConfigVersion)
	if !is || config.Answers == nil {
		return content, "", nil
	}
	text, err := json.Marshal(config.Answers)
	config.Answers = nil
	return config, string(text), err
}

// sameContent reports whether a stored content says the same as a new one: a stored config
// may leave out what is the default.
func sameContent(content any, stored string) bool {
	has := reflect.New(reflect.TypeOf(content))
	if json.Unmarshal([]byte(stored), has.Interface()) != nil {
		return false
	}
	config, is := content.(contract.PostedConfigVersion)
	if !is {
		return reflect.DeepEqual(content, has.Elem().Interface())
	}
	other := has.Elem().Interface().(contract.PostedConfigVersion)
	return reflect.DeepEqual(config.Record(), other.Record()) && reflect.DeepEqual(config.Voice, other.Voice) &&
		reflect.DeepEqual(config.Prompt, other.Prompt) && (len(config.Tools) == 0 && len(other.Tools) == 0 ||
		reflect.DeepEqual(config.Tools, other.Tools))
}

// cleanName returns a name that the interface accepts.
func cleanName(kind store.Kind, id, name string) string {
	most := contract.MaxNameChars
	if kind == store.KindTool {
		most = contract.MaxToolNameChars
	}
	chars := []rune(strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) && r != '\u200c' && r != '\u200d' {
			return -1
		}
		return r
	}, name)))
	name = strings.TrimSpace(string(chars[:min(len(chars), most)]))
	if name == "" {
		return fmt.Sprintf("%s %.8s", kind, id)
	}
	return name
}

// noteGaps reports versions below the greatest that were not saved.
func (w *work) noteGaps(kind store.Kind, id, name string, all []row) {
	missing := all[len(all)-1].version + 1 - len(all)
	if missing > 0 {
		w.report.mended(Line{Kind: string(kind), ID: id, Name: name,
			Why: fmt.Sprintf("%d of its older versions were not saved; the numbers of the others stay", missing)})
	}
}
