package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/listen"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// verdict holds the fields of an answer that tests check.
type verdict struct {
	ID      string `json:"id"`
	Verdict string `json:"verdict"`
	Kept    bool   `json:"kept"`
	Of      string `json:"of"`
	Again   bool   `json:"again"`
}

// crawlers runs 16 clients that send the same texts in different orders, with TEXT/CLIENT as the
// id. every sends the lines of JSON of one client and returns the answers.
func crawlers(t *testing.T, texts int, every func(client int, lines []string) []verdict) {
	const clients = 16
	var all sync.WaitGroup
	answers := make([][]verdict, clients)
	for c := range clients {
		all.Go(func() {
			var lines []string
			for _, n := range rand.New(rand.NewPCG(uint64(c), 0)).Perm(texts) {
				line, _ := json.Marshal(map[string]string{"id": fmt.Sprintf("%d/%d", n, c), "text": indextest.Sentences(n)})
				lines = append(lines, string(line)+"\n")
			}
			answers[c] = every(c, lines)
		})
	}
	all.Wait()
	kept, other := make([]string, texts), 0
	for _, of := range answers {
		for _, a := range of {
			n, _ := strconv.Atoi(strings.Split(a.ID, "/")[0])
			if a.Kept && kept[n] != "" {
				t.Errorf("%s and %s are both kept", kept[n], a.ID)
			} else if a.Kept {
				kept[n] = a.ID
			}
		}
	}
	for _, of := range answers {
		for _, a := range of {
			n, _ := strconv.Atoi(strings.Split(a.ID, "/")[0])
			if !a.Kept {
				other++
			}
			if !a.Kept && a.Of != kept[n] {
				t.Errorf("%s is a copy of %q, and %q is kept", a.ID, a.Of, kept[n])
			}
		}
	}
	if other != (clients-1)*texts {
		t.Errorf("%d answers name another, want %d", other, (clients-1)*texts)
	}
}

func served(t *testing.T, change func(*Config)) (*Service, *httptest.Server) {
	s, x := opened(t, filepath.Join(t.TempDir(), "index"), 0, change)
	web := httptest.NewServer(s.Handler(""))
	t.Cleanup(func() {
		web.Close()
		closed(t, s, x)
	})
	return s, web
}

func post(t *testing.T, url, contentType, body string) (int, string) {
	t.Helper()
	r, err := http.Post(url, contentType, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return r.StatusCode, string(b)
}

func verdicts(t *testing.T, lines string) (all []verdict) {
	for dec := json.NewDecoder(strings.NewReader(lines)); dec.More(); {
		var v verdict
		if err := dec.Decode(&v); err != nil {
			t.Error(err)
			break
		}
		all = append(all, v)
	}
	return all
}

// TestRace posts each text from all clients at once. One copy is kept, and all others name it.
func TestRace(t *testing.T) {
	const together = 20
	_, web := served(t, nil)
	crawlers(t, 300, func(_ int, lines []string) (all []verdict) {
		for at := 0; at < len(lines); at += together {
			code, body := post(t, web.URL+"/v1/see", "", strings.Join(lines[at:at+together], ""))
			if got := verdicts(t, body); code == 200 && len(got) == together {
				all = append(all, got...)
			} else {
				t.Errorf("code %d, %d answers", code, len(got))
			}
		}
		return all
	})
}

// TestRaceOfLines is TestRace over connections that carry lines.
func TestRaceOfLines(t *testing.T) {
	s, x := opened(t, filepath.Join(t.TempDir(), "index"), 0, nil)
	path := filepath.Join(t.TempDir(), "l")
	l, err := listen.Listen("unix:" + path)
	indextest.Must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.ServeLines(l) }()
	crawlers(t, 300, func(_ int, lines []string) (all []verdict) {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer c.Close()
		go func() { _, _ = io.WriteString(c, strings.Join(lines, "")) }()
		in := bufio.NewScanner(c)
		for len(all) < len(lines) && in.Scan() {
			var a struct {
				verdict
				Answer verdict `json:"firstseen"`
			}
			if err := json.Unmarshal(in.Bytes(), &a); err != nil {
				t.Error(err)
			}
			a.Answer.ID = a.ID
			all = append(all, a.Answer)
		}
		return all
	})
	indextest.Must(t, l.Close())
	s.Drain()
	indextest.Must(t, <-ended)
	closed(t, s, x)
}

