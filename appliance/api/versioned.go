package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

// versioned has the handlers that configs, prompts and tools share. R is the
// record of one version on the wire.
type versioned[R any] struct {
	*API
	kind store.Kind
	// parseFirst and parseNext parse the body of a new resource and of its next
	// version. The last version that they return is the resource's; those before
	// it are stored with it.
	parseFirst, parseNext versionParser
	parseName             func([]byte) (contract.PostedName, error)
	records               func(ctx context.Context, account string, versions []store.Version) ([]R, error)
	page                  func(contract.Paging, []R) any
	// extra returns records with a name (empty: all) that lists have after the
	// stored ones. findExtra returns the one with an id. readOnly returns the
	// error for an attempt to change one. They are nil if there are no such
	// records.
	extra     func(name string) []R
	findExtra func(id string) (R, bool)
	readOnly  func(R) error
}

// A versionParser parses the body of a request into new versions.
type versionParser func(r *http.Request, account string) ([]store.NewVersion, error)

// parseVersions returns a versionParser that parses a body of type T and converts
// it.
func parseVersions[T contract.Readable[T]](convert func(r *http.Request, account string, posted T) ([]store.NewVersion,
	error)) versionParser {
	return func(r *http.Request, account string) ([]store.NewVersion, error) {
		posted, err := decode(r, contract.Parse[T])
		if err != nil {
			return nil, err
		}
		return convert(r, account, posted)
	}
}

// checkWritable returns an error if the resource in the path is read-only.
func (v versioned[R]) checkWritable(r *http.Request) error {
	if v.findExtra == nil {
		return nil
	}
	if record, ok := v.findExtra(r.PathValue("id")); ok {
		return v.readOnly(record)
	}
	return nil
}

func (v versioned[R]) create(w http.ResponseWriter, r *http.Request, by caller) error {
	versions, err := v.parseFirst(r, by.AccountID)
	if err != nil {
		return err
	}
	return v.store(w, r, by.AccountID, versions)
}

func (v versioned[R]) addVersion(w http.ResponseWriter, r *http.Request, by caller) error {
	if err := v.checkWritable(r); err != nil {
		return err
	}
	versions, err := v.parseNext(r, by.AccountID)
	if err != nil {
		return err
	}
	return v.store(w, r, by.AccountID, versions)
}

// store stores new versions and answers with the record of the last one.
func (v versioned[R]) store(w http.ResponseWriter, r *http.Request, account string, versions []store.NewVersion) error {
	stored, err := v.Records.AddVersions(r.Context(), account, versions...)
	if err != nil {
		return err
	}
	if v.ConfigsChanged != nil {
		v.ConfigsChanged(account)
	}
	return v.answer(w, r, http.StatusCreated, account, stored[len(stored)-1])
}

// answer replies with the record of one version.
func (v versioned[R]) answer(w http.ResponseWriter, r *http.Request, status int, account string,
	version store.Version) error {
	records, err := v.records(r.Context(), account, []store.Version{version})
	if err != nil {
		return err
	}
	return v.result(w, status, records[0], nil)
}

func (v versioned[R]) list(w http.ResponseWriter, r *http.Request, by caller) error {
	var more []R
	if v.extra != nil {
		more = v.extra(r.URL.Query().Get("name"))
	}
	return v.answerPage(w, r, by.AccountID, more, func(all bool, page store.Page) ([]store.Version, int, error) {
		filter := store.ResourceFilter{Kind: v.kind, Name: r.URL.Query().Get("name"), AllVersions: all}
		return v.Records.List(r.Context(), by.AccountID, filter, page)
	})
}

func (v versioned[R]) versions(w http.ResponseWriter, r *http.Request, by caller) error {
	if v.findExtra != nil {
		if record, ok := v.findExtra(r.PathValue("id")); ok {
			return v.answerPage(w, r, by.AccountID, []R{record}, func(bool, store.Page) ([]store.Version, int, error) {
				return nil, 0, nil
			})
		}
	}
	return v.answerPage(w, r, by.AccountID, nil, func(all bool, page store.Page) ([]store.Version, int, error) {
		return v.Records.Versions(r.Context(), by.AccountID, v.kind, r.PathValue("id"), all, page)
	})
}

