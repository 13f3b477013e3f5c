package store

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ChatSearch says which chats of an account are looked for. What is zero does not
// matter.
type ChatSearch struct {
	ChatFilter
	Words           []string // in any case, all of them in one thing that was said
	CustomSessionID string
	FromMS, UntilMS int64  // they began at FromMS or later, and before UntilMS
	Before          string // only chats that began before this one, by its id
}

// FoundChat is a chat that was looked for.
type FoundChat struct {
	Chat
	// Excerpt is of what was said in it: the newest that has the words or, where
	// there are none, the first of the user. Its ChatID is empty where there is none.
	Excerpt Event
}

const (
	// searchStep is how many chats one step of a search looks at, and maxSearched
	// how many one search does: with twenty messages each, their words take a second
	// (BenchmarkSearchChats).
	searchStep  = 500
	maxSearched = 10_000
	// maxSearchBytes is how many bytes of what was said one search reads at most, which
	// takes half a second where the disk has to be asked. One chat of more is read
	// alone.
	maxSearchBytes = 64 << 20
	// excerptBytes is as much of an event as is read to show a piece of it.
	excerptBytes = 16 << 10
)

// SearchChats returns chats of an account, the newest first: at most so many, and
// those found before enough was looked at. next is the last that was looked at,
// to be the next search's Before; empty where there are no more. ErrNotFound:
// there is no chat f.Before (any more).
func (s *Store) SearchChats(ctx context.Context, accountID string, f ChatSearch, most int) (found []FoundChat,
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
			if len(found) == most || read > maxSearchBytes {
				return found, next, nil
			}
			next, from = c.ID, c.num
			if !c.matches {
				continue
			}
			if len(f.Words) > 0 {
				read += c.bytes
			}
			one, ok, err := s.excerpt(ctx, c, f.Words)
			if err != nil {
				return nil, "", explain(doing, err)
			}
			if ok {
				found = append(found, one)
			}
		}
		if looked += len(chats); len(chats) < searchStep {
			return found, "", nil
		}
	}
	return found, next, nil
}

// searchFrom is the number before which the chats are looked for.
func (s *Store) searchFrom(ctx context.Context, accountID, before string) (int64, error) {
	if before == "" {
		return 1 << 62, nil
	}
	return value[int64](ctx, s.read,
		`SELECT num FROM chat WHERE id = ? AND account = (SELECT num FROM account WHERE id = ?)`, before, accountID)
}

// candidate is a chat that a search comes to.
type candidate struct {
	Chat
	num, bytes int64
	matches    bool // but for its words
}

// chatsBefore are the next chats to look at. The config is found along an index;
// for the rest each row is looked at, so that a step has an end whatever there is.
func (s *Store) chatsBefore(ctx context.Context, accountID string, f ChatSearch, num int64) ([]candidate, error) {
	whose := `account = (SELECT num FROM account WHERE id = ?1)`
	args := []any{accountID, num, searchStep, f.CustomSessionID, f.FromMS, f.UntilMS}
	if f.ConfigID != "" {
		args = append(args, f.ConfigID)
		whose += ` AND config = ` + parameter(len(args))
	}
	status := `true`
	if len(f.Statuses) > 0 {
		var marks []string
		for _, one := range distinct(f.Statuses) {
			args = append(args, one)
			marks = append(marks, parameter(len(args)))
		}
		status = `c.status IN (` + strings.Join(marks, ", ") + `)`
	}
	return query(ctx, s.read, func(row scanner) (l candidate, err error) {
		l.Chat, err = scanChat(extendedRow{row, []any{&l.num, &l.bytes, &l.matches}})
		return l, err
	}, `
		SELECT`+chatColumns+`, c.num, c.bytes,
		       `+status+
		` AND (?4 = '' OR c.custom_session_id IS ?4) AND c.started_ms >= ?5 AND (?6 = 0 OR c.started_ms < ?6)
		  FROM`+chatTables+`
		 WHERE c.num IN (SELECT num FROM chat WHERE `+whose+
		` AND num < ?2 ORDER BY num DESC LIMIT ?3) ORDER BY c.num DESC`, args...)
}

// extendedRow is a row with columns behind those that a scan knows.
type extendedRow struct {
	scanner
	extra []any
}

func (b extendedRow) Scan(columns ...any) error {
	return b.scanner.Scan(append(columns, b.extra...)...)
}

// excerpt finds what a search shows of a chat; ok is false where it has not the
// words. A pattern narrows down what is read: SQLite knows the case of ASCII
// letters only, so what it finds is looked at again.
func (s *Store) excerpt(ctx context.Context, c candidate, words []string) (found FoundChat, ok bool, err error) {
	found.Chat = c.Chat
	if len(words) == 0 {
		found.Excerpt, err = s.firstUserMessage(ctx, c.num)
		return found, err == nil, err
	}
	like, args := "", []any{c.num, AgentMessage, UserMessage}
	for _, w := range words {
		args = append(args, pattern(w))
		like += ` AND e.message_text LIKE ` + parameter(len(args)) + ` ESCAPE '\'`
	}
	said, err := query(ctx, s.read, func(row scanner) (e Event, err error) {
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
	for _, e := range said {
		if e.MessageText != "" {
			found.Excerpt = e
			return found, true, nil
		}
	}
	return found, false, nil
}

// firstUserMessage is the first that the user said in a chat, or nothing. What is looked
// at is bounded: the first words come soon, or there are none.
func (s *Store) firstUserMessage(ctx context.Context, chat int64) (Event, error) {
	said, err := query(ctx, s.read, func(row scanner) (e Event, err error) {
		if err = row.Scan(&e.ChatID, &e.Seq, &e.ID, &e.AtMS, &e.Type, &e.Role, &e.MessageText); err == nil {
			e.MessageText = excerptAround(e.MessageText, "")
		}
		return e, err
	}, `
		SELECT c.id, e.seq, e.id, e.at_ms, e.type, e.role, substr(coalesce(e.message_text, ''), 1, ?1)
		  FROM chat c CROSS JOIN chat_event e ON e.chat = c.num AND e.seq <= 200
		 WHERE c.num = ?2 AND e.type = ?3 ORDER BY e.seq LIMIT 1`, excerptBytes, chat, UserMessage)
	if err != nil || len(said) == 0 {
		return Event{}, err
	}
	return said[0], nil
}

// pattern finds what may have the word, for LIKE: letters beyond ASCII, whose case
// SQLite does not know, may be anything.
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

// containsAll says whether a text has all words, in any case.
func containsAll(text string, words []string) bool {
	small := foldCase(text)
	for _, w := range words {
		if !strings.Contains(small, foldCase(w)) {
			return false
		}
	}
	return true
}

// foldCase is a text of which the case is gone, rune by rune.
func foldCase(text string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return unicode.ToLower(least)
	}, text)
}

// excerptRunes is how much of a long text is shown.
const excerptRunes = 200

// excerptAround is the piece of a text in which a word stands, a third of it before.
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
