package server

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// Handler returns the HTTP interface described by openapi.yaml. Each request except /livez, /readyz
// and that for the page must carry the token, if it is not empty.
func (s *Service) Handler(token string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", authorized(token, elsewhere(mux)))
	for pattern, handle := range s.routes(token) {
		switch {
		case strings.HasSuffix(pattern, "z"):
			mux.HandleFunc(pattern, handle)
		case pattern != pagePattern:
			mux.Handle(pattern, authorized(token, handle))
		case !s.cfg.NoPage: // it has no data, and asks for the token
			mux.HandleFunc(pattern, servePage(token))
		}
	}
	// A page of another site cannot make a browser give documents to this server, or forget some.
	own := http.NewCrossOriginProtection()
	own.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fail(w, refuse(http.StatusForbidden, "a page of another site sent this request: send it from a program, or from the page of this server"))
	}))
	return s.count.answers(drained(own.Handler(mux)))
}

// drained reads the rest of a refused body. Many clients send everything before they read, and a
// closed connection would hide the refusal. A client with Expect reads first.
func drained(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if r.Header.Get("Expect") == "" {
			_, _ = io.Copy(io.Discard, r.Body)
		}
	})
}

const seePattern = "POST /v1/see"

// routes returns the handlers of the interface by pattern. They leave the token to Handler.
func (s *Service) routes(token string) map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		seePattern:                       answering(s.serveSee, "id", "batch", "check", "report", "exact", "durable"),
		"GET /v1/documents":              answering(s.serveDocument, "id"),
		"GET /v1/documents/{id}":         answering(s.serveDocument),
		"DELETE /v1/documents":           answering(s.serveForget, "id"),
		"DELETE /v1/documents/{id}":      answering(s.serveForget),
		"POST /v1/batches/{name}/cancel": answering(s.serveCancel),
		"GET /v1/verdicts/{offset}":      answering(s.serveVerdict),
		"GET /v1/stats":                  answering(s.serveStats),
		"GET /v1/check":                  answering(s.serveCheck),
		"GET /v1/snapshot":               answering(s.serveSnapshot, "standby"),
		"GET /v1/entries/{position}":     answering(s.serveEntries),
		"POST /v1/promote":               answering(s.servePromote),
		"GET /metrics":                   s.serveMetrics,
		"GET /livez":                     healthy(s.dead),
		"GET /readyz":                    healthy(s.unready),
		"GET /v1/recent":                 athome(token, answering(s.serveRecent)),
		"POST /v1/explain":               athome(token, answering(s.serveExplain, "id", "find")),
		"GET /v1/{$}":                    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, overview) },
		pagePattern:                      nil,
	}
}

// answering replies with the value or error of a handler, which knows the parameters. With neither,
// the handler has replied.
func answering(handle func(w http.ResponseWriter, r *http.Request) (any, error), parameters ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := any(nil), checkQuery(r.URL.RawQuery, parameters)
		if err == nil {
			value, err = handle(w, r)
		}
		if err != nil {
			fail(w, err)
		} else if value != nil {
			reply(w, http.StatusOK, value)
		}
	}
}

