package version

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

func TestVersionIsSemantic(t *testing.T) {
	if !Valid(String()) {
		t.Errorf("number.txt has %q, which is not MAJOR.MINOR.PATCH", number)
	}
	for _, wrong := range []string{"", "v0.1.0", "0.1", "1", "01.0.0", "0.1.0 "} {
		if Valid(wrong) {
			t.Errorf("%q is not a version", wrong)
		}
	}
}

func TestCompareOrdersVersions(t *testing.T) {
	inOrder := []string{"not a version", "0.1.0-rc.1", "0.1.0", "0.1.1", "0.2.0", "0.10.0", "1.0.0"}
	for i, a := range inOrder {
		for j, b := range inOrder {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := Compare(a, b); got != want {
				t.Errorf("Compare(%q, %q) = %d, not %d", a, b, got, want)
			}
		}
	}
}

// The changelog begins with the version that is being made or was released last.
func TestNewestHeadingOfTheChangelogIsTheVersion(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`(?m)^## (\S+)`).FindSubmatch(text)
	if heading == nil || string(heading[1]) != String() {
		t.Errorf("the newest heading of CHANGELOG.md is %q; it must be %q, the version in number.txt", heading[0],
			"## "+String())
	}
}

func TestTagOfTheCommitIsTheVersion(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "tag", "--points-at", "HEAD", "v*").CombinedOutput()
	if err != nil {
		t.Skipf("git does not read this repository: %s", out)
	}
	for tag := range strings.FieldsSeq(string(out)) {
		if tag != "v"+String() {
			t.Errorf("HEAD has the tag %s, but number.txt says %s", tag, String())
		}
	}
}
