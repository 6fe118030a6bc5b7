// Package browser tests the pages of reports and of the server in a headless Chromium. Commands of
// the devtools protocol go through pipes, as JSON that ends with a NUL, so no port is open and no
// library is needed.
package browser

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is the longest wait for an answer or a condition. Only a failing test waits so long.
const patience = 2 * time.Minute

// Page is a page in a browser of its own. Its methods fail the test if the browser fails.
type Page struct {
	t       testing.TB
	process *exec.Cmd
	to      *os.File
	session string

	mu       sync.Mutex
	next     int
	answers  map[int]chan message
	loaded   chan struct{} // gets a value when a page has loaded
	requests []string
	errors   []string
}

type message struct {
	ID      int             `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

type object = map[string]any

// Open opens the page at a URL, as of file or http. The test is skipped without a Chromium.
func Open(t testing.TB, url string) *Page {
	t.Helper()
	p := start(t, program(t))
	var target struct{ TargetID, SessionID string }
	p.do("Target.createTarget", object{"url": "about:blank"}, &target)
	p.do("Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &target)
	p.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.do(domain+".enable", nil, nil)
	}
	p.Go(url)
	return p
}

// program returns the path of a Chromium.
func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no chromium")
	return ""
}

func start(t testing.TB, program string) *Page {
	t.Helper()
	theirs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{t: t, to: to, answers: map[int]chan message{}, loaded: make(chan struct{}, 100)}
	p.process = exec.Command(program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--no-first-run", "--disable-gpu",
		"--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars", "--force-color-profile=srgb", "--user-data-dir="+t.TempDir())
	p.process.ExtraFiles = []*os.File{theirs, theirOut} // 3 and 4 there
	if err := p.process.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	theirOut.Close()
	ended := make(chan struct{})
	go func() {
		p.listen(from)
		close(ended)
	}()
	t.Cleanup(func() {
		p.session = ""
		p.do("Browser.close", nil, nil)
		<-ended
		p.process.Wait() //nolint:errcheck // its exit code says nothing of the page
		to.Close()
	})
	return p
}

// listen hands out answers and notes events until the browser ends.
func (p *Page) listen(from *os.File) {
	defer from.Close()
	in := bufio.NewReader(from)
	for {
		raw, err := in.ReadBytes(0)
		if err != nil {
			break
		}
		var m message
		if err := json.Unmarshal(bytes.TrimSuffix(raw, []byte{0}), &m); err != nil {
			break
		}
		p.mu.Lock()
		if answer := p.answers[m.ID]; answer != nil {
			answer <- m
			delete(p.answers, m.ID)
		}
		p.note(&m)
		p.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, answer := range p.answers {
		close(answer)
		delete(p.answers, id)
	}
}

// note keeps an event for a test that asks later.
func (p *Page) note(m *message) {
	var event struct {
		Type             string
		Request          struct{ URL string }
		Entry            struct{ Level, Text, URL string }
		ExceptionDetails json.RawMessage
	}
	json.Unmarshal(m.Params, &event) //nolint:errcheck // other events have other fields
	switch {
	case m.Method == "Page.loadEventFired":
		p.loaded <- struct{}{}
	case m.Method == "Network.requestWillBeSent":
		p.requests = append(p.requests, event.Request.URL)
	case m.Method == "Runtime.exceptionThrown":
		p.errors = append(p.errors, string(event.ExceptionDetails))
	case m.Method == "Runtime.consoleAPICalled" && (event.Type == "error" || event.Type == "warning" || event.Type == "assert"):
		p.errors = append(p.errors, string(m.Params))
	case m.Method == "Log.entryAdded" && (event.Entry.Level == "error" || event.Entry.Level == "warning"):
		p.errors = append(p.errors, event.Entry.Text+" "+event.Entry.URL)
	}
}

// do gives a command and waits for the answer, which it stores in result unless nil.
func (p *Page) do(method string, params object, result any) {
	p.t.Helper()
	p.mu.Lock()
	p.next++
	answer := make(chan message, 1)
	p.answers[p.next] = answer
	raw, err := json.Marshal(object{"id": p.next, "method": method, "params": params, "sessionId": p.session})
	if p.session == "" {
		raw, err = json.Marshal(object{"id": p.next, "method": method, "params": params})
	}
	p.mu.Unlock()
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.to.Write(append(raw, 0)); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
	select {
	case m, open := <-answer:
		switch {
		case !open && method != "Browser.close":
			p.t.Fatalf("%s: the browser has ended", method)
		case m.Error != nil:
			p.t.Fatalf("%s: %s", method, m.Error.Message)
		case result != nil:
			if err := json.Unmarshal(m.Result, result); err != nil {
				p.t.Fatalf("%s: %v", method, err)
			}
		}
	case <-time.After(patience):
		p.process.Process.Kill() //nolint:errcheck // the test fails already
		p.t.Fatalf("%s: no answer", method)
	}
}

// Go opens another page in place of this one, and waits until it has loaded.
func (p *Page) Go(url string) {
	p.t.Helper()
	for len(p.loaded) > 0 {
		<-p.loaded
	}
	var answer struct{ ErrorText string }
	p.do("Page.navigate", object{"url": url}, &answer)
	if answer.ErrorText != "" {
		p.t.Fatalf("%s: %s", url, answer.ErrorText)
	}
	select {
	case <-p.loaded:
	case <-time.After(patience):
		p.t.Fatalf("%s does not load", url)
	}
}

// Eval evaluates an expression of JavaScript, waits for its promise if it is one, and stores the
// value in v unless nil.
func (p *Page) Eval(expression string, v any) {
	p.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	p.do("Runtime.evaluate", object{"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true}, &answer)
	if answer.ExceptionDetails != nil {
		p.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	if v == nil {
		return
	}
	if err := json.Unmarshal(answer.Result.Value, v); err != nil {
		p.t.Fatalf("%s: %s: %v", expression, answer.Result.Value, err)
	}
}

// Wait waits until an expression of JavaScript is true.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		var met bool
		p.Eval("!!("+expression+")", &met)
		if met {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("never true: %s", expression)
		}
	}
}

// Click presses and releases the mouse in the middle of the first element of a CSS selector.
func (p *Page) Click(selector string) {
	p.t.Helper()
	var at []float64
	quoted, _ := json.Marshal(selector) // a string can be written
	p.Eval(fmt.Sprintf(`(() => { const e = document.querySelector(%s); if (!e) return null; e.scrollIntoView({block: "center", behavior: "instant"});
		const r = e.getBoundingClientRect(); return [r.x + r.width/2, r.y + r.height/2] })()`, quoted), &at)
	if len(at) != 2 {
		p.t.Fatalf("there is no %s", selector)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.do("Input.dispatchMouseEvent", object{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1}, nil)
	}
}

// keys maps the names of keys to their numbers.
var keys = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}

// Key presses and releases a key: one of Tab, Enter, Escape and the arrows, or a character.
func (p *Page) Key(name string) {
	p.t.Helper()
	down := object{"type": "keyDown", "key": name, "code": name, "windowsVirtualKeyCode": keys[name]}
	if keys[name] == 0 {
		down["text"] = name
	} else if name == "Enter" {
		down["text"] = "\r"
	}
	p.do("Input.dispatchKeyEvent", down, nil)
	p.do("Input.dispatchKeyEvent", object{"type": "keyUp", "key": name, "code": name, "windowsVirtualKeyCode": keys[name]}, nil)
}

// Type inserts a text at the focus, as a keyboard does.
func (p *Page) Type(text string) {
	p.t.Helper()
	p.do("Input.insertText", object{"text": text}, nil)
}

// Size sets the size of the viewport, in CSS pixels.
func (p *Page) Size(width, height int) {
	p.t.Helper()
	p.do("Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Dark sets whether the user prefers a dark page.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	scheme := map[bool]string{true: "dark", false: "light"}[dark]
	p.do("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// NoScript turns scripts off for pages opened later. Eval still works.
func (p *Page) NoScript() {
	p.t.Helper()
	p.do("Emulation.setScriptExecutionDisabled", object{"value": true}, nil)
}

// Screenshot writes the whole page as a PNG.
func (p *Page) Screenshot(path string) {
	p.t.Helper()
	var shot struct{ Data string }
	p.do("Page.captureScreenshot", object{"format": "png", "captureBeyondViewport": true}, &shot)
	raw, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(path, raw, 0o666)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// Requests returns the URLs that the page has requested, its own among them.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Errors returns what was thrown, or written to the console as an error or a warning.
func (p *Page) Errors() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errors)
}

//go:embed axe.js
var axe string

// Axe returns what a reader with other eyes or hands would miss: text with a contrast below 4.5 to
// 1, controls without a label, a wider page than the viewport, and controls that Tab does not reach.
func (p *Page) Axe() (faults []string) {
	p.t.Helper()
	p.Eval(axe, &faults)
	var reached, all []string
	p.Eval("axeControls()", &all)
	p.Eval(`document.body.prepend(Object.assign(document.createElement("i"), {id: "axe", tabIndex: -1})), axe.focus()`, nil)
	for range all {
		p.Key("Tab")
		var name string
		p.Eval("axeName(document.activeElement)", &name)
		reached = append(reached, name)
	}
	p.Eval("axe.remove()", nil)
	for _, name := range all {
		if !slices.Contains(reached, name) {
			faults = append(faults, "Tab does not reach "+name)
		}
	}
	return faults
}

// FileURL returns the URL of a file by its absolute path.
func FileURL(path string) string {
	return "file://" + strings.ReplaceAll(path, "%", "%25")
}
