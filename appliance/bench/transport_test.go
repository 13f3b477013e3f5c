package bench

import "testing"

func TestTX(t *testing.T) {
	var r Report
	if err := r.transport(t.Context(), Options{Progress: func(s string) { t.Log(s) }}); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Figures {
		t.Log(f.Name, f.Value, f.Yardstick, f.Ratio)
	}
}