func authorized(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	want := sha256.Sum256([]byte("Bearer " + token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The time to compare digests reveals neither the token nor its length.
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if subtle.ConstantTimeCompare(got[:], want[:]) == 0 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			refusal := refuse(http.StatusUnauthorized, "give the token of the server as Authorization: Bearer TOKEN")
			if strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
				refusal = refuse(http.StatusUnauthorized, "this is not the token of the server, which is in the file of its --token-file")
			}
			fail(w, refusal)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// problem is an error of a request. The JSON form is a contract.
type problem struct {
	Message string `json:"error"`
	Line    int    `json:"line,omitempty"` // of the body, from 1
	status  int    // of HTTP
}

func (p *problem) Error() string { return p.Message }

func refuse(status int, format string, args ...any) *problem {
	return &problem{status: status, Message: fmt.Sprintf(format, args...)}
}

// statuses maps other errors to status codes.
var statuses = []struct {
	err    error
	status int
}{
	{apply.ErrBusy, http.StatusTooManyRequests},
	{apply.ErrClosed, http.StatusServiceUnavailable},
	{apply.ErrLater, http.StatusServiceUnavailable},
	{errStandby, http.StatusServiceUnavailable},
	{errGone, http.StatusGone},
	{apply.ErrReadOnly, http.StatusForbidden},
	{apply.ErrTooLong, http.StatusRequestEntityTooLarge},
	{apply.ErrGone, http.StatusNotFound},
	{index.ErrNoBatch, http.StatusNotFound},
	{index.ErrFull, http.StatusInsufficientStorage},
}

// fail replies to a failed request.
func fail(w http.ResponseWriter, err error) {
	var p *problem
	if !errors.As(err, &p) {
		p = &problem{status: http.StatusInternalServerError, Message: err.Error()}
		for _, known := range statuses {
			if errors.Is(err, known.err) {
				p.status = known.status
			}
		}
	}
	switch p.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusInsufficientStorage:
		p.Message += ": start the server again with --limit full=grow, or with more --docs or --memory"
	}
	reply(w, p.status, p)
	_ = http.NewResponseController(w).Flush() // drained may wait for the client
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // the client may be gone
}

func (s *Service) serveSee(w http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	req := &request{batch: q.Get("batch"), check: q.Get("check") == "1", report: q.Get("report") == "1", fast: q.Get("durable") == "0"}
	if len(req.batch) > index.MaxBatchName || !utf8.ValidString(req.batch) {
		return nil, refuse(http.StatusBadRequest, "the name of the batch is longer than %d bytes, or not UTF-8", index.MaxBatchName)
	}
	body, leave, err := s.enter(w, r)
	if err != nil {
		return nil, err
	}
	defer leave()
	req.docs, err = s.parse(body, r.Header.Get("Content-Type"), cmp.Or(q.Get("id"), r.Header.Get("X-Firstseen-Id")), q.Get("exact") == "1")
	switch n := len(req.docs); {
	case err != nil:
		return nil, err
	case n == 0:
		return nil, refuse(http.StatusBadRequest, "the body has no document")
	case n > s.cfg.MaxDocuments:
		return nil, refuse(http.StatusRequestEntityTooLarge, "the body has too many documents, at most %d are allowed: send fewer at once", s.cfg.MaxDocuments)
	}
	s.prepare(req)
	if err := s.decide(req); err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	for _, doc := range req.docs { // one by one: each may name an id of 64 KiB
		switch {
		case req.check && req.report:
			_, err = fmt.Fprintf(w, "%s\n", doc.Answer)
		case doc.Kind == 0:
			_, err = fmt.Fprintf(w, "{%s\n", doc.Answer[1:])
		default:
			id, _ := report.AppendJSON(nil, doc.ID) // it is a string
			_, err = fmt.Fprintf(w, `{"id":%s,%s`+"\n", id, doc.Answer[1:])
		}
		if err != nil {
			break // the client is gone
		}
	}
	return nil, nil
}

// stored is a kept document. The JSON form is a contract.
type stored struct {
	Number  uint32 `json:"number"`
	ID      string `json:"id"`
	Verdict string `json:"verdict"`
	Time    int64  `json:"time"` // of arrival, Unix seconds
	Batch   string `json:"batch,omitempty"`
}

// idOf returns the id in the path, or in the query. There is none for /, . and .. in a path.
func idOf(r *http.Request) (string, error) {
	id := cmp.Or(r.PathValue("id"), r.URL.Query().Get("id"))
	if id == "" {
		return "", refuse(http.StatusBadRequest, "which document? give /v1/documents?id=ID, with special characters escaped as %%XX")
	}
	return id, nil
}

func (s *Service) serveDocument(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	return s.storedOf(id)
}

// storedOf returns the kept documents of an id, at least one.
func (s *Service) storedOf(id string) (found []stored, err error) {
	err = s.decider.Do(func() error {
		table := s.cfg.Index.Table()
		nums, err := table.ByID(id)
		for _, num := range nums {
			kept, err := s.cfg.Index.Kept(num)
			if err != nil {
				return err
			}
			found = append(found, stored{num, kept.ID, kept.Verdict.String(), kept.Time, table.BatchOf(num)})
		}
		return err
	})
	if err == nil && len(found) == 0 {
		err = refuse(http.StatusNotFound, "no document with this id is kept")
	}
	return found, err
}

func (s *Service) serveForget(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	return s.takeBack(journal.Forgotten, id)
}

func (s *Service) serveCancel(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.takeBack(journal.Cancelled, r.PathValue("name"))
}

func (s *Service) servePromote(http.ResponseWriter, *http.Request) (any, error) {
	return s.cfg.standby.Promote()
}

func (s *Service) serveVerdict(w http.ResponseWriter, r *http.Request) (any, error) {
	offset, err := strconv.ParseInt(r.PathValue("offset"), 10, 64)
	switch {
	case s.cfg.Log == nil:
		return nil, refuse(http.StatusNotFound, "this server follows no log")
	case err != nil || offset < 0:
		return nil, refuse(http.StatusBadRequest, "want the offset of a record, 0 or more")
	}
	line, err := s.cfg.Log.Verdict(r.Context(), offset)
	if err == nil {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(append(line, '\n')) // the client may be gone
	}
	return nil, err
}

// stats are the sizes of the index. The JSON form is a contract.
type stats struct {
	Scheme string            `json:"scheme"`
	Table  *index.TableStats `json:"table"`
	Filter index.FilterState `json:"filter"`
}

func (s *Service) serveStats(http.ResponseWriter, *http.Request) (any, error) {
	var st stats
	err := s.decider.Do(func() error {
		st = stats{s.cfg.Index.Scheme().Name(), s.cfg.Index.TableStats(), s.cfg.Index.State()}
		return nil
	})
	return st, err
}

// serveCheck checks the whole index while documents are decided. It may take minutes.
func (s *Service) serveCheck(w http.ResponseWriter, r *http.Request) (any, error) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a writer in tests has none
	var o index.CheckOptions
	err := s.decider.Do(func() (err error) {
		o.Frozen, err = s.cfg.Index.Table().Freeze()
		return err
	})
	if err != nil {
		return nil, err
	}
	return index.Check(r.Context(), s.cfg.Dir, o)
}

