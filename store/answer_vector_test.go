package store

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

const dayMS = 24 * 60 * 60 * 1000

func vectorKeys(t *testing.T, s *Store, keys ...int64) (have []int64) {
	t.Helper()
	must(t, s.AnswerVectors(t.Context(), keys, func(key int64, vector []byte) {
		if want := fmt.Sprint("vector ", key); string(vector) != want {
			t.Errorf("the vector of %d is %q, not %q", key, vector, want)
		}
		have = append(have, key)
	}))
	slices.Sort(have)
	return have
}

func addVectors(t *testing.T, s *Store, usedMS int64, keys ...int64) {
	t.Helper()
	all := map[int64][]byte{}
	for _, k := range keys {
		all[k] = fmt.Append(nil, "vector ", k)
	}
	must(t, s.AddAnswerVectors(t.Context(), all, usedMS))
}

func TestVectorsOfAnswersAreFoundByTheirKeys(t *testing.T) {
	s := openStore(t, t.TempDir())
	addVectors(t, s, 0, 1, -7, 1<<62)
	addVectors(t, s, 0, 1) // again
	if have := vectorKeys(t, s, 1, 2, -7, 1<<62); !slices.Equal(have, []int64{-7, 1, 1 << 62}) {
		t.Errorf("found %v", have)
	}
	if have := vectorKeys(t, s); have != nil {
		t.Errorf("without keys: found %v", have)
	}
}

func TestVectorsOfAnswersThatNoConfigUsesAreDeleted(t *testing.T) {
	s := openStore(t, t.TempDir())
	addVectors(t, s, 1*dayMS, 1, 2)
	addVectors(t, s, 5*dayMS, 3)
	must(t, s.UseAnswerVectors(t.Context(), []int64{2, 99}, 6*dayMS))
	must(t, s.ExpireAnswerVectors(t.Context(), 4*dayMS, 10))
	if have := vectorKeys(t, s, 1, 2, 3); !slices.Equal(have, []int64{2, 3}) {
		t.Errorf("left are %v, want 2 and 3", have)
	}
}

func TestTheLongestUnusedVectorsOfTooManyAreDeleted(t *testing.T) {
	s := openStore(t, t.TempDir())
	var keys []int64
	for k := range int64(3 * vectorsAtOnce) {
		keys = append(keys, k)
	}
	addVectors(t, s, 5*dayMS, keys...)
	addVectors(t, s, 9*dayMS, 7)
	must(t, s.ExpireAnswerVectors(t.Context(), 4*dayMS, 2))
	if have := vectorKeys(t, s, keys...); len(have) != 2 || !slices.Contains(have, 7) {
		t.Errorf("left are %v, want 7 and another one", have)
	}
}

func TestAllVectorsOfTheLargestConfigAreReadAtOnce(t *testing.T) {
	s := openStore(t, t.TempDir())
	vector := make([]byte, 388)
	keys := make([]int64, 25_000)
	all := map[int64][]byte{}
	for i := range keys {
		keys[i] = int64(i) * 7919 << 32 // spread, as hashes are
		all[keys[i]] = vector
	}
	must(t, s.AddAnswerVectors(t.Context(), all, 0))
	begun, n := time.Now(), 0
	must(t, s.AnswerVectors(t.Context(), keys, func(int64, []byte) { n++ }))
	t.Logf("read %d vectors in %v", n, time.Since(begun))
	if n != len(keys) {
		t.Errorf("read %d of %d vectors", n, len(keys))
	}
}
