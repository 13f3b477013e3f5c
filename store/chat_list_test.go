package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

var statuses = []Status{Active, UserEnded, UserTimeout, MaxDurationTimeout, InactivityTimeout, Failed}

// diary is a simple model of what a test did.
type diary struct {
	s       *Store
	account string
	chats   []*Chat // in the order in which they began
	events  map[string][]string
	serial  int
}

func (d *diary) group(id string) (chats []*Chat) {
	for _, c := range d.chats {
		if c.GroupID == id {
			chats = append(chats, c)
		}
	}
	return chats
}

func (d *diary) groups() (ids []string) {
	for _, c := range d.chats {
		if !slices.Contains(ids, c.GroupID) {
			ids = append(ids, c.GroupID)
		}
	}
	return ids
}

// happen does one random thing.
func (d *diary) happen(t *rapid.T) {
	var open, ended []*Chat
	for _, c := range d.chats {
		if c.Status == Active {
			open = append(open, c)
		} else {
			ended = append(ended, c)
		}
	}
	d.serial++
	switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
	case what < 4 || len(d.chats) == 0:
		d.start(t, ended)
	case what < 6 && len(open) > 0:
		c := rapid.SampledFrom(open).Draw(t, "open")
		c.Status, c.EndedMS = rapid.SampledFrom(statuses[1:]).Draw(t, "status"), int64(d.serial)
		c.EventCount++
		e := Event{
			ID:   fmt.Sprint(d.serial),
			AtMS: c.EndedMS,
			Type: ChatEnd,
			Role: System,
		}
		d.events[c.ID] = append(d.events[c.ID], e.ID)
		ok(t, d.s.EndChat(context.Background(), c.ID, c.Status, c.EndedMS, e))
	case what < 8:
		c := rapid.SampledFrom(d.chats).Draw(t, "chat")
		var events []Event
		for i := range rapid.IntRange(1, 5).Draw(t, "events") {
			events = append(events, Event{
				ID:   fmt.Sprint(d.serial, "-", i),
				AtMS: 1,
				Type: UserMessage,
				Role: User,
			})
			d.events[c.ID] = append(d.events[c.ID], events[i].ID)
		}
		c.EventCount += len(events)
		ok(t, d.s.AppendEvents(context.Background(), c.ID, events))
	case what == 8:
		group := rapid.SampledFrom(d.groups()).Draw(t, "group")
		err := d.s.DeleteChatGroup(context.Background(), d.account, group)
		if slices.ContainsFunc(d.group(group), func(c *Chat) bool { return c.Status == Active }) {
			if !errors.Is(err, ErrActive) {
				t.Fatalf("deleting a live group: %v", err)
			}
			return
		}
		ok(t, err)
		d.chats = slices.DeleteFunc(d.chats, func(c *Chat) bool { return c.GroupID == group })
	case len(ended) > 0:
		before := ended[len(ended)/2].EndedMS
		_, err := d.s.Expire(context.Background(), before)
		ok(t, err)
		d.chats = slices.DeleteFunc(d.chats, func(c *Chat) bool { return c.Status != Active && c.EndedMS < before })
	}
}

func (d *diary) start(t *rapid.T, ended []*Chat) {
	n := NewChat{
		ID:        uuid.NewString(),
		GroupID:   uuid.NewString(),
		AccountID: d.account,
		StartedMS: int64(1000 + d.serial),
		RequestID: "r",
		Recorded:  rapid.Bool().Draw(t, "recorded"),
	}
	n.Config.ID = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "config")
	ended = slices.DeleteFunc(slices.Clone(ended), func(c *Chat) bool {
		return slices.ContainsFunc(d.group(c.GroupID), func(c *Chat) bool { return c.Status == Active })
	})
	if len(ended) > 0 && rapid.Bool().Draw(t, "resume") {
		n.GroupID, n.Resume = rapid.SampledFrom(ended).Draw(t, "resumed").GroupID, true
	}
	e := Event{
		ID:   fmt.Sprint(d.serial),
		AtMS: 1,
		Type: ChatStart,
		Role: System,
	}
	ok(t, d.s.StartChat(context.Background(), n, e))
	d.events[n.ID] = []string{e.ID}
	d.chats = append(d.chats, &Chat{
		ID:         n.ID,
		GroupID:    n.GroupID,
		AccountID:  d.account,
		Config:     n.Config,
		Status:     Active,
		StartedMS:  n.StartedMS,
		RequestID:  "r",
		EventCount: 1,
	})
}

