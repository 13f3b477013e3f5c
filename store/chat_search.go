package store

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ChatSearch says which chats of an account to find. Empty fields restrict nothing.
type ChatSearch struct {
	ChatFilter
	Words           []string // one message has all of them, in any letter case
	CustomSessionID string
	FromMS, UntilMS int64  // they began at FromMS or later, and before UntilMS
	Before          string // they began before the chat with this id
	Box             string // they were on this box of the hub
}

// FoundChat is a chat that a search found.
type FoundChat struct {
	Chat
	// Excerpt is a piece of the newest message with the words or, if the search has none,
	// of the user's first message. Its ChatID is empty if there is none.
	Excerpt Event
	Box     string // of the hub; empty: this one
}

const (
	// searchStep is how many chats one step of a search examines, and maxSearched how
	// many one search does: with twenty messages a chat that takes a second
	// (BenchmarkSearchChats).
	searchStep  = 500
	maxSearched = 10_000
	// maxSearchBytes bounds the message bytes that one search reads, which takes half a
	// second from a disk. A larger chat is read in a separate search.
	maxSearchBytes = 64 << 20
	// excerptBytes is how much of an event is read for its excerpt.
	excerptBytes = 16 << 10
)

// SearchChats returns at most limit chats of an account, newest first. It stops earlier
// when it has examined maxSearched chats or read maxSearchBytes. next is the id of the
// last chat examined, for the Before of the next search; it is empty if there are no
// more. The error is ErrNotFound if the chat f.Before does not exist (any more).
func (s *Store) SearchChats(ctx context.Context, accountID string, f ChatSearch, limit int) (found []FoundChat,
	next string, err error) {
	const doing = "searching chats"
	from, err := s.searchFrom(ctx, accountID, f.Before)
	if err != nil {
		return nil, "", explain(doing, err)
	}
	looked, read := 0, int64(0)
	for looked < maxSearched {
		chats, err := s.chatsBefore(ctx, accountID, f, from)
		if err != nil {
			return nil, "", explain(doing, err)
		}
		for _, c := range chats {
			if len(found) == limit || read > maxSearchBytes {
				return found, next, nil
			}
			next, from = c.ID, c.num
			if !c.matches {
				continue
			}
			if len(f.Words) > 0 {
				read += c.bytes
			}
			match, ok, err := s.excerpt(ctx, c, f.Words)
			if err != nil {
				return nil, "", explain(doing, err)
			}
			if ok {
				found = append(found, match)
			}
		}
		if looked += len(chats); len(chats) < searchStep {
			return found, "", nil
		}
	}
	return found, next, nil
}

// searchFrom returns the number before which to search.
func (s *Store) searchFrom(ctx context.Context, accountID, before string) (int64, error) {
	if before == "" {
		return 1 << 62, nil
	}
	return value[int64](ctx, s.read,
		`SELECT num FROM chat WHERE id = ? AND account = (SELECT num FROM account WHERE id = ?)`, before, accountID)
}

// candidate is a chat that a search examines.
type candidate struct {
	Chat
	num, bytes int64
	matches    bool   // except for the words
	box        string // of the hub
}

// chatsBefore returns the next chats to examine. The config is found through an index.
// The other conditions are evaluated for each row, so that a step ends whatever the
// database holds.
func (s *Store) chatsBefore(ctx context.Context, accountID string, f ChatSearch, num int64) ([]candidate, error) {
	condition := `account = (SELECT num FROM account WHERE id = ?1)`
	args := []any{accountID, num, searchStep, f.CustomSessionID, f.FromMS, f.UntilMS}
	if f.ConfigID != "" {
		args = append(args, f.ConfigID)
		condition += ` AND config = ` + parameter(len(args))
	}
	if f.Box != "" {
		args = append(args, f.Box)
		condition += ` AND num IN (SELECT chat FROM hub_chat WHERE box = (SELECT num FROM hub_box WHERE name = ` +
			parameter(len(args)) + `))`
	}
	status := `true`
	if len(f.Statuses) > 0 {
		var marks []string
		for _, wanted := range distinct(f.Statuses) {
			args = append(args, wanted)
			marks = append(marks, parameter(len(args)))
		}
		status = `c.status IN (` + strings.Join(marks, ", ") + `)`
	}
	return query(ctx, s.read, func(row scanner) (l candidate, err error) {
		l.Chat, err = scanChat(extendedRow{row, []any{&l.num, &l.bytes, &l.matches, &l.box}})
		return l, err
	}, `
		SELECT`+chatColumns+`, c.num, c.bytes,
		       `+status+
		` AND (?4 = '' OR c.custom_session_id IS ?4) AND c.started_ms >= ?5 AND (?6 = 0 OR c.started_ms < ?6),
		       coalesce((SELECT b.name FROM hub_chat h JOIN hub_box b ON b.num = h.box WHERE h.chat = c.num), '')
		  FROM`+chatTables+`
		 WHERE c.num IN (SELECT num FROM chat WHERE `+condition+
		` AND num < ?2 ORDER BY num DESC LIMIT ?3) ORDER BY c.num DESC`, args...)
}

