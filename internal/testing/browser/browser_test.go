package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sound = `<!DOCTYPE html><html lang="en"><title>page</title><meta name="color-scheme" content="light dark">
<label>Name <input id="name"></label><button onclick="document.title = 'clicked'">Press</button>`

// TestPage checks that the browser clicks, types and evaluates, and that a sound page has no faults.
func TestPage(t *testing.T) {
	t.Parallel()
	p := Open(t, write(t, sound))
	p.Click("button")
	p.Wait("document.title == 'clicked'")
	p.Click("#name")
	p.Type("Ada")
	var name string
	p.Eval("document.querySelector('#name').value", &name)
	if name != "Ada" {
		t.Errorf("%q was typed", name)
	}
	for _, dark := range []bool{false, true} {
		p.Dark(dark)
		p.Size(360, 640)
		if faults := p.Axe(); len(faults) > 0 {
			t.Errorf("dark %v: %q", dark, faults)
		}
	}
	if requests := p.Requests(); len(requests) != 1 || len(p.Errors()) > 0 {
		t.Errorf("%q, %q", requests, p.Errors())
	}
	shot := filepath.Join(t.TempDir(), "page.png")
	p.Screenshot(shot)
	if info, err := os.Stat(shot); err != nil || info.Size() < 500 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestFaults checks that each fault of a page is found.
func TestFaults(t *testing.T) {
	t.Parallel()
	p := Open(t, write(t, `<!DOCTYPE html><html><title>page</title><body style="width: 900px"><p style="color: #999">pale</p>
<p style="opacity: .3">faint</p><input id="bare"><a href="#top"></a><span role="button">no focus</span>
<script>console.error("told"); fetch("http://elsewhere.invalid/").catch(() => 0); setTimeout(() => { throw Error("thrown") })</script>`))
	p.Size(360, 640)
	faults := strings.Join(p.Axe(), "\n")
	for _, want := range []string{"contrast 2.85", ": faint", "no label: input", "no language", "the page is 9", "Tab does not reach span"} {
		if !strings.Contains(faults, want) {
			t.Errorf("%q is not found in:\n%s", want, faults)
		}
	}
	errors := strings.Join(p.Errors(), "\n")
	if !strings.Contains(errors, "told") || !strings.Contains(errors, "thrown") {
		t.Errorf("%s", errors)
	}
	if requests := strings.Join(p.Requests(), " "); !strings.Contains(requests, "http://elsewhere.invalid/") {
		t.Errorf("%s", requests)
	}
}

// write writes a page and returns its URL.
func write(t *testing.T, page string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	return FileURL(path)
}