const article = "The ferry left the old harbour at seven. Nobody on the upper deck had slept that night. The islands were still far away in the mist."

func line(id, text string) string { return fmt.Sprintf("{\"id\":%q,\"text\":%q}\n", id, text) }

func TestAnswers(t *testing.T) {
	_, web := served(t, nil)
	see := web.URL + "/v1/see"
	for _, c := range []struct{ name, query, contentType, body, want string }{
		{"check", "?check=1", "", line("a", article), `[{a unique true  false}]`},
		{"nothing was remembered", "?durable=0", "", line("a", article), `[{a unique true  false}]`},
		{"a retry", "", "", line("a", article), `[{a unique true a true}]`},
		{"a copy", "", "", line("b", article), `[{b duplicate false a false}]`},
		{"bad lines in their places", "", "application/x-ndjson", "x\n" + line("b", article) + "{\"text\":\"no id\"}\n", `[{ bad false  false} {b duplicate false a false} { bad false  false}]`},
		{"one object", "", "application/json", "{\"id\": \"c\",\n \"text\": \"another\"}", `[{c unique true  false}]`},
		{"an array", "", "application/json; charset=utf-8", `[{"id":"d","text":"another"}, {"id":5,"text":"a fifth"}]`, `[{d duplicate false c false} {5 unique true  false}]`},
		{"lines after a byte order mark", "?check=1", "", "\ufeff" + line("e", article), `[{e duplicate false a false}]`},
		{"an array after a byte order mark", "?check=1", "application/json", "\ufeff[" + line("e", article) + "]", `[{e duplicate false a false}]`},
		{"plain text", "?id=http%3A%2F%2Fx%2F&batch=m", "text/plain", article, `[{http://x/ duplicate false a false}]`},
	} {
		code, body := post(t, see+c.query, c.contentType, c.body)
		if got := fmt.Sprint(verdicts(t, body)); code != 200 || got != c.want {
			t.Errorf("%s: code %d, %s; want %s\n%s", c.name, code, got, c.want, body)
		}
	}
}

func do(t *testing.T, method, url, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	indextest.Must(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := http.DefaultClient.Do(r)
	indextest.Must(t, err)
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	indextest.Must(t, err)
	return a.StatusCode, string(b)
}

// TestTakeBack finds, forgets and cancels documents. An id may have slashes and dots.
func TestTakeBack(t *testing.T) {
	_, web := served(t, nil)
	id := web.URL + "/v1/documents/http:%2F%2Fx%2F..%2Fa%3Fb"
	if code, _ := post(t, web.URL+"/v1/see?batch=monday", "", line("http://x/../a?b", article)); code != 200 {
		t.Fatal(code)
	}
	for _, c := range []struct {
		method, url string
		code        int
		want        string
	}{
		{"GET", id, 200, `"batch":"monday"`},
		{"DELETE", id, 200, `{"forgotten":1}`},
		{"GET", id, 404, "no document"},
		{"DELETE", id, 200, `{"forgotten":0}`},
		{"POST", web.URL + "/v1/see?batch=monday", 200, `"kept":true`},
		{"POST", web.URL + "/v1/batches/monday/cancel", 200, `{"forgotten":1}`},
		{"POST", web.URL + "/v1/batches/monday/cancel", 404, "monday"},
		{"GET", web.URL + "/v1/stats", 200, `"documents":2`},
		{"GET", web.URL + "/metrics", 200, `firstseen_documents_total{verdict="unique"} 2`},
		{"GET", web.URL + "/livez", 200, "ok"},
		{"GET", web.URL + "/readyz", 200, "ok"},
	} {
		if code, body := do(t, c.method, c.url, line("z", article)); code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: code %d, %s", c.method, c.url, code, body)
		}
	}
}

