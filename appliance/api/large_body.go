package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"parley/appliance/contract"
	"parley/internal/limit"
)

// Approved answers are the only JSON bodies above jsonBody. 500 answers with 50 ways to
// ask of 200 characters, and 1,000 characters to say, are 5.5 million characters: 5.6 MB
// in ASCII, and 22.4 MB in a script of four bytes a character, so answersBody is enough
// for all in UTF-8. Parsing and storing such a body takes several times its size in
// memory. So the box handles maxLargeBodies at once, and one of each account. Others
// wait for largeBodyWait at most: one takes a second.
const (
	maxLargeBodies       = 2
	maxLargeBodiesInLine = 4 // of one account
	largeBodyWait        = 20 * time.Second
	largeBodyRetry       = 10 * time.Second
)

// largeBodies limits the large JSON bodies that are being handled, by account.
type largeBodies struct{ *limit.Limiter[string] }

func newLargeBodies() largeBodies {
	return largeBodies{limit.New[string](limit.Rule{
		MaxActive:      maxLargeBodies,
		MaxPerKey:      1,
		MaxPerKeyTotal: maxLargeBodiesInLine,
		MaxWait:        largeBodyWait,
	})}
}

// enter waits until the box may handle one more large body of an account. leave must be
// called when it has.
func (l largeBodies) enter(ctx context.Context, account string) (leave func(), err error) {
	leave, err = l.Acquire(ctx, account)
	if err == limit.ErrPerKey || err == limit.ErrTimeout {
		err = contract.ErrTooMany{
			What: fmt.Sprintf("the box handles %d bodies of more than %d bytes at once, and one of each account",
				maxLargeBodies, jsonBody),
			RetryAfter: largeBodyRetry,
		}
	}
	return leave, err
}

// oneLarge returns a handler that waits for its turn before it calls handle, if the body
// is larger than jsonBody.
func (a *API) oneLarge(handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request, by caller) error {
		large := r.ContentLength > jsonBody
		if r.ContentLength < 0 { // the client did not say
			var head bytes.Buffer
			n, _ := io.CopyN(&head, r.Body, jsonBody+1) // the next read returns the error again
			large = n > jsonBody
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(&head, r.Body), r.Body}
		}
		if !large {
			return handle(w, r, by)
		}
		leave, err := a.largeBodies.enter(r.Context(), by.AccountID)
		if err != nil {
			return err
		}
		defer leave()
		return handle(w, r, by)
	}
}
