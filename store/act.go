package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Act is a row of the audit log: an administrative act, or several equal ones.
type Act struct {
	Num     int64 // order in the log, from 1; set by the store
	AtMS    int64 // Unix milliseconds; 0 in a new act: now
	Who     Actor
	From    string // network address or terminal; empty: unknown
	What    string // stable name of the kind of act, such as key.create
	On      Object
	Text    string // a sentence without a subject: "created a key for the account museum"
	Outcome Outcome
	Why     string // why it was refused or failed
	Times   int    // how many equal acts it stands for; 0 in a new act: 1
}

// Actor is who acted.
type Actor struct {
	Kind ActorKind
	ID   string // of the key or session; of a user, its number
	Name string // label of the key or screen; name of the user who typed the command, before sudo
	Role string // role of the key; of a user, the name under which the command ran
}

// ActorKind is a kind of actor.
type ActorKind string

// The kinds of actors.
const (
	ByKey     ActorKind = "key"     // an API key
	BySession ActorKind = "session" // a browser that is signed in to the console
	ByScreen  ActorKind = "screen"  // the key of a paired screen
	ByUser    ActorKind = "user"    // a user of the machine, on the command line
	ByBox     ActorKind = "box"     // the box by itself
	ByUnknown ActorKind = "unknown" // a client without a valid credential
)

// Object is what was acted on. All fields may be empty.
type Object struct {
	Kind string // such as key or config
	ID   string
	Name string
}

// Outcome is how an act ended.
type Outcome string

// The outcomes.
const (
	ActDone    Outcome = "done"
	ActRefused Outcome = "refused" // not permitted
	ActFailed  Outcome = "failed"  // it may have been done in part
)

// ActorKinds returns all kinds of actors.
func ActorKinds() []ActorKind {
	return []ActorKind{ByKey, BySession, ByScreen, ByUser, ByBox, ByUnknown}
}

// Outcomes returns all outcomes.
func Outcomes() []Outcome { return []Outcome{ActDone, ActRefused, ActFailed} }

// maxActText is the most bytes of a text of an act: a long sentence.
const maxActText = 400

// RecordAct adds an act to the audit log. An outcome that is empty is ActDone.
func (s *Store) RecordAct(ctx context.Context, a Act) error {
	ctx = context.WithValue(ctx, pendingActKey{}, nil) // it must not record a second one
	err := s.change(ctx, "recording an administrative act", func(ctx context.Context, c conn) error {
		return insertAct(ctx, c, a)
	})
	if err == nil {
		s.fleetNotifier.notify()
	}
	return err
}

// insertAct adds an act and chains it to the one before.
func insertAct(ctx context.Context, c conn, a Act) error {
	if a.AtMS == 0 {
		a.AtMS = time.Now().UnixMilli()
	}
	if a.Outcome == "" {
		a.Outcome = ActDone
	}
	if a.Who.Kind == "" {
		a.Who.Kind = ByUnknown
	}
	a.Times = max(a.Times, 1)
	for _, text := range a.texts() {
		*text = oneLine(*text, maxActText)
	}
	var before []byte
	err := scanFirst(ctx, c, []any{&a.Num, &before}, `SELECT num, hash FROM act ORDER BY num DESC LIMIT 1`)
	if errors.Is(err, ErrNotFound) {
		before, err = deletedActs(ctx, c)
	}
	if err != nil {
		return err
	}
	a.Num++
	if err := execute(ctx, c, `INSERT INTO act (`+actColumns+`, hash) VALUES (`+marks(len(a.values())+1)+`)`,
		append(a.values(), a.chained(before))...); err != nil {
		return err
	}
	return noteAct(ctx, c, a.Num)
}

// texts returns the fields that hold text which somebody else may have written.
func (a *Act) texts() []*string {
	return []*string{&a.Who.ID, &a.Who.Name, &a.Who.Role, &a.From, &a.What, &a.On.Kind, &a.On.ID, &a.On.Name, &a.Text,
		&a.Why}
}