func ok(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// slice returns a page of a list in memory.
func slice[T any](all []T, p Page) []T {
	all = slices.Clone(all)
	if p.Descending {
		slices.Reverse(all)
	}
	from := min(p.Number*p.Size, len(all))
	return all[from:min(from+p.Size, len(all))]
}

func ids[T any](all []T, id func(T) string) (out []string) {
	for _, chat := range all {
		out = append(out, id(chat))
	}
	return out
}

// check compares a page of every list.
func (d *diary) check(t *rapid.T) {
	ctx := context.Background()
	page := Page{
		Number: rapid.IntRange(0, 6).Draw(t, "number"), Size: rapid.IntRange(1, 8).Draw(t, "size"),
		Descending: rapid.Bool().Draw(t, "descending"),
	}
	f := ChatFilter{
		ConfigID: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "of config"),
		Statuses: rapid.SliceOfN(rapid.SampledFrom(statuses), 0, 4).Draw(t, "of status"),
	}
	var want []*Chat
	for _, c := range d.chats {
		if (f.ConfigID == "" || c.Config.ID == f.ConfigID) &&
			(len(f.Statuses) == 0 || slices.Contains(f.Statuses, c.Status)) {
			want = append(want, c)
		}
	}
	got, total, err := d.s.Chats(ctx, d.account, f, page)
	same(t, fmt.Sprintf("chats %+v %+v", f, page), total, len(want), err, values(got), values(deref(slice(want, page))))

	var groups []string
	for _, id := range d.groups() {
		if all := d.group(id); f.ConfigID == "" || all[len(all)-1].Config.ID == f.ConfigID {
			groups = append(groups, id)
		}
	}
	// In the order of the groups' numbers, which is that of their first chats
	// as long as none of those was deleted.
	found, total, err := d.s.ChatGroups(ctx, d.account, f.ConfigID, Page{Size: 1000})
	slices.Sort(groups)
	same(t, "groups of "+f.ConfigID, total, len(groups), err,
		slices.Sorted(slices.Values(ids(found, func(g ChatGroup) string {
			return g.ID
		}))), groups)
	some, _, err := d.s.ChatGroups(ctx, d.account, f.ConfigID, page)
	same(t, "a page of groups", total, len(groups), err, some, slice(found, page))
	for _, g := range found {
		d.checkGroup(t, g, f.Statuses, page)
	}
}

func (d *diary) checkGroup(t *rapid.T, g ChatGroup, of []Status, page Page) {
	all := d.group(g.ID)
	last := all[len(all)-1]
	want := ChatGroup{
		ID:           g.ID,
		LastChatID:   last.ID,
		LastConfig:   last.Config,
		FirstStartMS: all[0].StartedMS,
		LastStartMS:  last.StartedMS,
		NumChats:     len(all),
		Active:       slices.ContainsFunc(all, func(c *Chat) bool { return c.Status == Active }),
	}
	if g != want {
		t.Fatalf("group is %+v, want %+v", g, want)
	}
	var chats []*Chat
	var events []string
	for _, c := range all {
		events = append(events, d.events[c.ID]...)
		if len(of) == 0 || slices.Contains(of, c.Status) {
			chats = append(chats, c)
		}
	}
	again, got, total, err := d.s.ChatGroup(context.Background(), d.account, g.ID, of, page)
	same(t, "chats of a group", total, len(chats), err, values(got), values(deref(slice(chats, page))))
	if again != g {
		t.Fatalf("group is %+v by itself and %+v in the list", again, g)
	}
	said, total, err := d.s.GroupEvents(context.Background(), d.account, g.ID, page)
	same(t, "events of a group", total, len(events), err, ids(said, func(e Event) string {
		return e.ID
	}), slice(events, page))
}

func deref(chats []*Chat) (out []Chat) {
	for _, c := range chats {
		out = append(out, *c)
	}
	return out
}

func values(chats []Chat) []string {
	return ids(chats, func(c Chat) string { return fmt.Sprintf("%+v", c) })
}

