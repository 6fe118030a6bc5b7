package server

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/durable"
	"github.com/firstseen/firstseen/internal/journal"
	"github.com/firstseen/firstseen/internal/pipeline"
)

// Handler returns the HTTP interface that openapi.yaml describes. A token, if it is not empty, must
// come with each request, but those to /livez and /readyz.
func (s *Service) Handler(token string) http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range s.routes() {
		if strings.HasSuffix(pattern, "z") {
			mux.HandleFunc(pattern, handle)
		} else {
			mux.Handle(pattern, authorized(token, handle))
		}
	}
	return mux
}

// routes are the patterns of the interface.
func (s *Service) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"POST /v1/see":                   s.serveSee,
		"GET /v1/documents/{id}":         s.serveDocument,
		"DELETE /v1/documents/{id}":      s.serveForget,
		"POST /v1/batches/{name}/cancel": s.serveCancel,
		"GET /v1/verdicts/{offset}":      s.serveVerdict,
		"GET /v1/stats":                  s.serveStats,
		"GET /v1/check":                  s.serveCheck,
		"GET /metrics":                   s.serveMetrics,
		"GET /livez":                     s.serveLive,
		"GET /readyz":                    s.serveReady,
	}
}

func authorized(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	want := sha256.Sum256([]byte("Bearer " + token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Of two digests the time of a comparison says nothing about the token, nor about its length.
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if subtle.ConstantTimeCompare(got[:], want[:]) == 0 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, http.StatusUnauthorized, errors.New("give the token of the server as Authorization: Bearer TOKEN"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusal is the body of an answer that is none. The JSON form is a contract.
type refusal struct {
	Error string `json:"error"`
	Line  int    `json:"line,omitempty"` // of the body, from 1
}

func fail(w http.ResponseWriter, status int, err error) {
	var body *badBody
	line := 0
	if errors.As(err, &body) {
		line = body.line
	}
	reply(w, status, refusal{err.Error(), line})
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client may be gone
}

// failDeciding answers a request that was not decided.
func failDeciding(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, ErrBusy):
		status = http.StatusTooManyRequests
	case errors.Is(err, ErrClosed):
		status = http.StatusServiceUnavailable
	case errors.Is(err, index.ErrFull):
		status = http.StatusInsufficientStorage
		err = fmt.Errorf("%w: start the server again with --on-full grow, or with more --docs or --memory", err)
	case errors.Is(err, index.ErrNoBatch):
		status = http.StatusNotFound
	default:
		status = cmp.Or(statusOf(err), status)
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	fail(w, status, err)
}

// body reads the body of a request, which may be as long as the server allows.
func (s *Service) body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		fail(w, http.StatusUnsupportedMediaType, fmt.Errorf("Content-Encoding %q: send the body as it is", e))
		return nil, false
	}
	var body bytes.Buffer
	body.Grow(int(max(0, min(r.ContentLength, s.cfg.MaxBody))) + bytes.MinRead)
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody))
	data := body.Bytes()
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		fail(w, http.StatusRequestEntityTooLarge, fmt.Errorf("the body is longer than %d bytes: send fewer documents at once", s.cfg.MaxBody))
	case err != nil:
		fail(w, http.StatusBadRequest, fmt.Errorf("reading the body: %w", err))
	case len(data) == 0:
		fail(w, http.StatusBadRequest, errors.New("the body is empty: give a document"))
	}
	return data, err == nil && len(data) > 0
}

func (s *Service) serveSee(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	batch := q.Get("batch")
	if len(batch) > index.MaxBatchName || !utf8.ValidString(batch) {
		fail(w, http.StatusBadRequest, fmt.Errorf("the name of the batch is longer than %d bytes, or not UTF-8", index.MaxBatchName))
		return
	}
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	default:
		_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, s.cfg.MaxBody)) // a client reads no answer before it has sent all
		failDeciding(w, ErrBusy)
		return
	}
	body, ok := s.body(w, r)
	if !ok {
		return
	}
	docs, err := s.parse(body, r.Header.Get("Content-Type"), cmp.Or(q.Get("id"), r.Header.Get("X-Firstseen-Id")))
	switch {
	case errors.Is(err, errType):
		fail(w, http.StatusUnsupportedMediaType, err)
	case errors.Is(err, errLong):
		fail(w, http.StatusRequestEntityTooLarge, err)
	case err != nil:
		fail(w, http.StatusBadRequest, err)
	case len(docs) == 0:
		fail(w, http.StatusBadRequest, errors.New("the body has no document"))
	case len(docs) > s.cfg.MaxDocuments:
		fail(w, http.StatusRequestEntityTooLarge, fmt.Errorf("the body has %d documents, at most %d are allowed: send fewer at once", len(docs), s.cfg.MaxDocuments))
	default:
		req := &request{docs: docs, batch: batch, check: q.Get("check") == "1", report: q.Get("report") == "1", fast: q.Get("durable") == "0"}
		if err := s.see(req); err != nil {
			failDeciding(w, err)
			return
		}
		writeAnswers(w, docs, req.check && req.report)
	}
}

