package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// skipping matches calls and script commands that may skip, and the functions around the calls.
var skipping = regexp.MustCompile(`(?m)^func (\w+)|\bt\.Skipf?\(|\bb\.Skipf?\(|^\[.*\] skip`)

// skips returns the functions and scripts of this module that may skip a test.
func skips(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if ending := filepath.Ext(path); err != nil || ending != ".go" && ending != ".txtar" {
			return err
		}
		text, err := os.ReadFile(path)
		name := filepath.Base(path)
		for _, found := range skipping.FindAllStringSubmatch(string(text), -1) {
			if found[1] != "" {
				name = found[1]
			} else {
				names = append(names, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// mayskip maps the tests, helpers and scripts that may skip to the condition. .ci/run runs them all
// on Linux, as root, with the Go of go.mod: first with the race detector and -short, at its end
// without both. An entry says so if another environment must run it.
var mayskip = map[string]string{
	"mustLink TestCreateFollowsLinks TestEmptyPartialIsTaken TestExpandFollowsNamedLinks TestExpandPassesOver samefile.txtar": "no links can be made",
	"terminal.txtar": "neither Linux nor macOS: no terminal can be made",
	"TestPartialReplaced TestPartialInTheWay":                                                  "an open file cannot be renamed (Windows)",
	"TestPagesChangedUnderATable TestReplaceKeepsPermissions TestTakeIsOfTheName TestTutorial": "Windows",
	"TestFreeze":      "the second run of the tests of docmap, with a short mapping",
	"TestFrozenPages": "the second run of the tests of docmap, with a short mapping",
	"changed.txtar diskfull.txtar rewritten.txtar": "not a Unix",
	"TestLongLineOutsideHeap TestSyncDirFails":     "not Linux",
	"TestFullDevice failures.txtar":                "no /dev/full",
	"TestReadOnlyMount TestRemoveLeftReadOnly":     "not root, who alone can mount",
	"TestLibrariesAreSilent":                       "not root, or no unshare: /sys/fs/cgroup cannot be masked",
	"TestExpandUnreadable":                         "root on another system than Linux; there a thread gives up its rights",
	"traced watched":                               "no strace, or it may not trace; .ci/run gets it, or says aloud that it could not",
	"program":                                      "no chromium; .ci/run gets it, or says aloud that it could not",
	"TestPromtool":                                 "no promtool; .ci/run gets it, or says aloud that it could not",
	"before":                                       "no git, or a checkout without the commit before",
	"modulePackages testData":                      "no go command",
	"NeedUnicode":                                  "a toolchain with another Unicode than the rules, 15.0.0: then run with GOTOOLCHAIN set to one that has it",
	"needCopy":                                     "a processor without AVX2, or AVX-512 VBMI2; the plain loops are tested everywhere",
	"TestFeaturesAreCanonical":                     "single texts drawn that are wider than a piece",
	"install":                                      "no Python of 3.10 or later with venv and pip; Windows",
	"here":                                         "a platform without a wheel",
	"TestAheadRatio TestAllByIDAfterForgetting TestArchives TestBadStoresAreFound TestBufferGrows TestCheckFindsEveryFlip TestCheckOfACopy TestDifferences TestFullDiskFailsTheCheckpointAlone TestHashUnitTellsApart TestHostilePages TestInstalledWheel TestKills TestLinear TestLongTextsEqualOracle TestManyInputs TestPagesAreCheckedBeforeUse TestRepetitionIsCheap TestReportPageForEveryone TestStackIsAStore TestStandbyBeforeAGap TestStandbyBeginsAgain TestStandbyGivesUpSilence TestStandbySurvives TestStandbyTakesOver TestTablesAreGenerated TestTenMillionInSmall TestWeight TestWindowLeavesFewPagesFree TestWorker takesSeconds trial abandon.txtar archives.txtar before.txtar bulk.txtar check.txtar cluster.txtar containers.txtar explain.txtar filteronly.txtar methods.txtar mistakes.txtar outdir.txtar parquet.txtar passages.txtar prefer.txtar remedies.txtar resume.txtar usage.txtar windows.txtar": "-short: run by the last step of .ci/run",
}

// TestSkipsAreListed checks that mayskip names each test that may skip, so that something runs it.
func TestSkipsAreListed(t *testing.T) {
	var listed []string
	for names := range mayskip {
		listed = append(listed, strings.Fields(names)...)
	}
	slices.Sort(listed)
	if found := skips(t); !slices.Equal(found, listed) {
		t.Errorf("these may skip:\n%q\nand these are listed:\n%q", found, listed)
	}
}
