package store

import (
	"context"
	"strings"
)

const (
	// maxQuestionChars is how many characters of a question are stored: far more than a
	// way to ask for an approved answer may have. What is longer is a story.
	maxQuestionChars = 500
	// questionBytes is what a row of a question takes besides its words, with its index
	// entries, in bytes.
	questionBytes = 200
	// maxUnanswered is how many of the newest unanswered questions a report reads: a
	// second of work at most (TestReportOfManyQuestionsIsQuick).
	maxUnanswered = 100_000
)

// Question is what a user asked in one turn of a chat whose config has approved answers.
type Question struct {
	AtMS     int64  // Unix milliseconds
	AnswerID string // the approved answer that was given; empty: none fitted
	Words    string // what the user said; stored only if no answer fitted
}

// QuestionFilter selects the questions that were asked in the chats of a config.
type QuestionFilter struct {
	ConfigID        string
	FromMS, UntilMS int64 // asked at FromMS or later, and before UntilMS; 0: no bound
}

// GivenAnswer is how often an approved answer was given.
type GivenAnswer struct {
	AnswerID string // empty: no answer fitted
	Times    int
	LastMS   int64 // when it was last given, in Unix milliseconds
}

// UnansweredQuestion is a question that no approved answer fitted, asked with the same
// words once or more.
type UnansweredQuestion struct {
	Words           string
	Times           int
	FirstMS, LastMS int64  // when it was asked, in Unix milliseconds
	ChatID          string // the chat where it was last asked
}

// addQuestions stores the questions of a chat. It stores none for a chat without a config.
func addQuestions(ctx context.Context, c conn, chatID string, questions []Question) error {
	if len(questions) == 0 {
		return nil
	}
	size := 0
	for _, q := range questions {
		words := ""
		if q.AnswerID == "" {
			words = firstChars(strings.TrimSpace(q.Words), maxQuestionChars)
		}
		size += questionBytes + len(words)
		if err := execute(ctx, c, `
			INSERT INTO question (chat, account, config, at_ms, answer, words)
			SELECT num, account, config, ?, ?, ? FROM chat WHERE id = ? AND config IS NOT NULL`,
			q.AtMS, orNull(q.AnswerID), orNull(words), chatID); err != nil {
			return err
		}
	}
	return changeOne(ctx, c, `UPDATE chat SET bytes = bytes + ? WHERE id = ?`, size, chatID)
}

// deleteQuestions deletes at most limit questions of a chat, and returns their number.
func deleteQuestions(ctx context.Context, c conn, chat int64, limit int) (deleted int, err error) {
	result, err := c.ExecContext(ctx, `
		DELETE FROM question WHERE num IN (SELECT num FROM question WHERE chat = ? LIMIT ?)`, chat, limit)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// firstChars returns at most n characters of a text.
func firstChars(text string, n int) string {
	for i := range text {
		if n--; n < 0 {
			return text[:i]
		}
	}
	return text
}

// asked are the questions that a filter selects (parameters 1 to 4), without those of
// chats in the trash.
const asked = `
	  FROM question q INDEXED BY question_asked
	 WHERE q.account = (SELECT num FROM account WHERE id = ?1) AND q.config = ?2 AND q.at_ms >= ?3 AND q.at_ms < ?4
	   AND q.chat NOT IN (SELECT num FROM chat WHERE chat_group = 0)
	   AND q.chat NOT IN (SELECT c.num FROM chat_group g CROSS JOIN chat c ON c.chat_group = g.num
	                       WHERE g.account = 0 AND g.num <> 0)`

func (f QuestionFilter) args(accountID string) []any {
	until := f.UntilMS
	if until == 0 {
		until = 1<<63 - 1
	}
	return []any{accountID, f.ConfigID, f.FromMS, until}
}

// GivenAnswers returns how often each approved answer of a config was given, by id. Those
// that were not given are not among them.
func (s *Store) GivenAnswers(ctx context.Context, accountID string, f QuestionFilter) ([]GivenAnswer, error) {
	given, err := query(ctx, s.read, func(row scanner) (g GivenAnswer, err error) {
		return g, row.Scan(&g.AnswerID, &g.Times, &g.LastMS)
	}, `SELECT coalesce(q.answer, ''), count(*), max(q.at_ms)`+asked+` GROUP BY q.answer ORDER BY q.answer`,
		f.args(accountID)...)
	return given, explain("counting the answers that were given", err)
}

// UnansweredQuestions returns questions that no approved answer of a config fitted, the
// last asked first: at most limit, among the newest maxUnanswered.
func (s *Store) UnansweredQuestions(ctx context.Context, accountID string, f QuestionFilter, limit int) (
	[]UnansweredQuestion, error) {
	found, err := query(ctx, s.read, func(row scanner) (q UnansweredQuestion, err error) {
		return q, row.Scan(&q.Words, &q.Times, &q.FirstMS, &q.LastMS, &q.ChatID)
	}, `
		WITH newest AS (SELECT q.num, q.chat, q.at_ms, q.words`+asked+` AND q.answer IS NULL
		                 ORDER BY q.at_ms DESC LIMIT ?5)
		SELECT w.words, w.times, w.first, w.last, c.id
		  FROM (SELECT words, chat, count(*) AS times, min(at_ms) AS first, max(at_ms) AS last FROM newest
		         WHERE words IS NOT NULL GROUP BY words) w
		  JOIN chat c ON c.num = w.chat
		 ORDER BY w.last DESC, w.words LIMIT ?6`, append(f.args(accountID), maxUnanswered, limit)...)
	return found, explain("listing the questions that no answer fitted", err)
}