// answerPage answers with a page of the versions that find returns, followed by
// extra.
func (v versioned[R]) answerPage(w http.ResponseWriter, r *http.Request, account string, more []R,
	read func(all bool, page store.Page) ([]store.Version, int, error)) error {
	q := r.URL.Query()
	page, err := readPage(q)
	if err != nil {
		return err
	}
	newest, err := readFlag(q, "restrict_to_most_recent", true)
	if err != nil {
		return err
	}
	versions, total, err := read(!newest, page)
	if err != nil {
		return err
	}
	records, err := v.records(r.Context(), account, versions)
	if err != nil {
		return err
	}
	records = append(records, pageAfter(more, page, total, len(records))...)
	return v.result(w, http.StatusOK, v.page(paging(page, total+len(more)), records), nil)
}

func (v versioned[R]) get(w http.ResponseWriter, r *http.Request, by caller) error {
	ref, err := v.ref(r)
	if err != nil {
		return err
	}
	if v.findExtra != nil && ref.Version == 0 {
		if record, ok := v.findExtra(ref.ID); ok {
			return v.result(w, http.StatusOK, record, nil)
		}
	}
	version, err := v.Records.VersionOf(r.Context(), by.AccountID, ref)
	if err != nil {
		return err
	}
	return v.answer(w, r, http.StatusOK, by.AccountID, version)
}

// rename answers with a sentence, because published clients expect one.
func (v versioned[R]) rename(w http.ResponseWriter, r *http.Request, by caller) error {
	if err := v.checkWritable(r); err != nil {
		return err
	}
	body, err := decode(r, v.parseName)
	if err != nil {
		return err
	}
	store.AmendAct(r.Context(), func(a *store.Act) { a.Text += fmt.Sprintf(" to %q", body.Name) })
	if err := v.Records.Rename(r.Context(), by.AccountID, v.kind, r.PathValue("id"), body.Name); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, err = io.WriteString(w, fmt.Sprintf("The %s is now named %q.", v.kind, body.Name))
	return err
}

func (v versioned[R]) describe(w http.ResponseWriter, r *http.Request, by caller) error {
	ref, err := v.ref(r)
	if err = cmp.Or(err, v.checkWritable(r)); err != nil {
		return err
	}
	body, err := decode(r, contract.ParsePostedVersionDescription)
	if err != nil {
		return err
	}
	version, err := v.Records.Describe(r.Context(), by.AccountID, ref, body.VersionDescription)
	if err != nil {
		return err
	}
	return v.answer(w, r, http.StatusOK, by.AccountID, version)
}

func (v versioned[R]) delete(w http.ResponseWriter, r *http.Request, by caller) error {
	if err := v.checkWritable(r); err != nil {
		return err
	}
	err := v.Records.Delete(r.Context(), by.AccountID, v.kind, r.PathValue("id"))
	message := fmt.Sprintf("The %s and all its versions are deleted.", v.kind)
	return v.result(w, http.StatusOK, confirmation{message}, err)
}

func (v versioned[R]) deleteVersion(w http.ResponseWriter, r *http.Request, by caller) error {
	ref, err := v.ref(r)
	if err = cmp.Or(err, v.checkWritable(r)); err != nil {
		return err
	}
	err = v.Records.DeleteVersion(r.Context(), by.AccountID, ref)
	message := fmt.Sprintf("Version %d of the %s is deleted.", ref.Version, v.kind)
	return v.result(w, http.StatusOK, confirmation{message}, err)
}

// confirmation is the body of an answer without data.
type confirmation struct {
	Message string `json:"message"`
}