// TestOddIDs asks for and forgets ids that have no place in a path.
func TestOddIDs(t *testing.T) {
	_, web := served(t, nil)
	for n, id := range []string{"/", ".", "..", "//", "a/../b", "?id=x", "a&b", "<i>", " ", "ü\n"} {
		asked := web.URL + "/v1/documents?id=" + url.QueryEscape(id)
		code, body := post(t, web.URL+"/v1/see?id="+url.QueryEscape(id), "text/plain", indextest.Sentences(n))
		want, _ := report.AppendJSON(nil, id) // not escaped for HTML
		if code != 200 || !strings.Contains(body, `{"id":`+string(want)+`,"verdict":"unique"`) {
			t.Errorf("%q: code %d, %s", id, code, body)
		}
		if code, body := do(t, "GET", asked, ""); code != 200 || !strings.Contains(body, `"id":`+string(want)) {
			t.Errorf("%q: asked: code %d, %s", id, code, body)
		}
		if code, body := do(t, "DELETE", asked, ""); code != 200 || body != "{\"forgotten\":1}\n" {
			t.Errorf("%q: forgotten: code %d, %s", id, code, body)
		}
	}
}

// TestReady checks that a server is not ready while its disk or its filter is full.
func TestReady(t *testing.T) {
	_, web := served(t, func(c *Config) { c.room = math.MaxUint64 })
	if code, body := do(t, "GET", web.URL+"/readyz", ""); code != 507 || !strings.Contains(body, "has room for") {
		t.Errorf("without room: code %d, %s", code, body)
	}
	s, web := served(t, nil)
	s.own.full.Store(true)
	if code, body := do(t, "GET", web.URL+"/readyz", ""); code != 507 || !strings.Contains(body, "filter is full") {
		t.Errorf("with a full filter: code %d, %s", code, body)
	}
}

