package server

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/engine/compare/explain"
	"github.com/firstseen/firstseen/internal/engine/compare/textdiff"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// explained is the answer of /v1/explain. The JSON form is a contract, but for text in Reasons.
type explained struct {
	Report  *report.Reported `json:"report,omitempty"`  // of a text, as from /v1/see with report=1
	Removal *removal         `json:"removal,omitempty"` // of the id of a removed document
	Stored  *stored          `json:"stored,omitempty"`  // of the id of a kept document
	Later   side             `json:"later"`
	Earlier *side            `json:"earlier,omitempty"` // if there is one
	Reasons []method.Reason  `json:"reasons,omitempty"` // if both texts are there and whole
}

// side is one of two texts, in parts, or the reason why it is not shown.
type side struct {
	ID    string `json:"id"`
	Parts []part `json:"parts,omitempty"`
	Cut   bool   `json:"cut,omitempty"` // the text has more than is shown
	Why   string `json:"why,omitempty"`
}

// part is a part of a text. Its mark is "only" if the other text lacks it, "moved" if the other text
// has it elsewhere, else "".
type part struct {
	Text string `json:"text"`
	Mark string `json:"mark,omitempty"`
}

const whyNotShown = "its text is not in the memory of this server, which has only the latest ones that came to it"

// serveExplain judges a text without remembering it, and shows the earlier document beside it. With
// find=1 the text may be the id of a document.
func (s *Service) serveExplain(w http.ResponseWriter, r *http.Request) (any, error) {
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	req, err := s.posted(w, r)
	if err != nil {
		return nil, err
	}
	if len(req.docs) != 1 || req.docs[0].Kind == 0 {
		return nil, badBody("want one text, with Content-Type text/plain")
	}
	if text := req.docs[0].Text; r.URL.Query().Get("find") == "1" && len(text) <= corpus.MaxID {
		if e, err := s.explainID(strings.TrimSpace(string(text))); e != nil || err != nil {
			return e, err
		}
	}
	return s.explainText(req)
}

// explainID explains the latest document of an id. It returns nil if none is known.
func (s *Service) explainID(id string) (*explained, error) {
	if gone, is := s.recent.removed(id); is {
		e := &explained{Removal: &gone}
		return e, s.explain(e, id, gone.text, &dedup.Source{Num: gone.num, ID: gone.Of})
	}
	found, err := s.storedOf(id)
	if none := (*problem)(nil); errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e := &explained{Stored: &found[len(found)-1]}
	text, there := s.recent.textOf(e.Stored.Number)
	if e.Later = (side{ID: id, Why: whyNotShown}); there {
		e.Later = side{ID: id, Parts: []part{{Text: text.text}}, Cut: text.cut}
	}
	return e, nil
}

// explainText judges a posted text.
func (s *Service) explainText(req *request) (*explained, error) {
	s.prepare(req)
	doc := req.docs[0]
	e := &explained{Report: new(report.Reported)}
	var of dedup.Source
	err := s.decider.Do(func() error {
		found, err := s.cfg.Index.Check(doc.ID, &doc.Sketch)
		of = found.Of
		*e.Report = report.Report(&found, doc.ID, &doc.Sketch, doc.Text)
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, s.explain(e, doc.ID, beginning(doc.Text), &of)
}

// explain adds both texts and the reasons. Without an earlier document, of is zero.
func (s *Service) explain(e *explained, id string, later shown, of *dedup.Source) error {
	if e.Later = (side{ID: id, Cut: later.cut, Parts: []part{{Text: later.text}}}); of.Num == 0 {
		return nil
	}
	e.Earlier = &side{ID: of.ID, Why: whyNotShown}
	earlier, there := s.recent.textOf(of.Num)
	if !there {
		return nil
	}
	if !s.explaining.TryLock() { // it may take a second
		return apply.ErrBusy
	}
	defer s.explaining.Unlock()
	left, right := textdiff.Parts(later.text, earlier.text)
	e.Later.Parts, e.Earlier = marked(left), &side{ID: of.ID, Cut: earlier.cut, Parts: marked(right)}
	if later.cut || earlier.cut {
		return nil
	}
	pair, err := explain.Pair(
		explain.Document{ID: of.ID, Text: earlier.text}, explain.Document{ID: id, Text: later.text},
		explain.Rules{Scheme: s.cfg.Index.Scheme(), Rules: s.cfg.Policy.Rules},
	)
	if err != nil {
		return fmt.Errorf("explaining: %w", err)
	}
	e.Reasons = pair.Reasons
	return nil
}

func marked(parts []textdiff.Part) (all []part) {
	for _, p := range parts {
		mark := ""
		switch {
		case p.Only:
			mark = "only"
		case p.Moved:
			mark = "moved"
		}
		all = append(all, part{p.Text, mark})
	}
	return all
}

func (s *Service) serveRecent(http.ResponseWriter, *http.Request) (any, error) {
	l := s.recent.lately(time.Now())
	l.Free, _ = durable.Room(s.cfg.Dir) // 0 if it is unknown
	return l, nil
}

// athome refuses texts to a page of another site whose name was made to lead here. A token keeps it
// out as well, and a browser does not reach a unix socket.
func athome(token, pattern string, handle http.HandlerFunc) http.HandlerFunc {
	if token != "" || !strings.HasSuffix(pattern, "/v1/recent") && !strings.HasSuffix(pattern, "/v1/explain") {
		return handle
	}
	return func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		_, notAddress := netip.ParseAddr(strings.Trim(host, "[]"))
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if host != "localhost" && notAddress != nil && (local == nil || local.Network() != "unix") {
			fail(w, refuse(http.StatusForbidden, "under the name %s this server shows texts only with --token-file; without it ask 127.0.0.1 or localhost", cmp.Or(host, `""`)))
			return
		}
		handle(w, r)
	}
}
