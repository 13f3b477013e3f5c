package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/contract"
)

const (
	// heldLimit95 is what 95 of 100 answers of a box that holds its conversations
	// may come later than the silence that ends a turn, in milliseconds.
	heldLimit95 = 500
	// roundLonger is how much longer than its turns and answers take a round may
	// last; what is not through then is not held.
	roundLonger = 45 * time.Second
	// turnTakes is what a turn takes with its answer and the pause behind it.
	turnTakes = 15 * time.Second
	// knocks is how many more callers come to a full box, one every knockEach.
	knocks    = 10
	knockEach = 500 * time.Millisecond
)

// capacity finds how many conversations a box holds, and what it does with more.
func (r *Report) capacity(ctx context.Context, o Options, prefix, which string) error {
	said, err := recordings(o.Recordings)
	if err != nil {
		return err
	}
	asked := turns(said, o.Turns)
	if len(asked) == 0 {
		return fmt.Errorf("no recording in %s is %v to %v long without a pause over %v: such are needed for turns",
			o.Recordings, shortestTurn, longestTurn, longestTurnPause)
	}
	c := &crowd{o: o, asked: asked, prefix: prefix}
	held, err := c.search(ctx, r, which)
	if err != nil || held == 0 {
		return err
	}
	return c.past(ctx, r, held)
}

// crowd is callers of one box.
type crowd struct {
	o      Options
	asked  []recording
	prefix string
	config string // at the box, with which all of them open their chats
}

// search goes up until the box does not hold its conversations, and then finds the
// number between.
func (c *crowd) search(ctx context.Context, r *Report, which string) (held int, err error) {
	c.o.say("starting a box with %s", which)
	b, err := c.box(ctx, c.o.Most)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, b.stop()) }()
	begun := time.Now()
	tried := map[int]bool{}
	note := "with " + which
	for n := nextCrowd(tried, c.o.Most); n > 0; n = nextCrowd(tried, c.o.Most) {
		if left := c.o.Within - time.Since(begun); left < time.Duration(c.o.Turns)*turnTakes {
			note += fmt.Sprintf("; not searched to the end within %v", c.o.Within)
			break
		}
		added, err := c.round(ctx, b.place, n)
		if err != nil {
			return 0, err
		}
		r.added(fmt.Sprintf("%schats_%d_", c.prefix, n), added)
		tried[n] = quantile(added, 0.95) <= heldLimit95
		c.o.say("%d chats: 95 of 100 answers come within %v ms", n, Number(quantile(added, 0.95)))
	}
	held = mostHeld(tried)
	if tried[c.o.Most] {
		note += "; more were not tried"
	}
	r.figure(c.prefix+"chats", float64(held), "",
		fmt.Sprintf("live conversations of which 95 of 100 answers add at most %d ms, %d turns each, %s", heldLimit95,
			c.o.Turns, note))
	return held, nil
}

// nextCrowd is how many callers to try next: twice as many each time until that is
// too many, and then the middle between; 0 when it is found.
func nextCrowd(tried map[int]bool, most int) int {
	good, bad := mostHeld(tried), min(leastBad(tried), most+1)
	switch {
	case good+1 >= bad:
		return 0
	case bad > most:
		return min(max(2*good, 1), most)
	}
	return (good + bad) / 2
}

// leastBad is the smallest number that was not held; very many where all were.
func leastBad(tried map[int]bool) int {
	bad := math.MaxInt
	for n, held := range tried {
		if !held {
			bad = min(bad, n)
		}
	}
	return bad
}

// mostHeld is the largest number that was held below those that were not.
func mostHeld(tried map[int]bool) int {
	most, bad := 0, leastBad(tried)
	for n := range tried {
		if n < bad {
			most = max(most, n)
		}
	}
	return most
}

// box starts one with so many seats, and waits until it has read the prompt of the
// config that its callers have: the first of them would wait for that, which is no
// matter of how many they are.
func (c *crowd) box(ctx context.Context, seats int) (*box, error) {
	o := c.o
	o.seats = seats
	b, err := startBox(ctx, o)
	if err != nil {
		return nil, err
	}
	c.config, err = b.place.newConfig(ctx,
		contract.PostedConfig{Name: "bench", PostedConfigVersion: contract.PostedConfigVersion{
			EVIVersion: contract.EVI4Mini, Prompt: &contract.ConfigPrompt{Text: hotel},
		}})
	if err == nil {
		_, err = untilIdle(ctx, b.pid, settling)
	}
	if err != nil {
		return nil, errors.Join(err, b.stop())
	}
	return b, nil
}

