package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstseen/firstseen/internal/engine/server"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// peakOf returns the peak memory of a process, in bytes.
func peakOf(t *testing.T, pid int) int64 {
	t.Helper()
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(readFile(t, fmt.Sprintf("/proc/%d/status", pid)))
	kb, err := strconv.ParseInt(m[1], 10, 64)
	indextest.Must(t, err)
	return kb << 10
}

// dialed connects to a Unix socket. The connection ends with the test.
func dialed(t *testing.T, path string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", path)
	indextest.Must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// rawPost returns a request with a body and its length.
func rawPost(headers, body string) string {
	return fmt.Sprintf("POST /v1/see HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", headers, len(body), body)
}

const chunked = "POST /v1/see HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

// abuses returns raw requests and their status codes, for a server with limits of 1 MiB and 100
// documents. It is a function, because the test binary is also the program.
func abuses() []struct{ request, want string } {
	return []struct{ request, want string }{
		{"\x00\x01\x02\r\n\r\n", "400"},
		{"GET / HTTP/9.9\r\nHost: x\r\n\r\n", "505"},
		{"GET /v1/stats HTTP/1.1\r\n\r\n", "400"},
		{"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", "40[045]"},
		{"BREW /v1/see HTTP/1.1\r\nHost: x\r\n\r\n", "405"},
		{"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
		{"GET /v1/documents/../../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", "30[17]|404"},
		{"GET /v1/documents/%2e%2e%2f%2e%2e%2fkey HTTP/1.1\r\nHost: x\r\n\r\n", "404"},
		{"GET /v1/documents/%00%ff HTTP/1.1\r\nHost: x\r\n\r\n", "404"},
		{"GET /" + strings.Repeat("a", 300<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n", "431"},
		{"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 300<<10) + "\r\n\r\n", "431"},
		{"GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A: b\r\n", 100_000) + "\r\n", "431"},
		{"POST /v1/see HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "400"},
		{"POST /v1/see HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"},
		{"POST /v1/see HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\nab", "400"},
		{"POST /v1/see HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: bzip9\r\n\r\nab", "501"},
		{"POST /v1/see HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\na", "417"},
		{chunked + "zz\r\n", "400"},
		{chunked + "fffffffffffffffff\r\n", "400"},
		{chunked + "0\r\n\r\n", "400"},
		{chunked + strings.Repeat("1;"+strings.Repeat("e", 3000)+"\r\nx\r\n", 400), "400"},
		{chunked + strings.Repeat("10000\r\n"+strings.Repeat("y", 0x10000)+"\r\n", 17), "413"},
		{rawPost("", strings.Repeat("z", 1<<20+1)), "413"},
		{rawPost("", strings.Repeat("{}\n", 101)), "413"},
		{rawPost("Content-Type: application/json\r\n", "["+strings.Repeat("null,", 100_000)+"null]"), "413"},
		{rawPost("Content-Encoding: gzip\r\n", "\x1f\x8b\x08\x00\x00\x00\x00\x00"), "415"},
		{rawPost("Content-Type: video/mp4\r\n", "x"), "415"},
		{rawPost("Content-Type: application/json\r\n", strings.Repeat("[", 1<<20)), "400"},
		{rawPost("Content-Type: application/json\r\n", strings.Repeat(`{"a":`, 1<<17)), "400"},
		{rawPost("", strings.Repeat(`{"a":`, 1<<17)), "200"},
		{rawPost("", `{"id":"n","text":`+strings.Repeat("1", 1<<19)+"}"), "200"},
		{rawPost("", `{"id":"`+strings.Repeat("i", 1<<19)+`","text":"x"}`), "200"},
		{rawPost("", "{"+strings.Repeat(`"k":1,`, 1<<17)+`"id":"k","text":"x"}`), "200"},
		{rawPost("", "\xff\xfe\x00\x01\n\x80"), "200"},
		{rawPost("", `{"id":"u","text":"\ud800"}`), "200"},
		{rawPost("Content-Type: application/warc\r\n", strings.Repeat("WARC/1.0\r\n", 1000)), "413"},
		{rawPost("Content-Type: application/warc\r\n", "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999999999\r\n\r\nx"), "200|400"},
		{rawPost("Content-Type: text/html\r\nX-Firstseen-Id: h\r\n", strings.Repeat("<", 1<<20)), "200"},
		{rawPost("Content-Type: text/html\r\nX-Firstseen-Id: h\r\n", strings.Repeat("<div>", 1<<17)), "200"},
		{rawPost("Content-Type: text/html; charset=nonsense\r\nX-Firstseen-Id: h\r\n", strings.Repeat("<a b='", 1<<17)), "200"},
		{rawPost("Content-Type: text/plain\r\nX-Firstseen-Id: p\r\n", "\x80"), "400"},
		{rawPost("Content-Type: text/plain\r\nX-Firstseen-Id: \xff\r\n", "text"), "400"},
		{rawPost("", ""), "400"},
		{"DELETE /v1/documents/%ff HTTP/1.1\r\nHost: x\r\n\r\n", "200"},
		{"POST /v1/batches/..%2f..%2f/cancel HTTP/1.1\r\nHost: x\r\n\r\n", "404"},
	}
}

// TestServerAbused checks that broken, huge, slow and endless requests get their codes. Others are
// answered meanwhile or asked to retry. Nothing is lost, and memory stays within the plan.
func TestServerAbused(t *testing.T) {
	takesSeconds(t)
	t.Parallel()
	dir := t.TempDir()
	web, lines := filepath.Join(dir, "s"), filepath.Join(dir, "l")
	const waiting, body = 8, 1 << 20
	cmd := program(t, dir, "serve", "--index", "seen", "--listen", "unix:s", "--lines", "unix:l", "--max-body", "1MiB", "--max-documents", "100", "--waiting", fmt.Sprint(waiting))
	var log strings.Builder
	cmd.Stderr, cmd.Env = &log, append(cmd.Env, "GOGC=100")
	start(t, cmd)
	client := unixClient(web)
	ask := func(id string, n int) (answers []seen, ok bool) {
		for range 600 { // others may have all places
			if answers, ok = posted(client, documentLine(id, n)); ok {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		return answers, ok
	}
	if _, ok := ask("first", 1); !ok {
		t.Fatal("the server does not answer")
	}
	before := peakOf(t, cmd.Process.Pid)
	for _, a := range abuses() {
		answered(t, web, a.request, a.want)
	}
	const slow = 100
	for range slow {
		fmt.Fprint(dialed(t, web), "POST /v1/see HT")                                                      // half a head
		fmt.Fprint(dialed(t, lines), `{"id":"half`)                                                        // half a line
		fmt.Fprint(dialed(t, lines), strings.Repeat("\x00", 1000)+"\n\n{}\n"+strings.Repeat("\xff", 1000)) // no JSON
	}
	if got, ok := ask("second", 1); !ok || got[0].Kept || got[0].Of != "first" {
		t.Errorf("beside %d half requests: %v, %v", slow, got, ok)
	}
	long := dialed(t, lines)
	if n, err := io.Copy(long, strings.NewReader(strings.Repeat("l", 64<<20))); err == nil {
		t.Errorf("a line of %d bytes was read", n)
	}
	takeAllRoom(t, web, waiting)
	if got, ok := ask("first", 1); !ok || !got[0].Again || !got[0].Kept {
		t.Errorf("after all: %v, %v", got, ok)
	}
	const garbage = 64 << 20 // of small requests, before the collector begins
	allowed := before + (&server.Config{MaxBody: body, Waiting: waiting}).Memory() + 2*slow*(64<<10) + body + garbage
	if peak := peakOf(t, cmd.Process.Pid); peak > allowed && !raceDetector {
		t.Errorf("%d MiB of memory, and %d MiB before; the word of plan is %d", peak>>20, before>>20, allowed>>20)
	}
	client.CloseIdleConnections()
	indextest.Must(t, cmd.Process.Signal(syscall.SIGTERM))
	if exits(t, cmd, 0); !strings.HasSuffix(log.String(), " msg=stopped\n") {
		t.Errorf("the log ends with %q", log.String()[max(0, log.Len()-200):])
	}
	runProgram(t, dir, 0, "index", "check", "seen")
}

// answered sends a request and expects a status code.
func answered(t *testing.T, socket, request, want string) {
	t.Helper()
	c := dialed(t, socket)
	go io.Copy(c, strings.NewReader(request)) //nolint:errcheck // the server may end the connection
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	line, err := bufio.NewReader(c).ReadString('\n')
	if !regexp.MustCompile(`^HTTP/1\.[01] (` + want + `) `).MatchString(line) {
		t.Errorf("%.60q: %q, %v; want %s", request, line, err, want)
	}
	c.Close()
}

// takeAllRoom fills the memory for bodies with requests that lack a byte. Another request is asked to
// retry, and is answered once there is room.
func takeAllRoom(t *testing.T, socket string, waiting int) {
	t.Helper()
	var slow []net.Conn
	for range waiting {
		c := dialed(t, socket)
		fmt.Fprintf(c, "POST /v1/see HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", 1<<20, bytes.Repeat([]byte("b"), 1<<20-1))
		slow = append(slow, c)
	}
	client := unixClient(socket)
	code := func() int {
		r, err := client.Post("http://server/v1/see", "", strings.NewReader(documentLine("first", 1)+strings.Repeat(" ", 1<<19)))
		indextest.Must(t, err)
		defer r.Body.Close()
		if r.StatusCode == http.StatusTooManyRequests && r.Header.Get("Retry-After") == "" {
			t.Error("429 does not say when to try again")
		}
		return r.StatusCode
	}
	for begun := time.Now(); code() != http.StatusTooManyRequests; { // until all bodies have come
		if time.Since(begun) > time.Minute { // the server gave them up before
			t.Fatal("the bodies that came took no room")
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, c := range slow {
		c.Close()
	}
	for code() != http.StatusOK {
		time.Sleep(10 * time.Millisecond)
	}
}