// ref returns the version in the path. A number that is too large for any version
// is not found.
func (v versioned[R]) ref(r *http.Request) (store.Ref, error) {
	text := r.PathValue("version")
	n, err := strconv.Atoi(text) // n is the limit if text is out of range
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return store.Ref{}, contract.ErrInvalid{Field: "version",
			Why: fmt.Sprintf("%.80q is not allowed; expected a whole number from 0", text)}
	}
	if n < 0 || n > math.MaxInt32 {
		return store.Ref{}, contract.ErrNotFound{What: fmt.Sprintf("version %.80s of a %s", text, v.kind),
			ID: r.PathValue("id")}
	}
	return store.Ref{Kind: v.kind, ID: r.PathValue("id"), Version: n}, nil
}

// newVersion returns a version with the posted body as its content, except for
// the parts that are stored in columns.
func newVersion(kind store.Kind, id, name, description string, posted any) (store.NewVersion, error) {
	content, err := json.Marshal(posted)
	if err != nil {
		return store.NewVersion{}, fmt.Errorf("keeping a %s: %w", kind, err)
	}
	return store.NewVersion{
		Kind:        kind,
		ID:          id,
		Name:        name,
		Description: description,
		Content:     string(content),
	}, nil
}

// versionedNames are the words and types with which the routes of configs,
// prompts and tools differ in their descriptions.
type versionedNames struct {
	one, many                   string
	first, next, name           string // names in contract.Bodies
	firstExample, nextExample   string
	record, page                any    // the types of the answers with one version and with a list
	more                        string // on the list
	firstRefuses, changeRefuses []int
}

// describe describes the routes at path.
func (t versionedNames) describe(path string) descriptions {
	one, version := path+"/{id}", path+"/{id}/version/{version}"
	list := append(pageQuery(), parameter("restrict_to_most_recent", "Only the newest version of each.",
		describe.Boolean().WithDefault(true)))
	named := append(list, parameter("name", "Only those with this name.", describe.String()))
	return inSection(t.many, descriptions{
		"GET " + path: {
			ID:          "list" + t.many,
			Summary:     "List " + strings.ToLower(t.many),
			Description: t.more,
			Query:       named,
			Answers:     ok(t.page),
		},
		"POST " + path: {
			ID:      "create" + t.one,
			Summary: "Create a " + strings.ToLower(t.one),
			Body:    t.first,
			Example: t.firstExample,
			Answers: created(t.record),
			Errors:  t.firstRefuses,
		},
		"GET " + one: {
			ID:      "list" + t.one + "Versions",
			Summary: "List its versions",
			Query:   list,
			Answers: ok(t.page),
		},
		"POST " + one: {
			ID:      "create" + t.one + "Version",
			Summary: "Create a new version",
			Body:    t.next,
			Example: t.nextExample,
			Answers: created(t.record),
			Errors:  t.changeRefuses,
		},
		"PATCH " + one: {
			ID:      "update" + t.one + "Name",
			Summary: "Rename it",
			Body:    t.name,
			Example: `{"name":"guide_2"}`,
			Answers: ofType("text/plain"),
			Errors:  t.changeRefuses,
		},
		"DELETE " + one: {
			ID:      "delete" + t.one,
			Summary: "Delete it with all its versions",
			Answers: ok(confirmation{}),
			Errors:  t.changeRefuses,
		},
		"GET " + version: {
			ID:      "get" + t.one + "Version",
			Summary: "Get a version",
			Answers: ok(t.record),
		},
		"PATCH " + version: {
			ID:      "update" + t.one + "Description",
			Summary: "Change the description of a version",
			Body:    "PostedVersionDescription",
			Example: `{"version_description":"for children"}`,
			Answers: ok(t.record),
			Errors:  t.changeRefuses,
		},
		"DELETE " + version: {
			ID:      "delete" + t.one + "Version",
			Summary: "Delete a version",
			Answers: ok(confirmation{}),
			Errors:  t.changeRefuses,
		},
	})
}