// TestAbuse checks the status code of each abuse, and that the server survives.
func TestAbuse(t *testing.T) {
	s, web := served(t, func(c *Config) { c.MaxBody, c.MaxDocuments = 4000, 5 })
	see := "/v1/see"
	long := strings.Repeat("x", 70_000)
	for _, c := range []struct {
		method, path, contentType, body string
		code                            int
		want                            string
	}{
		{"POST", see, "", "", 400, "empty"},
		{"POST", see, "", "\n\n", 400, "no document"},
		{"POST", see, "", strings.Repeat("y", 4001), 413, "4000 bytes"},
		{"POST", see, "", strings.Repeat("{}\n", 6), 413, "at most 5"},
		{"POST", see, "application/json", "", 400, "empty"},
		{"POST", see, "application/json", "{", 400, "end of JSON"},
		{"POST", see, "application/json", "[{},\n{]", 400, `"line":2`},
		{"POST", see, "application/json", "{}\n{}", 400, "x-ndjson"},
		{"POST", see, "application/json", "{}]", 400, "x-ndjson"},
		{"POST", see, "application/json", "{\"id\":\"a\",\"text\":\"x\"}}", 400, "x-ndjson"},
		{"POST", see, "application/json", "[{}]]", 400, "x-ndjson"},
		{"POST", see, "application/json", "[{}", 400, "end of JSON"},
		{"POST", see, "application/json", "[{} {}]", 400, "error"},
		{"POST", see, "application/json", "[0,0,0,0,0,0]", 413, "at most 5"},
		{"POST", see, "application/json", "[]", 400, "no document"},
		{"POST", see, "application/json", "\ufeff", 400, "end of JSON"},
		{"POST", see, "application/json", strings.Repeat("[", 3000), 400, "error"},
		{"POST", see, "application/json", "[1,\"a\",null]", 200, `"verdict":"bad"`},
		{"POST", see, "text/plain", "text", 400, "?id="},
		{"POST", see + "?id=a", "text/plain", "one\ntwo \xff", 400, `"line":2`},
		{"POST", see + "?id=%ff", "text/plain", "text", 400, "UTF-8"},
		{"POST", see + "?id=" + long, "text/plain", "text", 400, "longer than 65536"},
		{"POST", see + "?batch=" + strings.Repeat("b", 5000), "", "{}", 400, "batch"},
		{"POST", see + "?batch=%ff", "", "{}", 400, "UTF-8"},
		{"POST", see + "?batch=a;b", "", "{}", 400, "the query"},
		{"POST", see + "?check=true", "", "{}", 400, "check=1"},
		{"POST", see + "?check", "", "{}", 400, "check=1"},
		{"POST", see + "?check=2", "", "{}", 400, "check=1"},
		{"POST", see + "?exact=true&id=a", "text/plain", "text", 400, "exact=1"},
		{"POST", see + "?durable=false", "", "{}", 400, "durable=0"},
		{"POST", see + "?report=yes&check=1", "", "{}", 400, "report=1"},
		{"POST", see + "?report=1", "", "{}", 400, "needs check=1"},
		{"POST", see + "?report=1&check=0", "", "{}", 400, "needs check=1"},
		{"POST", see + "?id=a&chek=1", "text/plain", "text", 400, `\"chek\"`},
		{"POST", see + "?id=a&CHECK=1", "text/plain", "text", 400, "CHECK"},
		{"POST", see + "?check=0&check=1", "", "{}", 400, "twice"},
		{"POST", see + "?batch=a&batch=a", "", "{}", 400, "twice"},
		{"POST", see + "?id=a&id=b", "text/plain", "text", 400, "twice"},
		{"POST", see + "?a<b>%26c=1", "", "{}", 400, "a<b>&c"},
		{"POST", see + "?batch=&check=0&report=0&exact=0&durable=1", "", "{}", 200, `"verdict":"bad"`},
		{"DELETE", "/v1/documents?id=a&batch=b", "", "", 400, "batch"},
		{"DELETE", "/v1/documents/a?id=b", "", "", 400, "id"},
		{"DELETE", "/v1/documents", "", "", 400, "?id=ID"},
		{"GET", "/v1/documents?id=", "", "", 400, "?id=ID"},
		{"GET", "/v1/documents?id=a&id=b", "", "", 400, "twice"},
		{"GET", "/v1/stats?check=1", "", "", 400, "check"},
		{"POST", see, "image/png", "x", 415, "Content-Type"},
		{"POST", see, "text/", "x", 415, "Content-Type"},
		{"POST", see, "", "\xff\xfe{\x00}\x00", 200, `"verdict":"bad"`},
		{"POST", see, "", "{\"id\":\"\\u0000body:1\",\"text\":\"x\"}", 200, `"verdict":"bad"`},
		{"POST", see, "", "{\"id\":\"a\",\"text\":\"\xff\"}", 200, `"verdict":"bad"`},
		{"POST", see, "", "{\"id\":\"a\",\"id\":\"b\",\"text\":\"x\"}", 200, `"verdict":"bad"`},
		{"POST", see, "", "{\"id\":{},\"text\":[]}", 200, `"verdict":"bad"`},
		{"GET", see, "", "", 405, "takes only POST\n\nfirstseen finds"},
		{"PUT", see, "", "x", 405, "takes only POST\n\nfirstseen finds"},
		{"POST", "/v1/documents/a", "", "x", 405, ""},
		{"GET", "/v1/documents/", "", "", 404, ""},
		{"GET", "/v1/documents/..%2F..%2Fkey", "", "", 404, "no document"},
		{"GET", "/v1/documents/%00", "", "", 404, "no document"},
		{"DELETE", "/v1/documents/%ff", "", "", 200, `"forgotten":0`},
		{"POST", "/v1/batches/%ff/cancel", "", "", 404, ""},
		{"POST", "/v1/batches/" + long + "/cancel", "", "", 404, ""},
		{"GET", "/v1/batches/a/cancel", "", "", 405, ""},
		{"GET", "/v1/", "", "", 200, "POST /v1/see"},
		{"POST", "/", "", "x", 405, "POST /v1/see"},
		{"GET", "/v2/see", "", "", 404, "nothing is at this path\n\nfirstseen finds"},
		{"PATCH", "/see", "", "x", 404, "POST /v1/see"},
		{"DELETE", "/livez", "", "", 405, "only GET, HEAD"},
		{"GET", "/livez?probe=1", "", "", 200, "ok"},
	} {
		code, body := do(t, c.method, web.URL+c.path, c.body, "Content-Type", c.contentType)
		if code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s %.40s %.30q: code %d, %s; want %d, %s", c.method, c.path, c.body, code, body, c.code, c.want)
		}
	}
	if code, _ := do(t, "POST", web.URL+see, "x", "Content-Encoding", "gzip"); code != 415 {
		t.Errorf("compressed: code %d", code)
	}
	for range cap(s.reading) {
		s.reading <- struct{}{}
	}
	if code, _ := post(t, web.URL+see, "", line("a", article)); code != 429 {
		t.Errorf("with all places taken: code %d", code)
	}
	for range cap(s.reading) {
		<-s.reading
	}
	if code, body := post(t, web.URL+see, "", line("a", article)); code != 200 || !strings.Contains(body, "unique") {
		t.Errorf("after all that: code %d, %s", code, body)
	}
	s.Drain()
	if code, _ := do(t, "GET", web.URL+"/readyz", ""); code != 503 {
		t.Errorf("readyz of a server going down: code %d", code)
	}
}