func same[T comparable](t *rapid.T, what string, total, wantTotal int, err error, got, want []T) {
	t.Helper()
	if err != nil || total != wantTotal || !slices.Equal(got, want) {
		t.Fatalf("%s: %d of %d, %v\n%v\nwant\n%v", what, total, wantTotal, err, got, want)
	}
}

// After random operations every page of every list matches the model, and nothing of
// deleted chats is left. The numbers of the chats have gaps.
func TestPagesOfListsMatchTheModel(t *testing.T) {
	s := openStore(t, t.TempDir())
	strangers, runs := newAccount(t, s, "strangers"), 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		d := &diary{s: s, account: newAccount(t, s, fmt.Sprint("run ", runs)), events: map[string][]string{}}
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			if rapid.Bool().Draw(rt, "far") {
				spread(t, s, strangers)
			}
			d.happen(rt)
		}
		d.check(rt)
		must(t, s.change(t.Context(), "clearing", func(ctx context.Context, c conn) error {
			_, err := c.ExecContext(ctx,
				`DELETE FROM chat_group WHERE account = (SELECT num FROM account WHERE id = ?)`, strangers)
			return err
		}))
		for len(d.chats) > 0 {
			for _, c := range d.chats {
				if c.Status == Active {
					must(t, s.EndChat(t.Context(), c.ID, UserEnded, 1))
					c.Status = UserEnded
				}
			}
			group := d.chats[0].GroupID
			must(t, s.DeleteChatGroup(t.Context(), d.account, group))
			d.chats = slices.DeleteFunc(d.chats, func(c *Chat) bool { return c.GroupID == group })
		}
		for _, table := range []string{"chat", "chat_group", "chat_event", "recording"} {
			if n, err := value[int](t.Context(), s.read,
				"SELECT count(*) FROM "+table+" WHERE "+
					map[bool]string{true: "num <> 0", false: "true"}[table == "chat_group"]); err != nil || n != 0 {
				rt.Fatalf("%d rows of %s are left when everything is deleted, %v", n, table, err)
			}
		}
	})
}

