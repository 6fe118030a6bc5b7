package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// here returns the platform that the test runs on.
func here(t *testing.T) platform {
	t.Helper()
	i := slices.IndexFunc(platforms, func(p platform) bool { return p.os == runtime.GOOS && p.arch == runtime.GOARCH })
	if i < 0 {
		t.Skipf("there is no wheel for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	return platforms[i]
}

// contents returns the files of a wheel by name, and checks their modes and times.
func contents(t *testing.T, wheel []byte) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		if program := strings.Contains(f.Name, "/scripts/"); program != (f.Mode().Perm() == 0o755) || !f.Modified.Equal(epoch) {
			t.Errorf("%s has mode %v and time %v", f.Name, f.Mode(), f.Modified)
		}
	}
	return files
}

// TestAssemble packs the test binary, which has build information as the real program does.
func TestAssemble(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	for _, p := range platforms {
		wheel, err := p.assemble("1.2.3", program)
		if err != nil {
			t.Fatal(err)
		}
		files := contents(t, wheel)
		script := "firstseen-1.2.3.data/scripts/firstseen"
		if p.os == "windows" {
			script += ".exe"
		}
		for _, name := range []string{script, "firstseen/__init__.py", "firstseen/__main__.py", "firstseen/adapters.py", "firstseen/py.typed", "firstseen-1.2.3.dist-info/licenses/LICENSE"} {
			if _, there := files[name]; !there {
				t.Errorf("the wheel of %s/%s has no %s", p.os, p.arch, name)
			}
		}
		if info := string(files["firstseen-1.2.3.dist-info/WHEEL"]); strings.Count(info, "Tag: ") != strings.Count(p.tag, ".")+1 {
			t.Errorf("WHEEL has other tags than %s:\n%s", p.tag, info)
		}
		if text := files["firstseen-1.2.3.dist-info/METADATA"]; !bytes.Contains(text, []byte("\nVersion: 1.2.3\n")) || !bytes.Contains(text, []byte("\n\n# firstseen\n")) {
			t.Errorf("METADATA lacks the version or the README:\n%.500s", text)
		}
		checkLinks(t, string(files["firstseen-1.2.3.dist-info/METADATA"]))
		checkRecord(t, files)
	}
}

// checkLinks checks that the links of a description are absolute, and lead to files of the repository.
func checkLinks(t *testing.T, description string) {
	t.Helper()
	links := strings.Split(description, "](")[1:]
	for _, link := range links {
		target, _, _ := strings.Cut(link, ")")
		name, absolute := strings.CutPrefix(target, "https://github.com/firstseen/firstseen/blob/HEAD/")
		name, _, _ = strings.Cut(name, "#")
		if _, err := os.Stat(name); !absolute || err != nil {
			t.Errorf("the description has the link %s: %v", target, err)
		}
	}
	if len(links) < 10 {
		t.Errorf("the description has %d links", len(links))
	}
}

// checkRecord compares RECORD with all files of a wheel.
func checkRecord(t *testing.T, files map[string][]byte) {
	t.Helper()
	const record = "firstseen-1.2.3.dist-info/RECORD"
	rows, err := csv.NewReader(bytes.NewReader(files[record])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(files) {
		t.Errorf("RECORD has %d files, the wheel %d", len(rows), len(files))
	}
	for _, row := range rows {
		sum := sha256.Sum256(files[row[0]])
		want := "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:])
		if row[1] != want && !(row[0] == record && row[1] == "") {
			t.Errorf("RECORD has %q for %s, want %s", row[1], row[0], want)
		}
	}
}

func TestVersionIsRefused(t *testing.T) {
	for _, version := range []string{"", "v1.0", "../x", "1.0-5"} {
		if _, err := platforms[0].wheel(version, t.TempDir(), ""); err == nil {
			t.Errorf("version %q makes a wheel", version)
		}
	}
}

// TestInstalledWheel builds the wheel of this platform twice, installs it offline into an empty
// environment and runs the tests of the module there.
func TestInstalledWheel(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	p := here(t)
	t.Chdir("../..")
	dist, again := t.TempDir(), t.TempDir()
	path, err := p.wheel("1.2.3", dist, "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.wheel("1.2.3", again, "")
	if err != nil {
		t.Fatal(err)
	}
	wheel, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if twice, err := os.ReadFile(second); err != nil || !bytes.Equal(wheel, twice) {
		t.Errorf("the second wheel has other bytes (%v)", err)
	}
	var sbom struct{ Components []component }
	if err := json.Unmarshal(contents(t, wheel)["firstseen-1.2.3.dist-info/sboms/firstseen.cdx.json"], &sbom); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(sbom.Components, func(c component) bool { return c.Name == "go.etcd.io/bbolt" && c.Version != "" }) {
		t.Errorf("the bill of materials has no bbolt: %v", sbom.Components)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o444 == 0 {
		t.Errorf("the wheel cannot be read: %v %v", info, err)
	}
	install(t, path)
}

// install installs a wheel into an empty environment and runs the tests of the module there.
func install(t *testing.T, wheel string) {
	t.Helper()
	if err := exec.Command("python3", "-c", "import sys, venv, ensurepip; assert sys.version_info >= (3, 10)").Run(); err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no Python of 3.10 or later with venv and pip, or its tests, which send signals, cannot run")
	}
	venv := t.TempDir()
	bin := filepath.Join(venv, "bin")
	python := filepath.Join(bin, "python")
	tests, err := filepath.Abs("packaging/python/tests")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"python3", "-m", "venv", venv},
		{python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel},
		{filepath.Join(bin, "firstseen"), "--version"},
		{python, "-m", "firstseen", "--version"},
		{python, "-B", "-m", "unittest", "discover", "-s", tests},
	} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = venv // the checkout has a folder firstseen, which must not be imported
		cmd.Env = append(os.Environ(), "FIRSTSEEN_BINARY=", "PYTHONPATH=")
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", command, err, text)
		}
		if command[len(command)-1] == "--version" && !strings.HasPrefix(string(text), "firstseen 1.2.3 ") {
			t.Errorf("%q prints %s", command, text)
		}
	}
}