// writeAnswers writes a line for each document, in order.
func writeAnswers(w http.ResponseWriter, docs []*document, reported bool) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	var out []byte
	for _, doc := range docs {
		if reported {
			out = append(append(out, doc.answer...), '\n')
			continue
		}
		out = append(out, '{')
		if doc.bad == nil {
			id, err := json.Marshal(doc.id)
			if err != nil {
				panic(err) // it is a string
			}
			out = append(append(append(out, `"id":`...), id...), ',')
		}
		out = append(append(out, doc.answer[1:]...), '\n')
	}
	_, _ = w.Write(out) // the client may be gone
}

// stored is a kept document. The JSON form is a contract.
type stored struct {
	Number  uint32 `json:"number"`
	ID      string `json:"id"`
	Verdict string `json:"verdict"`
	Time    int64  `json:"time"` // of arrival, Unix seconds
	Batch   string `json:"batch,omitempty"`
}

func (s *Service) serveDocument(w http.ResponseWriter, r *http.Request) {
	found := []stored{}
	err := s.do(&request{fast: true, task: func() error {
		nums, err := s.cfg.Index.Table().ByID(r.PathValue("id"))
		for _, num := range nums {
			kept, err := s.cfg.Index.Kept(num)
			if err != nil {
				return err
			}
			found = append(found, stored{num, kept.ID, kept.Verdict.String(), kept.Time, s.cfg.Index.Table().BatchOf(num)})
		}
		return err
	}})
	switch {
	case err != nil:
		failDeciding(w, err)
	case len(found) == 0:
		fail(w, http.StatusNotFound, errors.New("no document with this id is kept"))
	default:
		reply(w, http.StatusOK, found)
	}
}

func (s *Service) serveForget(w http.ResponseWriter, r *http.Request) {
	s.serveTakeBack(w, journal.Forgotten, r.PathValue("id"))
}

func (s *Service) serveCancel(w http.ResponseWriter, r *http.Request) {
	s.serveTakeBack(w, journal.Cancelled, r.PathValue("name"))
}

func (s *Service) serveTakeBack(w http.ResponseWriter, kind byte, id string) {
	var answer json.RawMessage
	var err error
	if s.cfg.Log != nil {
		answer, err = s.appendTaking(kind, id)
	} else {
		err = s.do(&request{task: func() (err error) {
			answer, err = s.takeBack(kind, id)
			return err
		}})
	}
	if err != nil {
		failDeciding(w, err)
		return
	}
	reply(w, http.StatusOK, answer)
}

// stats are the sizes of the index. The JSON form is a contract.
type stats struct {
	Scheme string            `json:"scheme"`
	Table  *index.TableStats `json:"table"`
	Filter index.FilterState `json:"filter"`
}

func (s *Service) serveStats(w http.ResponseWriter, _ *http.Request) {
	var st stats
	err := s.do(&request{fast: true, task: func() error {
		st = stats{s.cfg.Index.Scheme().Name(), s.cfg.Index.TableStats(), s.cfg.Index.State()}
		return nil
	}})
	if err != nil {
		failDeciding(w, err)
		return
	}
	reply(w, http.StatusOK, st)
}

// serveCheck reads all of the index beside the decisions. It may take minutes.
func (s *Service) serveCheck(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a test's writer has none
	var o index.CheckOptions
	err := s.do(&request{fast: true, task: func() (err error) {
		o.Frozen, err = s.cfg.Index.Table().Freeze()
		return err
	}})
	if err != nil {
		failDeciding(w, err)
		return
	}
	found, err := index.Check(r.Context(), s.cfg.Dir, o)
	if err != nil {
		fail(w, http.StatusInternalServerError, err)
		return
	}
	reply(w, http.StatusOK, found)
}

func (s *Service) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	s.count.write(w)
}

func (s *Service) serveLive(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-s.failed:
		http.Error(w, "the index or its journal has failed: see the log of the server", http.StatusInternalServerError)
	default:
		_, _ = io.WriteString(w, "ok\n")
	}
}

func (s *Service) serveReady(w http.ResponseWriter, r *http.Request) {
	select {
	case <-s.draining:
		http.Error(w, "the server is going down", http.StatusServiceUnavailable)
		return
	default:
	}
	if s.cfg.Log != nil && s.cfg.Log.Behind() {
		http.Error(w, "records that were in the log at the start are not decided yet", http.StatusServiceUnavailable)
		return
	}
	if s.isFilled.Load() {
		http.Error(w, "the filter is full, and the server was told to stop then", http.StatusInsufficientStorage)
		return
	}
	if room, err := durable.Room(s.cfg.Dir); err != nil || room < s.cfg.room {
		http.Error(w, fmt.Sprintf("the disk of the index has room for %d bytes, want %d", room, s.cfg.room), http.StatusInsufficientStorage)
		return
	}
	s.serveLive(w, r)
}

// answerLine is a line of the pipe protocol: the line with its answer in one more field.
func answerLine(dst, raw []byte, at int, lead, answer []byte) []byte {
	dst = append(append(append(dst, raw[:at]...), lead...), answer...)
	return append(append(dst, raw[at:]...), '\n')
}

// answerBad is the line that answers a bad one.
func answerBad(dst, answer []byte) []byte {
	dst = append(append(dst, `{"`+pipeline.AnnotationField+`":`...), answer...)
	return append(dst, "}\n"...)
}