// round holds so many conversations at once, and returns what each turn added, in
// milliseconds: infinitely much where no answer came.
func (c *crowd) round(ctx context.Context, at place, n int) ([]float64, error) {
	c.o.say("%d chats at once, %d turns each", n, len(c.asked))
	limit := beforeSpeaking + between + time.Duration(len(c.asked))*turnTakes + roundLonger
	limited, cancel := context.WithTimeoutCause(ctx, limit, errRoundTooLong)
	defer cancel()
	k := talk{callers: n, asked: c.asked, config: c.config}
	chats, err := k.several(limited, at, func(turn) {})
	if err != nil && !errors.Is(err, errRoundTooLong) && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	var added []float64
	for _, turns := range chats {
		for _, t := range turns {
			switch t.outcome() {
			case "answered":
				added = append(added, milliseconds(t.sounded-silenceAsked()))
			case "early": // it was not late, whatever else it was
			default:
				added = append(added, math.Inf(1))
			}
		}
		for range len(c.asked) - len(turns) {
			added = append(added, math.Inf(1))
		}
	}
	return added, nil
}

var errRoundTooLong = errors.New("the box did not answer everybody in time")

// added adds what turns added, in milliseconds.
func (r *Report) added(prefix string, added []float64) {
	lost := 0
	for _, v := range added {
		if math.IsInf(v, 1) {
			lost++
		}
	}
	r.figure(prefix+"added_median", median(added), "ms",
		fmt.Sprintf("of %d turns, %d of them without an answer", len(added), lost))
	r.against(prefix+"added_p95", quantile(added, 0.95), "ms", heldLimit95, "the limit")
}

// past fills a box that has as many seats as it holds, and has more callers knock
// while those talk.
func (c *crowd) past(ctx context.Context, r *Report, held int) (err error) {
	c.o.say("%d chats in a box with as many seats, and %d more callers", held, knocks)
	b, err := c.box(ctx, held)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.stop()) }()
	knocking := make(chan knocked, 1)
	go func() {
		if sleep(ctx, beforeSpeaking) != nil {
			knocking <- knocked{}
			return
		}
		knocking <- b.place.knock(ctx)
	}()
	added, err := c.round(ctx, b.place, held)
	k := <-knocking
	if err = errors.Join(err, k.err); err != nil {
		return err
	}
	r.against(c.prefix+"past_refused", float64(k.refused), "", knocks, fmt.Sprintf("callers to a box of %d seats "+
		"that are all taken, with 503 and Retry-After before the upgrade; how many came", held))
	r.figure(c.prefix+"past_refused_after", median(k.took), "ms", "from the connect to the refusal")
	r.figure(c.prefix+"past_retry_after", k.retry, "s", "what Retry-After says")
	r.added(c.prefix+"past_", added)
	return nil
}

// knocked is what came of callers to a full box.
type knocked struct {
	refused int
	took    []float64 // ms
	retry   float64   // s
	err     error
}

// knock has callers come one after another.
func (p place) knock(ctx context.Context) (k knocked) {
	for range knocks {
		begun := time.Now()
		conn, response, err := websocket.Dial(ctx, p.address, &websocket.DialOptions{
			HTTPClient: p.client, HTTPHeader: http.Header{"X-Service-Api-Key": {p.key}},
		})
		switch {
		case err == nil:
			k.err = errors.Join(k.err, conn.CloseNow())
		case response == nil:
			k.err = err
			return k
		case response.StatusCode == http.StatusServiceUnavailable:
			k.refused++
			k.took = append(k.took, milliseconds(time.Since(begun)))
			if k.retry, err = strconv.ParseFloat(response.Header.Get("Retry-After"), 64); err != nil {
				k.err = fmt.Errorf("Retry-After: %w", err)
				return k
			}
		}
		if sleep(ctx, knockEach) != nil {
			return k
		}
	}
	return k
}
