package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"parley/appliance/answers"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// BoxAnswers finds approved answers.
type BoxAnswers interface {
	// Open, Ready and Group are those of an answers.Finder.
	Open(ctx context.Context, a contract.Answers) (*answers.Set, error)
	Ready(ctx context.Context, s *answers.Set) error
	Group(ctx context.Context, questions []string, u *engine.Urgency) ([][]int, error)
	// Judge returns the model that weighs answers in the chats of a config; nil: there
	// is none.
	Judge(config contract.ReturnConfig) answers.Judge
}

const (
	// answersPatience is how long a request waits until the ways to ask of new answers
	// are embedded. That takes 3 ms each: enough for 1,500 on a slow core. A config's are
	// embedded soon after it is saved.
	answersPatience = 5 * time.Second
	// judgePatience is how long a try waits for the models: as long as a chat waits for
	// a language model on a server, and more.
	judgePatience = 10 * time.Second
	// answersRetry is the Retry-After while the models are loaded, which takes seconds.
	answersRetry = 2 * time.Second
)

func aboutAnswers() descriptions {
	return inSection("Approved answers", descriptions{
		"POST /v0/box/answers/try": {
			ID:      "tryAnswers",
			Summary: "Find the approved answer to a question",
			Description: "As in a chat with a config, or with answers that are not saved yet. The box needs the pack " +
				"embed.",
			Body: "PostedTry",
			Example: `{"answers":{"items":[{"id":"hours","ask":["When are you open?"],"say":"From ten to six."}]},` +
				`"text":"When do you close?"}`,
			Answers: ok(contract.ReturnTry{}),
			Errors:  []int{404},
		},
		"POST /v0/box/answers/check": {
			ID:      "checkAnswers",
			Summary: "Find approved answers that are asked for alike",
			Description: "Of two answers with the same way to ask, the box cannot know which one is wanted. Nothing " +
				"is stored.",
			Body: "PostedAnswersCheck",
			Example: `{"answers":{"items":[{"id":"hours","ask":["When are you open?"],"say":"From ten to six."},` +
				`{"id":"sundays","ask":["when are you open"],"say":"On Sundays from noon."}]}}`,
			Answers: ok(contract.ReturnAnswersCheck{}),
		},
		"GET /v0/box/answers/report": aboutAnswersReport(),
	})
}

// tryAnswers answers with the approved answer that fits a question.
func (a *API) tryAnswers(w http.ResponseWriter, r *http.Request, by caller, posted contract.PostedTry) error {
	config := contract.ReturnConfig{Answers: posted.Answers}
	if posted.ConfigID != "" {
		var err error
		config, err = Configs{a.Records, a.versions, installedTools{a.Plugins}}.Config(r.Context(), by.AccountID,
			posted.ConfigID, posted.ConfigVersion)
		if err != nil {
			return notFound(err, "config", posted.ConfigID)
		}
	}
	if config.Answers == nil {
		return contract.ErrInvalid{Field: "config_id", Why: "this version of the config has no approved answers"}
	}
	set, _, err := a.openAnswers(r.Context(), *config.Answers)
	if err != nil {
		return unavailableAnswers(err)
	}
	result, err := a.try(r.Context(), set, posted, a.Answers.Judge(config))
	return a.result(w, http.StatusOK, result, err)
}

// openAnswers returns the set of some answers, and whether all its ways to ask are
// embedded. It waits for answersPatience at most.
func (a *API) openAnswers(ctx context.Context, all contract.Answers) (set *answers.Set, complete bool, err error) {
	if a.Fleet != nil {
		return nil, false, contract.ErrUnavailable{Why: "a hub has no models: ask one of its boxes"}
	}
	if a.Answers == nil {
		return nil, false, contract.ErrUnavailable{Why: "this box finds no approved answers"}
	}
	if set, err = a.Answers.Open(ctx, all); err != nil {
		return nil, false, err
	}
	limited, cancel := context.WithTimeout(ctx, answersPatience)
	defer cancel()
	err = a.Answers.Ready(limited, set)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return set, false, nil
	}
	return set, err == nil, err
}

// unavailableAnswers returns the answer to an error of openAnswers.
func unavailableAnswers(err error) error {
	switch {
	case errors.Is(err, answers.ErrNoPack):
		return contract.ErrUnavailable{Why: answers.ErrNoPack.Error()}
	case errors.Is(err, answers.ErrLoading):
		return contract.ErrUnavailable{Why: answers.ErrLoading.Error(), RetryAfter: answersRetry}
	case errors.Is(err, answers.ErrBusy):
		return contract.ErrUnavailable{Why: answers.ErrBusy.Error(), RetryAfter: answersRetry}
	}
	return err
}

// try decides which answer a question wants. If there was a question before, its answer
// belongs to the conversation too.
func (a *API) try(ctx context.Context, set *answers.Set, posted contract.PostedTry, judge answers.Judge) (
	result contract.ReturnTry, err error) {
	limited, cancel := context.WithTimeoutCause(ctx, judgePatience, errTimedOut)
	defer cancel()
	decide := func(q answers.Question) (answers.Decision, error) {
		d, err := set.Decide(limited, q, judge, engine.Request.Urgency(), "")
		if err != nil && ctx.Err() == nil && limited.Err() != nil {
			err = contract.ErrTimedOut{Limit: judgePatience}
		}
		return d, err
	}
	question := answers.Question{Text: posted.Text, BeforeUser: posted.Before}
	if posted.Before != "" {
		before, err := decide(answers.Question{Text: posted.Before})
		if err != nil {
			return result, err
		}
		if before.Item != answers.None {
			question.BeforeAssistant = set.Answers.Items[before.Item].Say
		}
	}
	d, err := decide(question)
	if err != nil {
		return result, err
	}
	result = contract.ReturnTry{Score: d.Score, Others: make([]contract.ScoredAnswer, len(d.Others))}
	if d.Item != answers.None {
		result.AnswerID = &set.Answers.Items[d.Item].ID
	}
	for i, c := range d.Others {
		result.Others[i] = contract.ScoredAnswer{AnswerID: set.Answers.Items[c.Item].ID, Score: c.Score}
	}
	return result, nil
}

// checkAnswers answers with the approved answers that seem to be asked for alike. Without
// the models, those with the same words.
func (a *API) checkAnswers(w http.ResponseWriter, r *http.Request, _ caller, posted contract.PostedAnswersCheck) error {
	set, complete, err := a.openAnswers(r.Context(), *posted.Answers)
	var found []answers.Conflict
	switch {
	case err == nil:
		found = set.Conflicts()
	case r.Context().Err() != nil:
		return err
	default:
		found = answers.SameWords(*posted.Answers)
	}
	result := contract.ReturnAnswersCheck{Conflicts: make([]contract.AnswersConflict, len(found)), Complete: complete}
	for i, c := range found {
		one := contract.AnswersConflict{Score: c.Likeness}
		for n, item := range c.Items {
			about := posted.Answers.Items[item]
			one.Items = append(one.Items, contract.ConflictingAnswer{AnswerID: about.ID, Ask: about.Ask[c.Ways[n]]})
		}
		result.Conflicts[i] = one
	}
	return a.result(w, http.StatusOK, result, nil)
}