// TestRefusedAfterBody checks that a client that sends everything before it reads learns why it is
// refused.
func TestRefusedAfterBody(t *testing.T) {
	s, _ := served(t, func(c *Config) { c.MaxBody = 1 << 20 })
	web := httptest.NewServer(s.Handler("0123456789abcdef"))
	defer web.Close()
	body := bytes.Repeat([]byte("x"), 32<<20)
	for _, c := range []struct{ path, header, want string }{
		{"/v1/see", "Authorization: Bearer 0123456789abcdef", "413"},
		{"/v1/see?check=true", "Authorization: Bearer 0123456789abcdef", "400"},
		{"/v1/see", "Authorization: Bearer another", "401"},
		{"/v1/seen", "Authorization: Bearer 0123456789abcdef", "404"},
	} {
		to, err := net.Dial("tcp", web.Listener.Addr().String())
		indextest.Must(t, err)
		_, err = fmt.Fprintf(to, "POST %s HTTP/1.1\r\nHost: x\r\n%s\r\nContent-Length: %d\r\n\r\n%s", c.path, c.header, len(body), body)
		if err != nil {
			t.Errorf("%s: the server stopped reading: %v", c.want, err)
		}
		if got, err := bufio.NewReader(to).ReadString('\n'); !strings.Contains(got, c.want) {
			t.Errorf("status %q, error %v; want %s", got, err, c.want)
		}
		to.Close()
	}
}

// TestTooManyDocuments checks that millions of tiny documents in a body take no memory.
func TestTooManyDocuments(t *testing.T) {
	s, _ := served(t, nil)
	for kind, body := range map[string]string{"application/x-ndjson": strings.Repeat("0\n", 1<<20), "application/json": "[" + strings.Repeat("0,", 1<<20) + "0]"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		docs, err := s.parse([]byte(body), kind, "", false)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err != nil || len(docs) <= 1000 || took > 4*uint64(len(body)) {
			t.Errorf("%s: %d documents, error %v, %d bytes of memory for %d", kind, len(docs), err, took, len(body))
		}
	}
}

// largest is a response that keeps the length of its largest part.
type largest struct {
	*httptest.ResponseRecorder
	n int
}

