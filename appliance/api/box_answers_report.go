package api

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

const (
	// reportedWordings is how many of the newest wordings of unanswered questions a report
	// compares: each is embedded, which takes 3 ms.
	reportedWordings = 500
	// reportedTexts is how many other wordings a group of questions shows.
	reportedTexts = 20
	// groupPatience is how long a report waits for the grouping while the box converses.
	groupPatience = 20 * time.Second
)

func aboutAnswersReport() describe.Operation {
	return describe.Operation{
		ID:      "reportAnswers",
		Summary: "Report what users asked",
		Description: "How often each approved answer of a config was given, and which questions none fitted. " +
			"Questions that ask alike are together. The questions of deleted chats, and of chats without a " +
			"stored history, are not in it.",
		Query: []describe.Parameter{
			{Name: "config_id", Description: "The config.", Schema: describe.String(), Required: true},
			moment("from", "Only questions at or after this time:"),
			moment("to", "Only questions before this time:"),
		},
		Answers: ok(contract.ReturnAnswersReport{}),
		Errors:  []int{404},
	}
}

// reportAnswers answers with the report on the approved answers of a config.
func (a *API) reportAnswers(w http.ResponseWriter, r *http.Request, by caller) error {
	filter, err := readQuestionFilter(r.URL.Query())
	if err != nil {
		return err
	}
	config, err := Configs{a.Records, a.versions, installedTools{a.Plugins}}.Config(r.Context(), by.AccountID,
		filter.ConfigID, nil)
	if err != nil {
		return notFound(err, "config", filter.ConfigID)
	}
	given, err := a.Records.GivenAnswers(r.Context(), by.AccountID, filter)
	if err != nil {
		return err
	}
	asked, err := a.Records.UnansweredQuestions(r.Context(), by.AccountID, filter, reportedWordings)
	if err != nil {
		return err
	}
	report := contract.ReturnAnswersReport{ConfigID: config.ID}
	report.Given, report.UnansweredCount = reportedAnswers(config.Answers, given)
	report.Unanswered, err = a.groupQuestions(r.Context(), asked)
	return a.result(w, http.StatusOK, report, err)
}

func readQuestionFilter(q url.Values) (f store.QuestionFilter, err error) {
	if f.ConfigID = q.Get("config_id"); f.ConfigID == "" {
		return f, contract.ErrInvalid{Field: "config_id", Why: "missing; give the id of a config"}
	}
	if f.FromMS, err = readMoment(q, "from"); err != nil {
		return f, err
	}
	f.UntilMS, err = readMoment(q, "to")
	return f, err
}

// reportedAnswers returns how often each answer was given: those of all in their order,
// and then others. unanswered is how many questions none fitted.
func reportedAnswers(all *contract.Answers, given []store.GivenAnswer) (list []contract.ReportedAnswer,
	unanswered int) {
	list = []contract.ReportedAnswer{}
	at := map[string]int{}
	if all != nil {
		for i, item := range all.Items {
			at[item.ID] = i
			list = append(list, contract.ReportedAnswer{AnswerID: item.ID})
		}
	}
	for _, g := range given {
		i, known := at[g.AnswerID]
		switch {
		case g.AnswerID == "":
			unanswered = g.Times
		case known:
			list[i].Count, list[i].LastOn = g.Times, g.LastMS
		default:
			list = append(list, contract.ReportedAnswer{AnswerID: g.AnswerID, Count: g.Times, LastOn: g.LastMS})
		}
	}
	return list, unanswered
}

// groupQuestions puts questions that ask alike together, the last asked first.
func (a *API) groupQuestions(ctx context.Context, asked []store.UnansweredQuestion) ([]contract.ReportedQuestion,
	error) {
	if a.Answers == nil {
		return nil, contract.ErrUnavailable{Why: "this box finds no approved answers"}
	}
	words := make([]string, len(asked))
	for i, q := range asked {
		words[i] = q.Words
	}
	limited, cancel := context.WithTimeout(ctx, groupPatience)
	defer cancel()
	groups, err := a.Answers.Group(limited, words, engine.Request.Urgency())
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return nil, contract.ErrTimedOut{Limit: groupPatience}
	}
	if err != nil {
		return nil, err
	}
	questions := make([]contract.ReportedQuestion, len(groups))
	for i, group := range groups {
		questions[i] = reportedQuestion(asked, group)
	}
	slices.SortFunc(questions, func(x, y contract.ReportedQuestion) int {
		return cmp.Or(cmp.Compare(y.LastOn, x.LastOn), cmp.Compare(x.Text, y.Text))
	})
	return questions, nil
}

// reportedQuestion returns the questions with the indexes in group as one.
func reportedQuestion(asked []store.UnansweredQuestion, group []int) contract.ReportedQuestion {
	wordings := make([]store.UnansweredQuestion, len(group))
	for i, n := range group {
		wordings[i] = asked[n]
	}
	slices.SortStableFunc(wordings, func(x, y store.UnansweredQuestion) int {
		return cmp.Or(cmp.Compare(y.Times, x.Times), cmp.Compare(y.LastMS, x.LastMS))
	})
	q := contract.ReportedQuestion{Text: wordings[0].Words, Texts: []string{}, FirstOn: wordings[0].FirstMS}
	for i, w := range wordings {
		q.Count += w.Times
		q.FirstOn = min(q.FirstOn, w.FirstMS)
		if w.LastMS > q.LastOn {
			q.LastOn, q.ChatID = w.LastMS, w.ChatID
		}
		if i > 0 && len(q.Texts) < reportedTexts {
			q.Texts = append(q.Texts, w.Words)
		}
	}
	return q
}
