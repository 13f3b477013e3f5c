package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// asking starts a chat of a config and stores questions of it.
func asking(t *testing.T, s *Store, account, config string, questions ...Question) NewChat {
	t.Helper()
	n := NewChat{
		ID:        uuid.NewString(),
		GroupID:   uuid.NewString(),
		AccountID: account,
		Config:    ConfigRef{ID: config},
		StartedMS: 1000,
		RequestID: "r",
	}
	must(t, s.StartChat(t.Context(), n))
	must(t, s.WriteChat(t.Context(), n.ID, ChatWrite{Questions: questions}))
	return n
}

// wantReport compares the report on the config "desk".
func wantReport(t *testing.T, s *Store, account string, f QuestionFilter, given []GivenAnswer,
	unanswered ...UnansweredQuestion) {
	t.Helper()
	f.ConfigID = "desk"
	gotGiven, err := s.GivenAnswers(t.Context(), account, f)
	must(t, err)
	if !slices.Equal(gotGiven, given) {
		t.Errorf("%+v: given %+v, want %+v", f, gotGiven, given)
	}
	got, err := s.UnansweredQuestions(t.Context(), account, f, 100)
	must(t, err)
	if !slices.Equal(got, unanswered) {
		t.Errorf("%+v: unanswered %+v, want %+v", f, got, unanswered)
	}
}

func TestReportHasTheQuestionsOfOneConfigWithinItsTime(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, other := newAccount(t, s, "home"), newAccount(t, s, "other")
	asking(t, s, home, "desk", Question{1000, "hours", "when"}, Question{2000, "", " why? "},
		Question{3000, "hours", ""})
	late := asking(t, s, home, "desk", Question{4000, "", "why?"}, Question{5000, "price", ""},
		Question{6000, "", "who?"})
	asking(t, s, home, "another", Question{2500, "hours", ""}, Question{2600, "", "where?"})
	asking(t, s, other, "desk", Question{2500, "hours", ""}, Question{2600, "", "where?"})
	asking(t, s, home, "", Question{2600, "", "where?"})
	wantReport(t, s, home, QuestionFilter{},
		[]GivenAnswer{{"", 3, 6000}, {"hours", 2, 3000}, {"price", 1, 5000}},
		UnansweredQuestion{"who?", 1, 6000, 6000, late.ID}, UnansweredQuestion{"why?", 2, 2000, 4000, late.ID})
	wantReport(t, s, home, QuestionFilter{FromMS: 3000, UntilMS: 5000},
		[]GivenAnswer{{"", 1, 4000}, {"hours", 1, 3000}}, UnansweredQuestion{"why?", 1, 4000, 4000, late.ID})
	wantReport(t, s, home, QuestionFilter{FromMS: 7000}, nil)
}

func TestQuestionsAreWrittenWithTheRestOfAWriteOrNotAtAll(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	chat := asking(t, s, home, "desk")
	wantError(t, s.WriteChat(t.Context(), chat.ID, ChatWrite{
		Questions: []Question{{1000, "hours", ""}},
		Amended:   []Event{{ID: "none"}},
	}), ErrNotFound)
	wantReport(t, s, home, QuestionFilter{}, nil)
	wantError(t, s.WriteChat(t.Context(), "none", ChatWrite{Questions: []Question{{1000, "", "why?"}}}), ErrNotFound)
	must(t, s.WriteWebhooks(t.Context(), chat.ID, ChatWrite{Questions: []Question{{1000, "", "why?"}}}))
	wantReport(t, s, home, QuestionFilter{}, nil) // as without a stored history
	before, err := s.Usage(t.Context(), home)
	must(t, err)
	must(t, s.WriteChat(t.Context(), chat.ID, ChatWrite{Questions: []Question{{1000, "", strings.Repeat("ü", 900)}}}))
	wantReport(t, s, home, QuestionFilter{}, []GivenAnswer{{"", 1, 1000}},
		UnansweredQuestion{strings.Repeat("ü", maxQuestionChars), 1, 1000, 1000, chat.ID})
	after, err := s.Usage(t.Context(), home)
	must(t, err)
	if grown := after.RecordBytes - before.RecordBytes; grown < 2*maxQuestionChars {
		t.Errorf("the account's usage grew by %d bytes", grown)
	}
}

func TestQuestionsGoWithTheirChat(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	home := newAccount(t, s, "home")
	many := slices.Repeat([]Question{{1000, "", "why?"}}, 2*batchRows+1)
	old, deleted := asking(t, s, home, "desk", many...), asking(t, s, home, "desk", many...)
	stays := asking(t, s, home, "desk", Question{2000, "", "who?"})
	must(t, s.EndChat(t.Context(), old.ID, UserEnded, 5000))
	must(t, s.EndChat(t.Context(), deleted.ID, UserEnded, 8000))
	must(t, s.Close())

	s = joinStore(t, dir) // without a background deletion
	for _, step := range []string{
		`UPDATE chat_group SET account = 0 WHERE id = ?2`,
		`UPDATE chat SET account = 0, chat_group = 0 WHERE id = ?1`,
	} {
		must(t, s.change(t.Context(), "deleting", func(ctx context.Context, c conn) error {
			return changeOne(ctx, c, step, deleted.ID, deleted.GroupID)
		}))
		wantReport(t, s, home, QuestionFilter{}, []GivenAnswer{{"", len(many) + 1, 2000}},
			UnansweredQuestion{"who?", 1, 2000, 2000, stays.ID},
			UnansweredQuestion{"why?", len(many), 1000, 1000, old.ID})
	}
	_, err := s.Expire(t.Context(), 6000)
	must(t, err)
	wantReport(t, s, home, QuestionFilter{}, []GivenAnswer{{"", 1, 2000}},
		UnansweredQuestion{"who?", 1, 2000, 2000, stays.ID})
	left, err := value[int](t.Context(), s.read, `SELECT count(*) FROM question`)
	must(t, err)
	if left != 1 {
		t.Errorf("%d rows are left, want 1", left)
	}
}

// A box that answered 100,000 questions, half of them unanswered with words that are all
// different, reports on them in about half a second.
func TestReportOfManyQuestionsIsQuick(t *testing.T) {
	const many = 100_000
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	chat := asking(t, s, home, "desk")
	must(t, s.change(t.Context(), "filling", func(ctx context.Context, c conn) error {
		return execute(ctx, c, `
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			INSERT INTO question (chat, account, config, at_ms, answer, words)
			SELECT chat.num, chat.account, chat.config, i, iif(i % 2, 'answer-' || (i % 499), NULL),
			       iif(i % 2, NULL, 'What is the way to room ' || i || ' of the museum, please?')
			  FROM n JOIN chat ON chat.id = ?2`, many, chat.ID)
	}))
	begun := time.Now()
	given, err := s.GivenAnswers(t.Context(), home, QuestionFilter{ConfigID: "desk"})
	must(t, err)
	counted := time.Since(begun)
	unanswered, err := s.UnansweredQuestions(t.Context(), home, QuestionFilter{ConfigID: "desk"}, 500)
	must(t, err)
	took := time.Since(begun)
	if len(given) != 500 || len(unanswered) != 500 || unanswered[0].Words != fmt.Sprintf(
		"What is the way to room %d of the museum, please?", many) {
		t.Fatalf("%d answers were given, %d questions are unanswered, the first %+v", len(given), len(unanswered),
			unanswered[0])
	}
	t.Logf("counting took %s, the report %s", counted, took)
	if took > 5*time.Second {
		t.Errorf("the report took %s", took)
	}
}
