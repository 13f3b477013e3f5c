package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parley/appliance/contract"
)

// maxMends bounds the changes to one record.
const maxMends = 100

// mended parses a body as the interface does, and changes what the interface refuses: a
// value out of range becomes the nearest that is allowed, a text that is too long is cut,
// and any other field is left out, so that its default applies. note is called for each
// change, and for each field that the box does not know.
func mended[T contract.Readable[T]](body map[string]any, note func(why string)) (v T, err error) {
	for range maxMends {
		data, err := json.Marshal(body)
		if err != nil {
			return v, err
		}
		if v, err = contract.Parse[T](data); err == nil {
			for _, field := range unknownFields(body, v) {
				note(field + ": the box does not know this field; it is left out")
			}
			return v, nil
		}
		at, why := firstProblem(err)
		done, ok := mendField(body, at, why)
		if !ok {
			return v, err
		}
		note(at + ": " + why + "; " + done)
	}
	return v, errors.New("too much of it is not allowed")
}

// nextProblem begins a further problem in the text of a contract.ErrInvalid.
var nextProblem = regexp.MustCompile(`; [a-z_]+[a-z_.\[\]0-9]*: `)

// firstProblem returns the path of a field that is not allowed, and why.
func firstProblem(err error) (path, why string) {
	if invalid, is := errors.AsType[contract.ErrInvalid](err); is {
		why = invalid.Why
		for _, at := range nextProblem.FindAllStringIndex(why, -1) {
			if why[at[0]:at[1]] != "; allowed: " { // it belongs to the first
				why = why[:at[0]]
				break
			}
		}
		return invalid.Field, why
	}
	malformed, is := errors.AsType[contract.ErrMalformed](err)
	if !is || len(malformed.Detail) == 0 {
		return "", err.Error()
	}
	p := malformed.Detail[0]
	p.Loc = p.Loc[min(1, len(p.Loc)):] // it begins with "body"
	path, _, _ = strings.Cut(p.String(), ": ")
	return path, p.Msg
}

// mendField changes the field at a path, and says how.
func mendField(body map[string]any, path, why string) (done string, ok bool) {
	steps := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
	if len(steps) == 0 || path == "body" {
		return "", false
	}
	var holder any = body
	for _, s := range steps[:len(steps)-1] {
		holder = child(holder, s)
	}
	last := steps[len(steps)-1]
	value := child(holder, last)
	switch {
	case value == nil && len(steps) == 1 && path == "voice": // a config of evi_version 3 needs one
		body["evi_version"] = string(contract.EVI4Mini)
		return "evi_version is 4-mini, which speaks with the voice of the box", true
	case value == nil && len(steps) == 1 && path == "evi_version":
		body["evi_version"] = string(contract.EVI4Mini)
		return "it is 4-mini", true
	case value == nil: // a required field is missing
		if len(steps) == 1 {
			return "", false
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
		_, ok = mendField(body, path, "")
		if _, still := holder.(map[string]any); !still {
			return "", false
		}
		return path + " is left out", ok || remove(body, steps[:len(steps)-1])
	}
	if near, is := nearest(value, why); is {
		return fmt.Sprintf("it is %v", short(near)), set(holder, last, near)
	}
	return "it is left out", remove(body, steps)
}

func short(v any) any {
	if s, is := v.(string); is {
		return strconv.Quote(contract.Clip(s))
	}
	return v
}

// child returns a field of an object or an entry of a list, or nil.
func child(holder any, step string) any {
	switch holder := holder.(type) {
	case map[string]any:
		return holder[step]
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i < len(holder) {
			return holder[i]
		}
	}
	return nil
}

func set(holder any, step string, v any) bool {
	switch holder := holder.(type) {
	case map[string]any:
		holder[step] = v
		return true
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i < len(holder) {
			holder[i] = v
			return true
		}
	}
	return false
}

// remove removes what is at a path. An entry of a list becomes null, which counts as
// absent, so that the others keep their places.
func remove(body map[string]any, steps []string) bool {
	var holder any = body
	for _, s := range steps[:len(steps)-1] {
		holder = child(holder, s)
	}
	last := steps[len(steps)-1]
	if child(holder, last) == nil {
		return false
	}
	if fields, is := holder.(map[string]any); is {
		delete(fields, last)
		return true
	}
	return set(holder, last, nil)
}

var (
	tooLong    = regexp.MustCompile(`characters; at most (\d+) are allowed`)
	outOfRange = regexp.MustCompile(`out of range; allowed: (\S+) to (\S+)`)
)

// nearest returns the value nearest to one that is refused, if the reason tells it.
func nearest(value any, why string) (any, bool) {
	switch v := value.(type) {
	case string:
		if m := tooLong.FindStringSubmatch(why); m != nil {
			most, _ := strconv.Atoi(m[1]) // digits
			return strings.TrimSpace(string([]rune(v)[:most])), true
		}
		if strings.Contains(why, "cannot be printed") || strings.Contains(why, "control character") {
			return strings.TrimSpace(printable(v)), printable(v) != v
		}
	case float64:
		if m := outOfRange.FindStringSubmatch(why); m != nil {
			low, _ := strconv.ParseFloat(m[1], 64) // the contract writes numbers
			high, _ := strconv.ParseFloat(m[2], 64)
			return math.Max(low, math.Min(v, high)), true
		}
	}
	return nil, false
}

// unknownFields returns the paths of fields of a body that have a value and are not in
// what was parsed of it.
func unknownFields(body map[string]any, parsed any) (paths []string) {
	data, err := json.Marshal(parsed)
	if err != nil {
		return nil
	}
	var known map[string]any
	if json.Unmarshal(data, &known) != nil {
		return nil
	}
	lost(body, known, "", &paths)
	return paths
}

// lost adds the paths of values in one JSON value that another one does not have.
func lost(of, in any, path string, paths *[]string) {
	switch of := of.(type) {
	case map[string]any:
		into, _ := in.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(of)) {
			if !isEmpty(of[name]) {
				lost(of[name], into[name], strings.TrimPrefix(path+"."+name, "."), paths)
			}
		}
	case []any:
		into, _ := in.([]any)
		of = slices.DeleteFunc(slices.Clone(of), func(v any) bool { return v == nil })
		for i, v := range of {
			if i < len(into) {
				lost(v, into[i], fmt.Sprintf("%s[%d]", path, i), paths)
			}
		}
		if len(into) < len(of) && len(into) == 0 {
			*paths = append(*paths, path)
		}
	default:
		if in == nil {
			*paths = append(*paths, path)
		}
	}
}

// isEmpty reports whether a value is one that bodies may leave out.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case float64:
		return v == 0
	case map[string]any:
		for _, in := range v {
			if !isEmpty(in) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return false
}
