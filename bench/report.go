// Package bench measures a box: how well and how fast it transcribes, speaks, answers,
// and serves its API, compared with what the same machine achieves without the box. A
// benchmark never fails because of a time; it reports.
package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
	"time"
)

// Report is the result of a benchmark.
type Report struct {
	Bench   string   `json:"bench"` // talk, chats, stt, tts, llm, answers …
	Machine Machine  `json:"machine"`
	Figures []Figure `json:"figures"`
	Turns   []Turn   `json:"turns,omitempty"`   // of talk
	Answers []Answer `json:"answers,omitempty"` // of answers
}

// Figure is a measured number.
type Figure struct {
	Name  string `json:"name"`
	Value Number `json:"value"`
	Unit  string `json:"unit"`
	// Yardstick is what Value is compared with, in the same unit, or nil.
	Yardstick *Number `json:"yardstick"`
	// Ratio is Value divided by Yardstick. If both were measured in pairs, it is the
	// median of the ratios of the pairs.
	Ratio *Number `json:"ratio"`
	// Note says what the yardstick is, or how the value was measured.
	Note string `json:"note,omitempty"`
}

// Number is the number of a figure. In JSON it has four significant digits, and is null
// if nothing could be measured.
type Number float64

// MarshalJSON writes the number.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.missing() {
		return []byte("null"), nil
	}
	return json.Marshal(n.rounded())
}

func (n Number) missing() bool { return math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) }

// rounded returns four significant digits, the precision of these measurements.
func (n Number) rounded() float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(float64(n), 'g', 4, 64), 64)
	if err != nil {
		return float64(n)
	}
	return v
}

func (n Number) String() string {
	if n.missing() {
		return "-"
	}
	return strconv.FormatFloat(n.rounded(), 'f', -1, 64)
}

// figure adds a number without a yardstick.
func (r *Report) figure(name string, value float64, unit, note string) {
	r.Figures = append(r.Figures, Figure{
		Name:  name,
		Value: Number(value),
		Unit:  unit,
		Note:  note,
	})
}

// against adds a number with a yardstick.
func (r *Report) against(name string, value float64, unit string, yardstick float64, note string) {
	r.paired(name, value, unit, yardstick, value/yardstick, note)
}

// paired adds a number whose ratio to its yardstick was measured in pairs.
func (r *Report) paired(name string, value float64, unit string, yardstick, ratio float64, note string) {
	r.Figures = append(r.Figures, Figure{name, Number(value), unit, new(Number(yardstick)), new(Number(ratio)), note})
}

// WriteTable writes the report as a table.
func (r Report) WriteTable(w io.Writer) error {
	m := r.Machine
	fmt.Fprintf(w, "%s on %d × %s, %s GiB, Linux %s, load %s before; parley %s, profile %s\n\n",
		r.Bench, m.Cores, m.CPU, m.MemoryGiB, m.Kernel, m.Load[0], m.Version, m.Profile)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "FIGURE\tVALUE\tUNIT\tYARDSTICK\tRATIO\t  \t")
	for _, f := range r.Figures {
		yardstick, ratio := "", ""
		if f.Yardstick != nil {
			yardstick, ratio = f.Yardstick.String(), "-"
			if !f.Ratio.missing() {
				ratio = strconv.FormatFloat(float64(*f.Ratio), 'f', 2, 64)
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t  \t%s\n", f.Name, f.Value, f.Unit, yardstick, ratio, f.Note)
	}
	return t.Flush()
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
