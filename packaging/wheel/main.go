// Command wheel builds the wheels of the Python module firstseen, one for each platform, with the
// program inside. The same commit and version give the same bytes.
//
//	go run ./packaging/wheel -version 0.3.0 -out dist/
//
// A wheel is a zip of the module and a folder with metadata and a RECORD of all hashes. The format
// follows the Python packaging specifications, and the place of the SBOM follows PEP 770.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// platform is a Go target and its wheel tag. Without cgo, one wheel serves glibc and musl.
type platform struct{ os, arch, tag string }

var platforms = []platform{
	{"linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win_amd64"},
}

// epoch is the time of every file: the earliest that a zip can store.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func main() {
	version := flag.String("version", "", "version, such as 0.3.0")
	out := flag.String("out", "dist", "folder of the wheels")
	programs := flag.String("programs", "", "keep the programs in this folder too, as linux-amd64/firstseen")
	flag.Parse()
	for _, p := range platforms {
		path, err := p.wheel(*version, *out, *programs)
		if err != nil {
			fmt.Fprintln(os.Stderr, "wheel:", err)
			os.Exit(1)
		}
		fmt.Println(path)
	}
}

// wheel builds the wheel of a platform in the folder out. It keeps the program in the folder
// programs, if given. It runs at the root of the repository.
func (p platform) wheel(version, out, programs string) (path string, err error) {
	if version == "" || strings.Trim(version, "0123456789.abrcdevpost") != "" {
		return "", fmt.Errorf("-version %q is not a Python version: give one such as 0.3.0 or 0.3.0rc1", version)
	}
	if programs == "" {
		if programs, err = os.MkdirTemp("", "wheel"); err != nil {
			return "", err
		}
		defer os.RemoveAll(programs)
	}
	program, err := p.build(version, filepath.Join(programs, p.os+"-"+p.arch, p.program()))
	if err != nil {
		return "", err
	}
	data, err := p.assemble(version, program)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return "", err
	}
	path = filepath.Join(out, "firstseen-"+version+"-py3-none-"+p.tag+".whl")
	if err := os.WriteFile(path+".partial", data, 0o666); err != nil {
		return "", err
	}
	return path, os.Rename(path+".partial", path)
}

// program returns the name of the program on the platform.
func (p platform) program() string {
	if p.os == "windows" {
		return "firstseen.exe"
	}
	return "firstseen"
}

// build compiles the program to path and returns it. It omits the state of the checkout.
func (p platform) build(version, path string) ([]byte, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path,
		"-ldflags=-s -w -X github.com/firstseen/firstseen/internal/cli.version="+version, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOAMD64=v1", "GOFLAGS=", "GOOS="+p.os, "GOARCH="+p.arch)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build for %s/%s: %w\n%s", p.os, p.arch, err, text)
	}
	return os.ReadFile(path)
}

// assemble returns the wheel of a program.
func (p platform) assemble(version string, program []byte) ([]byte, error) {
	info := "firstseen-" + version + ".dist-info/"
	readme, license := info+"METADATA", info+"licenses/LICENSE"
	sources := map[string]string{readme: "README.md", license: "LICENSE"}
	for _, pattern := range []string{"*.py", "py.typed"} {
		paths, err := filepath.Glob("packaging/python/firstseen/" + pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			sources["firstseen/"+filepath.Base(path)] = path
		}
	}
	sbom, err := bill(version, bytes.NewReader(program))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{
		"firstseen-" + version + ".data/scripts/" + p.program(): program,
		info + "WHEEL":                    []byte("Wheel-Version: 1.0\nGenerator: firstseen\nRoot-Is-Purelib: false\n" + p.tags()),
		info + "sboms/firstseen.cdx.json": sbom,
	}
	for name, path := range sources {
		if files[name], err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	files[readme] = append(fmt.Appendf(nil, metadata, version), relative.ReplaceAll(files[readme], []byte("](https://github.com/firstseen/firstseen/blob/HEAD/$1)"))...)
	return pack(files, info+"RECORD")
}

// relative matches a link of the README to a file of the repository, which an index of packages
// does not have.
var relative = regexp.MustCompile(`\]\(([^:#)][^:)]*)\)`)

const metadata = `Metadata-Version: 2.4
Name: firstseen
Version: %s
Summary: Finds the texts of a stream that were seen before, and names the earlier document of each
License-Expression: Apache-2.0
License-File: LICENSE
Project-URL: Source, https://github.com/firstseen/firstseen
Keywords: deduplication,near-duplicates,corpus,crawling,training data
Requires-Python: >=3.10
Description-Content-Type: text/markdown

`

func (p platform) tags() string {
	tag := "Tag: py3-none-"
	return tag + strings.ReplaceAll(p.tag, ".", "\n"+tag) + "\n"
}

// pack returns a zip of files, with the hashes in a last file named record.
func pack(files map[string][]byte, record string) ([]byte, error) {
	var b, list bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string, data []byte) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: epoch}
		h.SetMode(0o644)
		if strings.Contains(name, ".data/scripts/") {
			h.SetMode(0o755)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[name])
		fmt.Fprintf(&list, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[name]))
		if err := add(name, files[name]); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(&list, "%s,,\n", record)
	if err := add(record, list.Bytes()); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

// component is a CycloneDX component: a module or the program.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
}

// bill returns a bill of materials in CycloneDX 1.5: the modules and the Go version of a program.
// It has no time and no serial number, so it is reproducible.
func bill(version string, program io.ReaderAt) ([]byte, error) {
	info, err := buildinfo.Read(program)
	if err != nil {
		return nil, fmt.Errorf("bill of materials: %w", err)
	}
	modules := []component{{"library", "std", info.GoVersion, "pkg:golang/std@" + info.GoVersion[len("go"):]}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, component{"library", m.Path, m.Version, "pkg:golang/" + m.Path + "@" + m.Version})
	}
	return json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":   map[string]any{"component": component{"application", "firstseen", version, "pkg:pypi/firstseen@" + version}},
		"components": modules,
	}, "", "  ")
}