func (l *largest) Write(b []byte) (int, error) {
	l.n = max(l.n, len(b))
	return l.ResponseRecorder.Write(b)
}

// TestLongAnswers checks that the answers of a small body are not put together in memory: each may
// name a document with the longest id.
func TestLongAnswers(t *testing.T) {
	s, _ := served(t, nil)
	body := line(strings.Repeat("i", corpus.MaxID-1), article) + strings.Repeat(line("a", article), 20)
	w := &largest{ResponseRecorder: httptest.NewRecorder()}
	s.Handler("").ServeHTTP(w, httptest.NewRequest("POST", "/v1/see", strings.NewReader(body)))
	if w.Body.Len() < 21*corpus.MaxID || w.n > 2*corpus.MaxID {
		t.Errorf("%d bytes of answers, the largest part %d", w.Body.Len(), w.n)
	}
}

func TestToken(t *testing.T) {
	s, _ := served(t, nil)
	web := httptest.NewServer(s.Handler("0123456789abcdef"))
	defer web.Close()
	for _, c := range []struct {
		header string
		code   int
		says   string
	}{
		{"", 401, "give the token of the server as Authorization: Bearer TOKEN"},
		{"0123456789abcdef", 401, "give the token of the server as Authorization: Bearer TOKEN"},
		{"Bearer 0123456789abcdeF", 401, "this is not the token of the server"},
		{"Bearer 0123456789abcdef", 200, "table"},
	} {
		if code, body := do(t, "GET", web.URL+"/v1/stats", "", "Authorization", c.header); code != c.code || !strings.Contains(string(body), c.says) {
			t.Errorf("%q: code %d, %s", c.header, code, body)
		}
	}
	for _, request := range []string{"GET /v1/snapshot", "GET /v1/entries/0-0000000000000000", "POST /v1/promote"} {
		method, path, _ := strings.Cut(request, " ")
		if code, _ := do(t, method, web.URL+path, ""); code != 401 {
			t.Errorf("%s without the token: code %d", request, code)
		}
	}
	if code, _ := do(t, "GET", web.URL+"/readyz", ""); code != 200 {
		t.Errorf("readyz wants the token: code %d", code)
	}
}

// patient is a connection whose client reads when it has time.
type patient struct{ net.Conn }

func (patient) SetWriteDeadline(time.Time) error { return errors.New("a pause of the client ends it") }

// TestLinesInParts answers a line that arrives in parts after a byte order mark, an empty line and a
// bad one.
func TestLinesInParts(t *testing.T) {
	s, _ := served(t, nil)
	ours, theirs := net.Pipe()
	go func() {
		_ = s.serveLines(patient{theirs})
		theirs.Close()
	}()
	go func() {
		for _, part := range []string{"\ufeff" + line("a", article)[:20], line("a", article)[20:], "\n", "bad\n", line("b", article)} {
			_, _ = io.WriteString(ours, part)
		}
	}()
	in := bufio.NewReader(ours)
	for _, want := range []string{`"verdict":"unique"`, "\n", `{"firstseen":{"verdict":"bad","kept":false,"line":3`, `"of":"a"`} {
		got, err := in.ReadBytes('\n')
		if err != nil || !bytes.Contains(got, []byte(want)) {
			t.Fatalf("answer %q, error %v; want %q", got, err, want)
		}
	}
	indextest.Must(t, ours.Close())
}

// TestDrainedLines checks that a connection ends with the service. Half a line gets no answer, so
// its client sends it again.
func TestDrainedLines(t *testing.T) {
	s, _ := served(t, nil)
	path := filepath.Join(t.TempDir(), "l")
	l, err := listen.Listen("unix:" + path)
	indextest.Must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.ServeLines(l) }()
	c, err := net.Dial("unix", path)
	indextest.Must(t, err)
	defer c.Close()
	_, err = io.WriteString(c, line("a", article)+line("b", article)[:20])
	indextest.Must(t, err)
	in := bufio.NewReader(c)
	if got, err := in.ReadString('\n'); err != nil || !strings.Contains(got, `"unique"`) {
		t.Errorf("answer %q, error %v", got, err)
	}
	s.Drain()
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("after the end: %q, error %v", rest, err)
	}
	indextest.Must(t, l.Close())
	indextest.Must(t, <-ended)
}