// spread gives other accounts a chat and a group with numbers 400 ahead, so that later
// ones come after them.
func spread(t *testing.T, s *Store, strangers string) {
	t.Helper()
	must(t, s.change(t.Context(), "spreading", func(ctx context.Context, c conn) error {
		id := uuid.NewString()
		for _, text := range []string{
			`INSERT INTO chat_group (num, id, account, first_start_ms, last_start_ms, last_chat, num_chats)
			 SELECT coalesce((SELECT max(num) FROM chat_group), 0) + 400, ?1, num, 0, 0, '', 1 FROM account WHERE id
			  = ?2`,
			`INSERT INTO chat (num, id, account, chat_group, status, started_ms, request_id)
			 SELECT coalesce((SELECT max(num) FROM chat), 0) + 400, id, account, num, 'ACTIVE', 0, '' FROM chat_group
			  WHERE id = ?1 AND ?2 <> ''`,
		} {
			if _, err := c.ExecContext(ctx, text, id, strangers); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestListsOfAnotherAccountAreNotFound(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, work := newAccount(t, s, "home"), newAccount(t, s, "work")
	chat := startChat(t, s, home, said("secret"))
	must(t, s.EndChat(t.Context(), chat.ID, UserEnded, 2000))
	if chats, total, err := s.Chats(t.Context(), work, ChatFilter{}, Page{Size: 10}); err != nil || total != 0 ||
		len(chats) != 0 {
		t.Errorf("%v of %d, %v", chats, total, err)
	}
	if groups, total, err := s.ChatGroups(t.Context(), work, "", Page{Size: 10}); err != nil || total != 0 ||
		len(groups) != 0 {
		t.Errorf("%v of %d, %v", groups, total, err)
	}
	_, _, _, err := s.ChatGroup(t.Context(), work, chat.GroupID, nil, Page{Size: 10})
	wantError(t, err, ErrNotFound)
	_, _, err = s.GroupEvents(t.Context(), work, chat.GroupID, Page{Size: 10})
	wantError(t, err, ErrNotFound)
	wantError(t, s.DeleteChatGroup(t.Context(), work, chat.GroupID), ErrNotFound)
	if _, err := s.Chat(t.Context(), home, chat.ID); err != nil {
		t.Error(err)
	}
}

// Every query of a list finds its rows with an index, from the start of the page.
func TestListsUseIndexesAndSortNothing(t *testing.T) {
	s := openStore(t, t.TempDir())
	plans := map[string]string{}
	plan := func(name string, l listing) {
		count, numbers, _ := l.queries()
		plans["count of "+name] = count
		plans[name] = `SELECT` + l.columns + `FROM ` + l.tables + ` WHERE ` + l.num + ` IN (` + numbers +
			` ORDER BY num LIMIT 10 OFFSET 10) ORDER BY ` + l.num
	}
	for _, of := range [][]Status{nil, {Failed}, {Active, Failed, UserEnded}} {
		for _, rows := range []string{`account = ?1`, `account = ?1 AND config = ?2`, `chat_group = ?1`} {
			l := chatsOf(`chat WHERE `+rows, 1)
			l.args, l.statuses = make([]any, strings.Count(rows, "?")), of
			plan(fmt.Sprintf("chats where %s, status %v", rows, of), l)
		}
	}
	for _, rows := range []string{`account = ?1`, `account = ?1 AND last_config = ?2`} {
		plan("groups where "+rows, listing{
			columns: groupColumns,
			tables:  `chat_group g`,
			num:     `g.num`,
			rows:    `chat_group WHERE ` + rows,
		})
	}
	plans["a group's lengths"] = groupLengths
	plans["a chat's events"] = `SELECT` + eventColumns + `FROM chat c CROSS JOIN chat_event e ON e.chat = c.num ` +
		`WHERE c.num = ?2 AND e.seq BETWEEN ?3 AND ?4 ORDER BY e.seq`
	plans["old chats"] = `SELECT num FROM chat WHERE ended_ms < ? ORDER BY ended_ms LIMIT ?`
	for name, question := range plans {
		args := make([]any, 16)
		plan, err := query(t.Context(), s.read, func(row scanner) (detail string, err error) {
			var skip any
			return detail, row.Scan(&skip, &skip, &skip, &detail)
		}, "EXPLAIN QUERY PLAN "+question, args[:placeholders(question)]...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, detail := range plan {
			if strings.HasPrefix(detail, "SCAN") || strings.Contains(detail, "TEMP B-TREE") {
				t.Errorf("%s: %s", name, strings.Join(plan, "; "))
			}
		}
		t.Logf("%s: %s", name, strings.Join(plan, "; "))
	}
}

// placeholders returns the greatest number of a parameter in a query.
func placeholders(question string) (n int) {
	if n = strings.Count(question, "?"); !strings.Contains(question, "?1") {
		return n
	}
	n = 0
	for _, after := range strings.Split(question, "?")[1:] {
		digits := strings.IndexFunc(after+" ", func(r rune) bool { return r < '0' || r > '9' })
		number, _ := strconv.Atoi(after[:digits])
		n = max(n, number)
	}
	return n
}

// manyEnv enables the lists of a box that is years old: 100,000 chats with a million
// events. Creating them takes half a minute.
const manyEnv = "PARLEY_TEST_MANY_CHATS"

func TestListsAreQuickAtAnyPage(t *testing.T) {
	chats := 5_000
	if n, err := strconv.Atoi(os.Getenv(manyEnv)); err == nil {
		chats = n
	}
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	long := seed(t, s, home, chats)
	ctx := t.Context()
	lists := map[string]func(Page) (int, error){
		"chats": func(p Page) (int, error) { _, n, err := s.Chats(ctx, home, ChatFilter{}, p); return n, err },
		"chats of a config": func(p Page) (int, error) {
			_, n, err := s.Chats(ctx, home, ChatFilter{ConfigID: "a"}, p)
			return n, err
		},
		"failed chats": func(p Page) (int, error) {
			_, n, err := s.Chats(ctx, home, ChatFilter{Statuses: []Status{Failed}}, p)
			return n, err
		},
		"chats of three statuses": func(p Page) (int, error) {
			_, n, err := s.Chats(ctx, home, ChatFilter{Statuses: statuses[1:4]}, p)
			return n, err
		},
		"failed chats of a config": func(p Page) (int, error) {
			_, n, err := s.Chats(ctx, home, ChatFilter{"b", []Status{Failed}}, p)
			return n, err
		},
		"groups": func(p Page) (int, error) {
			_, n, err := s.ChatGroups(ctx, home, "", p)
			return n, err
		},
		"groups of a config": func(p Page) (int, error) {
			_, n, err := s.ChatGroups(ctx, home, "b", p)
			return n, err
		},
		"chats of a long group": func(p Page) (int, error) {
			_, _, n, err := s.ChatGroup(ctx, home, long, nil, p)
			return n, err
		},
		"failed of a long group": func(p Page) (int, error) {
			_, _, n, err := s.ChatGroup(ctx, home, long, []Status{Failed}, p)
			return n, err
		},
		"events of a long group": func(p Page) (int, error) {
			_, n, err := s.GroupEvents(ctx, home, long, p)
			return n, err
		},
	}
	for name, ask := range lists {
		total, err := ask(Page{Size: 1})
		if err != nil || total == 0 {
			t.Fatalf("%s: %d, %v", name, total, err)
		}
		// Ten times what it takes where nothing else runs.
		limit := 5*time.Millisecond + time.Duration(total)*time.Microsecond
		slowest, where := time.Duration(0), Page{}
		for _, descending := range []bool{false, true} {
			for part := range 9 {
				page := Page{Number: total / 10 * part / 8, Size: 10, Descending: descending}
				if took := quickest(t, ask, page, limit); took > slowest {
					slowest, where = took, page
				}
			}
		}
		t.Logf("%-26s %7d rows: %v at most, page %d", name, total, slowest.Round(10*time.Microsecond), where.Number)
		if slowest > limit {
			t.Errorf("%s: page %+v of %d rows takes %v, want %v", name, where, total, slowest, limit)
		}
	}
}

// quickest repeats a query and returns the shortest time, since other tests use the
// machine too.
func quickest(t *testing.T, ask func(Page) (int, error), page Page, limit time.Duration) time.Duration {
	t.Helper()
	best := time.Hour
	for try := 0; try < 5 || best > limit && try < 200; try++ { // a busy machine lets it run now and then
		begun := time.Now()
		_, err := ask(page)
		must(t, err)
		best = min(best, time.Since(begun))
	}
	return best
}

// seed inserts so many chats with ten events each into the tables: half of them in groups
// of their own, half in one group, whose id it returns. One in 25 failed.
func seed(t *testing.T, s *Store, account string, chats int) (long string) {
	t.Helper()
	first := startChat(t, s, account)
	must(t, s.EndChat(t.Context(), first.ID, UserEnded, 1500))
	must(t, s.change(t.Context(), "seeding", func(ctx context.Context, c conn) error {
		for _, text := range []string{
			`CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) ` +
				`SELECT i FROM n`,
			`INSERT INTO chat_group (id, account, first_start_ms, last_start_ms, last_chat, last_config, ` +
				`last_config_version, num_chats)
			 SELECT 'g' || i, 1, i, i, 'c' || i, iif(i % 4 = 1, 'b', 'a'), 0, 1 FROM n WHERE i % 2 = 1 AND i < ?`,
			`INSERT INTO chat (id, account, chat_group, config, config_version, status, started_ms, ended_ms, ` +
				`request_id, event_count)
			 SELECT 'c' || i, 1, coalesce((SELECT num FROM chat_group WHERE id = 'g' || i), 1), iif(i % 4 = 1, 'b',
			  'a'), 0,
			        iif(i % 25 = 1, 'ERROR', iif(i % 3 = 0, 'USER_TIMEOUT', 'USER_ENDED')), i, i + 1, 'r', 10 FROM n
			  WHERE i < ?`,
			`INSERT INTO chat_event (chat, seq, id, at_ms, type, role, message_text)
			 SELECT c.num, e.i, c.num || '-' || e.i, 1, 'USER_MESSAGE', 'USER',
			  'What time does the museum open on Sundays?'
			   FROM chat c JOIN n e ON e.i <= 10 WHERE c.event_count = 10 AND c.num < ?`,
		} {
			if _, err := c.ExecContext(ctx, text, chats); err != nil {
				return err
			}
		}
		_, err := c.ExecContext(ctx, `DROP TABLE n;
			UPDATE account SET num_chats = (SELECT count(*) FROM chat WHERE account = account.num), num_groups =
			  (SELECT count(*) FROM chat_group WHERE account = account.num);
			UPDATE chat_group SET num_chats = (SELECT count(*) FROM chat WHERE chat_group = chat_group.num)`)
		return err
	}))
	return first.GroupID
}