// oneLine returns a text without control characters and of at most limit bytes.
func oneLine(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len("…")], "") + "…"
}

const actColumns = `num, at_ms, actor, actor_id, actor_name, actor_role, address, what, kind, id, name, text, outcome,
	why, times`

// values returns the values of actColumns.
func (a Act) values() []any {
	return []any{a.Num, a.AtMS, string(a.Who.Kind), a.Who.ID, a.Who.Name, a.Who.Role, a.From, a.What, a.On.Kind,
		a.On.ID, a.On.Name, a.Text, string(a.Outcome), a.Why, int64(a.Times)}
}

func scanAct(row scanner) (a Act, err error) {
	return a, row.Scan(&a.Num, &a.AtMS, &a.Who.Kind, &a.Who.ID, &a.Who.Name, &a.Who.Role, &a.From, &a.What, &a.On.Kind,
		&a.On.ID, &a.On.Name, &a.Text, &a.Outcome, &a.Why, &a.Times)
}

// marks returns n question marks with commas between them.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// ActFilter selects acts. Empty fields select all.
type ActFilter struct {
	SinceMS, UntilMS int64       // Unix milliseconds: from, and before
	Actors           []ActorKind // one of these
	Outcomes         []Outcome   // one of these
	Who              string      // part of the id or name of the actor, or its whole kind
	What             string      // the whole name of the act, or its part before the dot
	Search           string      // part of any text
}

func (f ActFilter) where() (conditions string, args []any) {
	conditions = `true`
	add := func(condition string, values ...any) {
		conditions, args = conditions+` AND `+condition, append(args, values...)
	}
	if f.SinceMS != 0 {
		add(`at_ms >= ?`, f.SinceMS)
	}
	if f.UntilMS != 0 {
		add(`at_ms < ?`, f.UntilMS)
	}
	if len(f.Actors) > 0 {
		add(`actor IN (`+marks(len(f.Actors))+`)`, anys(f.Actors)...)
	}
	if len(f.Outcomes) > 0 {
		add(`outcome IN (`+marks(len(f.Outcomes))+`)`, anys(f.Outcomes)...)
	}
	if f.Who != "" {
		add(`(actor = ? OR instr(lower(actor_id || char(10) || actor_name || char(10) || actor_role), lower(?)) > 0)`,
			f.Who, f.Who)
	}
	if f.What != "" {
		add(`(what = ? OR substr(what, 1, length(?) + 1) = ? || '.')`, f.What, f.What, f.What)
	}
	if f.Search != "" {
		add(`instr(lower(actor_id || char(10) || actor_name || char(10) || address || char(10) || what || char(10) ||
			kind || char(10) || id || char(10) || name || char(10) || text || char(10) || why), lower(?)) > 0`,
			f.Search)
	}
	return conditions, args
}

// ActPage returns a page of the selected acts, newest first, and their number.
func (s *Store) ActPage(ctx context.Context, f ActFilter, p Page) (found []Act, total int, err error) {
	const doing = "listing the administrative acts"
	where, args := f.where()
	if skip, ok := p.skip(); ok {
		found, err = query(ctx, s.read, counting(scanAct, &total), `
			SELECT `+actColumns+`, (SELECT count(*) FROM act WHERE `+where+`) FROM act WHERE `+where+`
			 ORDER BY num DESC LIMIT ? OFFSET ?`, append(slices.Concat(args, args), p.Size, skip)...)
		if err != nil || len(found) > 0 {
			return found, total, explain(doing, err)
		}
	}
	// The page is past the end.
	total, err = value[int](ctx, s.read, `SELECT count(*) FROM act WHERE `+where, args...)
	return nil, total, explain(doing, err)
}