// unready returns the status and the reason for which the server should get no documents, else 0.
func (s *Service) unready() (status int, why string) {
	room, err := durable.Room(s.cfg.Dir)
	switch {
	case s.draining.Err() != nil:
		return http.StatusServiceUnavailable, "the server is going down"
	case s.cfg.standby.waits() != nil:
		return http.StatusServiceUnavailable, errStandby.Error()
	case s.cfg.Log != nil && s.cfg.Log.Away():
		return http.StatusServiceUnavailable, "no broker of the log answers"
	case s.cfg.Log != nil && s.cfg.Log.Behind():
		return http.StatusServiceUnavailable, "records that were in the log at the start are not decided yet"
	case s.own != nil && s.own.full.Load():
		return http.StatusInsufficientStorage, "the filter is full, and the server runs with --limit full=stop"
	case err != nil || room < s.cfg.room:
		return http.StatusInsufficientStorage, fmt.Sprintf("the disk of the index has room for %d bytes, want %d", room, s.cfg.room)
	}
	return s.dead()
}

// dead returns the status and the reason if the index has failed, else 0.
func (s *Service) dead() (status int, why string) {
	select {
	case <-s.Failed():
		return http.StatusInternalServerError, "the index or its journal has failed: see the log of the server"
	default:
		return 0, ""
	}
}

// healthy answers by a check.
func healthy(check func() (status int, why string)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if status, why := check(); status != 0 {
			http.Error(w, why, status)
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	}
}
