package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/appliance/api"
	"parley/store"
)

const (
	// apiCallers is the number of parallel clients: enough to keep every core of a small
	// machine busy, like a console and a few clients.
	apiCallers = 8
	// apiSlice is the length of one measurement. Ours and the yardstick's alternate, so
	// that other load affects both.
	apiSlice = 300 * time.Millisecond
	// maxAPIRounds bounds the pairs, which take 0.6 s each for every row.
	maxAPIRounds = 7
	// readLimit95 is the limit for the 95th percentile of reads during writes, in
	// milliseconds.
	readLimit95 = 5
	// boxHeap is the Go heap of a box besides its records, in bytes: 12 to 20 MiB with
	// the small models. The collector runs when the heap has doubled, so without it the
	// collector would run far more often than in service.
	boxHeap = 12 << 20
	// loadDuration is how long the reads during writes are measured.
	loadDuration = 5 * time.Second
)

// API measures the REST API: the real handlers and the real store over HTTP, compared
// with the same SQL statements on SQLite directly.
func API(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	return measureAPI(ctx, o, apiSlice, loadDuration)
}

func measureAPI(ctx context.Context, o Options, slice, loadFor time.Duration) (r Report, err error) {
	r = Report{Bench: "api", Machine: describe(o.Config)}
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return r, fmt.Errorf("a data folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := startAPI(ctx, dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	heap := make([]byte, boxHeap)
	defer runtime.KeepAlive(heap)
	o.announce("filling a database")
	if err := s.fill(ctx); err != nil {
		return r, err
	}
	rounds := min(o.Rounds, maxAPIRounds)
	compare := func(rows []apiRow) error {
		for _, row := range rows {
			o.announce("%s, %d times, compared with the same SQL", row.name, rounds)
			if err := s.compare(ctx, &r, row, slice, rounds); err != nil {
				return err
			}
		}
		return nil
	}
	if err := compare(s.reads()); err != nil {
		return r, err
	}
	o.announce("reads while others write, for %v", loadFor)
	if err := s.underLoad(ctx, &r, loadFor); err != nil {
		return r, err
	}
	return r, compare(s.writes()) // last: the database grows by thousands of rows
}

// apiServer is the API with a store of its own, and the contents of that.
type apiServer struct {
	records *store.Store
	plain   *plainSQL
	dir     string
	key     string
	account string
	address string
	stop    func() error

	prompt, tool, config store.Version // some of many
	resolved             []store.Ref   // what the config uses
	chat                 string
}

func startAPI(ctx context.Context, dir string) (*apiServer, error) {
	// Log lines are formatted, as in service, and discarded.
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	records, err := store.Open(ctx, dir, log)
	if err != nil {
		return nil, err
	}
	s := &apiServer{records: records, dir: dir}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, records.Close())
	}
	server := api.NewServer(api.New(api.Parts{Keys: records, Records: records, Log: log}), log)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	s.address = listener.Addr().String()
	s.stop = sync.OnceValue(func() error {
		err := server.Close()
		<-served // the error says that it was closed
		if s.plain != nil {
			err = errors.Join(err, s.plain.Close())
		}
		return errors.Join(err, records.Close())
	})
	return s, nil
}

// apiRow is a kind of call.
type apiRow struct {
	name, note string
	request    func() (method, path, body string)
	plain      func(ctx context.Context) error // the same in SQL
}

// compare measures a row in pairs.
func (s *apiServer) compare(ctx context.Context, r *Report, row apiRow, slice time.Duration, rounds int) error {
	var ours, straights, ratios []float64
	for range rounds {
		over, _, err := s.rate(ctx, slice, row, s.calls)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		straight, _, err := s.rate(ctx, slice, row,
			func(row apiRow) (func(context.Context) error, func() error, error) {
				return row.plain, func() error { return nil }, nil
			})
		if err != nil {
			return fmt.Errorf("%s, straight: %w", row.name, err)
		}
		ours, straights, ratios = append(ours, over), append(straights, straight), append(ratios, over/straight)
	}
	r.paired(row.name, median(ours), "1/s", median(straights), median(ratios), row.note)
	return nil
}

// callsOf makes the calls of one client.
type callsOf func(row apiRow) (call func(context.Context) error, close func() error, err error)

// calls makes calls over HTTP.
func (s *apiServer) calls(row apiRow) (func(context.Context) error, func() error, error) {
	c, err := dialAPI(s.address, s.key)
	if err != nil {
		return nil, nil, err
	}
	return func(context.Context) error { return c.ask(row.request()) }, c.Close, nil
}

// rate returns how many calls per second all clients make together, and how long each
// call took.
func (s *apiServer) rate(ctx context.Context, d time.Duration, row apiRow, by callsOf) (perSecond float64,
	took []time.Duration, err error) {
	runtime.GC() // leave no garbage of earlier measurements
	var mu sync.Mutex
	var all errgroup.Group
	begun := time.Now()
	for range apiCallers {
		all.Go(func() error {
			call, done, err := by(row)
			if err != nil {
				return err
			}
			var mine []time.Duration
			for last := begun; last.Sub(begun) < d && err == nil && ctx.Err() == nil; {
				err = call(ctx)
				now := time.Now()
				mine, last = append(mine, now.Sub(last)), now
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
			return errors.Join(err, done())
		})
	}
	if err := errors.Join(all.Wait(), context.Cause(ctx)); err != nil {
		return 0, nil, err
	}
	return float64(len(took)) / time.Since(begun).Seconds(), took, nil
}

// underLoad times each kind of read while one client writes without a pause.
func (s *apiServer) underLoad(ctx context.Context, r *Report, loadFor time.Duration) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wrote := make(chan error, 1)
	reads, writes := s.reads(), s.writes()
	call, done, err := s.calls(writes[len(writes)-1])
	if err != nil {
		return err
	}
	go func() {
		var err error
		for ctx.Err() == nil && err == nil {
			err = call(ctx)
		}
		wrote <- errors.Join(err, done())
	}()
	var all []time.Duration
	for _, row := range reads {
		_, took, err := s.rate(ctx, loadFor/time.Duration(len(reads)), row, s.calls)
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", row.name, err), func() error { stop(); return <-wrote }())
		}
		r.against(row.name+"_p95", quantile(took, 0.95)/float64(time.Millisecond), "ms", readLimit95,
			fmt.Sprintf("%d clients read, one writes; the limit", apiCallers))
		all = append(all, took...)
	}
	stop()
	r.against("read_p95", quantile(all, 0.95)/float64(time.Millisecond), "ms", readLimit95,
		"all kinds of reads together; the limit")
	return <-wrote
}
