package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/base/owners"
	"github.com/firstseen/firstseen/internal/base/step"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// pageOf returns a text extractor that takes the body as it is, and records the type. Bodies that begin
// with "exact" are exact, those that begin with "bad" no pages.
func pageOf(types *[]string) func() corpus.Text {
	return func() corpus.Text {
		return func(_ func(int) []byte, body []byte, contentType string) ([]byte, bool, error) {
			*types = append(*types, contentType)
			if bytes.HasPrefix(body, []byte("bad")) {
				return nil, false, errors.New("this is no page")
			}
			return body, bytes.HasPrefix(body, []byte("exact")), nil
		}
	}
}

// archiveOf returns a web archive of texts, with the ids http://x/0 and so on.
func archiveOf(texts ...string) []byte {
	var b bytes.Buffer
	for i, text := range texts {
		body := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + text
		fmt.Fprintf(&b, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://x/%d\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, len(body), body)
	}
	return b.Bytes()
}

// TestArchiveKeepsItsTexts checks the texts of an archive that is read in several blocks.
func TestArchiveKeepsItsTexts(t *testing.T) {
	var types []string
	page := pageOf(&types)
	s, _ := served(t, func(c *Config) { c.Archive, c.MaxDocuments = warc.Format{Text: page}, 5000 })
	var want []string
	for i := range 500 {
		want = append(want, fmt.Sprint(i)+strings.Repeat(string(rune('a'+i%26)), 9000))
	}
	docs, err := s.parse(archiveOf(want...), "application/warc", "", false)
	if err != nil || len(docs) != len(want) {
		t.Fatal(len(docs), err)
	}
	for i, doc := range docs {
		if string(doc.Text) != want[i] || doc.ID != fmt.Sprint("http://x/", i) || doc.Kind != journal.Seen {
			t.Fatalf("document %d is %s, %.20q", i, doc.ID, doc.Text)
		}
	}
}

// TestArchiveIsBounded checks that an archive has at most so many documents and bytes.
func TestArchiveIsBounded(t *testing.T) {
	var types []string
	s, _ := served(t, func(c *Config) { c.Archive, c.MaxDocuments, c.MaxBody = warc.Format{Text: pageOf(&types)}, 3, 2000 })
	long := strings.Repeat("x", 1000)
	for name, c := range map[string]struct {
		texts []string
		code  int // 0 for none
	}{
		"three documents": {[]string{"a", "b", "c"}, 0},
		"four documents":  {[]string{"a", "b", "c", "d"}, 413},
		"2,000 bytes":     {[]string{long, long}, 0},
		"2,001 bytes":     {[]string{long, long, "x"}, 413},
	} {
		docs, err := s.parse(archiveOf(c.texts...), "application/warc", "", false)
		var p *problem
		if c.code == 0 && (err != nil || len(docs) != len(c.texts)) || c.code > 0 && (!errors.As(err, &p) || p.status != c.code) {
			t.Errorf("%s: %d documents, error %v", name, len(docs), err)
		}
	}
}

// TestPagesAndTexts checks the documents of pages and plain texts, and that they need ids.
func TestPagesAndTexts(t *testing.T) {
	var types []string
	s, _ := served(t, func(c *Config) { c.Page = pageOf(&types) })
	for _, c := range []struct {
		contentType, id, body string
		exact                 bool
		code                  int
		want                  bool // it is exact
	}{
		{"text/html; charset=latin1", "a", "a page", false, 0, false},
		{"application/xhtml+xml", "a", "exact page", false, 0, true},
		{"text/html", "", "a page", false, 400, false},
		{"text/html", "\xff", "a page", false, 400, false},
		{"text/html", "a", "bad page", false, 400, false},
		{"text/plain", "a", "text", false, 0, false},
		{"text/plain", "a", "text", true, 0, true},
		{"text/plain", "", "text", false, 400, false},
		{"text/plain", strings.Repeat("i", corpus.MaxID), "text", false, 0, false},
		{"text/plain", strings.Repeat("i", corpus.MaxID+1), "text", false, 400, false},
		{"application/warc", "", "WARC/1.0\r\n", false, 415, false},
	} {
		docs, err := s.parse([]byte(c.body), c.contentType, c.id, c.exact)
		var p *problem
		switch {
		case c.code > 0:
			if !errors.As(err, &p) || p.status != c.code {
				t.Errorf("%s %.9q %q: error %v, want code %d", c.contentType, c.id, c.body, err, c.code)
			}
		case err != nil || len(docs) != 1 || docs[0].ID != c.id || string(docs[0].Text) != c.body || docs[0].Exact != c.want:
			t.Errorf("%s %.9q %q: %+v, error %v", c.contentType, c.id, c.body, docs, err)
		}
	}
	if len(types) == 0 || types[0] != "text/html; charset=latin1" {
		t.Errorf("the page was of the types %q", types)
	}
	none, _ := served(t, nil)
	if _, err := none.parse([]byte("x"), "text/html", "a", false); !errors.Is(err, errType) {
		t.Errorf("without an extractor: %v", err)
	}
}

// TestLimitsOfRequests checks that requests at their limits are answered.
func TestLimitsOfRequests(t *testing.T) {
	_, web := served(t, func(c *Config) { c.MaxBody, c.MaxDocuments = 4000, 5 })
	see := web.URL + "/v1/see"
	if code, body := post(t, see, "", strings.Repeat(line("a", "x"), 5)); code != 200 || len(verdicts(t, body)) != 5 {
		t.Errorf("five documents: code %d, %s", code, body)
	}
	if code, body := post(t, see, "", line("b", strings.Repeat("x", 4000-len(line("b", ""))))); code != 200 {
		t.Errorf("4,000 bytes: code %d, %s", code, body)
	}
	if code, body := do(t, "POST", see, line("c", "x"), "Content-Encoding", "identity"); code != 200 {
		t.Errorf("unencoded: code %d, %s", code, body)
	}
}

// TestFastAnswers checks that an answer that need not be durable does not wait for the disk.
func TestFastAnswers(t *testing.T) {
	s, x := opened(t, filepath.Join(t.TempDir(), "index"), 0, nil)
	full := errors.New("no space")
	step.Hook = func(name string) error {
		if name == "wrote the journal" {
			return full
		}
		return nil
	}
	t.Cleanup(func() { step.Hook = nil })
	docs := texts(1)
	if err := see(s, &request{docs: docs, fast: true}); err != nil || len(docs[0].Answer) == 0 {
		t.Errorf("answer %s, error %v", docs[0].Answer, err)
	}
	<-s.Failed()
	w := httptest.NewRecorder()
	s.Handler("").ServeHTTP(w, httptest.NewRequest("GET", "/livez", nil))
	if w.Code != 500 {
		t.Errorf("livez after the journal has failed: code %d", w.Code)
	}
	if err := s.Close(); !errors.Is(err, full) {
		t.Errorf("closing: error %v", err)
	}
	indextest.Must(t, x.Close())
}

// TestFullServer checks that a full server decides nothing more, and still takes back documents.
func TestFullServer(t *testing.T) {
	s, web := served(t, nil)
	if code, _ := post(t, web.URL+"/v1/see", "", line("a", article)); code != 200 {
		t.Fatal(code)
	}
	s.own.full.Store(true)
	if code, body := post(t, web.URL+"/v1/see", "", line("b", "another")); code != 507 || !strings.Contains(body, "full=grow") {
		t.Errorf("a document: code %d, %s", code, body)
	}
	if code, body := do(t, "DELETE", web.URL+"/v1/documents/a", ""); code != 200 || !strings.Contains(body, `{"forgotten":1}`) {
		t.Errorf("forgetting: code %d, %s", code, body)
	}
}

// TestHeadersOfRefusals checks the headers that tell a client what to do.
func TestHeadersOfRefusals(t *testing.T) {
	for err, want := range map[error]string{apply.ErrBusy: "429 1", apply.ErrLater: "503 1", apply.ErrClosed: "503 1", apply.ErrReadOnly: "403 ", apply.ErrTooLong: "413 ", apply.ErrGone: "404 ", index.ErrNoBatch: "404 ", index.ErrFull: "507 ", errors.New("other"): "500 "} {
		w := httptest.NewRecorder()
		fail(w, fmt.Errorf("a request: %w", err))
		if got := fmt.Sprint(w.Code, " ", w.Header().Get("Retry-After")); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
	s, _ := served(t, nil)
	w := httptest.NewRecorder()
	s.Handler("secret").ServeHTTP(w, httptest.NewRequest("GET", "/v1/stats", nil))
	if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("without a token: %d, %v", w.Code, w.Header())
	}
}

// TestAgainIsCounted checks that a retry counts neither as kept nor as removed.
func TestAgainIsCounted(t *testing.T) {
	s, web := served(t, nil)
	for range 3 {
		post(t, web.URL+"/v1/see", "", line("a", article))
	}
	post(t, web.URL+"/v1/see", "", line("b", article))
	verdicts := &s.count.verdicts
	if kept, removed, again := verdicts[dedup.Unique].Load(), verdicts[dedup.Duplicate].Load(), s.count.again.Load(); kept != 1 || removed != 1 || again != 2 {
		t.Errorf("%d kept, %d removed, %d again", kept, removed, again)
	}
}

// TestNumbersOfLines checks the number of a bad line after others that came together.
func TestNumbersOfLines(t *testing.T) {
	s, _ := served(t, nil)
	ours, theirs := net.Pipe()
	go func() { _ = s.serveLines(patient{theirs}) }()
	in := bufio.NewReader(ours)
	for _, want := range []string{`"line":3`, `"line":6`} {
		go func() { _, _ = io.WriteString(ours, line("a", article)+"\nbad\n") }()
		for range 2 {
			_, err := in.ReadString('\n')
			indextest.Must(t, err)
		}
		if got, err := in.ReadString('\n'); err != nil || !strings.Contains(got, want) {
			t.Errorf("answer %q, error %v; want %s", got, err, want)
		}
	}
	indextest.Must(t, ours.Close())
}

// later is a log that is busy at first, and then answers.
type later struct {
	Log
	busy   int
	behind bool
}

func (l *later) Append(steps []*apply.Step, _ bool) error {
	if l.busy--; l.busy >= 0 {
		return []error{apply.ErrBusy, apply.ErrLater}[l.busy%2]
	}
	for _, s := range steps {
		s.Answer = []byte(`{"verdict":"unique"}`)
	}
	return nil
}
func (l *later) Start(func(*apply.Step, *dedup.Result)) {}
func (l *later) Failed() <-chan struct{}                { return nil }
func (l *later) Behind() bool                           { return l.behind }
func (l *later) Away() bool                             { return false }
func (l *later) Ahead() uint64                          { return 2 }
func (l *later) Do(task func() error) error             { return task() }
func (l *later) Lag() (records int64, seconds float64)  { return 3, 1.5 }
func (l *later) Next() int64                            { return 7 }
func (l *later) Verdict(_ context.Context, offset int64) ([]byte, error) {
	if offset > 5 {
		return nil, apply.ErrGone
	}
	return fmt.Appendf(nil, `{"offset":%d}`, offset), nil
}

// TestServerOfALog checks that lines wait for a log, readiness for its old records, and that verdicts are found.
func TestServerOfALog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x, err := index.Open(t.Context(), dir, index.Options{Follow: true})
	indextest.Must(t, err)
	defer x.Close()
	log := &later{busy: 4, behind: true}
	s, err := Open(Config{Index: x, Dir: dir, Log: log, room: 1})
	indextest.Must(t, err)
	ours, theirs := net.Pipe()
	go func() {
		_ = s.serveLines(theirs)
		theirs.Close()
	}()
	go func() { _, _ = io.WriteString(ours, line("a", article)) }()
	if got, err := bufio.NewReader(ours).ReadString('\n'); err != nil || !strings.Contains(got, `"unique"`) {
		t.Errorf("answer %q, error %v", got, err)
	}
	indextest.Must(t, ours.Close())
	web := httptest.NewServer(s.Handler(""))
	defer web.Close()
	for _, c := range []struct {
		path string
		code int
		want string
	}{
		{"/readyz", 503, "at the start"},
		{"/v1/verdicts/0", 200, `{"offset":0}` + "\n"},
		{"/v1/verdicts/5", 200, `{"offset":5}` + "\n"},
		{"/v1/verdicts/6", 404, ""},
		{"/v1/verdicts/-1", 400, "0 or more"},
		{"/v1/verdicts/x", 400, "0 or more"},
	} {
		if code, body := do(t, "GET", web.URL+c.path, ""); code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s: code %d, %s", c.path, code, body)
		}
	}
	log.behind = false
	if code, body := do(t, "GET", web.URL+"/readyz", ""); code != 200 {
		t.Errorf("ready: code %d, %s", code, body)
	}
	alone, web2 := served(t, nil)
	if code, body := do(t, "GET", web2.URL+"/v1/verdicts/0", ""); code != 404 || alone.cfg.Log != nil {
		t.Errorf("without a log: code %d, %s", code, body)
	}
}

