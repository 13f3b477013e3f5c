package speech

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestPipelineProducesOneInAdvance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int32
		count := func(_ context.Context, give func(int) error) error {
			for i := range 5 {
				made.Add(1)
				if err := give(i); err != nil {
					return err
				}
			}
			return nil
		}
		var got []int
		err := pipeline(t.Context(), count, func(i int) error {
			synctest.Wait()
			if n := int(made.Load()); n != min(i+2, 5) {
				t.Errorf("%d are produced when number %d is taken; want the next and no more", n, i)
			}
			got = append(got, i)
			return nil
		})
		if err != nil || len(got) != 5 || got[4] != 4 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestPipelineCancelsTheProducer(t *testing.T) {
	gone := errors.New("gone")
	err := pipeline(t.Context(), func(ctx context.Context, give func(int) error) error {
		if err := give(1); err != nil {
			return err
		}
		<-ctx.Done() // as a long synthesis does
		return context.Cause(ctx)
	}, func(int) error { return gone })
	if !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	wrong := errors.New("wrong")
	if err := pipeline(t.Context(), func(context.Context, func(int) error) error {
		return wrong
	}, func(int) error {
		return nil
	}); !errors.Is(err, wrong) {
		t.Errorf("%v", err)
	}
}

// A panic of a voice ends its request and not the process.
func TestPipelinePassesOnPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the panic was swallowed")
		}
	}()
	_ = pipeline(t.Context(), func(context.Context, func(int) error) error {
		panic("broken")
	}, func(int) error {
		return nil
	})
}