// deadlines is a listener whose connections report their time limits for writing.
type deadlines struct {
	net.Listener
	set chan time.Time
}

type limited struct {
	net.Conn
	set chan time.Time
}

func (d deadlines) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	return limited{c, d.set}, err
}

func (l limited) SetWriteDeadline(t time.Time) error {
	l.set <- t
	return l.Conn.SetWriteDeadline(t)
}

// TestDrainedClient checks that a client that reads no answers holds up the end for a minute at most.
func TestDrainedClient(t *testing.T) {
	s, _ := served(t, nil)
	l, err := listen.Listen("unix:" + filepath.Join(t.TempDir(), "l"))
	indextest.Must(t, err)
	ended, set := make(chan error, 1), make(chan time.Time, 1)
	go func() { ended <- s.ServeLines(deadlines{l, set}) }()
	c, err := net.Dial("unix", l.Addr().String())
	indextest.Must(t, err)
	defer c.Close()
	_, err = io.WriteString(c, line("a", article))
	indextest.Must(t, err)
	_, err = bufio.NewReader(c).ReadString('\n') // the connection is served
	indextest.Must(t, err)
	if len(set) > 0 {
		t.Error("a client that pauses has a time limit")
	}
	before := time.Now()
	s.Drain()
	if got := <-set; got.Before(before) || got.After(time.Now().Add(parting)) {
		t.Errorf("drained at %v, the limit is %v", before, got)
	}
	indextest.Must(t, l.Close())
	indextest.Must(t, <-ended)
}

// scarce is a listener that lacks a free file descriptor at first.
type scarce struct {
	net.Listener
	tries int
}

func (s *scarce) Accept() (net.Conn, error) {
	if s.tries++; s.tries < 3 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return s.Listener.Accept()
}

// TestScarceFiles checks that line connections are accepted again once file descriptors are free.
func TestScarceFiles(t *testing.T) {
	s, _ := served(t, nil)
	l, err := listen.Listen("unix:" + filepath.Join(t.TempDir(), "l"))
	indextest.Must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.ServeLines(&scarce{Listener: l}) }()
	c, err := net.Dial("unix", l.Addr().String())
	indextest.Must(t, err)
	defer c.Close()
	indextest.Must(t, c.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(c, line("a", article))
	indextest.Must(t, err)
	if got, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(got, `"unique"`) {
		t.Errorf("answer %q, error %v", got, err)
	}
	s.Drain()
	indextest.Must(t, l.Close())
	indextest.Must(t, <-ended)
}

// away is an unreachable log.
type away struct{ Log }

func (away) Append([]*apply.Step, bool) error       { return apply.ErrLater }
func (away) Start(func(*apply.Step, *dedup.Result)) {}
func (away) Failed() <-chan struct{}                { return nil }

// TestDrainedWithoutLog checks that a server ends even though a line still waits for the log.
func TestDrainedWithoutLog(t *testing.T) {
	x, err := index.Open(context.Background(), filepath.Join(t.TempDir(), "index"), index.Options{Follow: true})
	indextest.Must(t, err)
	s, err := Open(Config{Index: x, Log: away{}})
	indextest.Must(t, err)
	ours, theirs := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.serveLines(theirs) }()
	_, err = io.WriteString(ours, line("a", article))
	indextest.Must(t, err)
	s.Drain()
	select {
	case err := <-ended:
		if !errors.Is(err, apply.ErrLater) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the connection does not end")
	}
	indextest.Must(t, errors.Join(ours.Close(), x.Close()))
}