// Acts calls yield with the selected acts, newest first, until it returns an error, which
// Acts returns.
func (s *Store) Acts(ctx context.Context, f ActFilter, yield func(Act) error) error {
	const atOnce = 1000 // half a megabyte
	where, args := f.where()
	for below := int64(0); ; {
		batch, err := query(ctx, s.read, scanAct, `
			SELECT `+actColumns+` FROM act WHERE `+where+` AND (? = 0 OR num < ?) ORDER BY num DESC LIMIT ?`,
			append(slices.Clone(args), below, below, atOnce)...)
		if err != nil {
			return explain("reading the administrative acts", err)
		}
		for _, a := range batch {
			if err := yield(a); err != nil {
				return err
			}
			below = a.Num
		}
		if len(batch) < atOnce {
			return nil
		}
	}
}

// KindsOfActs returns the names of all kinds of acts in the log, in alphabetical order.
func (s *Store) KindsOfActs(ctx context.Context) ([]string, error) {
	all, err := query(ctx, s.read, scanText, `SELECT DISTINCT what FROM act ORDER BY what`)
	return all, explain("listing the kinds of administrative acts", err)
}

const (
	// ActLife is how long acts are kept: two years, so that the year before the last
	// yearly audit is complete.
	ActLife = 2 * 365 * 24 * time.Hour
	// MaxActs bounds the acts, and the disk space for them, to some 50 MB: a hundred and
	// thirty a day for two years.
	MaxActs = 100_000
	// The surplus is deleted once a month or once in a thousand acts, since each deletion
	// is an act by itself.
	actLifeSlack, actsSlack = 30 * 24 * time.Hour, 1000
)

// ExpireActs deletes the oldest acts if they are older than ActLife or there are more
// than MaxActs, and records that as an act of the box.
func (s *Store) ExpireActs(ctx context.Context, now time.Time) (deleted int, err error) {
	const doing = "deleting old administrative acts"
	from, err := s.firstActToKeep(ctx, now)
	if err != nil || from == 0 {
		return 0, explain(doing, err)
	}
	err = s.change(ctx, doing, func(ctx context.Context, c conn) error {
		last, err := value[[]byte](ctx, c, `SELECT hash FROM act WHERE num < ? ORDER BY num DESC LIMIT 1`, from)
		if err != nil {
			return err
		}
		deleted, err = value[int](ctx, c, `SELECT count(*) FROM act WHERE num < ?`, from)
		if err != nil {
			return err
		}
		// The newest act stays at least, so numbers are never used again.
		if err := execute(ctx, c, `DELETE FROM act_deleted`); err != nil {
			return err
		}
		if err := execute(ctx, c, `INSERT INTO act_deleted (hash) VALUES (?)`, last); err != nil {
			return err
		}
		if err := execute(ctx, c, `DELETE FROM act WHERE num < ?`, from); err != nil {
			return err
		}
		return insertAct(ctx, c, Act{
			Who:  Actor{Kind: ByBox},
			What: "acts.expire",
			On:   Object{Kind: "acts"},
			Text: fmt.Sprintf("deleted the %d oldest acts of the audit log, which keeps %d days and %d acts", deleted,
				ActLife/(24*time.Hour), MaxActs),
		})
	})
	return deleted, err
}

// firstActToKeep returns the number of the oldest act that stays; 0 if none is due for
// deletion.
func (s *Store) firstActToKeep(ctx context.Context, now time.Time) (int64, error) {
	return value[int64](ctx, s.read, `
		SELECT CASE
		       WHEN (SELECT count(*) FROM act) > ?1 + ?2
		       THEN (SELECT num FROM act ORDER BY num DESC LIMIT 1 OFFSET ?1 - 1)
		       WHEN (SELECT min(at_ms) FROM act) < ?3 - ?4
		       THEN coalesce((SELECT min(num) FROM act WHERE at_ms >= ?3), (SELECT max(num) FROM act))
		       ELSE 0 END`, MaxActs, actsSlack, now.Add(-ActLife).UnixMilli(), actLifeSlack.Milliseconds())
}