// extendedRow scans additional columns behind those that a scan function expects.
type extendedRow struct {
	scanner
	extra []any
}

func (r extendedRow) Scan(columns ...any) error {
	return r.scanner.Scan(append(columns, r.extra...)...)
}

// excerpt returns the chat with its excerpt; ok is false if no message has the words. A
// LIKE pattern narrows the rows. SQLite folds only ASCII letters, so the rows are checked
// again here.
func (s *Store) excerpt(ctx context.Context, c candidate, words []string) (found FoundChat, ok bool, err error) {
	found.Chat, found.Box = c.Chat, c.box
	if len(words) == 0 {
		found.Excerpt, err = s.firstUserMessage(ctx, c.num)
		return found, err == nil, err
	}
	like, args := "", []any{c.num, AgentMessage, UserMessage}
	for _, w := range words {
		args = append(args, pattern(w))
		like += ` AND e.message_text LIKE ` + parameter(len(args)) + ` ESCAPE '\'`
	}
	events, err := query(ctx, s.read, func(row scanner) (e Event, err error) {
		var whole string
		if err = row.Scan(&e.ChatID, &e.Seq, &e.ID, &e.AtMS, &e.Type, &e.Role, &whole); err == nil &&
			containsAll(whole, words) {
			e.MessageText = excerptAround(whole, words[0])
		}
		return e, err
	}, `
		SELECT c.id, e.seq, e.id, e.at_ms, e.type, e.role, e.message_text
		  FROM chat c CROSS JOIN chat_event e ON e.chat = c.num
		 WHERE c.num = ?1 AND e.type IN (?2, ?3)`+like+` ORDER BY e.seq DESC`, args...)
	if err != nil {
		return found, false, err
	}
	for _, e := range events {
		if e.MessageText != "" {
			found.Excerpt = e
			return found, true, nil
		}
	}
	return found, false, nil
}

// firstUserMessage returns the first message of the user, or a zero Event. It looks at
// the first 200 events: a user who speaks at all speaks early.
func (s *Store) firstUserMessage(ctx context.Context, chat int64) (Event, error) {
	events, err := query(ctx, s.read, func(row scanner) (e Event, err error) {
		if err = row.Scan(&e.ChatID, &e.Seq, &e.ID, &e.AtMS, &e.Type, &e.Role, &e.MessageText); err == nil {
			e.MessageText = excerptAround(e.MessageText, "")
		}
		return e, err
	}, `
		SELECT c.id, e.seq, e.id, e.at_ms, e.type, e.role, substr(coalesce(e.message_text, ''), 1, ?1)
		  FROM chat c CROSS JOIN chat_event e ON e.chat = c.num AND e.seq <= 200
		 WHERE c.num = ?2 AND e.type = ?3 ORDER BY e.seq LIMIT 1`, excerptBytes, chat, UserMessage)
	if err != nil || len(events) == 0 {
		return Event{}, err
	}
	return events[0], nil
}

// pattern returns a LIKE pattern for a word. Letters beyond ASCII, which SQLite does not
// fold, match anything.
func pattern(word string) string {
	var b strings.Builder
	b.WriteByte('%')
	for _, r := range word {
		switch {
		case r >= utf8.RuneSelf:
			b.WriteByte('%')
		case strings.ContainsRune(`%_\`, r):
			b.WriteByte('\\')
			fallthrough
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('%')
	return b.String()
}

// containsAll reports whether a text has all words, in any letter case.
func containsAll(text string, words []string) bool {
	small := foldCase(text)
	for _, w := range words {
		if !strings.Contains(small, foldCase(w)) {
			return false
		}
	}
	return true
}

// foldCase folds the letter case, rune by rune.
func foldCase(text string) string {
	return strings.Map(func(r rune) rune {
		smallest := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			smallest = min(smallest, other)
		}
		return unicode.ToLower(smallest)
	}, text)
}

// excerptRunes is the length of an excerpt.
const excerptRunes = 200

// excerptAround returns the part of a text around a word, with a third of it before the
// word.
func excerptAround(text, word string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= excerptRunes {
		return string(runes)
	}
	at := 0
	if i := strings.Index(foldCase(string(runes)), foldCase(word)); word != "" && i > 0 {
		at = utf8.RuneCountInString(foldCase(string(runes))[:i])
	}
	begin := max(0, min(at-excerptRunes/3, len(runes)-excerptRunes))
	end := min(begin+excerptRunes, len(runes))
	piece := string(runes[begin:end])
	if begin > 0 {
		piece = cutMark + piece
	}
	if end < len(runes) {
		piece += cutMark
	}
	return piece
}