// TestJournalsOfAnotherIndex checks that a missing journal, and one of another index, are refused.
func TestJournalsOfAnotherIndex(t *testing.T) {
	refused := func(dir, want string) {
		t.Helper()
		x, err := index.Open(t.Context(), dir, index.Options{Serve: true})
		indextest.Must(t, err)
		defer x.Close()
		if _, err := Open(Config{Index: x, Dir: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	dir, path := leftJournal(t)
	data, err := os.ReadFile(path)
	indextest.Must(t, err)
	indextest.Must(t, os.WriteFile(filepath.Join(dir, owners.Journal(3)), data, 0o666))
	refused(dir, owners.Journal(2)+" is missing")

	dir, path = leftJournal(t)
	var h header
	_, _, err = journal.Served.Read(path, &h, nil)
	indextest.Must(t, err)
	h.Table = strings.Repeat("0", len(h.Table))
	l, err := journal.Served.Create(path, h)
	indextest.Must(t, err)
	indextest.Must(t, l.Close())
	refused(dir, "belongs to another index")
}

// TestNoJournalStays checks that an index has no journal once its server has ended.
func TestNoJournalStays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	s, x := opened(t, dir, 0, nil)
	give(t, s, texts(30))
	closed(t, s, x)
	if have, err := owners.Journals(dir); err != nil || len(have) > 0 {
		t.Errorf("the journals %v, error %v", have, err)
	}
}
